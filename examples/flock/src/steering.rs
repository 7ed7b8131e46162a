//! Compute passes that steer the birds; the CPU never knows where they are.

use gpuskin_rt::pipeline::{InstanceBuffers, instance_writer_source};
use gpuskin_rt::{Time, wgpu};

use crate::baked::{clips, wgsl};

/// Cells of the grid times the words per cell, as in the shader.
const GRID_WORDS: u64 = 64 * 32 * 64 * 4;
const BIRD_BYTES: u64 = 32;
const GROUP: u32 = 64;

/// One step: `Step` of the shader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) time: Time,
    /// Length of the step, seconds.
    pub(crate) seconds: f32,
    /// Point that the flock circles, and the distance at which birds turn back, metres.
    pub(crate) roost: [f32; 4],
    /// Position of a hawk, and the distance at which birds flee, metres.
    pub(crate) hawk: [f32; 4],
}

#[derive(Debug)]
pub(crate) struct Steering {
    step: wgpu::Buffer,
    birds: wgpu::Buffer,
    cells: wgpu::Buffer,
    gather: wgpu::ComputePipeline,
    steer: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    bind_group: Option<(InstanceBuffers, wgpu::BindGroup)>,
    count: u32,
}

impl Steering {
    /// `birds`: velocity and random number of each bird.
    pub(crate) fn new(device: &wgpu::Device, queue: &wgpu::Queue, birds: &[([f32; 3], f32)]) -> Self {
        let seconds = [
            ("FLAP", clips::STARLING_FLAP.info()),
            ("GLIDE", clips::STARLING_GLIDE.info()),
            ("DIVE", clips::STARLING_DIVE.info()),
        ];
        let mut source = instance_writer_source() + wgsl::STARLING;
        for (name, clip) in seconds {
            source += &format!("const {name}_SECONDS: f32 = {:?};\n", clip.duration);
        }
        source += include_str!("steer.wgsl");
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("steering"),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let storage = wgpu::BufferBindingType::Storage { read_only: false };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("steering"),
            entries: &[
                entry(0, wgpu::BufferBindingType::Uniform),
                entry(1, storage),
                entry(2, storage),
                entry(3, storage),
                entry(4, storage),
            ],
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("steering"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = |entry_point| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry_point),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(entry_point),
                compilation_options: Default::default(),
                cache: None,
            })
        };
        let (gather, steer) = (pipeline("gather"), pipeline("steer"));
        let buffer = |label, size, usage| {
            let usage = usage | wgpu::BufferUsages::COPY_DST;
            device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false })
        };
        let step = buffer("step", 48, wgpu::BufferUsages::UNIFORM);
        let cells = buffer("cells", GRID_WORDS * 4, wgpu::BufferUsages::STORAGE);
        let of_birds = buffer("birds", birds.len() as u64 * BIRD_BYTES, wgpu::BufferUsages::STORAGE);
        let words: Vec<[f32; 8]> =
            birds.iter().map(|([x, y, z], lot)| [*x, *y, *z, *lot, 0.0, 1.0, 0.0, *lot]).collect();
        queue.write_buffer(&of_birds, 0, bytemuck::cast_slice(&words));
        let count = birds.len() as u32;
        Self { step, birds: of_birds, cells, gather, steer, layout, bind_group: None, count }
    }

    /// Records a step of all birds. Called before `prepare`, with its encoder.
    pub(crate) fn record(
        &mut self,
        (device, queue): (&wgpu::Device, &wgpu::Queue),
        encoder: &mut wgpu::CommandEncoder,
        buffers: InstanceBuffers,
        step: Step,
    ) {
        let [high, low] = step.time.words();
        let head = [high, low, step.seconds.to_bits(), self.count];
        let rest: [[u32; 4]; 2] = [step.roost, step.hawk].map(|v| v.map(f32::to_bits));
        queue.write_buffer(&self.step, 0, bytemuck::bytes_of(&[head, rest[0], rest[1]]));
        if self.bind_group.as_ref().is_none_or(|(bound, _)| *bound != buffers) {
            let all = [&self.step, &buffers.places, &buffers.playbacks, &self.birds, &self.cells];
            let entries: Vec<_> = (0..)
                .zip(all)
                .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
                .collect();
            let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("steering"),
                layout: &self.layout,
                entries: &entries,
            });
            self.bind_group = Some((buffers, bind_group));
        }
        encoder.clear_buffer(&self.cells, 0, None);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_bind_group(0, self.bind_group.as_ref().map(|(_, group)| group), &[]);
        for pipeline in [&self.gather, &self.steer] {
            pass.set_pipeline(pipeline);
            pass.dispatch_workgroups(self.count.div_ceil(GROUP), 1, 1);
        }
    }
}
