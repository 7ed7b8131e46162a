//! Pass that skins poses into the pose cache, compared with a kernel that copies as many bytes as
//! it writes.

use gpuskin_rt::internals::local::shader::PaletteUniform;
use gpuskin_rt::internals::shader::{MODEL_BYTES, ModelUniform, Variant};
use gpuskin_rt::internals::{Model, cache, files, wgpu};

use crate::context::Context;
use crate::draw::Timer;
use crate::report::{Asked, compared, heading, line, median, time};

/// Bytes that the pass writes, if a binding can be that large.
const WRITTEN: u64 = 280 << 20;
const RUNS: usize = 15;

const COPY: &str = r"
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> copied: array<vec4<u32>>;
@compute @workgroup_size(256)
fn copy(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let i = (group.y * groups.x + group.x) * 256u + thread;
    if (i < arrayLength(&copied)) { copied[i] = source[i]; }
}
";

pub(crate) fn measure(context: &Context) -> Result<(), String> {
    for model in context.models.iter().filter(|model| model.meta.encoding.needs_compute()) {
        one(context, model)?;
    }
    Ok(())
}

fn one(context: &Context, model: &Model) -> Result<(), String> {
    let (device, meta) = (&context.device, &model.meta);
    let (variant, vertices, bones) = (Variant::of(meta), meta.mesh.vertex_count, meta.texture.rows);
    let limits = device.limits();
    let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    let of_a_pose = u64::from(vertices) * cache::CACHED_VERTEX_BYTES;
    let poses = (WRITTEN.div_ceil(of_a_pose)).min(binding / of_a_pose).min(65_535) as u32;
    let written = u64::from(poses) * of_a_pose;

    let mesh = files::load(&model.mesh, &meta.content_hash).map_err(|e| e.to_string())?;
    let mesh = &mesh[meta.mesh.vertices.offset as usize..][..meta.mesh.vertices.len as usize];
    let mut uniform = ModelUniform::of(meta);
    let [min, max] = [meta.bounds.min, meta.bounds.max];
    uniform.value_min = [min[0], min[1], min[2], 0.0];
    uniform.value_extent = [max[0] - min[0], max[1] - min[1], max[2] - min[2], 0.0];
    let mut constants = bytemuck::bytes_of(&uniform).to_vec();
    constants.resize(MODEL_BYTES as usize, 0);
    let parameters = PaletteUniform { instances: poses, stride: bones, ..Default::default() };
    // Slightly displaced bones, each by another offset.
    let bone = |i: u32| {
        let off = (i % 97) as f32 * 1e-3;
        [[1.0, 0.0, 0.0, off], [0.0, 1.0, 0.0, -off], [0.0, 0.0, 1.0, 0.5 * off]]
    };
    let palette: Vec<[[f32; 4]; 3]> = (0..poses * bones).map(bone).collect();

    use wgpu::BufferUsages as Usages;
    let filled = |bytes: &[u8], usage| {
        let buffer = empty(device, bytes.len() as u64, usage | Usages::COPY_DST);
        context.queue.write_buffer(&buffer, 0, bytes);
        buffer
    };
    let palette = filled(bytemuck::cast_slice(&palette), Usages::STORAGE);
    let constants = filled(&constants, Usages::UNIFORM);
    let parameters = filled(bytemuck::bytes_of(&parameters), Usages::UNIFORM);
    let words = filled(mesh, Usages::STORAGE);
    let [kept, source] = [0, 1].map(|_| empty(device, written, Usages::STORAGE));

    let fill = pipeline(device, &cache::fill(variant), cache::FILL_ENTRY_POINT);
    let copy = pipeline(device, COPY, "copy");
    let of_fill =
        [group(device, &fill, 0, &[&palette, &constants]), group(device, &fill, 1, &[&parameters, &words, &kept])];
    let of_copy = [group(device, &copy, 0, &[&source, &kept])];
    let copies = (written / 16).div_ceil(256) as u32;
    let across = copies.min(limits.max_compute_workgroups_per_dimension);
    let works = [
        (&fill, &of_fill[..], [vertices.div_ceil(cache::FILL_GROUP_SIZE), poses]),
        (&copy, &of_copy[..], [across, copies.div_ceil(across)]),
    ];
    let timer = Timer::new(context);
    let mut times = [Vec::new(), Vec::new()];
    for run in 0..RUNS {
        for ((pipeline, groups, [x, y]), times) in works.iter().zip(&mut times) {
            context.wait()?;
            let mut encoder = device.create_command_encoder(&Default::default());
            if let Some(timer) = &timer {
                timer.mark(&mut encoder, 0);
            }
            {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(pipeline);
                (0..).zip(*groups).for_each(|(i, group)| pass.set_bind_group(i, group, &[]));
                pass.dispatch_workgroups(*x, *y, 1);
            }
            let seconds = Timer::submit(timer.as_ref(), context, encoder)?;
            if run > 0 {
                times.push(seconds);
            }
        }
    }
    let [fill, copy] = times.map(median);
    heading(&format!(
        "cache: {poses} poses of {}, {vertices} vertices, {bones} bones: {:.0} MB",
        meta.name,
        written as f64 / 1e6
    ));
    time("kernel that copies as many bytes", copy);
    let asked = (!context.is_software()).then_some(Asked::AtMost(2.0));
    compared("skinning into the pose cache", fill, ("the copy", copy), asked);
    line("vertices per second", format!("{:9.2} G", written as f64 / 16e9 / fill));
    Ok(())
}

fn empty(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

fn pipeline(device: &wgpu::Device, text: &str, entry_point: &str) -> wgpu::ComputePipeline {
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some(entry_point),
        compilation_options: Default::default(),
        cache: None,
    })
}

fn group(
    device: &wgpu::Device,
    pipeline: &wgpu::ComputePipeline,
    index: u32,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let layout = &pipeline.get_bind_group_layout(index);
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
}
