//! Morph targets that a compute pass adds, for all instances of a crowd, for some, and for none.

use crate::common::model::{Pose, Random, Recipe, TestModel, plain};
use crate::common::{BACKENDS, Canvas, Gpu, Picture, compute};
use gpuskin_rt::internals::*;

const SIDE: u32 = 192;
const COUNT: u32 = 200;
const BONES: u32 = 12;
/// LOD errors of the coarser levels, metres.
const ERRORS: [f32; 2] = [0.1, 0.3];

/// A model with three levels of detail, whose vertices morph targets move; without them if `morphs` is false.
fn test_model(tangent: bool, morphs: bool) -> TestModel {
    let format = VertexFormat { packing: Packing::Wide, tangent, second_uv: false, color: false };
    let mut random = Random(5);
    let mut recipe = Recipe::random(&mut random, Encoding::LocalPacked, format, BONES).with_morphs(&mut random);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    // A level draws the first part of the triangles, and vertex i is corner i.
    let drawn = |level: u32| recipe.vertices.len() as u32 / 3 / (1 << level) * 3;
    let [half, quarter] = [drawn(1), drawn(2)];
    for (vertex, (deltas, coarsest)) in (0..).zip(&mut recipe.morphs) {
        *coarsest = usize::from(vertex < half) + usize::from(vertex < quarter);
        deltas.iter_mut().for_each(|delta| delta.position *= if morphs { 3.0 } else { 0.0 });
    }
    let mut test = recipe.build(|_, _| Pose::REST);
    let meta = &mut test.model.meta;
    let bounds = Aabb { min: [-2.5; 3], max: [2.5; 3] };
    meta.clips.to_mut().iter_mut().for_each(|clip| clip.bounds = bounds);
    meta.bounds = bounds;
    let first_index = meta.mesh.parts[0].first_index;
    let level = |(index_count, error)| MeshLod { error, parts: vec![IndexRange { first_index, index_count }].into() };
    meta.mesh.levels = [half, quarter].into_iter().zip(ERRORS).map(level).collect();
    test
}

/// Returns the pictures of two views, one of them from near, and the number of instances per level in both.
fn draw(gpu: &Gpu, test: &TestModel, descriptor: RendererDescriptor) -> ([Picture; 2], [Vec<u64>; 2]) {
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &test.model, Default::default()).unwrap();
    let mut random = Random(3);
    for i in 0..COUNT {
        let at = (random.vector() * 25.0).to_array();
        let instance = Instance::at(at).facing(i as f32).scaled(random.within(0.5, 1.5));
        crowd.spawn(instance.play(Clip::new((i % 3) as u16)).repeat(Repeat::Loop).phase(random.unit()));
    }
    let near = renderer.add_view();
    let camera =
        |distance| Camera::perspective_look_at([0.0, 4.0, distance], [0.0; 3], 1.0, 1.0, 0.1, 200.0).with_height(SIDE);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare_view(&gpu.queue, near, &camera(20.0)).unwrap();
    renderer.prepare(&gpu.queue, &mut encoder, &camera(60.0), 4.5).unwrap();
    gpu.queue.submit([encoder.finish()]);
    let pictures = [View::MAIN, near].map(|view| {
        let canvas = Canvas::new(gpu, SIDE);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        canvas.pass(&mut encoder, |pass| renderer.draw_view(pass, view));
        canvas.finish(gpu, encoder)
    });
    (pictures, [View::MAIN, near].map(|view| crowd.count_drawn(&renderer, view).map_or(Vec::new(), |drawn| drawn.lods)))
}

/// Instances look the same wherever their deltas are added, in every level of detail and in several views.
pub fn added_morph_targets_draw_same_picture() {
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        for tangent in [false, true] {
            let [test, still] = [true, false].map(|morphs| test_model(tangent, morphs));
            // Memory for the sums of all instances, of about 30, and of none.
            let of_instance = if tangent { 36 } else { 24 } * test.model.meta.mesh.vertex_count;
            let memory = [RendererDescriptor::default().morph_bytes, u64::from(30 * of_instance), 0];
            for (culling, lod_error) in [(true, 1.0), (true, 0.0), (false, 1.0)] {
                let shown = |test: &TestModel, morph_bytes| {
                    let descriptor = RendererDescriptor { culling, lod_error, morph_bytes, ..Default::default() };
                    draw(&gpu, test, descriptor)
                };
                let [all, some, none] = memory.map(|bytes| shown(&test, bytes));
                assert!(all.0 == some.0 && all.0 == none.0, "tangent: {tangent}, culling: {culling} on {}", gpu.name);
                assert!(all.0 != shown(&still, 0).0, "morph targets move nothing");
                assert!(all.0.iter().all(|picture| picture.covered() > 500));
                if culling && lod_error > 0.0 {
                    let [far, near] = &all.1;
                    assert!(far.iter().filter(|count| **count > 5).count() >= 2 && far != near, "{far:?}, {near:?}");
                }
            }
        }
    }
}
