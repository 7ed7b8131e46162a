//! Extreme sizes: meshes of three and of half a million vertices, crowds of no instance and of one,
//! palettes beyond 128 MiB.

use crate::common::cells::{self, COUNT, PIXELS, ROW, camera, middle};
use crate::common::model::{Pose, Random, Recipe, TestModel, plain};
use crate::common::{BACKENDS, Canvas, Gpu, Picture, compute};
use glam::{Vec2, Vec3, Vec4};
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::*;

/// A square sheet with `side` vertices per side, one metre across, on one bone.
fn sheet(encoding: Encoding, side: u32) -> TestModel {
    let format = VertexFormat { packing: Packing::Full, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut Random(1), encoding, format, 1);
    let vertex = |i: u32| {
        let at = Vec2::new((i % side) as f32, (i / side) as f32) / (side - 1) as f32;
        Vertex {
            position: at.extend(0.0),
            normal: Vec3::Z,
            tangent: Vec4::X,
            uv: at,
            second_uv: Vec2::ZERO,
            joints: [0; 8],
            weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            part: 0,
            color: Vec4::ONE,
        }
    };
    recipe.vertices = (0..side * side).map(vertex).collect();
    let corners = (0..side - 1).flat_map(|y| (0..side - 1).map(move |x| y * side + x));
    recipe.indices = corners.flat_map(|i| [i, i + 1, i + side, i + 1, i + side + 1, i + side]).collect();
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0, 0.5, 0.2, 1.0]) }];
    let mut random = Random(9);
    recipe.build(|_, _| Pose::random(&mut random, false))
}

fn triangle(encoding: Encoding) -> TestModel {
    let mut recipe = Recipe::random(&mut Random(2), encoding, VERTEX, 1);
    recipe.vertices.truncate(3);
    recipe.indices = vec![0, 1, 2];
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    recipe.build(|_, _| Pose::REST)
}

const VERTEX: VertexFormat = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
const NOW: f64 = 3.21;

fn draw(gpu: &Gpu, renderer: &mut CrowdRenderer, camera: &Camera, side: u32) -> Picture {
    let canvas = Canvas::new(gpu, side);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, camera, NOW).unwrap();
    canvas.pass(&mut encoder, |pass| renderer.draw(pass));
    canvas.finish(gpu, encoder)
}

/// Draws `count` instances at one position.
fn instances(gpu: &Gpu, model: &Model, count: u32) -> Picture {
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    let crowd = Crowd::with_model(&mut renderer, model, CrowdDescriptor { capacity: 0, ..Default::default() }).unwrap();
    for _ in 0..count {
        crowd.spawn(Instance::at([0.0; 3]).repeat(Repeat::Loop));
    }
    let camera = Camera::orthographic_look_at([0.5, 0.5, 9.0], [0.5, 0.5, 0.0], 2.0, 2.0, 20.0);
    draw(gpu, &mut renderer, &camera, 128)
}

pub fn half_a_million_vertices_draw_same_picture_as_four() {
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        for encoding in [Encoding::MatrixF32, Encoding::LocalPacked] {
            let (few, many) = (sheet(encoding, 2), sheet(encoding, 708));
            assert!(many.model.meta.mesh.vertex_count > 500_000 && many.model.meta.mesh.wide_indices);
            let (few, many) = (instances(&gpu, &few.model, 1), instances(&gpu, &many.model, 1));
            assert!(few.covered() > 300, "{} pixels", few.covered());
            let other = few.pixels.iter().zip(&many.pixels).filter(|(a, b)| a != b).count();
            // Vertices on an edge between two corners are rounded.
            assert!(other < few.covered() / 100, "{other} of {} pixels differ on {}", few.covered(), gpu.name);
        }
    }
}

pub fn no_instance_and_single_triangle_are_drawn() {
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        for encoding in [Encoding::MatrixF16, Encoding::LocalPacked] {
            let test = triangle(encoding);
            assert_eq!(instances(&gpu, &test.model, 0).covered(), 0);
            let one = instances(&gpu, &test.model, 1);
            assert!(one.covered() > 10, "{encoding:?}: {} pixels", one.covered());
            assert!(one == instances(&gpu, &test.model, 3), "{encoding:?}: three instances at one position");
        }
    }
}

pub fn palette_beyond_128_mib_is_split() {
    const BONES: u32 = 1024;
    let mut recipe = Recipe::random(&mut Random(7), Encoding::LocalPacked, VERTEX, BONES);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    let test = recipe.build(|_, _| Pose::REST).with_bounds();
    // The default limit of devices with compute.
    let binding = wgpu::Limits::downlevel_defaults().max_storage_buffer_binding_size;
    assert_eq!(binding, 128 << 20);
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
        let bytes = (BONES + BONES + BONES / 3) * 48;
        let each = (binding / u64::from(bytes) / 16 * 16) as u32;
        // Visible instances lie on both sides of the border between palettes.
        let away = each - COUNT / 2;
        let crowd = Crowd::with_model(
            &mut renderer,
            &test.model,
            CrowdDescriptor { capacity: away + COUNT, ..Default::default() },
        )
        .unwrap();
        for _ in 0..away {
            crowd.spawn(Instance::at([1e4; 3]));
        }
        let instance = |i: u32| {
            Instance::at(middle(i)).play(Clip::new((i % 3) as u16)).repeat(Repeat::Loop).phase(i as f32 * 0.137)
        };
        let ids: Vec<_> = (0..COUNT).map(|i| crowd.spawn(instance(i))).collect();
        let picture = draw(&gpu, &mut renderer, &camera(), PIXELS * ROW);
        let explained = crowd.explain(&renderer);
        assert_eq!((explained.palettes, explained.bytes_per_instance), (2, u64::from(bytes)), "{explained}");
        let now = Time::from_secs(NOW);
        let record = |i: u32| crowd.get(ids[i as usize]).unwrap();
        cells::check(&picture, |i| test.on_cpu(&record(i), now).iter().map(|v| v.position).collect());
    }
}
