//! Shader of published articles on the same mesh with the same order of indices; its matrices are
//! those of `matrix-f16`.

use gpuskin_rt::internals::vertex::unpack;
use gpuskin_rt::internals::{ByteRange, Model, files::load, wgpu};

use super::gpu::{buffer, bytes, entry, of_buffer, pipeline};
use super::placed::{Placed, SHADING};
use crate::context::Context;

const SHADER: &str = include_str!("naive.wgsl");

pub(super) struct Naive {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    index_format: wgpu::IndexFormat,
    count: u32,
}

impl Naive {
    /// Creates the method for a model in `matrix-f16`. Returns `None` if its frames need several
    /// layers, which the textures of the articles lack.
    pub(super) fn new(
        context: &Context,
        model: &Model,
        view: &wgpu::BindGroupLayout,
        places: &[Placed],
    ) -> Result<Option<Self>, String> {
        use wgpu::ShaderStages as Stages;
        let meta = &model.meta;
        if meta.texture.layers != 1 {
            return Ok(None);
        }
        let device = &context.device;
        let texture = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: false },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[
                entry(0, Stages::VERTEX, texture),
                entry(1, Stages::VERTEX, of_buffer(wgpu::BufferBindingType::Uniform)),
                entry(2, Stages::VERTEX, of_buffer(wgpu::BufferBindingType::Storage { read_only: true })),
            ],
        });
        let shape: Vec<u8> =
            [meta.texture.width, meta.texture.rows, 0, 0].into_iter().flat_map(u32::to_le_bytes).collect();
        let shape = buffer(context, &shape, wgpu::BufferUsages::UNIFORM);
        let instances: Vec<f32> = places.iter().flat_map(|placed| instance(placed, model)).collect();
        let instances = buffer(context, &bytes(&instances), wgpu::BufferUsages::STORAGE);
        let texture = matrices(context, model)?.create_view(&Default::default());
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&texture) },
                wgpu::BindGroupEntry { binding: 1, resource: shape.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 2, resource: instances.as_entire_binding() },
            ],
        });
        let attributes = wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x4, 2 => Uint32x4, 3 => Float32x4];
        let vertex_layout = wgpu::VertexBufferLayout {
            array_stride: 64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &attributes,
        };
        let text = SHADING.to_owned() + SHADER;
        let pipeline = pipeline(device, &text, &[Some(view), Some(&layout)], &[Some(vertex_layout)], false);
        let mesh = load(&model.mesh, &meta.content_hash).map_err(|e| e.to_string())?;
        let section = |range: ByteRange| &mesh[range.offset as usize..][..range.len as usize];
        let info = &meta.mesh;
        Ok(Some(Self {
            pipeline,
            group,
            vertices: buffer(context, &vertices(section(info.vertices), model), wgpu::BufferUsages::VERTEX),
            indices: buffer(context, section(info.indices), wgpu::BufferUsages::INDEX),
            index_count: info.parts.iter().map(|p| p.index_count).sum(),
            index_format: if info.wide_indices { wgpu::IndexFormat::Uint32 } else { wgpu::IndexFormat::Uint16 },
            count: places.len() as u32,
        }))
    }

    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(1, &self.group, &[]);
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_index_buffer(self.indices.slice(..), self.index_format);
        pass.draw_indexed(0..self.index_count, 0, 0..self.count);
    }
}

/// Instance data, 16 floats.
fn instance(placed: &Placed, model: &Model) -> impl Iterator<Item = f32> + use<> {
    let clip = &model.meta.clips[usize::from(placed.clip)];
    let pace = if clip.duration > 0.0 { (1.0 / clip.duration) as f32 } else { 0.0 };
    let frames = [clip.first_frame as f32, clip.intervals as f32, clip.stored as f32, placed.phase.fract()];
    placed.place.into_iter().chain(placed.rotation).chain(frames).chain([
        pace,
        f32::from(clip.held.first),
        f32::from(clip.held.count),
        0.0,
    ])
}

/// Vertex data, 64 bytes per vertex.
fn vertices(packed: &[u8], model: &Model) -> Vec<u8> {
    let info = &model.meta.mesh;
    let words: Vec<u32> = packed.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
    let mut out = Vec::new();
    for words in words.chunks_exact(info.format.words()) {
        let v = unpack(words, info.format, &info.range);
        let [p, n] = [v.position.extend(v.uv.x), v.normal.extend(v.uv.y)].map(|v| v.to_array().map(f32::to_bits));
        let (joints, weights) =
            (*v.joints.first_chunk().expect("4 of 8"), *v.weights.first_chunk::<4>().expect("4 of 8"));
        let all = [p, n, joints, weights.map(f32::to_bits)];
        out.extend(all.into_iter().flatten().flat_map(u32::to_le_bytes));
    }
    out
}

fn matrices(context: &Context, model: &Model) -> Result<wgpu::Texture, String> {
    let shape = &model.meta.texture;
    let size = wgpu::Extent3d { width: shape.width, height: shape.height, depth_or_array_layers: 1 };
    let texture = context.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba16Float,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let file = load(&model.animation, &model.meta.content_hash).map_err(|e| e.to_string())?;
    let level = model.animation.levels[0];
    context.queue.write_texture(
        texture.as_image_copy(),
        &file[level.offset as usize..][..level.len as usize],
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(shape.width * 8), rows_per_image: None },
        size,
    );
    Ok(texture)
}
