//! Shading of the renderer's own material: vertex colours, emitted light, flat triangles.

use crate::common::model::{Pose, Recipe, nearest, plain};
use crate::common::squares::STILL;
use crate::common::{BACKENDS, Canvas, Gpu, Picture, gpu};
use glam::{Vec2, Vec3, Vec4};
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::*;

const HALF_LIGHT: Light = Light { to_sun: [0.0, 0.0, 1.0], sun: [0.0; 3], sky: [0.5; 3], ground: [0.5; 3], wrap: 0.0 };
const CAMERA: fn() -> Camera = || Camera::orthographic_look_at([0.5, 0.5, 5.0], [0.5, 0.5, 0.0], 0.5, 0.5, 10.0);

/// A square of one metre in two triangles with a colour each: below its diagonal, and above.
fn square(encoding: Encoding, format: VertexFormat, colors: [Vec4; 2], material: Material) -> Recipe {
    let vertex = |(x, y): (f32, f32), color| Vertex {
        position: Vec3::new(x, y, 0.0),
        normal: Vec3::Z,
        tangent: Vec4::X,
        uv: Vec2::new(x, 1.0 - y),
        second_uv: Vec2::ZERO,
        joints: [0; 8],
        weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        part: 0,
        color,
    };
    let below = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)].map(|at| vertex(at, colors[0]));
    let above = [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|at| vertex(at, colors[1]));
    Recipe {
        encoding,
        format,
        bones: 1,
        clips: vec![STILL],
        frames_per_layer: 8,
        normals: Normals::Cofactor,
        width: 64,
        vertices: [below, above].concat(),
        morphs: Vec::new(),
        indices: (0..6).collect(),
        materials: vec![material],
        textures: Vec::new(),
    }
}

fn renderer(gpu: &Gpu) -> CrowdRenderer {
    CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor { light: HALF_LIGHT, ..Default::default() }).unwrap()
}

fn recipe_picture(gpu: &Gpu, recipe: Recipe) -> Picture {
    let model = recipe.build(|_, _| Pose::REST).model;
    picture(gpu, renderer(gpu), &model, Instance::at([0.0; 3]), &CAMERA())
}

fn picture(
    gpu: &Gpu,
    mut renderer: CrowdRenderer,
    model: &Model,
    instance: Instance<Dynamic>,
    camera: &Camera,
) -> Picture {
    let crowd = Crowd::with_model(&mut renderer, model, Default::default()).unwrap();
    crowd.spawn(instance);
    let canvas = Canvas::new(gpu, 32);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, camera, 0.0).unwrap();
    canvas.pass(&mut encoder, |pass| renderer.draw(pass));
    canvas.finish(gpu, encoder)
}

/// Returns a pixel below the diagonal, and one above.
fn halves(picture: &Picture) -> [[u8; 4]; 2] {
    [picture.at(22, 25), picture.at(8, 6)]
}

/// Encodes a linear colour as sRGB.
fn srgb(linear: Vec3) -> [u8; 4] {
    let curve = |c: f32| if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    let [r, g, b] = linear.to_array().map(|c| (curve(c.clamp(0.0, 1.0)) * 255.0).round() as u8);
    [r, g, b, 255]
}

#[track_caller]
fn assert_close(seen: [u8; 4], expected: [u8; 4], what: &dyn core::fmt::Debug) {
    // Alpha is not compared.
    assert!(
        seen[..3].iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 1),
        "{seen:?}, expected {expected:?}: {what:?}"
    );
}

const BELOW: Vec4 = Vec4::new(1.0, 0.2, 0.0, 1.0);
const ABOVE: Vec4 = Vec4::new(0.2, 0.8, 0.6, 0.4);

pub fn vertex_colours_are_drawn() {
    let base = Vec3::new(1.0, 0.5, 0.8);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for packing in [Packing::Full, Packing::Narrow, Packing::Wide, Packing::Static, Packing::Full8, Packing::Wide8]
        {
            for (tangent, color) in [(false, true), (true, true), (true, false)] {
                let format = VertexFormat { packing, tangent, second_uv: false, color };
                let encoding = if packing == Packing::Static { Encoding::VatF16 } else { Encoding::MatrixF16 };
                let recipe = square(encoding, format, [BELOW, ABOVE], plain(base.extend(1.0).to_array()));
                let shown = halves(&recipe_picture(&gpu, recipe));
                for (shown, own) in shown.into_iter().zip([BELOW, ABOVE]) {
                    let own = if color { own.truncate() } else { Vec3::ONE };
                    assert_close(shown, srgb(base * own * 0.5), &(format, &gpu.name));
                }
            }
        }
    }
}

pub fn vertex_alpha_is_cut_out_of_colour_and_depth() {
    let colored = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: true };
    let masked = Material { alpha_cutoff: Some(0.5), ..plain([1.0; 4]) };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let recipe = || square(Encoding::TrsF16, colored, [BELOW, ABOVE], masked.clone());
        let seen = recipe_picture(&gpu, recipe());
        let [below, above] = halves(&seen);
        assert_close(below, srgb(BELOW.truncate() * 0.5), &gpu.name);
        assert_close(above, srgb(Vec3::splat(0.01)), &gpu.name);

        // Depth only, then a square behind: it is visible through the hole.
        let mut renderer = renderer(&gpu);
        let hole = recipe().build(|_, _| Pose::REST).model;
        let plain = VertexFormat { color: false, ..colored };
        let wall = square(Encoding::TrsF16, plain, [Vec4::ONE; 2], self::plain([0.0, 0.0, 1.0, 1.0]));
        let wall = wall.build(|_, _| Pose::REST).model;
        let canvas = Canvas::new(&gpu, 32);
        let view = renderer.add_view();
        let front = Crowd::with_model(&mut renderer, &hole, Default::default()).unwrap();
        front.spawn(Instance::at([0.0; 3]));
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare(&gpu.queue, &mut encoder, &CAMERA(), 0.0).unwrap();
        renderer.prepare_view(&gpu.queue, view, &CAMERA()).unwrap();
        canvas.depth_pass(&mut encoder, |pass| renderer.draw_depth(pass, view));
        gpu.queue.submit([encoder.finish()]);
        front.clear();
        let behind = Crowd::with_model(&mut renderer, &wall, Default::default()).unwrap();
        behind.spawn(Instance::at([0.0, 0.0, -1.0]));
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare(&gpu.queue, &mut encoder, &CAMERA(), 0.0).unwrap();
        canvas.pass_over_depth(&mut encoder, |pass| renderer.draw(pass));
        let [below, above] = halves(&canvas.finish(&gpu, encoder));
        assert_close(below, srgb(Vec3::splat(0.01)), &gpu.name);
        assert_close(above, srgb(Vec3::Z * 0.5), &gpu.name);
    }
}

pub fn unlit_material_shows_base_colour() {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: true };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for cutoff in [None, Some(0.5)] {
            let color = [0.5, 0.25, 1.0, 1.0];
            // Emitted light is ignored, as `KHR_materials_unlit` specifies.
            let material = Material { unlit: true, alpha_cutoff: cutoff, emissive: [1.0; 3], ..plain(color) };
            let seen = recipe_picture(&gpu, square(Encoding::TrsF16, format, [BELOW, ABOVE], material));
            let [below, above] = halves(&seen);
            let shown = |own: Vec4| srgb(Vec3::new(0.5, 0.25, 1.0) * own.truncate());
            assert_close(below, shown(BELOW), &(cutoff, &gpu.name));
            let expected = if cutoff.is_some() { srgb(Vec3::splat(0.01)) } else { shown(ABOVE) };
            assert_close(above, expected, &(cutoff, &gpu.name));
        }
    }
}

pub fn emitted_light_is_added_to_lit_colour() {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: true };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (textured, cutoff) in [(false, None), (true, None), (true, Some(0.5))] {
            let material = Material {
                emissive: [0.25, 0.0, 1.5],
                emissive_texture: textured.then(|| nearest(0)),
                alpha_cutoff: cutoff,
                ..plain([0.5, 0.5, 0.0, 1.0])
            };
            let mut recipe = square(Encoding::MatrixF32, format, [BELOW, ABOVE], material);
            // The left half emits light, the right half does not.
            let formats = vec![ColorFormat::Rgba8].into();
            let info = ColorTexture { width: 2, height: 1, levels: 1, layers: 1, srgb: true, formats };
            recipe.textures = vec![(info, vec![vec![vec![255, 255, 255, 255, 0, 0, 0, 255]]])];
            let seen = recipe_picture(&gpu, recipe);
            let lit = |own: Vec4| Vec3::new(0.5, 0.5, 0.0) * own.truncate() * 0.5;
            let light = Vec3::new(0.25, 0.0, 1.5);
            let (at_left, at_right) = (seen.at(8, 29), seen.at(22, 29));
            assert_close(at_left, srgb(lit(BELOW) + light), &(textured, cutoff, &gpu.name));
            let right = if textured { Vec3::ZERO } else { light };
            assert_close(at_right, srgb(lit(BELOW) + right), &(textured, cutoff, &gpu.name));
            let above = if cutoff.is_some() { Vec3::splat(0.01) } else { lit(ABOVE) + light };
            assert_close(seen.at(8, 6), srgb(above), &(textured, cutoff, &gpu.name));
        }
    }
}

/// A roof of two slopes over a square of one metre: either four shared corners with arbitrary
/// normals, or three corners per slope with the slope's normal.
fn roof(shared: bool, material: Material) -> Model {
    let format = VertexFormat { packing: Packing::Full, tangent: false, second_uv: false, color: false };
    let mut recipe = square(Encoding::MatrixF32, format, [Vec4::ONE; 2], material);
    let corner = |v: &mut Vertex| v.position.z = 0.4 * v.position.x * (1.0 - v.position.y);
    recipe.vertices.iter_mut().for_each(corner);
    if shared {
        recipe.indices = vec![0, 1, 2, 0, 2, 3];
        recipe.vertices = [0, 1, 2, 5].map(|i| recipe.vertices[i]).to_vec();
    } else {
        for slope in recipe.vertices.as_chunks_mut::<3>().0 {
            let [a, b, c] = [0, 1, 2].map(|i| slope[i].position);
            slope.iter_mut().for_each(|v| v.normal = (b - a).cross(c - a).normalize());
        }
    }
    let mut model = recipe.build(|_, _| Pose::REST).model;
    model.meta.mesh.parts.to_mut()[0].flat = shared;
    model
}

pub fn flat_triangles_match_triangles_with_face_normals() {
    let light = Light { to_sun: [0.48, 0.64, 0.6], sun: [0.6; 3], sky: [0.3; 3], ground: [0.1; 3], wrap: 0.0 };
    let descriptor = || RendererDescriptor { light, ..Default::default() };
    let shine = Material { emissive: [0.1, 0.0, 0.0], ..plain([1.0; 4]) };
    let masked = Material { alpha_cutoff: Some(0.5), ..plain([1.0; 4]) };
    let unlit = Material { unlit: true, ..plain([0.3, 0.6, 0.9, 1.0]) };
    let far = Camera::perspective_look_at([1e4 + 1.5, -0.7, 2.0], [1e4, 0.1, 0.0], 0.7, 1.0, 0.1, 10.0);
    let near = Camera::perspective_look_at([1.5, -0.7, 2.0], [0.0, 0.1, 0.0], 0.7, 1.0, 0.1, 10.0);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for material in [plain([1.0, 0.8, 0.6, 1.0]), shine.clone(), masked.clone(), unlit.clone()] {
            // From the front; from behind; far from the world's origin.
            for (turn, camera, x) in [(0.0_f32, near, 0.0), (core::f32::consts::PI, near, 0.0), (0.0, far, 1e4)] {
                let material = Material { double_sided: true, ..material.clone() };
                let (sin, cos) = (turn / 2.0).sin_cos();
                let instance = || Instance::at([x, 0.0, 0.0]).rotated([0.0, sin, 0.0, cos]).scaled(0.9);
                let [own, shared] = [false, true].map(|shared| {
                    let renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor()).unwrap();
                    picture(&gpu, renderer, &roof(shared, material.clone()), instance(), &camera)
                });
                let mut lit = 0;
                for (x, y) in (0..32).flat_map(|y| (0..32).map(move |x| (x, y))) {
                    let (own, shared) = (own.at(x, y), shared.at(x, y));
                    assert_close(shared, own, &(x, y, turn, &material, &gpu.name));
                    lit += u32::from(own[2] > 40);
                }
                assert!(lit > 60, "only {lit} lit pixels, turn {turn}, {}", gpu.name);
            }
        }
    }
}
