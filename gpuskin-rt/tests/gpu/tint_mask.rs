//! Tint masks: the alpha of an opaque material's base colour is the share of an instance's tint.

use glam::Vec4;
use gpuskin_rt::internals::*;

use crate::common::model::{TestModel, nearest, plain, variant_names};
use crate::common::squares::{FLAT, draw, map, shows, square_recipe, squares};
use crate::common::{BACKENDS, Gpu, compute, gpu, open};

/// Shares of the tint, as bytes of the texture's alpha.
const MASK: [u8; 2] = [0, 102];
const TEXEL: [u8; 3] = [200, 150, 250];
const FACTOR: [f32; 4] = [0.9, 0.8, 0.7, 1.0];
const VERTEX_COLOR: [f32; 4] = [1.0, 0.6, 0.8, 1.0];
const TINTS: [[f32; 4]; 4] = [[1.0; 4], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.2, 1.0], [0.4, 1.0, 0.0, 1.0]];

fn texture(texels: &[[u8; 4]]) -> (ColorTexture, Vec<Vec<Vec<u8>>>) {
    let formats = vec![ColorFormat::Rgba8].into();
    let info = ColorTexture { width: 1, height: 1, levels: 1, layers: texels.len() as u32, srgb: true, formats };
    (info, vec![vec![texels.concat()]])
}

/// A square whose base colour has layers of these texels, with vertex colours if `colored`.
fn test_model(encoding: Encoding, material: Material, colored: bool, texels: &[[u8; 4]]) -> TestModel {
    let variant_layers = if texels.len() > 1 { vec![0, 1] } else { Vec::new() };
    let material = Material { base_color_texture: Some(nearest(0)), variant_layers: variant_layers.into(), ..material };
    let mut recipe = square_recipe(encoding, material);
    recipe.textures = vec![texture(texels)];
    if colored {
        recipe.format.color = true;
        recipe.vertices.iter_mut().for_each(|vertex| vertex.color = Vec4::from_array(VERTEX_COLOR));
    }
    if encoding.is_vertex() {
        recipe.format.packing = Packing::Static;
    }
    let mut test = squares(recipe);
    test.model.meta.variants = variant_names(texels.len() > 1);
    test
}

fn masked(unlit: bool) -> Material {
    Material { unlit, tint_mask: true, ..plain(FACTOR) }
}

/// The diffuse material and the metallic-roughness model.
fn renderers(gpu: &Gpu) -> [CrowdRenderer; 2] {
    let full = Shading::MetallicRoughness(LightingFeatures::default());
    [Shading::default(), full].map(|shading| {
        let descriptor = RendererDescriptor { light: FLAT, shading, ..Default::default() };
        CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap()
    })
}

/// Colours of instances with [`TINTS`], in variant 0 and then in variant 1.
fn colors(gpu: &Gpu, renderer: &mut CrowdRenderer, test: &TestModel) -> [[[u8; 4]; 4]; 2] {
    let crowd = Crowd::<Dynamic>::with_model(renderer, &test.model, Default::default()).unwrap();
    for (y, variant) in [0, 1].into_iter().enumerate() {
        crowd.spawn_many(TINTS.iter().enumerate().map(|(x, tint)| {
            let instance = Instance::at([x as f32 + 0.5, y as f32 + 2.0, 0.0]);
            instance.tinted(*tint).variant(ModelVariant::new(variant))
        }));
    }
    let picture = draw(gpu, renderer, &map(8.0), 0.0);
    [2.0, 3.0].map(|y| [0.5, 1.5, 2.5, 3.5].map(|x| shows(&picture, x, y)))
}

/// Colour of an unlit surface, computed in `f64`: factor * texel * vertex colour * (1 + share * (tint - 1)), as sRGB.
fn expected(tint: [f32; 4], mask: u8, colored: bool) -> [u8; 4] {
    let share = f64::from(mask) / 255.0;
    let [r, g, b] = [0, 1, 2].map(|c| {
        let stored = f64::from(TEXEL[c]) / 255.0;
        let texel = ((stored + 0.055) / 1.055).powf(2.4);
        let vertex = if colored { f64::from(VERTEX_COLOR[c]) } else { 1.0 };
        let light = texel * f64::from(FACTOR[c]) * vertex * (1.0 + share * (f64::from(tint[c]) - 1.0));
        let stored = if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
        (stored * 255.0).round() as u8
    });
    [r, g, b, 255]
}

fn near(a: [u8; 4], b: [u8; 4]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 2)
}

pub fn tints_are_weighted_by_the_mask() {
    for gpu in BACKENDS.into_iter().flat_map(|backend| [gpu(backend), compute(backend)]).flatten() {
        let computes = gpu.device.limits().max_storage_buffers_per_shader_stage > 0;
        let encodings = [Encoding::MatrixF16, Encoding::VatF16, Encoding::LocalPacked];
        for encoding in encodings.into_iter().filter(|encoding| computes || !encoding.needs_compute()) {
            for (colored, layered) in [(false, true), (true, true), (true, false)] {
                let [r, g, b] = TEXEL;
                let texels = MASK.map(|mask| [r, g, b, mask]);
                let texels = if layered { &texels[..] } else { &texels[1..] };
                for mut renderer in renderers(&gpu) {
                    let drawn = colors(&gpu, &mut renderer, &test_model(encoding, masked(true), colored, texels));
                    for (drawn, mask) in drawn.into_iter().zip(if layered { MASK } else { [MASK[1]; 2] }) {
                        let expected = TINTS.map(|tint| expected(tint, mask, colored));
                        let same = drawn.iter().zip(&expected).all(|(drawn, expected)| near(*drawn, *expected));
                        let what = (&gpu.name, encoding, colored, layered, mask);
                        assert!(same, "{what:?}: {drawn:?}, expected {expected:?}");
                    }
                }
            }
        }
    }
}

/// Lit surfaces: a black mask shows what an instance without a tint shows, a white one what a model without a mask shows.
pub fn masks_of_lit_surfaces_are_between_no_tint_and_the_whole_tint() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let [r, g, b] = TEXEL;
        let texels = [[r, g, b, 0], [r, g, b, 255]];
        let mut pictures = [true, false].map(|tint_mask| {
            renderers(&gpu).map(|mut renderer| {
                let material = Material { tint_mask, metallic: 0.5, roughness: 0.4, ..masked(false) };
                colors(&gpu, &mut renderer, &test_model(Encoding::MatrixF16, material, true, &texels))
            })
        });
        // The alpha of a surface without a mask is that of its texture.
        pictures.as_flattened_mut().as_flattened_mut().as_flattened_mut().iter_mut().for_each(|color| color[3] = 255);
        let [masked, plain] = pictures;
        for ([black, white], [untinted, tinted]) in masked.into_iter().zip(plain) {
            assert_eq!((black, white), ([untinted[0]; 4], tinted), "{}", gpu.name);
            assert!(tinted[1] != tinted[2] && tinted[0][0] > 0, "{tinted:?}");
        }
    }
}

/// Surfaces that are not opaque read alpha as it is.
pub fn masks_of_surfaces_that_are_not_opaque_are_not_drawn() {
    let gpu = BACKENDS.into_iter().find_map(gpu).expect("a device, which the test needs");
    let [r, g, b] = TEXEL;
    let cut = Material { alpha_cutoff: Some(0.5), ..masked(true) };
    let blended = Material { alpha_blend: true, ..masked(true) };
    assert!(masked(true).tint_mask && ![&cut, &blended, &masked(true)].iter().any(|m| m.has_tint_mask()));
    for material in [cut, blended] {
        for mut renderer in renderers(&gpu) {
            let test = test_model(Encoding::MatrixF16, material.clone(), false, &[[r, g, b, 255]]);
            let [drawn, _] = colors(&gpu, &mut renderer, &test);
            let expected = TINTS.map(|tint| expected(tint, 255, false));
            assert!(drawn.iter().zip(&expected).all(|(a, b)| near(*a, *b)), "{drawn:?}, expected {expected:?}");
        }
    }
}

/// Merged crowds and cached poses weight tints as single crowds do.
pub fn masks_are_drawn_in_batches_and_from_cached_poses() {
    for time_grid in [None, Some(0.1)] {
        let limits = wgpu::Limits { max_storage_buffers_per_shader_stage: 16, ..Default::default() };
        let features = wgpu::Features::MULTI_DRAW_INDIRECT_COUNT | wgpu::Features::INDIRECT_FIRST_INSTANCE;
        let gpu = open(wgpu::Backends::VULKAN, limits, features).expect("a device, which the test needs");
        for mut renderer in renderers(&gpu) {
            let [r, g, b] = TEXEL;
            let crowds = [0_u8, 1].map(|number| {
                let texels = [[r, g, b, MASK[usize::from(number)]]];
                let mut test = test_model(Encoding::LocalPacked, masked(true), true, &texels).with_bounds();
                test.model.meta.content_hash[14] ^= number;
                for payload in [&mut test.model.mesh, &mut test.model.animation, &mut test.model.textures.to_mut()[0]] {
                    let Data::Bytes(bytes) = &mut payload.data else { panic!("the payload is not in memory") };
                    bytes.to_mut()[14] ^= number;
                }
                let descriptor = CrowdDescriptor { time_grid, ..Default::default() };
                let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &test.model, descriptor).unwrap();
                crowd.spawn_many(
                    TINTS
                        .iter()
                        .enumerate()
                        .map(|(x, tint)| Instance::at([x as f32 + 0.5, f32::from(number) + 2.0, 0.0]).tinted(*tint)),
                );
                crowd
            });
            for _ in 0..3 {
                let picture = draw(&gpu, &mut renderer, &map(8.0), 0.0);
                for (y, mask) in [2.0, 3.0].into_iter().zip(MASK) {
                    let drawn = [0.5, 1.5, 2.5, 3.5].map(|x| shows(&picture, x, y));
                    let expected = TINTS.map(|tint| expected(tint, mask, true));
                    let same = drawn.iter().zip(&expected).all(|(a, b)| near(*a, *b));
                    assert!(same, "{time_grid:?}, {mask}: {drawn:?}, expected {expected:?}");
                }
            }
            let merged = crowds.map(|crowd| crowd.explain(&renderer).merged);
            assert_eq!(merged, if time_grid.is_none() { [2, 2] } else { merged });
        }
    }
}
