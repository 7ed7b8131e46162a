//! Levels of detail of the sample models, as they are baked and drawn.

use gpuskin_build::Manifest;
use gpuskin_build::{BakeOptions, bake};
use gpuskin_rt::internals::{
    Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, Model, RendererDescriptor, View,
};
use gpuskin_test_harness::note;
use gpuskin_tests::gpu::{BACKENDS, Canvas, Gpu, Picture, open_compute};
use gpuskin_tests::models;
use gpuskin_tests::shared::assets;

const SIDE: u32 = 256;
const COUNT: u32 = 80;

pub fn models_have_lods_down_to_200_triangles() {
    for model in [&models::SOLDIER, &models::HOUND] {
        let mesh = &model.meta.mesh;
        assert!(model.meta.encoding.needs_compute());
        let triangles: Vec<u64> = (0..=mesh.levels.len()).map(|level| mesh.triangles(level)).collect();
        let errors: Vec<f32> = mesh.levels.iter().map(|level| level.error).collect();
        note!("{}: {triangles:?} triangles, {errors:?} m", model.meta.name);
        assert!(triangles.len() >= 4 && triangles.is_sorted_by(|a, b| a > b), "{triangles:?}");
        assert!(*triangles.last().unwrap() < 200, "{triangles:?}");
        assert!(errors[0] < 0.03 && errors[2] < 0.1 && errors.iter().all(|error| *error < 0.6), "{errors:?}");
        // Devices without compute shaders draw the same levels.
        for other in model.others.iter() {
            let others: Vec<u64> =
                (0..=other.meta.mesh.levels.len()).map(|level| other.meta.mesh.triangles(level)).collect();
            assert_eq!(others, triangles);
        }
    }
}

pub fn manifest_sets_the_number_of_lods() {
    let text = std::fs::read_to_string(assets().join("gpuskin.toml")).unwrap();
    let levels = |lods: &str| -> Vec<usize> {
        let text = text.replacen("[bake]", &format!("[bake]\n{lods}"), 1).replace("\"soldier.glb\"", "\"hound.glb\"");
        let text = text.split("parts = {").next().unwrap();
        let manifest = Manifest::parse(&assets().join("gpuskin.toml"), text).unwrap();
        let baked = bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
        let models = std::iter::once(&baked.models[0]).chain(&baked.models[0].others);
        models.map(|model| model.meta.mesh.levels.len()).collect()
    };
    assert_eq!(levels("lods = false"), [0, 0]);
    assert_eq!(levels("lods = 2"), [2, 2]);
}

struct Scene {
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
}

pub fn rest_mesh_is_lod_0() {
    let text = "[[model]]\nname = \"hound\"\npath = \"hound.glb\"\nmode = \"vertex\"\nlods = 2\ntextures = [\"rgba8\"]\n\
                rest_frame = { clip = \"run\", frame = 3 }\n[model.clips.run]\n";
    let manifest = Manifest::parse(&assets().join("gpuskin.toml"), text.to_owned()).unwrap();
    let baked = bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    let model = &baked.runtime_models()[0];
    let mesh = &model.meta.mesh;
    assert_eq!(mesh.levels.len(), 2);
    let finest: u32 = mesh.parts.iter().map(|part| part.index_count).sum();
    let rest = model.rest_mesh().unwrap().unwrap();
    assert_eq!((rest.indices.len(), rest.vertices.len()), (finest as usize, mesh.vertex_count as usize));
}

/// Crowd of instances from near to far.
fn scene(gpu: &Gpu, model: &Model, lod_error: f32) -> Scene {
    let descriptor = RendererDescriptor { lod_error, ..Default::default() };
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let descriptor = CrowdDescriptor { capacity: COUNT, ..Default::default() };
    let crowd = Crowd::with_model(&mut renderer, model, descriptor).unwrap();
    for i in 0..COUNT {
        let away = 3.0 * 1.05_f32.powi(i as i32);
        let across = ((i * 7 % 11) as f32 - 5.0) * 0.08 * away;
        let clip = Clip::new((i % model.meta.clips.len() as u32) as u16);
        crowd.spawn(Instance::at([across, 0.0, -away]).facing(i as f32).play(clip).phase(i as f32 * 0.618));
    }
    Scene { renderer, crowd }
}

fn draw(gpu: &Gpu, scene: &mut Scene) -> Picture {
    let camera = Camera::perspective_look_at([0.0, 1.7, 0.0], [0.0, 1.2, -3.0], 1.0, 1.0, 0.1, 300.0).with_height(SIDE);
    let canvas = Canvas::new(gpu, SIDE);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    scene.renderer.prepare(&gpu.queue, &mut encoder, &camera, 1.3).unwrap();
    canvas.pass(&mut encoder, |pass| scene.renderer.draw(pass));
    canvas.finish(gpu, encoder)
}

/// Counts the pixels that `a` covers and that are more than `reach` pixels from any covered pixel
/// of `b`.
fn strays(a: &Picture, b: &Picture, reach: u32) -> usize {
    let near = |x: u32, y: u32| {
        let span = |c: u32| c.saturating_sub(reach)..=(c + reach).min(SIDE - 1);
        span(y).any(|y| span(x).any(|x| b.covered(x, y)))
    };
    let pixels = (0..SIDE * SIDE).map(|i| (i % SIDE, i / SIDE));
    pixels.filter(|&(x, y)| a.covered(x, y) && !near(x, y)).count()
}

pub fn lod_error_bounds_the_difference_in_pixels() {
    let gpu = BACKENDS.into_iter().find_map(open_compute).expect("a device, which the test needs");
    for model in [&models::SOLDIER, &models::HOUND] {
        let [mut fine, mut coarse, mut coarsest] = [0.0, 1.0, 8.0].map(|error| scene(&gpu, model, error));
        let (expected, picture) = (draw(&gpu, &mut fine), draw(&gpu, &mut coarse));
        let counts = coarse.crowd.count_drawn(&coarse.renderer, View::MAIN).unwrap().lods;
        note!("{}: {counts:?}, differs by {:.2}", model.meta.name, expected.difference(&picture));
        assert!(counts.iter().filter(|count| **count > 0).count() >= 3, "{counts:?}");
        // One pixel more than the allowed error, because the rasteriser decides in which pixel an
        // edge falls.
        assert_eq!([strays(&expected, &picture, 2), strays(&picture, &expected, 2)], [0, 0], "{}", model.meta.name);
        let rough = draw(&gpu, &mut coarsest);
        assert!(expected.difference(&picture) < 24.0, "{}", expected.difference(&picture));
        assert!(expected.difference(&rough) > expected.difference(&picture), "an error of 8 pixels must be visible");
    }
}
