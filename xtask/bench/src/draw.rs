//! Frames on the GPU: a crowd against the same meshes drawn static, in one run.
//!
//! The static side is the cheapest that shows the same surface: 16 bytes a vertex in one attribute (position, octahedral
//! normal, texture coordinates), a 32-byte transform an instance, no clock, no bones. Both sides draw the same triangles
//! in the same order at the same places with the same plain shading. A crowd's frame has culling and poses in it.

use gpuskin_rt::render::vertex_buffers;
use gpuskin_rt::vertex::{octahedral, unpack};
use gpuskin_rt::{Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, Model, RendererDescriptor};
use gpuskin_rt::{files::load, shader, wgpu};

use crate::context::Context;
use crate::report::{heading, line, median, seconds};

const SIZE: wgpu::Extent3d = wgpu::Extent3d { width: 1920, height: 1080, depth_or_array_layers: 1 };
const FRAMES: usize = 21;

pub(crate) fn measure(context: &Context, count: Option<u32>) -> Result<(), String> {
    let software = context.is_software();
    let count = count.unwrap_or(if software { 200 } else { 10_000 });
    heading(&format!("draw: {count} instances, all in view, mixed clips and phases, 1920 x 1080"));
    for model in &context.models {
        let scene = Scene::new(context, model, count)?;
        let (mut crowd, mut skinned, mut fixed, mut poses) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        // Interleaved, so that clocks and what else the machine does fall on all.
        for frame in 0..FRAMES {
            for (kind, times) in [
                (Kind::Crowd, &mut crowd),
                (Kind::Skinned, &mut skinned),
                (Kind::Static, &mut fixed),
                (Kind::Poses, &mut poses),
            ] {
                let time = scene.frame(context, kind, frame as f64 * 0.1)?;
                if frame > 0 {
                    times.push(time);
                }
            }
        }
        let (crowd, skinned, fixed, poses) = (median(crowd), median(skinned), median(fixed), median(poses));
        let name = &model.meta.name;
        let triangles: u32 = model.meta.mesh.parts.iter().map(|p| p.index_count / 3).sum();
        let vertices = model.meta.mesh.vertex_count;
        let ms = |t: f64| format!("{:9.3} ms", t * 1e3);
        line(&format!("{name}: {vertices} vertices, {triangles} triangles: static"), ms(fixed));
        line(&format!("{name}: culling and poses, nothing drawn"), ms(poses));
        line(&format!("{name}: skinned, same shading"), format!("{}: {:.2} x static", ms(skinned), skinned / fixed));
        line(
            &format!("{name}: CrowdRenderer::draw (textured)"),
            format!("{}: {:.2} x static", ms(crowd), crowd / fixed),
        );
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Kind {
    /// Culling and poses of the crowd, and an empty pass.
    Poses,
    Crowd,
    Skinned,
    Static,
}

struct Scene {
    renderer: std::cell::RefCell<CrowdRenderer>,
    crowd: Crowd<Dynamic>,
    camera: Camera,
    skinned: wgpu::RenderPipeline,
    fixed: wgpu::RenderPipeline,
    /// View-projection and clock, for both plain pipelines.
    view: wgpu::Buffer,
    view_group: wgpu::BindGroup,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    index_format: wgpu::IndexFormat,
    instances: wgpu::Buffer,
    count: u32,
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
    timer: Option<Timer>,
}

const PLAIN: &str = r"
@group(0) @binding(0) var<uniform> view: View;
struct View { view_proj: mat4x4<f32>, clock: vec4<u32> }
struct Varyings { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32>, @location(1) normal: vec3<f32> }
@fragment
fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
    let light = 0.3 + 0.7 * max(dot(normalize(varyings.normal), vec3<f32>(0.48, 0.8, 0.36)), 0.0);
    return vec4<f32>(vec3<f32>(light) * (0.5 + 0.5 * fract(varyings.uv.x)), 1.0);
}
";

const SKINNED: &str = r"
@vertex
fn vertex(input: GpuskinInput) -> Varyings {
    let skinned = gpuskin_skin_vertex(input, view.clock.xy);
    return Varyings(view.view_proj * vec4<f32>(skinned.position, 1.0), skinned.uv, skinned.normal);
}
";

const STATIC: &str = r"
struct Input {
    @location(0) vertex: vec4<u32>,
    @location(1) place: vec4<f32>,
    @location(2) rotation: vec4<f32>,
}
fn halves(word: u32) -> vec2<f32> { return vec2<f32>(f32(word & 0xffffu), f32(word >> 16u)) / 65535.0; }
fn rotate(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + v * q.w); }
@vertex
fn vertex(input: Input) -> Varyings {
    let p = vec3<f32>(halves(input.vertex.x), halves(input.vertex.y).x) * 8.0 - 4.0;
    let e = halves(input.vertex.z) * 2.0 - 1.0;
    var n = vec3<f32>(e, 1.0 - abs(e.x) - abs(e.y));
    let fold = max(-n.z, 0.0);
    n = normalize(vec3<f32>(n.x - select(-fold, fold, n.x >= 0.0), n.y - select(-fold, fold, n.y >= 0.0), n.z));
    let world = input.place.xyz + rotate(input.rotation, p * input.place.w);
    return Varyings(view.view_proj * vec4<f32>(world, 1.0), halves(input.vertex.w), rotate(input.rotation, n));
}
";

impl Scene {
    fn new(context: &Context, model: &Model, count: u32) -> Result<Self, String> {
        let device = &context.device;
        let mut renderer =
            CrowdRenderer::new(device, &context.queue, RendererDescriptor::default()).map_err(|e| e.to_string())?;
        let crowd =
            Crowd::with_model(&mut renderer, model, CrowdDescriptor { capacity: count }).map_err(|e| e.to_string())?;
        let side = (f64::from(count).sqrt().ceil()) as u32;
        let spacing = 1.4;
        let mut places: Vec<f32> = Vec::new();
        for i in 0..count {
            let at = [(i % side) as f32, (i / side) as f32].map(|c| (c - side as f32 / 2.0) * spacing);
            let yaw = i as f32 * 2.4;
            let clip = Clip::new((i % model.meta.clips.len() as u32) as u16);
            let instance = Instance::at([at[0], 0.0, at[1]]).facing(yaw).play(clip).phase(i as f32 * 0.618);
            crowd.spawn(instance.looping());
            places.extend([at[0], 0.0, at[1], 1.0, 0.0, (yaw / 2.0).sin(), 0.0, (yaw / 2.0).cos()]);
        }
        // From above, so that everybody is in view.
        let reach = side as f32 * spacing;
        let camera =
            Camera::perspective_look_at([0.0, reach * 0.75, reach * 0.85], [0.0; 3], 1.0, 16.0 / 9.0, 0.5, 4.0 * reach);

        let variant = crowd.variant();
        let view_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::VERTEX,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let view = buffer(context, &[0; 80], wgpu::BufferUsages::UNIFORM);
        let view_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &view_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: view.as_entire_binding() }],
        });
        let skinned_text = shader::source(variant, 1) + PLAIN + SKINNED;
        let buffers = vertex_buffers(variant);
        let groups = [Some(&view_layout), Some(renderer.model_layout(variant))];
        let skinned = pipeline(device, &skinned_text, &groups, &buffers.layouts());
        let vertex_layout = wgpu::VertexBufferLayout {
            array_stride: 16,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Uint32x4],
        };
        let instance_layout = wgpu::VertexBufferLayout {
            array_stride: 32,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &wgpu::vertex_attr_array![1 => Float32x4, 2 => Float32x4],
        };
        let static_text = PLAIN.to_owned() + STATIC;
        let fixed = pipeline(device, &static_text, &groups[..1], &[Some(vertex_layout), Some(instance_layout)]);

        let mesh = load(&model.mesh, &model.meta.content_hash).map_err(|e| e.to_string())?;
        let info = &model.meta.mesh;
        let section = |range: gpuskin_rt::ByteRange| &mesh[range.offset as usize..][..range.len as usize];
        let color_format = RendererDescriptor::default().color_format;
        let timer = context.timestamps.then(|| Timer::new(device));
        Ok(Self {
            view,
            view_group,
            skinned,
            fixed,
            vertices: buffer(context, &static_vertices(section(info.vertices), info), wgpu::BufferUsages::VERTEX),
            indices: buffer(context, section(info.indices), wgpu::BufferUsages::INDEX),
            index_count: info.parts.iter().map(|p| p.index_count).sum(),
            index_format: if info.wide_indices { wgpu::IndexFormat::Uint32 } else { wgpu::IndexFormat::Uint16 },
            instances: buffer(context, &bytes(&places), wgpu::BufferUsages::VERTEX),
            count,
            color: target(device, color_format),
            depth: target(device, wgpu::TextureFormat::Depth32Float),
            renderer: renderer.into(),
            crowd,
            camera,
            timer,
        })
    }

    /// Seconds that the GPU takes for a frame; with the queue's overhead where there are no timestamps.
    fn frame(&self, context: &Context, kind: Kind, time: f64) -> Result<f64, String> {
        let mut encoder = context.device.create_command_encoder(&Default::default());
        let mut renderer = self.renderer.borrow_mut();
        if let Some(timer) = &self.timer {
            timer.mark(&mut encoder, 0);
        }
        // Poses are part of a crowd's frame, and not of the static one's.
        if !matches!(kind, Kind::Static) {
            renderer.prepare(&context.queue, &mut encoder, &self.camera, time).map_err(|e| e.to_string())?;
        }
        let [whole, fraction] = renderer.time().words();
        let clock = [whole, fraction, 0, 0].map(f32::from_bits);
        let view: Vec<f32> = self.camera.view_proj.into_iter().flatten().chain(clock).collect();
        context.queue.write_buffer(&self.view, 0, &bytes(&view));
        context.queue.submit([]);
        context.wait()?;
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: None,
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        match kind {
            Kind::Poses => {}
            Kind::Crowd => renderer.draw(&mut pass),
            Kind::Skinned => {
                pass.set_pipeline(&self.skinned);
                pass.set_bind_group(0, &self.view_group, &[]);
                self.crowd.draw_geometry(&mut pass, 1, |_, _| ());
            }
            Kind::Static => {
                pass.set_pipeline(&self.fixed);
                pass.set_bind_group(0, &self.view_group, &[]);
                pass.set_vertex_buffer(0, self.vertices.slice(..));
                pass.set_vertex_buffer(1, self.instances.slice(..));
                pass.set_vertex_buffer(2, self.instances.slice(..));
                pass.set_index_buffer(self.indices.slice(..), self.index_format);
                pass.draw_indexed(0..self.index_count, 0, 0..self.count);
            }
        }
        drop(pass);
        if let Some(timer) = &self.timer {
            timer.mark(&mut encoder, 1);
            timer.resolve(&mut encoder);
        }
        let commands = encoder.finish();
        let (wall, result) = seconds(|| {
            context.queue.submit([commands]);
            context.wait()
        });
        result?;
        self.timer.as_ref().map_or(Ok(wall), |timer| timer.read(context))
    }
}

/// The vertices of a mesh for the static side: 16 bytes each.
fn static_vertices(packed: &[u8], info: &gpuskin_rt::MeshInfo) -> Vec<u8> {
    let words: Vec<u32> = packed.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    let pair = |a: f32, b: f32| {
        let unorm = |v: f32| (v.clamp(0.0, 1.0) * 65_535.0).round() as u32;
        unorm(a) | unorm(b) << 16
    };
    let mut out = Vec::new();
    for words in words.chunks_exact(info.format.words()) {
        let v = unpack(words, info.format, &info.range);
        let p = (v.position + 4.0) / 8.0;
        let e = octahedral(v.normal) * 0.5 + 0.5;
        let uv = v.uv;
        for word in [pair(p.x, p.y), pair(p.z, 0.0), pair(e.x, e.y), pair(uv.x, uv.y)] {
            out.extend(word.to_le_bytes());
        }
    }
    out
}

fn bytes(floats: &[f32]) -> Vec<u8> {
    floats.iter().flat_map(|f| f.to_le_bytes()).collect()
}

fn buffer(context: &Context, data: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let buffer = context.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: data.len() as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    context.queue.write_buffer(&buffer, 0, data);
    buffer
}

fn target(device: &wgpu::Device, format: wgpu::TextureFormat) -> wgpu::TextureView {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: SIZE,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}

fn pipeline(
    device: &wgpu::Device,
    text: &str,
    groups: &[Option<&wgpu::BindGroupLayout>],
    buffers: &[Option<wgpu::VertexBufferLayout<'_>>],
) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: groups,
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers,
        },
        primitive: wgpu::PrimitiveState { cull_mode: Some(wgpu::Face::Back), ..Default::default() },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: wgpu::TextureFormat::Depth32Float,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &[Some(RendererDescriptor::default().color_format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// Times of a render pass on the GPU.
struct Timer {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
}

impl Timer {
    fn new(device: &wgpu::Device) -> Self {
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 16, usage, mapped_at_creation: false })
        };
        Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            readable: buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
        }
    }

    /// The time at which the device comes here: query 0 or 1.
    fn mark(&self, encoder: &mut wgpu::CommandEncoder, query: u32) {
        let timestamp_writes = Some(wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(query),
            end_of_pass_write_index: None,
        });
        encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
    }

    fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.readable, 0, 16);
    }

    fn read(&self, context: &Context) -> Result<f64, String> {
        let slice = self.readable.slice(..);
        slice.map_async(wgpu::MapMode::Read, |_| ());
        context.wait()?;
        let ticks: Vec<u64> = {
            let bytes = slice.get_mapped_range().map_err(|e| e.to_string())?;
            bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes"))).collect()
        };
        self.readable.unmap();
        Ok(ticks[1].wrapping_sub(ticks[0]) as f64 * f64::from(context.queue.get_timestamp_period()) * 1e-9)
    }
}
