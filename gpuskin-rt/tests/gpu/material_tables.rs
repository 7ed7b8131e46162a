//! Materials of many models in one bind group: pictures equal those of materials that are bound one by one.

use gpuskin_rt::internals::*;

use crate::batch::{MODELS, SIDE, Scene, build, recipe_of};
use crate::common::Picture;
use crate::common::model::{Random, TestModel, variant_names};

/// A texture of 2 x 2 random texels per layer.
fn texture(random: &mut Random, srgb: bool, layers: u32) -> (ColorTexture, Vec<Vec<Vec<u8>>>) {
    let formats = vec![ColorFormat::Rgba8].into();
    let texels = (0..16 * layers).map(|_| 64 + random.below(192) as u8).collect();
    (ColorTexture { width: 2, height: 2, levels: 1, layers, srgb, formats }, vec![vec![texels]])
}

/// A model whose materials have constants, textures, samplers, cut-outs and blending of their own. `layered`: its base
/// colours differ between two variants.
fn test_model(number: usize, layered: bool) -> TestModel {
    let mut random = Random(number as u64 + 1234);
    let mut recipe = recipe_of(number);
    let second_uv = recipe.format.second_uv;
    for (i, material) in recipe.materials.iter_mut().enumerate() {
        let kind = number + i;
        let wrap = [[Wrap::Repeat, Wrap::Clamp], [Wrap::Mirror; 2]][kind % 2];
        let mut add = |srgb, layers| {
            recipe.textures.push(texture(&mut random, srgb, layers));
            Some(MaterialTexture { texture: recipe.textures.len() as u32 - 1, wrap, nearest: true, second_uv: false })
        };
        let second = |texture: Option<MaterialTexture>| texture.map(|texture| MaterialTexture { second_uv, ..texture });
        material.base_color_texture = add(true, if layered { 2 } else { 1 });
        if layered {
            material.variant_layers = vec![1, 0].into();
        }
        if kind.is_multiple_of(3) {
            (material.emissive, material.emissive_texture) = ([0.3, 0.2, 0.1], second(add(true, 1)));
        }
        if kind % 3 == 1 {
            (material.orm_texture, material.normal_texture) = (add(false, 1), second(add(false, 1)));
            material.occlusion_second_uv = second_uv;
        }
        if kind % 4 == 2 {
            (material.specular, material.clearcoat, material.clearcoat_texture) = (0.4, 0.8, add(false, 1));
        }
        if kind % 8 == 6 {
            material.clearcoat_normal_texture = add(false, 1);
        }
        if kind % 4 > 1 {
            (material.sheen_color, material.sheen_roughness) = ([0.9, 0.5, 0.2], 0.6);
            material.sheen_texture = if kind % 8 > 3 { add(true, 1) } else { None };
        }
        material.alpha_cutoff = (kind % 3 == 2).then_some(0.6);
        material.alpha_blend = kind % 5 == 4;
        material.unlit = kind % 7 == 6;
        material.base_color = [random.unit(), random.unit(), random.unit(), 1.0];
        (material.metallic, material.roughness) = (random.unit(), random.unit());
    }
    let mut test = build(recipe, number);
    test.model.meta.variants = variant_names(layered);
    test
}

/// Draws models in some turns, from tables and without them: all pictures, of the tables first.
fn pictures(models: &[TestModel], shading: &Shading, turns: u32, count: u32) -> [Vec<Picture>; 2] {
    let descriptor = RendererDescriptor { shading: shading.clone(), ..Default::default() };
    let features = [CrowdRenderer::OPTIONAL_FEATURES, wgpu::Features::INDIRECT_FIRST_INSTANCE];
    features.map(|features| {
        let device = (wgpu::Limits::default(), features);
        let mut scene = Scene::new(device, models, descriptor.clone(), count).expect("the test's need");
        // Models without variants show their only look.
        for (crowd, ids) in scene.crowds.iter().zip(&scene.ids) {
            ids.iter().step_by(2).for_each(|id| crowd.set_variant(*id, ModelVariant::new(1)).unwrap());
        }
        let pictures = (0..turns).flat_map(|turn| scene.draw(turn, false)).collect();
        assert_eq!(scene.merged(), models.len());
        pictures
    })
}

/// Asserts that the pictures are the same: shaders of both are compiled apart, so a few pixels may be rounded otherwise.
fn assert_same([tables, bound]: &[Vec<Picture>; 2], what: &str) {
    for (table, own) in tables.iter().zip(bound) {
        let pixels = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| [x, y]));
        let differs = |&[x, y]: &[u32; 2]| table.at(x, y).into_iter().zip(own.at(x, y)).any(|(a, b)| a.abs_diff(b) > 2);
        let differing = pixels.filter(differs).count();
        if differing > 3 {
            let folder = std::env::temp_dir();
            table.save(&folder.join("gpuskin-tables.png"));
            own.save(&folder.join("gpuskin-bound.png"));
            panic!("{what}: {differing} pixels differ, see {}", folder.display());
        }
        assert!(own.covered() > 500, "{what}: {} pixels", own.covered());
    }
}

pub fn materials_in_tables_look_like_bound_ones() {
    let models: Vec<_> = (0..2 * MODELS).map(|i| test_model(i, i % 4 == 3)).collect();
    let shadows = ShadowDescriptor { cascades: 2, size: 256, distance: 60.0, caster_distance: 40.0 };
    let features = LightingFeatures { shadows: Some(shadows), fog: true, ..Default::default() };
    for shading in [Shading::Diffuse, Shading::MetallicRoughness(features)] {
        assert_same(&pictures(&models, &shading, 3, 20), &format!("{shading:?}"));
    }
}

/// More materials with the same samplers than a table holds.
pub fn tables_of_many_materials_are_split() {
    let one = |number: usize| {
        let mut recipe = recipe_of(0);
        let mut random = Random(number as u64);
        recipe.textures = vec![texture(&mut random, true, 1)];
        recipe.materials[0].base_color_texture =
            Some(MaterialTexture { texture: 0, wrap: [Wrap::Repeat; 2], nearest: false, second_uv: false });
        build(recipe, number)
    };
    let models: Vec<_> = (0..1100).map(one).collect();
    assert_same(&pictures(&models, &Shading::Diffuse, 1, 3), "1,100 models");
}
