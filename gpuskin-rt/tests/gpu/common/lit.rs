//! Scenes in the metallic-roughness material, drawn into float pictures.

use glam::{DVec3, Vec2, Vec3, Vec4};
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::*;
use half::f16;

use super::Gpu;
use super::brdf::{Sheen, SurfacePoint};
use super::model::{Pose, Recipe, plain};
use super::squares::STILL;

/// A picture in linear light, rows from the top.
pub struct Picture {
    pub side: u32,
    pub pixels: Vec<[f32; 4]>,
}

impl Picture {
    pub fn at(&self, x: u32, y: u32) -> DVec3 {
        let [r, g, b, _] = self.pixels[(y * self.side + x) as usize].map(f64::from);
        DVec3::new(r, g, b)
    }

    pub fn center(&self) -> DVec3 {
        self.at(self.side / 2, self.side / 2)
    }

    /// Pixels that are not background, with their place from -1 to 1, y up.
    pub fn covered(&self) -> impl Iterator<Item = (f64, f64, DVec3)> {
        let place = |i: u32| (f64::from(i) + 0.5) * 2.0 / f64::from(self.side) - 1.0;
        let all = (0..self.side * self.side).map(|i| (i % self.side, i / self.side));
        let drawn = all.filter(|(x, y)| self.pixels[(y * self.side + x) as usize][3] > 0.0);
        drawn.map(move |(x, y)| (place(x), -place(y), self.at(x, y)))
    }
}

pub const SIDE: u32 = 33;

pub struct Scene<'a> {
    pub features: LightingFeatures,
    pub lighting: Lighting,
    pub models: &'a [&'a Model],
    pub camera: Camera,
    pub side: u32,
}

impl Scene<'_> {
    pub fn draw(&self, gpu: &Gpu) -> Picture {
        self.draw_models(gpu, self.renderer(gpu))
    }

    /// Draws the models by a lamp as well.
    pub fn draw_by_lamp(mut self, gpu: &Gpu, lamp: PunctualLight) -> Picture {
        self.features.lights = 1;
        let renderer = self.renderer(gpu);
        renderer.set_lights(&[lamp]).unwrap();
        self.draw_models(gpu, renderer)
    }

    fn draw_models(&self, gpu: &Gpu, mut renderer: CrowdRenderer) -> Picture {
        let crowds: Vec<_> = self
            .models
            .iter()
            .map(|model| Crowd::with_model(&mut renderer, model, Default::default()).unwrap())
            .collect();
        crowds.iter().for_each(|crowd| _ = crowd.spawn(Instance::at([0.0; 3])));
        self.draw_with(gpu, &mut renderer)
    }

    pub fn renderer(&self, gpu: &Gpu) -> CrowdRenderer {
        self.renderer_with(gpu, wgpu::CompareFunction::Less)
    }

    pub fn renderer_with(&self, gpu: &Gpu, depth_compare: wgpu::CompareFunction) -> CrowdRenderer {
        let descriptor = RendererDescriptor {
            color_format: wgpu::TextureFormat::Rgba16Float,
            depth_compare,
            shading: Shading::MetallicRoughness(self.features.clone()),
            ..Default::default()
        };
        CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap()
    }

    pub fn draw_with(&self, gpu: &Gpu, renderer: &mut CrowdRenderer) -> Picture {
        self.draw_over(gpu, renderer, 1.0)
    }

    /// `background`: depth of the background.
    pub fn draw_over(&self, gpu: &Gpu, renderer: &mut CrowdRenderer, background: f32) -> Picture {
        renderer.set_lighting(&self.lighting);
        let target = |format, usage| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: self.side, height: self.side, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            })
        };
        let color = target(wgpu::TextureFormat::Rgba16Float, wgpu::TextureUsages::COPY_SRC);
        let depth = target(wgpu::TextureFormat::Depth32Float, wgpu::TextureUsages::empty());
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare(&gpu.queue, &mut encoder, &self.camera, 0.0).unwrap();
        renderer.draw_shadows(&mut encoder);
        renderer.draw(&mut encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &color.create_view(&Default::default()),
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth.create_view(&Default::default()),
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(background),
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        }));
        let row = (self.side * 8).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(row * self.side),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
        let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(color.as_image_copy(), to, color.size());
        gpu.queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let bytes = buffer.get_mapped_range(..).unwrap();
        let rows = bytes.chunks_exact(row as usize).flat_map(|row| &row[..self.side as usize * 8]);
        let halves: Vec<u8> = rows.copied().collect();
        let half = |bytes: &[u8]| f16::from_le_bytes([bytes[0], bytes[1]]).to_f32();
        let pixels = halves.as_chunks::<8>().0.iter().map(|t| [0, 2, 4, 6].map(|i| half(&t[i..]))).collect();
        Picture { side: self.side, pixels }
    }
}

pub fn vertex(position: Vec3, normal: Vec3, uv: Vec2) -> Vertex {
    let tangent = Vec4::new(1.0, 0.0, 0.0, 1.0);
    let weights = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    Vertex { position, normal, tangent, uv, second_uv: Vec2::ZERO, joints: [0; 8], weights, part: 0, color: Vec4::ONE }
}

pub fn recipe(vertices: Vec<Vertex>, indices: Vec<u32>, tangent: bool, material: Material) -> Recipe {
    Recipe {
        encoding: Encoding::MatrixF32,
        format: VertexFormat { packing: Packing::Full, tangent, second_uv: false, color: false },
        bones: 1,
        clips: vec![STILL],
        frames_per_layer: 8,
        normals: Normals::Cofactor,
        width: 64,
        vertices,
        morphs: Vec::new(),
        indices,
        materials: vec![material],
        textures: Vec::new(),
    }
}

/// A square from (-1, -1, 0) to (1, 1, 0), with texture coordinates from the upper left.
pub fn square(material: Material) -> Recipe {
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let corner = |(x, y): (f32, f32)| vertex(Vec3::new(x, y, 0.0), Vec3::Z, Vec2::new(0.5 + 0.5 * x, 0.5 - 0.5 * y));
    recipe(corners.map(corner).to_vec(), vec![0, 1, 2, 0, 2, 3], true, material)
}

/// The square, turned about the y axis until the cosine of its angle to the front is `n_dot_v`, and its normal.
pub fn turned_square(material: Material, n_dot_v: f32) -> (Recipe, DVec3) {
    let mut recipe = square(material);
    let turn = glam::Quat::from_rotation_y(n_dot_v.acos());
    for vertex in &mut recipe.vertices {
        (vertex.position, vertex.normal) = (turn * vertex.position, turn * vertex.normal);
        vertex.tangent = (turn * vertex.tangent.truncate()).extend(vertex.tangent.w);
    }
    (recipe, (turn * Vec3::Z).as_dvec3())
}

/// A sphere of radius 1.
pub fn sphere(material: Material) -> Recipe {
    const RINGS: u32 = 48;
    let vertices = (0..=RINGS).flat_map(|ring| {
        (0..=2 * RINGS).map(move |sector| {
            let [up, around] = [ring, sector].map(|i| i as f32 / RINGS as f32 * core::f32::consts::PI);
            let normal = Vec3::new(up.sin() * around.cos(), up.cos(), -up.sin() * around.sin());
            vertex(normal, normal, Vec2::new(around, up))
        })
    });
    let indices = (0..RINGS).flat_map(|ring| {
        (0..2 * RINGS).flat_map(move |sector| {
            let a = ring * (2 * RINGS + 1) + sector;
            let b = a + 2 * RINGS + 1;
            [a, b, b + 1, a, b + 1, a + 1]
        })
    });
    recipe(vertices.collect(), indices.collect(), false, material)
}

pub fn model(recipe: Recipe) -> Model {
    recipe.build(|_, _| Pose::REST).model
}

/// One texel, linear or sRGB.
pub fn texel(srgb: bool, rgba: [u8; 4]) -> (ColorTexture, Vec<Vec<Vec<u8>>>) {
    let formats = vec![ColorFormat::Rgba8].into();
    (ColorTexture { width: 1, height: 1, levels: 1, layers: 1, srgb, formats }, vec![vec![rgba.to_vec()]])
}

/// Linear value of an sRGB byte.
pub fn linear(srgb: u8) -> f64 {
    let c = f64::from(srgb) / 255.0;
    if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Looks along -z from a distance of 100 m, at a square of 2.2 m.
pub fn front() -> Camera {
    Camera::orthographic_look_at([0.0, 0.0, 100.0], [0.0; 3], 1.1, 1.1, 200.0)
}

pub fn sun(to_sun: [f32; 3], illuminance: f32) -> Lighting {
    let sun = Sun { to_sun, color: [1.0, 0.9, 0.7], illuminance };
    Lighting { sun, ambient: Ambient::NONE, ..Default::default() }
}

pub fn scene<'a>(models: &'a [&'a Model], lighting: Lighting) -> Scene<'a> {
    Scene { features: Default::default(), lighting, models, camera: front(), side: SIDE }
}

#[track_caller]
pub fn assert_close(seen: DVec3, expected: DVec3, share: f64, what: &dyn core::fmt::Debug) {
    let close = (seen - expected).abs().cmple(expected.abs() * share + 1e-3).all();
    assert!(close, "{seen}, expected {expected}: {what:?}");
}

pub fn surface(material: &Material) -> SurfacePoint {
    let [r, g, b, _] = material.base_color.map(f64::from);
    let (ior, specular) = (f64::from(material.ior), f64::from(material.specular));
    let ratio = (ior - 1.0) / (ior + 1.0);
    SurfacePoint {
        normal: DVec3::Z,
        to_eye: DVec3::Z,
        base_color: DVec3::new(r, g, b),
        metallic: material.metallic.into(),
        roughness: material.roughness.into(),
        f0: specular * (DVec3::from(material.specular_color.map(f64::from)) * ratio * ratio).min(DVec3::ONE),
        f90: specular,
        coat: [material.clearcoat, material.clearcoat_roughness].map(f64::from),
        coat_normal: DVec3::Z,
        sheen: Sheen::new(DVec3::from(material.sheen_color.map(f64::from)), material.sheen_roughness.into(), 1.0),
        occlusion: 1.0,
        emitted: DVec3::from(material.emissive.map(f64::from)),
    }
}

pub fn material(base: [f32; 3], metallic: f32, roughness: f32) -> Material {
    let [r, g, b] = base;
    let name = format!("{base:?} {metallic} {roughness}").into();
    Material { metallic, roughness, name, ..plain([r, g, b, 1.0]) }
}
