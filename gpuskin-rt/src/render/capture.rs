//! Reads back the results of the vertex function: for tests, and for tools that compare a bake with
//! its source.

use bytemuck::{Pod, Zeroable};

use super::Error;
use super::compute::LazyPipelines;
use super::descriptor::MORPH_BYTES;
use super::geometry::{Geometry, InstanceBindings, PoseMemory};
use super::gpu_model::playable;
use super::layouts::{Layouts, entry, uniform, vertex_buffers};
use super::live::{check, write_pose};
use super::material::MaterialConstants;
use super::palette::{LayerBuffer, PalettePipelines, PoseEvaluator, identity_list};
use super::pose_pass::{PosePipelines, PoseTexture, PosedList};
use super::readback::{map, wait};
use crate::local::shader::PaletteUniform;
use crate::pose_texture::{PosePlaces, PoseTextureSize};
use crate::record::PlaceRecord;
use crate::{Appearance, InstanceRecord, LayerSet, LiveBones, Model, Time, shader};

/// Vertex of an instance, in world space, as computed on the GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CapturedVertex {
    /// Position, world space, metres.
    pub position: [f32; 3],
    /// Normal, world space, unit length.
    pub normal: [f32; 3],
}

/// An instance at one time, with its layers.
#[derive(Clone, Copy, Debug)]
pub struct CaptureFrame<'a> {
    /// Record of the instance; [`InstanceRecord::layer_set`] is ignored.
    pub record: InstanceRecord,
    /// Layers of the instance; for models in
    /// [`Encoding::LocalPacked`](crate::Encoding::LocalPacked).
    pub layers: Option<LayerSet>,
    /// Pose of the live bones in `layers`.
    pub live: Option<LiveBones<'a>>,
    /// Time of the capture.
    pub time: Time,
}

/// Layout of `CaptureParameters` in `shaders/capture.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CaptureUniform {
    pub(crate) time: [u32; 2],
    pub(crate) size: [u32; 2],
    pub(crate) first_pixel: u32,
    pub(crate) reserved_0: u32,
    pub(crate) reserved_1: [u32; 2],
}

/// Width of the target in pixels; any multiple of 16 gives rows with wgpu's copy alignment.
const WIDTH: u32 = 1024;
/// Largest number of rows that are read back at once: 2^20 vertices are 32 MiB.
const MOST_ROWS: u32 = 1024;
/// Largest number of frames whose poses are drawn at once.
const MOST_POSED: u64 = 1 << 12;
/// Bytes per pixel. Position and normal take a pixel each, as the bits of floats.
const PIXEL: u64 = 16;

/// Runs the vertex function of [`crate::Crowd`] over all vertices of a model and reads the results
/// back. For tools and tests: waits for the GPU.
///
/// Uses the same vertex function, bind group, vertex buffer and instance record as a crowd's draw.
/// Each vertex is a point that writes its position and normal to a pixel of its own. Needs no
/// storage buffers and no compute, except for models that need them: these run the same compute
/// pass first.
#[derive(Debug)]
pub struct Capture {
    device: wgpu::Device,
    queue: wgpu::Queue,
    name: String,
    encoding: crate::Encoding,
    geometry: Geometry,
    layouts: Layouts,
    poses: PosePipelines,
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::RenderPipeline,
}

impl Capture {
    /// Uploads a model.
    ///
    /// # Errors
    /// If a file of the model is missing or from another bake, or if the device cannot hold the
    /// model.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, model: &Model) -> Result<Self, Error> {
        let layouts = Layouts::new(device, None);
        let model = playable(device, model)?;
        let pipelines = LazyPipelines::new(device, PalettePipelines::new);
        let memory = PoseMemory { pose_times: 1, morph_bytes: MORPH_BYTES };
        let geometry = Geometry::new(device, queue, &pipelines, memory, model, &MaterialConstants::NONE)?;
        geometry.bind_texture(device, &layouts);
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("gpuskin capture"),
            entries: &[entry(0, wgpu::ShaderStages::VERTEX, uniform(0, true))],
        });
        let variant = geometry.variant;
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("gpuskin capture"),
            bind_group_layouts: &[Some(&layout), Some(layouts.model(variant))],
            immediate_size: 0,
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("gpuskin capture"),
            source: wgpu::ShaderSource::Wgsl(shader::capture(variant).into()),
        });
        let target = Some(wgpu::ColorTargetState::from(wgpu::TextureFormat::Rgba32Uint));
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("gpuskin capture"),
            layout: Some(&pipeline_layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("capture_vertex"),
                compilation_options: Default::default(),
                buffers: &vertex_buffers(variant).layouts(),
            },
            primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::PointList, ..Default::default() },
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("capture_fragment"),
                compilation_options: Default::default(),
                targets: &[target.clone(), target],
            }),
            multiview_mask: None,
            cache: None,
        });
        let (name, encoding) = (model.meta.name.to_string(), model.meta.encoding);
        let (device, queue, poses) = (device.clone(), queue.clone(), PosePipelines::new(device));
        Ok(Self { device, queue, name, encoding, geometry, layouts, poses, layout, pipeline })
    }

    /// Returns the vertices of the model, in the order of its vertex buffer, for each instance and
    /// time. Capturing many frames at once is far faster than one by one: up to a million vertices
    /// take one submission.
    ///
    /// # Errors
    /// If the pixels cannot be read back from the device.
    pub fn frames(&self, frames: &[(InstanceRecord, Time)]) -> Result<Vec<Vec<CapturedVertex>>, Error> {
        wait(&self.device, self.frames_async(frames))
    }

    /// Returns the vertices of the model as [`Capture::frames`] does, for web pages, which must not block. With WebGPU in
    /// a browser, they come by themselves; on other backends, the caller calls `Device::poll` meanwhile.
    ///
    /// # Errors
    /// If the pixels cannot be read back from the device.
    pub async fn frames_async(&self, frames: &[(InstanceRecord, Time)]) -> Result<Vec<Vec<CapturedVertex>>, Error> {
        let plain = |&(record, time): &(InstanceRecord, Time)| CaptureFrame { record, layers: None, live: None, time };
        self.capture(&frames.iter().map(plain).collect::<Vec<_>>()).await
    }

    /// Returns the vertices for instances with layers and live bones. See [`Capture::frames`].
    ///
    /// # Errors
    /// See [`Capture::frames`]; also if the model has no local poses for layers, or if the live
    /// bones do not match its bones.
    pub fn layered(&self, frames: &[CaptureFrame<'_>]) -> Result<Vec<Vec<CapturedVertex>>, Error> {
        for frame in frames.iter().filter(|frame| frame.layers.is_some()) {
            let (model, encoding) = (self.name.clone(), self.encoding.name());
            let poses = self.geometry.poses().ok_or(Error::LocalPoses { model, what: "layers", encoding })?;
            frame.live.map_or(Ok(()), |live| check(&self.name, poses, 1, &live))?;
        }
        wait(&self.device, self.capture(frames))
    }

    async fn capture(&self, frames: &[CaptureFrame<'_>]) -> Result<Vec<Vec<CapturedVertex>>, Error> {
        let vertices = u64::from(self.geometry.vertex_count);
        let total = vertices * frames.len() as u64;
        let mut captured: Vec<_> = frames.iter().map(|_| Vec::with_capacity(vertices as usize)).collect();
        if frames.is_empty() {
            return Ok(captured);
        }
        let rows = total.div_ceil(u64::from(WIDTH)).min(u64::from(MOST_ROWS)) as u32;
        let sheet = Sheet::new(&self.device, rows);
        // Number of frames whose poses fit one palette; the first of them may have begun on the
        // sheet before.
        let most = self.geometry.poses().map_or(u64::MAX, |poses| u64::from(poses.max_instances(&self.device)));
        let most = match self.geometry.poses() {
            Some(poses) if frames.iter().any(|frame| frame.layers.is_some()) => {
                most.min(poses.binding / (u64::from(poses.live_stride()) * 16 + LayerSet::WORDS as u64 * 4)).max(2)
            }
            _ => most,
        };
        let most = if self.geometry.variant.is_posed() { most.min(MOST_POSED) } else { most };
        let most = (most - 1).saturating_mul(vertices);
        let mut first = 0;
        while first < total {
            let end = (first + sheet.pixels().min(most)).min(total);
            self.draw(&sheet, frames, first..end);
            // Vertices are numbered through all frames.
            let mut number = first;
            let each = |vertex| {
                captured[(number / vertices) as usize].push(vertex);
                number += 1;
            };
            sheet.read((end - first) as usize, each).await?;
            first = end;
        }
        Ok(captured)
    }

    /// Bytes per uniform, aligned so that each can be bound separately.
    fn slot<T>(&self) -> u64 {
        let alignment = self.device.limits().min_uniform_buffer_offset_alignment;
        (size_of::<T>() as u64).next_multiple_of(u64::from(alignment.max(1)))
    }

    /// Draws a range of vertices, numbered through all frames, to the pixels from 0 on.
    fn draw(&self, sheet: &Sheet, frames: &[CaptureFrame<'_>], numbers: core::ops::Range<u64>) {
        let vertices = u64::from(self.geometry.vertex_count);
        let within = numbers.start / vertices..numbers.end.div_ceil(vertices);
        let frames = &frames[within.start as usize..within.end as usize];

        let slot = self.slot::<CaptureUniform>();
        let mut places = Vec::with_capacity(frames.len());
        let mut playbacks = Vec::with_capacity(frames.len());
        let mut parameters = vec![0_u8; frames.len() * slot as usize];
        for (i, CaptureFrame { record, layers, time, .. }) in frames.iter().enumerate() {
            let record = record.with_layer_set(if layers.is_some() { i as u32 + 1 } else { 0 });
            let appearance = Appearance::default();
            places.push(PlaceRecord::new(record.transform(), &appearance));
            playbacks.push(record.played((appearance.custom, appearance.variant)));
            let first_vertex = (within.start + i as u64) * vertices;
            let uniform = CaptureUniform {
                time: time.words(),
                size: [WIDTH, sheet.rows],
                // Negative, modulo 2^32, for a frame that began on the sheet before.
                first_pixel: first_vertex.wrapping_sub(numbers.start) as u32,
                reserved_0: 0,
                reserved_1: [0; 2],
            };
            let at = i * slot as usize;
            parameters[at..at + size_of_val(&uniform)].copy_from_slice(bytemuck::bytes_of(&uniform));
        }
        let buffer = |label, usage, bytes: &[u8]| {
            let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: bytes.len() as u64,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            self.queue.write_buffer(&buffer, 0, bytes);
            buffer
        };
        let storage = self.geometry.poses().map_or(wgpu::BufferUsages::empty(), |_| wgpu::BufferUsages::STORAGE);
        let usage = wgpu::BufferUsages::VERTEX | storage;
        let places = buffer("gpuskin place records", usage, bytemuck::cast_slice(&places));
        let playbacks = buffer("gpuskin playback records", usage, bytemuck::cast_slice(&playbacks));
        let parameters = buffer("gpuskin capture", wgpu::BufferUsages::UNIFORM, &parameters);
        let bind_group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gpuskin capture"),
            layout: &self.layout,
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &parameters,
                    offset: 0,
                    size: wgpu::BufferSize::new(size_of::<CaptureUniform>() as u64),
                }),
            }],
        });

        let mut encoder = self.device.create_command_encoder(&Default::default());
        let palette =
            self.geometry.poses().map(|poses| self.evaluate(&mut encoder, poses, frames, [&places, &playbacks]));
        let is_posed = self.geometry.variant.is_posed();
        let posed = is_posed.then(|| self.draw_poses(&mut encoder, frames, &playbacks));
        {
            let mut pass = sheet.begin(&mut encoder);
            pass.set_pipeline(&self.pipeline);
            match &palette {
                Some(palette) => pass.set_bind_group(1, palette, &[0]),
                None if posed.is_some() => {}
                None => pass.set_bind_group(1, self.geometry.texture(), &[]),
            }
            pass.set_vertex_buffer(0, self.geometry.vertices());
            for i in 0..frames.len() as u64 {
                let first_vertex = (within.start + i) * vertices;
                let from = numbers.start.saturating_sub(first_vertex) as u32;
                let to = (numbers.end - first_vertex).min(vertices) as u32;
                pass.set_bind_group(0, &bind_group, &[(i * slot) as u32]);
                if palette.is_some() {
                    // The shader reads instances and palettes by instance number.
                    pass.draw(from..to, i as u32..i as u32 + 1);
                } else {
                    if let Some((posed, stride)) = &posed {
                        pass.set_bind_group(1, posed, &[(i * stride) as u32]);
                    }
                    pass.set_vertex_buffer(1, places.slice(..));
                    pass.set_vertex_buffer(2, playbacks.slice(..));
                    pass.draw(from..to, i as u32..i as u32 + 1);
                }
            }
        }
        sheet.copy(&mut encoder);
        self.queue.submit([encoder.finish()]);
    }
}

impl Capture {
    /// Draws the poses of frames, each at its own time, into a texture. Returns the model's bind group with it, and
    /// the distance of the frames' places in bytes.
    fn draw_poses(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        frames: &[CaptureFrame<'_>],
        playbacks: &wgpu::Buffer,
    ) -> (wgpu::BindGroup, u64) {
        let stride = self.slot::<PosePlaces>();
        let places_at = |time| PosePlaces::new(self.geometry.constants.rows, false, [time; 2]);
        let rows = places_at(Time::ZERO).rows(frames.len() as u32);
        let texture = PoseTexture::new(&self.device, PoseTextureSize::of_rows(rows));
        let mut bytes = vec![0_u8; frames.len() * stride as usize];
        let mut lists = Vec::with_capacity(frames.len());
        for (i, frame) in (0..).zip(frames) {
            let places = PosePlaces { layer_shift: texture.size.layer_shift, ..places_at(frame.time) };
            let at = i as usize * stride as usize;
            bytes[at..at + size_of_val(&places)].copy_from_slice(bytemuck::bytes_of(&places));
            let (variant, frames) = (self.geometry.variant, self.geometry.texture());
            let offset = at as u32;
            lists.push(PosedList { variant, frames, playbacks, instances: i..i + 1, places, offset });
        }
        let places = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin pose places"),
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&places, 0, &bytes);
        let bound = self.poses.bind(&places);
        self.poses.record(encoder, &self.layouts, (&texture, false), &bound, &lists);
        (self.geometry.with_poses(&self.device, &self.layouts, &texture.view, &places), stride)
    }

    /// Evaluates the poses of frames, each at its own time, into a palette. Returns the model's
    /// bind group with that palette.
    fn evaluate(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        poses: &PoseEvaluator,
        frames: &[CaptureFrame<'_>],
        [places, playbacks]: [&wgpu::Buffer; 2],
    ) -> wgpu::BindGroup {
        let slot = self.slot::<PaletteUniform>();
        // One dispatch per frame, because each has its own time; one palette for all, so that one
        // pass draws them.
        let mut bytes = vec![0_u8; frames.len() * slot as usize];
        let layers = self.layers(poses, frames);
        for (i, frame) in (0..).zip(frames) {
            let parameters = poses.parameters([frame.time; 2], i, 1, &layers);
            let at = i as usize * slot as usize;
            bytes[at..at + size_of_val(&parameters)].copy_from_slice(bytemuck::bytes_of(&parameters));
        }
        let parameters = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin palette parameters"),
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&parameters, 0, &bytes);
        let palette = poses.palette(&self.device, frames.len() as u32);
        let list = identity_list(&self.device, &self.queue, frames.len() as u32);
        let whole = wgpu::Buffer::as_entire_buffer_binding;
        let (places, playbacks, list) = (whole(places), whole(playbacks), whole(&list));
        let bind_group = poses.bind_group(&self.device, &parameters, playbacks.clone(), &palette, &layers);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for i in 0..frames.len() as u64 {
            poses.dispatch(&mut pass, &bind_group, (i * slot) as u32, 1);
        }
        let instances = InstanceBindings { places, list, playbacks, previous: None };
        self.geometry.with_palette(&self.device, &self.layouts, palette.as_entire_buffer_binding(), instances)
    }
}

impl Capture {
    /// Creates the layer buffer: a set and a pose per frame if any frame has layers.
    fn layers(&self, poses: &PoseEvaluator, frames: &[CaptureFrame<'_>]) -> LayerBuffer {
        let count = if frames.iter().any(|frame| frame.layers.is_some()) { frames.len() } else { 0 };
        let mut sets = Vec::new();
        let mut rows = vec![[0.0_f32; 4]; count * poses.live_stride() as usize];
        for (i, frame) in frames[..count].iter().enumerate() {
            let mut set = frame.layers.unwrap_or_default();
            set.renumber_live(i as u32);
            sets.push(set.words());
            if let Some(live) = &frame.live {
                let pose: &mut [u8] = bytemuck::cast_slice_mut(&mut rows[i * poses.live_stride() as usize..]);
                write_pose(live, wgpu::WriteOnly::from_mut(pose));
            }
        }
        let (sets, rows): (&[u8], &[u8]) = (bytemuck::cast_slice(&sets), bytemuck::cast_slice(&rows));
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin layers"),
            // wgpu cannot bind an empty buffer.
            size: (sets.len() + rows.len()).max(16) as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, sets);
        self.queue.write_buffer(&buffer, sets.len() as u64, rows);
        let live_at = (sets.len() / 16) as u32;
        LayerBuffer { buffer, live_at, previous_live_at: live_at }
    }
}

/// Render targets for captured positions and normals, and their readback buffer.
struct Sheet {
    rows: u32,
    targets: [wgpu::Texture; 2],
    readback: wgpu::Buffer,
}

impl Sheet {
    fn new(device: &wgpu::Device, rows: u32) -> Self {
        let texture = |label| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d { width: WIDTH, height: rows, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::Rgba32Uint,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            })
        };
        let readback = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin captured vertices"),
            size: 2 * u64::from(WIDTH * rows) * PIXEL,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        Self { rows, targets: [texture("gpuskin captured positions"), texture("gpuskin captured normals")], readback }
    }

    fn pixels(&self) -> u64 {
        u64::from(WIDTH * self.rows)
    }

    fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        let views = self.targets.each_ref().map(|texture| texture.create_view(&Default::default()));
        let attachments = views.each_ref().map(|view| {
            Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })
        });
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("gpuskin capture"),
            color_attachments: &attachments,
            ..Default::default()
        })
    }

    fn copy(&self, encoder: &mut wgpu::CommandEncoder) {
        for (i, texture) in (0..).zip(&self.targets) {
            encoder.copy_texture_to_buffer(
                texture.as_image_copy(),
                wgpu::TexelCopyBufferInfo {
                    buffer: &self.readback,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: i * self.pixels() * PIXEL,
                        bytes_per_row: Some(WIDTH * PIXEL as u32),
                        rows_per_image: Some(self.rows),
                    },
                },
                texture.size(),
            );
        }
    }

    async fn read(&self, count: usize, mut each: impl FnMut(CapturedVertex)) -> Result<(), Error> {
        let failed = |reason: String| Error::Readback { reason };
        map(&self.readback).await?;
        {
            let view = self.readback.get_mapped_range(..).map_err(|e| failed(e.to_string()))?;
            let pixels: &[[f32; 4]] = bytemuck::try_cast_slice(&view).map_err(|e| failed(e.to_string()))?;
            let (positions, normals) = pixels.split_at(self.pixels() as usize);
            for ([px, py, pz, _], [nx, ny, nz, _]) in positions.iter().zip(normals).take(count) {
                each(CapturedVertex { position: [*px, *py, *pz], normal: [*nx, *ny, *nz] });
            }
        }
        self.readback.unmap();
        Ok(())
    }
}
