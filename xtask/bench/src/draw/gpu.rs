//! Buffers, targets, pipelines and GPU timers.

use gpuskin_rt::internals::{RendererDescriptor, wgpu};

use crate::context::Context;
use crate::report::seconds;

/// Size of the picture in pixels.
pub(super) const SIZE: [u32; 2] = [1920, 1080];

pub(super) fn bytes(floats: &[f32]) -> Vec<u8> {
    floats.iter().flat_map(|f| f.to_le_bytes()).collect()
}

pub(super) fn buffer(context: &Context, data: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let buffer = context.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: data.len() as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    context.queue.write_buffer(&buffer, 0, data);
    buffer
}

/// Creates a texture that is a render target and can be read back.
pub(crate) fn target(device: &wgpu::Device, format: wgpu::TextureFormat, [width, height]: [u32; 2]) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

pub(super) fn entry(binding: u32, visibility: wgpu::ShaderStages, ty: wgpu::BindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None }
}

pub(super) fn of_buffer(ty: wgpu::BufferBindingType) -> wgpu::BindingType {
    wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None }
}

/// Creates a pipeline of `vertex` and `fragment`, or of `vertex_depth` alone.
pub(super) fn pipeline(
    device: &wgpu::Device,
    text: &str,
    groups: &[Option<&wgpu::BindGroupLayout>],
    buffers: &[Option<wgpu::VertexBufferLayout<'_>>],
    depth_only: bool,
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
    let targets = [Some(RendererDescriptor::default().color_format.into())];
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some(if depth_only { "vertex_depth" } else { "vertex" }),
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
        fragment: (!depth_only).then(|| wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &targets,
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// Render targets of a frame.
pub(crate) struct Frame {
    picture: wgpu::Texture,
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Frame {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let picture = target(device, RendererDescriptor::default().color_format, SIZE);
        let depth = target(device, wgpu::TextureFormat::Depth32Float, SIZE);
        let [color, depth] = [&picture, &depth].map(|texture| texture.create_view(&Default::default()));
        Self { picture, color, depth }
    }

    /// Reads the pixels back, as stored, RGBA8.
    pub(super) fn read(&self, context: &Context) -> Result<Vec<[u8; 4]>, String> {
        let row = (SIZE[0] * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = context.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(row * SIZE[1]),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
        let mut encoder = context.device.create_command_encoder(&Default::default());
        encoder.copy_texture_to_buffer(
            self.picture.as_image_copy(),
            wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
            self.picture.size(),
        );
        context.queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |_| ());
        context.wait()?;
        let bytes = buffer.get_mapped_range(..).map_err(|e| e.to_string())?;
        let rows = bytes.chunks(row as usize).map(|row| row[..SIZE[0] as usize * 4].as_chunks::<4>().0);
        Ok(rows.flatten().copied().collect())
    }

    pub(crate) fn pass(&self, encoder: &mut wgpu::CommandEncoder, draw: impl FnOnce(&mut wgpu::RenderPass<'_>)) {
        draw(&mut encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(cleared(&self.depth, wgpu::StoreOp::Discard)),
            ..Default::default()
        }));
    }
}

/// Encodes a pass to a shadow map.
pub(super) fn depth_pass(
    encoder: &mut wgpu::CommandEncoder,
    map: &wgpu::TextureView,
    draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
) {
    draw(&mut encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        depth_stencil_attachment: Some(cleared(map, wgpu::StoreOp::Store)),
        ..Default::default()
    }));
}

fn cleared(view: &wgpu::TextureView, store: wgpu::StoreOp) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    let depth_ops = Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store });
    wgpu::RenderPassDepthStencilAttachment { view, depth_ops, stencil_ops: None }
}

/// Timestamp queries on the GPU.
pub(crate) struct Timer {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
}

impl Timer {
    /// Creates a timer; `None` if the device has no timestamp queries.
    pub(crate) fn new(context: &Context) -> Option<Self> {
        let device = context.timestamps.then_some(&context.device)?;
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 16, usage, mapped_at_creation: false })
        };
        Some(Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            readable: buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
        })
    }

    /// Writes the GPU's time at this point of the commands to query 0 or 1.
    pub(crate) fn mark(&self, encoder: &mut wgpu::CommandEncoder, query: u32) {
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
            bytes.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).collect()
        };
        self.readable.unmap();
        Ok(ticks[1].wrapping_sub(ticks[0]) as f64 * f64::from(context.queue.get_timestamp_period()) * 1e-9)
    }

    /// Submits the commands since the first mark. Returns their seconds on the GPU, or without a
    /// timer the seconds until the GPU has completed them.
    pub(crate) fn submit(
        timer: Option<&Self>,
        context: &Context,
        encoder: wgpu::CommandEncoder,
    ) -> Result<f64, String> {
        Ok(Self::submit_timed(timer, context, encoder)?.0)
    }

    /// Same as [`Timer::submit`]; also returns the seconds that finishing and submitting takes on the CPU.
    pub(crate) fn submit_timed(
        timer: Option<&Self>,
        context: &Context,
        mut encoder: wgpu::CommandEncoder,
    ) -> Result<(f64, f64), String> {
        if let Some(timer) = timer {
            timer.mark(&mut encoder, 1);
            timer.resolve(&mut encoder);
        }
        let (wall, result) = seconds(|| {
            let (submit, _) = seconds(|| context.queue.submit([encoder.finish()]));
            context.wait().map(|()| submit)
        });
        let submit = result?;
        Ok((timer.map_or(Ok(wall), |timer| timer.read(context))?, submit))
    }
}
