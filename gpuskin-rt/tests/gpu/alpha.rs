//! Blended materials: colours, order of instances, depth, shadows, occlusion culling, refused formats.

use glam::{DVec3, Vec3};
use gpuskin_rt::internals::render::{CustomDraw, vertex_buffers};
use gpuskin_rt::internals::*;

use crate::common::lit::*;
use crate::common::model::{nearest, plain};
use crate::common::own::{Own, OwnDescriptor};
use crate::common::squares::{map, square_recipe, squares};
use crate::common::{BACKENDS, Canvas, compute, gpu};

fn unlit(base_color: [f32; 4], alpha_blend: bool) -> Material {
    Material { alpha_blend, unlit: true, ..plain(base_color) }
}

/// Pixel in the middle of squares of 2 m, drawn at depths in the order of a list.
fn middle(gpu: &crate::common::Gpu, models: &[(&Model, f32)], shading: Shading) -> DVec3 {
    let descriptor =
        RendererDescriptor { color_format: wgpu::TextureFormat::Rgba16Float, shading, ..Default::default() };
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let mut crowds: Vec<(*const Model, Crowd<Dynamic>)> = Vec::new();
    for (model, z) in models {
        let at = crowds.iter().position(|(of, _)| core::ptr::eq(*of, *model)).unwrap_or_else(|| {
            crowds.push((*model, Crowd::with_model(&mut renderer, model, Default::default()).unwrap()));
            crowds.len() - 1
        });
        crowds[at].1.spawn(Instance::at([0.0, 0.0, *z]));
    }
    scene(&[], sun([0.0, 0.0, 1.0], 3.0)).draw_with(gpu, &mut renderer).center()
}

fn over(color: [f64; 3], alpha: f64, below: DVec3) -> DVec3 {
    DVec3::from(color) * alpha + below * (1.0 - alpha)
}

pub fn nearest_blended_surface_covers_opaque_ones_in_any_order() {
    let blue = model(square(unlit([0.0, 0.0, 1.0, 1.0], false)));
    let red = model(square(unlit([1.0, 0.0, 0.0, 0.25], true)));
    let green = model(square(unlit([0.0, 1.0, 0.0, 0.5], true)));
    let below = DVec3::new(0.0, 0.0, 1.0);
    let full = || Shading::MetallicRoughness(LightingFeatures::default());
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for shading in [Shading::Diffuse, full()] {
            let check = |models: &[(&Model, f32)], expected: DVec3| {
                let seen = middle(&gpu, models, shading.clone());
                assert_close(
                    seen,
                    expected,
                    0.002,
                    &(&gpu.name, &shading, models.iter().map(|m| m.1).collect::<Vec<_>>()),
                );
            };
            // Crowds are drawn in the order in which they are made, instances in that in which they spawn.
            check(&[(&blue, 0.0), (&red, 1.0)], over([1.0, 0.0, 0.0], 0.25, below));
            check(&[(&red, 1.0), (&blue, 0.0)], over([1.0, 0.0, 0.0], 0.25, below));
            check(&[(&red, -1.0), (&blue, 0.0)], below);
            check(&[(&red, 2.0), (&red, 1.0), (&blue, 0.0)], over([1.0, 0.0, 0.0], 0.25, below));
            check(&[(&red, 1.0), (&red, 2.0), (&blue, 0.0)], over([1.0, 0.0, 0.0], 0.25, below));
            check(&[(&red, 2.0), (&green, 1.0), (&blue, 0.0)], over([1.0, 0.0, 0.0], 0.25, below));
            check(&[(&green, 1.0), (&blue, 0.0), (&red, 2.0)], over([1.0, 0.0, 0.0], 0.25, below));
            check(&[(&green, 2.0), (&blue, 0.0), (&red, 1.0)], over([0.0, 1.0, 0.0], 0.5, below));
        }
    }
}

pub fn invisible_texels_and_tints_cover_nothing() {
    let mut recipe = square(Material { base_color_texture: Some(nearest(0)), ..unlit([1.0; 4], true) });
    recipe.textures = vec![texel(true, [255, 255, 255, 0])];
    let clear = model(recipe);
    let red = model(square(unlit([1.0, 0.0, 0.0, 0.25], true)));
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for shading in [Shading::Diffuse, Shading::MetallicRoughness(LightingFeatures::default())] {
            for order in [[(&clear, 2.0), (&red, 1.0)], [(&red, 1.0), (&clear, 2.0)]] {
                let seen = middle(&gpu, &order, shading.clone());
                assert_close(seen, DVec3::new(0.25, 0.0, 0.0), 0.002, &(&gpu.name, &shading));
            }
        }
        // The alpha of an instance's tint is multiplied with that of the material.
        let mut renderer = scene(&[], Lighting::default()).renderer(&gpu);
        let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &red, Default::default()).unwrap();
        crowd.spawn(Instance::at([0.0; 3]).tinted([1.0, 1.0, 1.0, 0.2]));
        let seen = scene(&[], Lighting::default()).draw_with(&gpu, &mut renderer).center();
        assert_close(seen, DVec3::new(0.05, 0.0, 0.0), 0.01, &gpu.name);
    }
}

/// Alpha modes OPAQUE and MASK of glTF: a picture that is composed with something behind it shows nothing through them.
pub fn only_blended_surfaces_write_their_alpha() {
    let of = |alpha_cutoff, alpha_blend, unlit| {
        let emissive = [0.1, 0.0, 0.0];
        model(square(Material { alpha_cutoff, alpha_blend, unlit, emissive, ..plain([1.0, 1.0, 1.0, 0.5]) }))
    };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for shading in [Shading::Diffuse, Shading::MetallicRoughness(LightingFeatures::default())] {
            for unlit in [false, true] {
                let check = |model: Model, expected: f32| {
                    let descriptor = RendererDescriptor {
                        color_format: wgpu::TextureFormat::Rgba16Float,
                        shading: shading.clone(),
                        ..Default::default()
                    };
                    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
                    let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &model, Default::default()).unwrap();
                    crowd.spawn(Instance::at([0.0; 3]).tinted([1.0, 1.0, 1.0, 0.8]));
                    let picture = scene(&[], Lighting::default()).draw_with(&gpu, &mut renderer);
                    let middle = picture.pixels[(picture.side / 2 * picture.side + picture.side / 2) as usize];
                    assert!((middle[3] - expected).abs() < 0.003, "{}: {middle:?}, {shading:?}, {unlit}", gpu.name);
                };
                check(of(None, false, unlit), 1.0);
                check(of(Some(0.3), false, unlit), 1.0);
                check(of(None, true, unlit), 0.4);
            }
        }
    }
}

pub fn blended_surfaces_are_lit_and_in_fog() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let surface = Material { double_sided: true, ..material([0.9, 0.5, 0.2], 0.0, 0.5) };
        let [r, g, b, _] = surface.base_color;
        let glass = Material { base_color: [r, g, b, 0.5], alpha_blend: true, ..surface.clone() };
        let features = LightingFeatures { fog: true, ..Default::default() };
        let fog =
            Fog { color: [0.2, 0.3, 0.4], density: FogDensity::Exponential { density: 0.004 }, ..Default::default() };
        let lighting = Lighting { fog, ..sun([0.3, 0.1, 1.0], 3.0) };
        let of = |material: &Material| {
            let shown = model(square(material.clone()));
            Scene { features: features.clone(), ..scene(&[&shown], lighting) }.draw(&gpu).center()
        };
        assert_close(of(&glass), 0.5 * of(&surface), 0.005, &gpu.name);
    }
}

pub fn blended_surfaces_cast_shadows_above_half_opacity() {
    let floor = |half: f32, height: f32, material: Material| {
        let mut recipe = square(Material { double_sided: true, name: format!("floor {height}").into(), ..material });
        for vertex in &mut recipe.vertices {
            let Vec3 { x, y, .. } = vertex.position;
            (vertex.position, vertex.normal) = (Vec3::new(x * half, height, -y * half), Vec3::Y);
        }
        model(recipe)
    };
    let ground = floor(8.0, 0.0, plain([0.8; 4]));
    let shadows = ShadowDescriptor { cascades: 1, size: 512, distance: 28.0, caster_distance: 30.0 };
    let features = LightingFeatures { shadows: Some(shadows), ..Default::default() };
    // From the side: the shadow is not behind the roof.
    let camera = Camera::perspective_look_at([0.0, 10.0, 14.0], [2.0, 0.0, 0.0], 0.8, 1.0, 0.1, 100.0);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (alpha, shadowed) in [(0.4, false), (0.6, true)] {
            let roof = floor(1.0, 2.0, Material { alpha_blend: true, ..plain([0.8, 0.8, 0.8, alpha]) });
            let of = |models| Scene {
                features: features.clone(),
                lighting: sun([-1.0, 1.0, 0.0], 3.0),
                models,
                camera,
                side: 65,
            };
            let [with, without] = [of(&[&ground, &roof]), of(&[&ground])].map(|scene| scene.draw(&gpu).center());
            assert_eq!(with.x < 0.1 * without.x, shadowed, "{alpha}: {with} {without}, {}", gpu.name);
        }
    }
}

pub fn blended_instances_occlude_nothing() {
    let gpu = compute(wgpu::Backends::VULKAN).expect("a device, which the test needs");
    let model = |alpha_blend| {
        let material = Material { alpha_blend, ..plain([0.5; 4]) };
        let mut test = squares(square_recipe(Encoding::LocalPacked, material)).with_bounds();
        test.model.meta.content_hash[14] ^= u8::from(alpha_blend);
        for payload in [&mut test.model.mesh, &mut test.model.animation] {
            let Data::Bytes(bytes) = &mut payload.data else { panic!("the payload is not in memory") };
            bytes.to_mut()[14] ^= u8::from(alpha_blend);
        }
        test
    };
    for front_blends in [false, true] {
        let (front, back) = (model(front_blends), model(false));
        let descriptor = RendererDescriptor { occlusion: true, ..Default::default() };
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
        let near = Crowd::<Dynamic>::with_model(&mut renderer, &front.model, Default::default()).unwrap();
        let far = Crowd::<Dynamic>::with_model(&mut renderer, &back.model, Default::default()).unwrap();
        near.spawn(Instance::at([4.0, 4.0, 1.0]).scaled(8.0));
        far.spawn(Instance::at([4.0, 4.0, -1.0]));
        let mut seen = Vec::new();
        for frame in 0..4 {
            let canvas = Canvas::new(&gpu, 128);
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), f64::from(frame)).unwrap();
            canvas.pass(&mut encoder, |pass| renderer.draw(pass));
            renderer.reveal(&mut encoder, &canvas.depth).unwrap();
            let over = Canvas { depth: canvas.depth.clone(), ..Canvas::new(&gpu, 128) };
            over.pass_over_depth(&mut encoder, |pass| renderer.draw_view(pass, View::REVEALED));
            canvas.finish(&gpu, encoder);
            // The blended square is drawn in the second pass.
            let second = over.finish(&gpu, gpu.device.create_command_encoder(&Default::default()));
            assert_eq!(second.covered() > 500, front_blends, "frame {frame}: {} pixels", second.covered());
            let count = |view| far.count_drawn(&renderer, view).unwrap().total();
            seen.push(count(View::MAIN) + count(View::REVEALED));
        }
        assert_eq!(seen[3], u64::from(front_blends), "{seen:?}");
    }
}

pub fn blended_materials_need_a_format_that_blends() {
    let red = model(square(unlit([1.0, 0.0, 0.0, 0.25], true)));
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        if gpu.device.features().contains(wgpu::Features::FLOAT32_BLENDABLE) {
            continue;
        }
        let descriptor = RendererDescriptor { color_format: wgpu::TextureFormat::Rgba32Float, ..Default::default() };
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
        let error = Crowd::<Dynamic>::with_model(&mut renderer, &red, Default::default()).unwrap_err().to_string();
        assert!(error.contains("is blended") && error.contains("Rgba32Float"), "{error}");
    }
}

/// A pipeline of the game's own draws the parts that it selects.
pub fn own_pipelines_draw_blended_parts_or_others() {
    const SHADER: &str = "
        @group(0) @binding(0) var<uniform> time: vec4<u32>;

        @vertex
        fn vertex(input: GpuskinInput) -> @builtin(position) vec4<f32> {
            return vec4<f32>(gpuskin_skin_vertex(input, time.xy).position.xy, 0.5, 1.0);
        }

        @fragment
        fn fragment() -> @location(0) u32 {
            return 1u;
        }
    ";
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for alpha_blend in [false, true] {
            let mut renderer = scene(&[], Lighting::default()).renderer(&gpu);
            let shown = model(square(unlit([1.0; 4], alpha_blend)));
            let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &shown, Default::default()).unwrap();
            crowd.spawn(Instance::at([0.0; 3]));
            let variant = crowd.variant();
            let own = Own::new(
                &gpu,
                OwnDescriptor {
                    text: shader::source(variant, 1) + SHADER,
                    instances: renderer.model_layout(variant),
                    buffers: vertex_buffers(variant),
                    uniforms: vec![&[0; 16]],
                    topology: wgpu::PrimitiveTopology::TriangleList,
                    format: wgpu::TextureFormat::R32Uint,
                    targets: 1,
                    side: 64,
                },
            );
            let mut draws = |draw: CustomDraw| {
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), 0.0).unwrap();
                let mut called = false;
                let texels: Vec<u32> =
                    own.draw(&gpu, encoder, |pass| crowd.draw_with(pass, draw, |_, _| called = true)).remove(0);
                assert_eq!(texels.contains(&1), called, "{}", gpu.name);
                called
            };
            let all = CustomDraw::new(1);
            assert!(draws(all) && draws(all.blended_parts(alpha_blend)), "{}", gpu.name);
            assert!(!draws(all.blended_parts(!alpha_blend)), "{}", gpu.name);
        }
    }
}
