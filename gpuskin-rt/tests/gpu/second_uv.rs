//! Second texture coordinates: pictures equal those of models whose first coordinates are the same.

use crate::common::lit::*;
use crate::common::model::{Random, Recipe, nearest};
use crate::common::{BACKENDS, Gpu, compute, compute_eight, gpu};
use glam::Vec2;
use gpuskin_rt::internals::field::FieldDescriptor;
use gpuskin_rt::internals::render::PoseSharing;
use gpuskin_rt::internals::*;

/// A texture of 4 x 4 random texels.
fn texture(srgb: bool) -> (ColorTexture, Vec<Vec<Vec<u8>>>) {
    let mut random = Random(3);
    let texels = (0..64).map(|_| 40 + random.below(200) as u8).collect();
    let formats = vec![ColorFormat::Rgba8].into();
    (ColorTexture { width: 4, height: 4, levels: 1, layers: 1, srgb, formats }, vec![vec![texels]])
}

/// A square with a texture, in the first coordinates; with `second`, in the second ones, and the first ones are those of a
/// corner.
fn textured(material: &Material, format: VertexFormat, second: bool) -> Recipe {
    let mut recipe = square(material.clone());
    recipe.format = VertexFormat { second_uv: second, ..format };
    recipe.textures = vec![texture(false)];
    if second {
        for vertex in &mut recipe.vertices {
            (vertex.second_uv, vertex.uv) = (vertex.uv, Vec2::splat(0.1) + 0.01 * vertex.uv);
        }
    }
    recipe
}

const FULL: VertexFormat = VertexFormat { packing: Packing::Full, tangent: true, second_uv: false, color: false };

fn lights() -> Lighting {
    Lighting { ambient: Ambient::uniform([0.4; 3]), ..sun([0.4, 0.3, 1.0], 3.0) }
}

/// Asserts that a picture with second coordinates equals that with first ones, which has several colours.
#[track_caller]
fn assert_same(seen: &Picture, expected: &Picture, what: &dyn core::fmt::Debug) {
    let off = seen.pixels.iter().zip(&expected.pixels).flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    let most = off.fold(0.0, f32::max);
    assert!(most < 2e-3, "{most}: {what:?}");
    let center = expected.center();
    let other = expected.covered().filter(|(.., color)| color.distance(center) > 0.01).count();
    assert!(other > 100, "{other} pixels differ from the centre: {what:?}");
}

/// Sets one texture of a material to the texture with these coordinates.
type Slot = fn(&mut Material, MaterialTexture);

pub fn each_texture_reads_its_own_coordinates() {
    let slots: [(&str, Slot); 9] = [
        ("emissive", |m, texture| m.emissive_texture = Some(texture)),
        ("occlusion, roughness and metallic", |m, texture| {
            (m.orm_texture, m.occlusion_second_uv) = (Some(texture), texture.second_uv);
        }),
        ("occlusion", |m, texture| {
            // Roughness and metallic have the first coordinates, and no effect.
            (m.orm_texture, m.occlusion_second_uv) = (Some(nearest(texture.texture)), texture.second_uv);
            (m.base_color, m.metallic, m.specular) = ([1.0; 4], 0.0, 0.0);
        }),
        ("roughness and metallic", |m, texture| {
            (m.orm_texture, m.occlusion_strength) = (Some(texture), 0.0);
        }),
        ("normal", |m, texture| m.normal_texture = Some(texture)),
        ("specular", |m, texture| (m.specular_texture, m.specular, m.ior, m.metallic) = (Some(texture), 0.9, 3.0, 0.0)),
        ("clear coat", |m, texture| (m.clearcoat_texture, m.clearcoat) = (Some(texture), 0.9)),
        ("normal of the coat", |m, texture| (m.clearcoat_normal_texture, m.clearcoat) = (Some(texture), 0.9)),
        ("sheen", |m, texture| (m.sheen_texture, m.sheen_color, m.sheen_roughness) = (Some(texture), [1.0; 3], 0.9)),
    ];
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (name, set) in slots {
            for tangent in [true, false] {
                let draw = |second_uv, flagged| {
                    let mut material = Material { emissive: [0.5; 3], ..material([0.9, 0.6, 0.3], 0.8, 0.5) };
                    set(&mut material, MaterialTexture { second_uv: second_uv && flagged, ..nearest(0) });
                    let recipe = textured(&material, VertexFormat { tangent, ..FULL }, second_uv);
                    scene(&[&model(recipe)], lights()).draw(&gpu)
                };
                let (second, first) = (draw(true, true), draw(false, true));
                assert_same(&second, &first, &(name, tangent, &gpu.name));
                // Without the mark, one texel is drawn all over.
                let unread = draw(true, false);
                let differs = |(a, b): (&[f32; 4], &[f32; 4])| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 0.01);
                let others = unread.pixels.iter().zip(&first.pixels).filter(|pair| differs(*pair)).count();
                assert!(others > 100, "{others} pixels differ: {name} {tangent} {}", gpu.name);
            }
        }
    }
}

/// Source of the instances of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Path {
    Crowd,
    SharedPoses,
    Field,
    Attached,
}

fn drawn(gpu: &Gpu, full: bool, model: &Model, path: Path) -> Picture {
    let owner = {
        let mut owner = crate::common::lit::model(square(material([0.0; 3], 0.0, 1.0)));
        let bind = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
        owner.meta.bones = vec![BoneInfo { name: "root".into(), parent: None, bind }].into();
        owner.meta.name = "owner".into();
        owner
    };
    let none: [&Model; 0] = [];
    let scene = scene(&none, lights());
    let mut renderer = match full {
        true => scene.renderer(gpu),
        false => {
            let color_format = wgpu::TextureFormat::Rgba16Float;
            let descriptor = RendererDescriptor { color_format, ..Default::default() };
            CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap()
        }
    };
    let at = Instance::at([0.0; 3]);
    match path {
        Path::Crowd | Path::SharedPoses => {
            let descriptor = match path {
                Path::SharedPoses => {
                    CrowdDescriptor { time_grid: Some(0.05), sharing: PoseSharing::Always, ..Default::default() }
                }
                _ => CrowdDescriptor::default(),
            };
            let crowd = Crowd::<Dynamic>::with_model(&mut renderer, model, descriptor).unwrap();
            crowd.spawn(at);
            scene.draw_with(gpu, &mut renderer)
        }
        Path::Field => {
            let descriptor = FieldDescriptor { size: [1, 1], clips: vec![Clip::new(0)], ..Default::default() };
            let _field = Field::<Dynamic>::with_model(&mut renderer, model, descriptor).unwrap();
            scene.draw_with(gpu, &mut renderer)
        }
        Path::Attached => {
            let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &owner, Default::default()).unwrap();
            let above = Attachment::to(Bone::new(0)).at([0.0, 0.0, 0.5]);
            crowd.attach(&mut renderer, model, above).unwrap();
            crowd.spawn(at);
            scene.draw_with(gpu, &mut renderer)
        }
    }
}

pub fn second_coordinates_are_read_in_every_vertex_format_and_path() {
    use Packing::{Full, Full8, Narrow, Static, Wide, Wide8};
    let formats = [
        (Encoding::MatrixF16, Narrow, false),
        (Encoding::MatrixF16, Wide8, true),
        (Encoding::MatrixF32, Full8, true),
        (Encoding::LocalPacked, Wide, false),
        (Encoding::LocalPacked, Wide8, true),
        (Encoding::LocalPacked, Full8, true),
        (Encoding::LocalPacked, Full, true),
        (Encoding::VatF16, Static, true),
        (Encoding::VatF16, Static, false),
    ];
    // With four storage buffers per stage, all words are attributes.
    let devices = [gpu, compute, compute_eight].into_iter().enumerate();
    let devices =
        devices.flat_map(|(kind, open)| BACKENDS.into_iter().filter_map(open).map(move |gpu| (kind > 0, gpu)));
    for (compute, gpu) in devices {
        for (encoding, packing, more) in
            formats.into_iter().filter(|(encoding, ..)| encoding.needs_compute() == compute)
        {
            let tangent = more && encoding.holds_tangents();
            let format = VertexFormat { packing, tangent, second_uv: false, color: more };
            for full in [false, true] {
                for path in [Path::Crowd, Path::SharedPoses, Path::Field, Path::Attached] {
                    let drawn_alike = full && matches!(path, Path::SharedPoses | Path::Field);
                    if drawn_alike || path == Path::Field && encoding.needs_compute() {
                        continue;
                    }
                    let draw = |second| {
                        let texture = MaterialTexture { second_uv: second, ..nearest(0) };
                        let material = Material {
                            emissive: [1.0; 3],
                            emissive_texture: Some(texture),
                            ..material([0.1; 3], 0.0, 1.0)
                        };
                        let recipe = Recipe { encoding, ..textured(&material, format, second) };
                        drawn(&gpu, full, &model(recipe), path)
                    };
                    assert_same(&draw(true), &draw(false), &(encoding, packing, more, full, path, &gpu.name));
                }
            }
        }
    }
}

pub fn textures_need_the_coordinates_that_they_name() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let texture = Some(MaterialTexture { second_uv: true, ..nearest(0) });
        let emissive = Material { emissive_texture: texture, ..material([0.1; 3], 0.0, 1.0) };
        let occlusion = Material { occlusion_second_uv: true, ..material([0.1; 3], 0.0, 1.0) };
        for material in [emissive, occlusion] {
            let model = model(textured(&material, FULL, false));
            let none: [&Model; 0] = [];
            let mut renderer = scene(&none, lights()).renderer(&gpu);
            let error =
                Crowd::<Dynamic>::with_model(&mut renderer, &model, Default::default()).unwrap_err().to_string();
            assert!(error.contains("second texture coordinates"), "{error}");
        }
    }
}
