//! Variants of a model: layers of the base colour texture, which instances select.

use gpuskin_rt::internals::field::{FieldDescriptor, FieldUniform};
use gpuskin_rt::internals::*;
use gpuskin_rt::pipeline::{InstanceBuffers, instance_writer_source};

use crate::common::model::{TestModel, nearest, plain};
use crate::common::squares::{RED, draw, map, renderer, shows, square_recipe, squares};
use crate::common::{BACKENDS, Canvas, Gpu, compute, gpu, open};

const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
/// Background of a canvas.
const GROUND: [u8; 4] = [25, 25, 25, 255];

/// A texture of one texel per layer, with the layers.
fn layers(texels: &[[u8; 4]]) -> (ColorTexture, Vec<Vec<Vec<u8>>>) {
    let formats = vec![ColorFormat::Rgba8].into();
    let info = ColorTexture { width: 1, height: 1, levels: 1, layers: texels.len() as u32, srgb: true, formats };
    (info, vec![vec![texels.concat()]])
}

fn names(count: usize) -> List<Str> {
    (0..count).map(|i| Str::from(if i == 0 { "base".to_owned() } else { format!("variant_{i}") })).collect()
}

/// A square whose variants 0 to 3 are red, blue, green and red again.
fn test_model(encoding: Encoding, material: Material) -> TestModel {
    let (base_color_texture, variant_layers) = (Some(nearest(0)), vec![0, 2, 1, 0].into());
    let mut recipe = square_recipe(encoding, Material { base_color_texture, variant_layers, ..material });
    recipe.textures = vec![layers(&[RED, GREEN, BLUE])];
    if encoding.is_vertex() {
        recipe.format.packing = Packing::Static;
    }
    let mut test = squares(recipe);
    test.model.meta.variants = names(4);
    // Snapshots refer to clips by their names.
    test.model
        .meta
        .clips
        .to_mut()
        .iter_mut()
        .zip(["low", "high", "down"])
        .for_each(|(clip, name)| clip.name = name.into());
    test
}

fn variant(index: u8) -> ModelVariant<Dynamic> {
    ModelVariant::new(index)
}

fn unlit() -> Material {
    Material { unlit: true, ..plain([1.0; 4]) }
}

fn renderers(gpu: &Gpu) -> [CrowdRenderer; 2] {
    let full = Shading::MetallicRoughness(LightingFeatures::default());
    let descriptor = RendererDescriptor { shading: full, ..Default::default() };
    [renderer(gpu), CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap()]
}

pub fn instances_have_the_layers_of_their_variants() {
    let expected = [RED, BLUE, GREEN, RED, RED];
    for gpu in BACKENDS.into_iter().flat_map(|backend| [gpu(backend), compute(backend)]).flatten() {
        let computes = gpu.device.limits().max_storage_buffers_per_shader_stage > 0;
        let encodings = [Encoding::MatrixF16, Encoding::VatF16, Encoding::LocalPacked];
        for encoding in encodings.into_iter().filter(|encoding| computes || !encoding.needs_compute()) {
            for (mut renderer, alpha_blend) in renderers(&gpu).into_iter().zip([false, true]) {
                let test = test_model(encoding, Material { alpha_blend, ..unlit() });
                let what = (&gpu.name, encoding, alpha_blend);
                // The words of local-packed are random: its second clip is not above the first.
                let (clip, height) = if encoding.needs_compute() { (0, 2.0) } else { (1, 3.0) };
                let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
                let spawned = |i: u8| Instance::at([f32::from(i) + 0.5, 2.0, 0.0]).variant(variant(i));
                let ids = crowd.spawn_many((0..4).map(spawned));
                // A variant that the model does not have.
                let unknown = crowd.spawn(Instance::at([4.5, 2.0, 0.0]).variant(variant(255)));
                assert_eq!(crowd.appearance(unknown).unwrap().variant, 255);
                let colors = |renderer: &mut CrowdRenderer, time: f64, height: f32| {
                    let picture = draw(&gpu, renderer, &map(8.0), time);
                    [0.5, 1.5, 2.5, 3.5, 4.5].map(|x| shows(&picture, x, height))
                };
                assert_eq!(colors(&mut renderer, 0.0, 2.0), expected, "{what:?}");
                // Commands keep the variant, and a snapshot has it.
                for id in &ids {
                    crowd.play(*id, Clip::new(clip), Transition::crossfade(0.5)).unwrap();
                    crowd.set_paused(*id, true).unwrap();
                    crowd.set_paused(*id, false).unwrap();
                }
                crowd.play(unknown, Clip::new(clip), Transition::crossfade(0.5)).unwrap();
                assert_eq!(colors(&mut renderer, 2.0, height), expected, "{what:?}");
                let restored = crowd.restore(&crowd.snapshot()).unwrap();
                assert_eq!(colors(&mut renderer, 2.0, height), expected, "{what:?}");
                crowd.set_variant(restored[0], variant(2)).unwrap();
                crowd.set_variants(&restored[1..3], &[variant(0), variant(1)]).unwrap();
                assert_eq!(colors(&mut renderer, 2.0, height), [GREEN, RED, BLUE, RED, RED], "{what:?}");
                assert_eq!(crowd.set_variant(ids[0], variant(1)), Err(StaleId::Instance(ids[0])));
            }
        }
    }
}

/// Depth passes cut out the texels of the instance's own layer.
pub fn depth_is_cut_out_by_the_layer_of_the_variant() {
    let masked = Material { alpha_cutoff: Some(0.5), ..unlit() };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for mut renderer in renderers(&gpu) {
            let mut recipe = square_recipe(Encoding::MatrixF16, masked.clone());
            let material = &mut recipe.materials[0];
            material.base_color_texture = Some(nearest(0));
            material.variant_layers = vec![0, 1].into();
            recipe.textures = vec![layers(&[RED, [0, 255, 0, 0]])];
            let mut front = squares(recipe);
            front.model.meta.variants = names(2);
            let wall = squares(square_recipe(Encoding::MatrixF16, Material { name: "wall".into(), ..unlit() }));
            let view = renderer.add_view();
            let front = Crowd::with_model(&mut renderer, &front.model, Default::default()).unwrap();
            front.spawn_many([0, 1].map(|i| Instance::at([f32::from(i) + 0.5, 2.0, 1.0]).variant(variant(i))));
            let canvas = Canvas::new(&gpu, 128);
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            renderer.prepare_view(&gpu.queue, view, &map(8.0)).unwrap();
            renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), 0.0).unwrap();
            canvas.depth_pass(&mut encoder, |pass| renderer.draw_depth(pass, view));
            gpu.queue.submit([encoder.finish()]);
            front.clear();
            let wall = Crowd::with_model(&mut renderer, &wall.model, Default::default()).unwrap();
            wall.spawn_many([0, 1].map(|i| Instance::at([i as f32 + 0.5, 2.0, 0.0])));
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), 0.0).unwrap();
            canvas.pass_over_depth(&mut encoder, |pass| renderer.draw(pass));
            let picture = canvas.finish(&gpu, encoder);
            let seen = [0.5, 1.5].map(|x| shows(&picture, x, 2.0));
            assert_eq!(seen, [GROUND, [255; 4]], "{}", gpu.name);
        }
    }
}

/// Merged crowds, cached poses and revealed instances read variants as single crowds do.
pub fn variants_are_drawn_in_batches_and_from_cached_poses() {
    for time_grid in [None, Some(0.1)] {
        let limits = wgpu::Limits { max_storage_buffers_per_shader_stage: 16, ..Default::default() };
        let features = wgpu::Features::MULTI_DRAW_INDIRECT_COUNT | wgpu::Features::INDIRECT_FIRST_INSTANCE;
        let gpu = open(wgpu::Backends::VULKAN, limits, features).expect("a device, which the test needs");
        let mut renderer = renderer(&gpu);
        let crowds = [0_u8, 1].map(|number| {
            let mut test = test_model(Encoding::LocalPacked, unlit()).with_bounds();
            test.model.meta.content_hash[14] ^= number;
            for payload in [&mut test.model.mesh, &mut test.model.animation, &mut test.model.textures.to_mut()[0]] {
                let Data::Bytes(bytes) = &mut payload.data else { panic!("the payload is not in memory") };
                bytes.to_mut()[14] ^= number;
            }
            let descriptor = CrowdDescriptor { time_grid, ..Default::default() };
            let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &test.model, descriptor).unwrap();
            let spawned = |i: u8| Instance::at([f32::from(i) + 0.5, f32::from(number) + 2.0, 0.0]).variant(variant(i));
            crowd.spawn_many((0..4).map(spawned));
            crowd
        });
        for _ in 0..3 {
            let picture = draw(&gpu, &mut renderer, &map(8.0), 0.0);
            for height in [2.0, 3.0] {
                let seen = [0.5, 1.5, 2.5, 3.5].map(|x| shows(&picture, x, height));
                assert_eq!(seen, [RED, BLUE, GREEN, RED], "{time_grid:?}");
            }
        }
        let merged = crowds.map(|crowd| crowd.explain(&renderer).merged);
        assert_eq!(merged, if time_grid.is_none() { [2, 2] } else { merged });
    }
}

pub fn fields_choose_variants_at_random() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let test = test_model(Encoding::MatrixF16, unlit());
        for random_variants in [false, true] {
            let mut renderer = renderer(&gpu);
            let descriptor = FieldDescriptor::<Dynamic> {
                origin: [0.0; 3],
                size: [8, 1],
                jitter: 0.0,
                scale: [1.0; 2],
                turn: 0.0,
                random_variants,
                seed: 3,
                ..Default::default()
            };
            let uniform = FieldUniform::new(&descriptor, &test.model.meta);
            let chosen: Vec<_> = (0..8).map(|i| uniform.appearance(i).variant).collect();
            assert_eq!(chosen.iter().any(|variant| *variant > 0), random_variants);
            let _field = Field::with_model(&mut renderer, &test.model, descriptor).unwrap();
            let picture = draw(&gpu, &mut renderer, &map(8.0), 0.0);
            let seen: Vec<_> = (0..8).map(|i| shows(&picture, i as f32 + 0.5, 0.1)).collect();
            let expected: Vec<_> = chosen.iter().map(|variant| [RED, BLUE, GREEN, RED][*variant as usize]).collect();
            assert_eq!(seen, expected, "{}", gpu.name);
        }
    }
}

/// A prop has the own look of its model, whatever variant its owner has.
pub fn props_keep_their_own_look() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for mut renderer in renderers(&gpu) {
            let mut owner = test_model(Encoding::MatrixF16, Material { name: "owner".into(), ..unlit() });
            owner.model.meta.bones = vec![BoneInfo {
                name: "root".into(),
                parent: None,
                bind: [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
            }]
            .into();
            let prop = test_model(Encoding::MatrixF16, unlit());
            let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &owner.model, Default::default()).unwrap();
            let above = Attachment::to(Bone::new(0)).at([0.0, 1.0, 0.0]);
            crowd.attach(&mut renderer, &prop.model, above).unwrap();
            crowd.spawn(Instance::at([0.5, 2.0, 0.0]).variant(variant(1)));
            let picture = draw(&gpu, &mut renderer, &map(8.0), 0.0);
            assert_eq!([2.0, 3.0].map(|y| shows(&picture, 0.5, y)), [BLUE, RED], "{}", gpu.name);
        }
    }
}

/// Twenty variants need the draws, bytes per instance and pipelines of one.
pub fn twenty_variants_need_no_more_draws_than_one() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let explanations = [1, 20].map(|count| {
            let mut recipe = square_recipe(Encoding::MatrixF16, unlit());
            recipe.materials[0].base_color_texture = Some(nearest(0));
            let texels: Vec<_> = (0..count).map(|i| [255, i as u8, 0, 255]).collect();
            recipe.textures = vec![layers(&texels)];
            if count > 1 {
                recipe.materials[0].variant_layers = (0..count as u8).collect();
            }
            let mut test = squares(recipe);
            test.model.meta.variants = if count > 1 { names(count) } else { names(0) };
            let mut renderer = renderer(&gpu);
            let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &test.model, Default::default()).unwrap();
            crowd.spawn_many((0..60).map(|i| {
                let place = [(i % 8) as f32 + 0.5, (i / 8) as f32 + 0.5, 0.0];
                Instance::at(place).variant(variant((i % count) as u8))
            }));
            let picture = draw(&gpu, &mut renderer, &map(8.0), 0.0);
            for i in 0..60 {
                let seen = shows(&picture, (i % 8) as f32 + 0.5, (i / 8) as f32 + 0.5);
                assert!(seen[1].abs_diff((i % count) as u8) <= 1, "{i}: {seen:?}");
            }
            let Explanation { draws, bytes_per_instance, uploaded_bytes, .. } = crowd.explain(&renderer);
            (draws, bytes_per_instance, uploaded_bytes)
        });
        assert_eq!(explanations[0], explanations[1], "{}", gpu.name);
    }
}

/// A game's own pipeline binds the texture of the model's own look, or those of all variants, and reads the variant.
pub fn own_pipelines_get_the_first_layer_or_all() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let test = test_model(Encoding::MatrixF16, unlit());
        let mut renderer = renderer(&gpu);
        let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let texture = renderer.material_textures(&test.model, 0).unwrap().base_color.unwrap();
        assert_eq!(texture.view.texture().depth_or_array_layers(), 1);
        let layered = renderer.layered_material_textures(&test.model, 0).unwrap().base_color.unwrap();
        let material = &test.model.meta.materials()[0];
        // A variant that the model does not have is drawn as its own look.
        assert_eq!([0, 1, 3, 9].map(|variant| material.base_color_layer(variant)), [0, 2, 0, 0].map(Some));
        assert_eq!(unlit().base_color_layer(0), None);
        assert_eq!(layered.view.texture().depth_or_array_layers(), 3);
        assert!(crowd.variant().has_variants());
        assert!(
            gpuskin_rt::pipeline::source(crowd.variant(), 1).contains("fn gpuskin_variant_of(input: GpuskinInput)")
        );
    }
}

/// A compute pass of the game sets variants, and its commands keep them.
pub fn written_variants_are_drawn() {
    const PASS: &str = r"
        @group(0) @binding(0) var<storage, read_write> playbacks: array<GpuskinPlaybackRecord>;

        @compute @workgroup_size(4)
        fn change(@builtin(global_invocation_id) id: vec3<u32>) {
            let changed = gpuskin_set_variant(playbacks[id.x], 3u - id.x);
            playbacks[id.x] = gpuskin_play(changed, 0u, vec2<u32>(0u), 0u, 0.2, vec2<u32>(1u, 0u));
        }
    ";
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        let test = test_model(Encoding::MatrixF16, unlit());
        let mut renderer = renderer(&gpu);
        let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        crowd.spawn_many((0..4_u8).map(|i| Instance::at([f32::from(i) + 0.5, 2.0, 0.0]).variant(variant(i))));
        draw(&gpu, &mut renderer, &map(8.0), 1.0);
        let InstanceBuffers { playbacks, .. } = crowd.instance_buffers().unwrap();
        let source = wgpu::ShaderSource::Wgsl((instance_writer_source() + PASS).into());
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("change"),
            compilation_options: Default::default(),
            cache: None,
        });
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: playbacks.as_entire_binding() }],
        });
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(1, 1, 1);
        drop(pass);
        gpu.queue.submit([encoder.finish()]);
        let picture = draw(&gpu, &mut renderer, &map(8.0), 2.0);
        let seen = [0.5, 1.5, 2.5, 3.5].map(|x| shows(&picture, x, 2.0));
        assert_eq!(seen, [RED, GREEN, BLUE, RED], "{}", gpu.name);
    }
}

/// The choice by number is the same everywhere, and even.
pub fn random_variants_are_stable_and_even() {
    let mut test = test_model(Encoding::MatrixF16, unlit()).model.meta;
    let chosen: Vec<u8> = (0..12).map(|number| test.random_variant::<Dynamic>(number).index()).collect();
    assert_eq!(chosen, [0, 1, 3, 1, 3, 1, 2, 2, 3, 1, 2, 0], "saved games rely on these values");
    test.variants = names(MAX_VARIANTS);
    let mut counts = [0; MAX_VARIANTS];
    (0..100_000).for_each(|number| counts[usize::from(test.random_variant::<Dynamic>(number).index())] += 1);
    assert!(counts.iter().all(|count| (250..550).contains(count)), "{counts:?}");
    test.variants = names(0);
    assert_eq!(test.random_variant::<Dynamic>(7), ModelVariant::BASE);
}
