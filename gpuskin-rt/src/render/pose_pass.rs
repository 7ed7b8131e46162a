//! Pass that draws poses into textures, for encodings that need no compute: vertices then read a bone
//! instead of two frames of up to three clips.

use core::ops::Range;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::layouts::{Layouts, PLAYBACK_BYTES, entry, uniform};
use crate::Encoding;
use crate::pose_texture::{POSE_WIDTH, PosePlaces, PoseTextureSize};
use crate::shader::{self, PLAYBACK_ATTRIBUTES, Variant};

/// Bytes of the places of a list of instances.
pub(crate) const PLACES_BYTES: u64 = size_of::<PosePlaces>() as u64;

/// Pipelines of the pass, one per encoding in use.
#[derive(Debug)]
pub(crate) struct PosePipelines {
    device: wgpu::Device,
    /// Layout of the places, with a dynamic offset.
    places: wgpu::BindGroupLayout,
    pipelines: Mutex<HashMap<(Encoding, bool, bool), wgpu::RenderPipeline>>,
}

/// Texture that poses are drawn into.
#[derive(Debug)]
pub(crate) struct PoseTexture {
    pub(crate) size: PoseTextureSize,
    /// View of all layers, for shaders.
    pub(crate) view: wgpu::TextureView,
    layers: Vec<wgpu::TextureView>,
}

/// Instances whose poses are drawn.
pub(crate) struct PosedList<'a> {
    pub(crate) variant: Variant,
    /// Bind group with the animation texture.
    pub(crate) frames: Option<&'a wgpu::BindGroup>,
    /// Playback records of the list.
    pub(crate) playbacks: &'a wgpu::Buffer,
    pub(crate) instances: Range<u32>,
    pub(crate) places: PosePlaces,
    /// Byte offset of the places in their buffer.
    pub(crate) offset: u32,
}

impl PosePipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let places = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("gpuskin pose places"),
            entries: &[entry(0, wgpu::ShaderStages::VERTEX, uniform(PLACES_BYTES, true))],
        });
        Self { device: device.clone(), places, pipelines: Mutex::default() }
    }

    /// Returns the bind group of a buffer of places.
    pub(crate) fn bind(&self, places: &wgpu::Buffer) -> wgpu::BindGroup {
        let size = wgpu::BufferSize::new(PLACES_BYTES);
        let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: places, offset: 0, size });
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gpuskin pose places"),
            layout: &self.places,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource }],
        })
    }

    fn pipeline(&self, layouts: &Layouts, variant: Variant) -> wgpu::RenderPipeline {
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        let create = || self.create(layouts, variant);
        pipelines.entry((variant.encoding, variant.array, variant.clip_texture)).or_insert_with(create).clone()
    }

    fn create(&self, layouts: &Layouts, variant: Variant) -> wgpu::RenderPipeline {
        let label = Some("gpuskin poses");
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(shader::pose_pass(variant).into()),
        });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(layouts.frames(variant)), Some(&self.places)],
            immediate_size: 0,
        });
        let attributes: [_; PLAYBACK_ATTRIBUTES as usize] = core::array::from_fn(|i| wgpu::VertexAttribute {
            format: wgpu::VertexFormat::Uint32x4,
            offset: i as u64 * 16,
            shader_location: i as u32,
        });
        let playbacks = wgpu::VertexBufferLayout {
            array_stride: PLAYBACK_BYTES,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &attributes,
        };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label,
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("pose_vertex"),
                compilation_options: Default::default(),
                buffers: &[Some(playbacks)],
            },
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("pose_fragment"),
                compilation_options: Default::default(),
                targets: &[Some(wgpu::TextureFormat::Rgba32Uint.into())],
            }),
            multiview_mask: None,
            cache: None,
        })
    }

    /// Draws the poses of lists. `keeps`: whether poses that are in the texture stay.
    pub(crate) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        layouts: &Layouts,
        (texture, keeps): (&PoseTexture, bool),
        places: &wgpu::BindGroup,
        lists: &[PosedList<'_>],
    ) {
        let load = if keeps { wgpu::LoadOp::Load } else { wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT) };
        for (number, view) in (0..).zip(&texture.layers) {
            let within = |list: &PosedList<'_>| {
                let Range { start, end } = list.places.instances_in(number, list.instances.end);
                start.max(list.instances.start)..end
            };
            if lists.iter().all(|list| within(list).is_empty()) {
                continue;
            }
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("gpuskin poses"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
                })],
                depth_stencil_attachment: None,
                timestamp_writes: None,
                occlusion_query_set: None,
                multiview_mask: None,
            });
            for list in lists {
                let instances = within(list);
                if instances.is_empty() {
                    continue;
                }
                pass.set_pipeline(&self.pipeline(layouts, list.variant));
                pass.set_bind_group(0, list.frames, &[]);
                pass.set_bind_group(1, places, &[list.offset]);
                pass.set_vertex_buffer(0, list.playbacks.slice(..));
                pass.draw(0..6 * list.places.pose_times(), instances);
            }
        }
    }
}

impl PoseTexture {
    pub(crate) fn new(device: &wgpu::Device, size: PoseTextureSize) -> Self {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("gpuskin poses"),
            size: wgpu::Extent3d { width: POSE_WIDTH, height: size.height(), depth_or_array_layers: size.layers },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba32Uint,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        let layer = |number| {
            texture.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(wgpu::TextureViewDimension::D2),
                base_array_layer: number,
                array_layer_count: Some(1),
                ..Default::default()
            })
        };
        Self { size, view: texture.create_view(&Default::default()), layers: (0..size.layers).map(layer).collect() }
    }
}
