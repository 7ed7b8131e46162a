//! The ground, a grid of heights, and the sky: the game's own pipelines, in the light of the crowds.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use gpuskin_rt::wgpu::util::DeviceExt;
use gpuskin_rt::{CrowdRenderer, View, wgpu};

use crate::Error;
use crate::frame;

/// Distance between vertices of the grid in metres, and the number of vertices across and away.
const STEP: f32 = 5.0;
const GRID: [u32; 2] = [280, 220];

/// Height of the ground in metres: a field that rises away from the camera, and hills in the haze.
pub fn height(x: f32, z: f32) -> f32 {
    let rise = 19.0 * smooth((-z - 25.0) / 230.0);
    let waves = 0.9 * (0.043 * x + 0.6).sin() * (0.031 * z + 0.2).sin() * smooth((-z - 5.0) / 60.0);
    let ridges = 62.0 + 34.0 * (0.010 * x + 2.6).sin() + 16.0 * (0.023 * x + 0.013 * z).sin();
    rise + waves + ridges * smooth((-z - 230.0) / 400.0)
}

/// Smooth step: 0 below 0, 1 above 1.
fn smooth(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Vertex of the ground, world space.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Vertex {
    /// Position, metres.
    pub position: [f32; 3],
    /// Normal, unit length.
    pub normal: [f32; 3],
}

/// Buffers and pipelines of ground and sky.
#[derive(Debug)]
pub(crate) struct Land {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    ground: wgpu::RenderPipeline,
    sky: wgpu::RenderPipeline,
}

impl Land {
    pub(crate) fn new(
        device: &wgpu::Device,
        renderer: &CrowdRenderer,
        format: wgpu::TextureFormat,
    ) -> Result<Self, Error> {
        let (vertices, indices) = grid();
        let buffer = |label, usage, contents: &[u8]| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage })
        };
        let pipeline = |label, text, buffers: &[_], depth_compare| {
            let light =
                (renderer.lighting_source(0).zip(renderer.lighting_layout())).ok_or("the renderer is diffuse")?;
            Ok::<_, Error>(pipeline(device, label, light, text, (buffers, depth_compare, format)))
        };
        let grid = Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<Vertex>() as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3],
        });
        Ok(Self {
            vertices: buffer("land", wgpu::BufferUsages::VERTEX, bytemuck::cast_slice(&vertices)),
            indices: buffer("land", wgpu::BufferUsages::INDEX, bytemuck::cast_slice(&indices)),
            index_count: indices.len() as u32,
            ground: pipeline("land", include_str!("land.wgsl"), &[grid], wgpu::CompareFunction::Less)?,
            sky: pipeline("sky", include_str!("sky.wgsl"), &[], wgpu::CompareFunction::LessEqual)?,
        })
    }

    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, renderer: &CrowdRenderer) {
        pass.set_bind_group(0, renderer.lighting_group(View::MAIN), &[]);
        pass.set_pipeline(&self.ground);
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..self.index_count, 0, 0..1);
        pass.set_pipeline(&self.sky);
        pass.draw(0..3, 0..1);
    }
}

fn pipeline(
    device: &wgpu::Device,
    label: &str,
    (lighting, layout): (String, &wgpu::BindGroupLayout),
    text: &str,
    (buffers, depth_compare, format): (
        &[Option<wgpu::VertexBufferLayout<'_>>],
        wgpu::CompareFunction,
        wgpu::TextureFormat,
    ),
) -> wgpu::RenderPipeline {
    let label = Some(label);
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label,
        source: wgpu::ShaderSource::Wgsl((lighting + text).into()),
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label,
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            buffers,
        },
        primitive: Default::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: frame::DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(depth_compare),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState { count: frame::samples(device), ..Default::default() },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// Returns the vertices of the ground, and the indices of its triangles.
pub fn grid() -> (Vec<Vertex>, Vec<u32>) {
    let [across, away] = GRID;
    let mut vertices = Vec::new();
    let mut indices = Vec::new();
    for j in 0..away {
        for i in 0..across {
            let x = (i as f32 - 0.5 * across as f32) * STEP;
            let z = (40.0 - j as f32) * STEP;
            let slope = |dx, dz| height(x - dx, z - dz) - height(x + dx, z + dz);
            let normal = Vec3::new(slope(0.5, 0.0), 1.0, slope(0.0, 0.5)).normalize();
            vertices.push(Vertex { position: [x, height(x, z), z], normal: normal.into() });
            if i + 1 < across && j + 1 < away {
                let corner = j * across + i;
                let [right, behind] = [corner + 1, corner + across];
                indices.extend([corner, right, behind, right, behind + 1, behind]);
            }
        }
    }
    (vertices, indices)
}
