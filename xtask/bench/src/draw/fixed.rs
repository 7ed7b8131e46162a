//! Static meshes, the baseline of the comparison.

use gpuskin_rt::internals::vertex::{octahedral, unpack};
use gpuskin_rt::internals::{ByteRange, MeshInfo, Model, files::load, wgpu};

use super::gpu::{buffer, bytes, pipeline};
use super::placed::{Placed, SHADING};
use crate::context::Context;

pub(super) struct Fixed {
    color: wgpu::RenderPipeline,
    depth: wgpu::RenderPipeline,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    index_format: wgpu::IndexFormat,
    instances: wgpu::Buffer,
    count: u32,
}

const STATIC: &str = r"
struct Input {
    @location(0) vertex: vec4<u32>,
    @location(1) place: vec4<f32>,
    @location(2) rotation: vec4<f32>,
}
fn halves(word: u32) -> vec2<f32> { return vec2<f32>(f32(word & 0xffffu), f32(word >> 16u)) / 65535.0; }
fn rotate(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + v * q.w); }
fn world(input: Input) -> vec4<f32> {
    let p = vec3<f32>(halves(input.vertex.x), halves(input.vertex.y).x) * 8.0 - 4.0;
    return view.view_proj * vec4<f32>(input.place.xyz + rotate(input.rotation, p * input.place.w), 1.0);
}
@vertex
fn vertex(input: Input) -> Varyings {
    let e = halves(input.vertex.z) * 2.0 - 1.0;
    var n = vec3<f32>(e, 1.0 - abs(e.x) - abs(e.y));
    let fold = max(-n.z, 0.0);
    n = normalize(vec3<f32>(n.x - select(-fold, fold, n.x >= 0.0), n.y - select(-fold, fold, n.y >= 0.0), n.z));
    return Varyings(world(input), halves(input.vertex.w), rotate(input.rotation, n));
}
@vertex
fn vertex_depth(input: Input) -> @builtin(position) vec4<f32> {
    return world(input);
}
";

impl Fixed {
    pub(super) fn new(
        context: &Context,
        model: &Model,
        view: &wgpu::BindGroupLayout,
        places: &[Placed],
    ) -> Result<Self, String> {
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
        let (text, layouts) = (SHADING.to_owned() + STATIC, [Some(vertex_layout), Some(instance_layout)]);
        let pipeline = |depth_only| pipeline(&context.device, &text, &[Some(view)], &layouts, depth_only);
        let mesh = load(&model.mesh, &model.meta.content_hash).map_err(|e| e.to_string())?;
        let info = &model.meta.mesh;
        let section = |range: ByteRange| &mesh[range.offset as usize..][..range.len as usize];
        let instances: Vec<f32> =
            places.iter().flat_map(|placed| placed.place.into_iter().chain(placed.rotation)).collect();
        Ok(Self {
            color: pipeline(false),
            depth: pipeline(true),
            vertices: buffer(context, &vertices(section(info.vertices), info), wgpu::BufferUsages::VERTEX),
            indices: buffer(context, section(info.indices), wgpu::BufferUsages::INDEX),
            index_count: info.parts.iter().map(|p| p.index_count).sum(),
            index_format: if info.wide_indices { wgpu::IndexFormat::Uint32 } else { wgpu::IndexFormat::Uint16 },
            instances: buffer(context, &bytes(&instances), wgpu::BufferUsages::VERTEX),
            count: places.len() as u32,
        })
    }

    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, depth_only: bool) {
        pass.set_pipeline(if depth_only { &self.depth } else { &self.color });
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_vertex_buffer(1, self.instances.slice(..));
        pass.set_index_buffer(self.indices.slice(..), self.index_format);
        pass.draw_indexed(0..self.index_count, 0, 0..self.count);
    }
}

/// Vertices of a mesh, packed to 16 bytes each.
fn vertices(packed: &[u8], info: &MeshInfo) -> Vec<u8> {
    let words: Vec<u32> = packed.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
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
