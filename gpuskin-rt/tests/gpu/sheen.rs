//! Sheen of cloth in the metallic-roughness material (`KHR_materials_sheen`).

use core::f64::consts::PI;

use glam::DVec3;
use gpuskin_rt::internals::*;

use crate::common::brdf::{self, Sheen, SurfacePoint, sheen_albedo};
use crate::common::lit::*;
use crate::common::model::nearest;
use crate::common::{BACKENDS, gpu};

/// By the sun, a lamp and ambient light, at several angles, below a clear coat and without one.
pub fn sheens_match_f64_reference() {
    let lamp = PunctualLight { position: [0.0, 3.0, 4.0], intensity: 40.0, ..Default::default() };
    let colors = [([1.0; 3], 0.0), ([0.9, 0.5, 0.2], 0.3), ([0.1, 0.3, 1.0], 0.6), ([0.4, 0.4, 0.4], 1.0)];
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (sheen_color, sheen_roughness) in colors {
            for (n_dot_v, metallic, clearcoat) in [(1.0, 0.0, 0.0), (0.6, 1.0, 0.5), (0.2, 0.3, 0.0), (0.05, 0.0, 0.0)]
            {
                for texture in [None, Some([200, 120, 255, 180])] {
                    let plain = Material { emissive: [0.1, 0.0, 0.3], ..material([0.7, 0.2, 0.1], metallic, 0.6) };
                    let coat = Material { clearcoat, clearcoat_roughness: 0.3, ..plain };
                    let material = Material { sheen_color, sheen_roughness, ..coat };
                    let (mut recipe, normal) = turned_square(material.clone(), n_dot_v);
                    let (mut color, mut roughness) =
                        (DVec3::from(sheen_color.map(f64::from)), f64::from(sheen_roughness));
                    if let Some(rgba) = texture {
                        recipe.materials[0].sheen_texture = Some(nearest(0));
                        recipe.textures = vec![texel(true, rgba)];
                        color *= DVec3::from([0, 1, 2].map(|c| linear(rgba[c])));
                        roughness *= f64::from(rgba[3]) / 255.0;
                    }
                    let sheen = Sheen::new(color, roughness, normal.z);
                    let point = SurfacePoint { normal, coat_normal: normal, sheen, ..surface(&material) };
                    let ambient = [0.4, 0.5, 0.6];
                    let lighting = Lighting { ambient: Ambient::uniform(ambient), ..sun([2.0, 0.4, 1.0], 3.0) };
                    let to_lamp = DVec3::new(0.0, 3.0, 4.0);
                    let albedo = brdf::albedo(normal.z, point.roughness);
                    let facing = normal.dot(to_lamp.normalize());
                    let of_lamp = brdf::brdf(&point, to_lamp.normalize(), albedo) * 40.0 / PI / 25.0 * facing;
                    let expected = brdf::radiance(&point, &lighting, DVec3::from(ambient.map(f64::from))) + of_lamp;
                    let seen = scene(&[&model(recipe)], lighting).draw_by_lamp(&gpu, lamp).center();
                    let what = (sheen_color, sheen_roughness, n_dot_v, metallic, clearcoat, texture, &gpu.name);
                    assert_close(seen, expected, 0.01, &what);
                }
            }
        }
    }
}

/// A white sheen over black in uniform light shows the albedo of the shader's fit.
pub fn albedo_of_sheens_is_the_integral_of_their_lobes() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for sheen_roughness in [0.0, 0.07, 0.1, 0.15, 0.25, 0.4, 0.7, 1.0] {
            for n_dot_v in [1.0_f32, 0.8, 0.5, 0.3, 0.15, 0.08, 0.05] {
                let black = Material { ior: 1.0, specular: 0.0, ..material([0.0; 3], 0.0, 1.0) };
                let (recipe, normal) =
                    turned_square(Material { sheen_color: [1.0; 3], sheen_roughness, ..black }, n_dot_v);
                let lighting = Lighting { ambient: Ambient::uniform([1.0; 3]), ..sun([0.0, 1.0, 0.0], 0.0) };
                let seen = scene(&[&model(recipe)], lighting).draw(&gpu).center().x;
                let exact = sheen_albedo(normal.z, f64::from(sheen_roughness).max(0.07)).min(1.0);
                let what = (sheen_roughness, n_dot_v, &gpu.name);
                assert!((seen - exact).abs() < 0.006, "{seen} instead of {exact}: {what:?}");
            }
        }
    }
}

pub fn white_surfaces_with_sheens_reflect_all_ambient_light() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (sheen_color, sheen_roughness) in [([1.0; 3], 0.0), ([1.0; 3], 0.5), ([0.3; 3], 1.0)] {
            for (metallic, roughness, clearcoat) in [(0.0, 0.5, 0.0), (1.0, 0.2, 0.0), (0.4, 1.0, 0.7)] {
                let coat = Material { clearcoat, ..material([1.0; 3], metallic, roughness) };
                let material = Material { sheen_color, sheen_roughness, ..coat };
                let lighting = Lighting { ambient: Ambient::uniform([1.0; 3]), ..sun([0.0, 1.0, 0.0], 0.0) };
                for (x, y, seen) in scene(&[&model(sphere(material))], lighting).draw(&gpu).covered() {
                    let what = (sheen_color, sheen_roughness, metallic, roughness, clearcoat, x, y, &gpu.name);
                    assert_close(seen, DVec3::ONE, 0.01, &what);
                }
            }
        }
    }
}

/// Eight textures of the material, and those of the renderer, in devices with the limits of WebGL2.
pub fn a_material_with_all_textures_is_drawn() {
    let number = |i: u32| Some(nearest(i));
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let all = Material {
            base_color_texture: number(0),
            orm_texture: number(1),
            normal_texture: number(2),
            emissive_texture: number(0),
            emissive: [0.1; 3],
            specular_texture: number(0),
            clearcoat: 1.0,
            clearcoat_texture: number(1),
            clearcoat_normal_texture: number(2),
            sheen_color: [0.5; 3],
            sheen_roughness: 0.5,
            sheen_texture: number(0),
            ..material([1.0; 3], 0.5, 0.5)
        };
        let mut recipe = square(all);
        let (white, map) = ([255; 4], [140, 120, 250, 255]);
        recipe.textures = vec![texel(true, white), texel(false, white), texel(false, map)];
        let features = LightingFeatures {
            shadows: Some(ShadowDescriptor { cascades: 2, size: 256, distance: 200.0, caster_distance: 40.0 }),
            light_shadows: Some(LightShadowDescriptor { tiles: 2, size: 128 }),
            lights: 4,
            fog: true,
            environment: true,
            ..Default::default()
        };
        let lighting = Lighting { ambient: Ambient::uniform([0.3; 3]), ..sun([0.4, 0.3, 1.0], 3.0) };
        let seen = Scene { features, ..scene(&[&model(recipe)], lighting) }.draw(&gpu).center();
        assert!(seen.is_finite() && seen.min_element() > 0.3 && seen.max_element() < 10.0, "{seen} {}", gpu.name);
    }
}

/// Light of all directions together: the integral of the reference over the hemisphere. At grazing angles, smooth fibres
/// alone would reflect more.
pub fn white_surfaces_with_sheens_reflect_all_sunlight() {
    const STEPS: u32 = 300;
    let step = |i: u32| (f64::from(i) + 0.5) / f64::from(STEPS);
    for (metallic, strength) in [(0.0, 1.0), (1.0, 1.0), (0.5, 0.4)] {
        for sheen_roughness in [0.07, 0.1, 0.3, 0.6, 1.0] {
            for n_dot_v in [0.02_f64, 0.1, 0.4, 1.0] {
                let to_eye = DVec3::new((1.0 - n_dot_v * n_dot_v).sqrt(), 0.0, n_dot_v);
                let sheen = Sheen::new(DVec3::splat(strength), sheen_roughness, n_dot_v);
                let point = SurfacePoint { to_eye, sheen, ..surface(&material([1.0; 3], metallic, 1.0)) };
                let albedo = brdf::albedo(n_dot_v, 1.0);
                let mut total = 0.0;
                for i in 0..STEPS * STEPS {
                    let (up, turn) = (step(i / STEPS), PI * step(i % STEPS));
                    let n_dot_l = up * up;
                    let across = (1.0 - n_dot_l * n_dot_l).sqrt();
                    let l = DVec3::new(across * turn.cos(), across * turn.sin(), n_dot_l);
                    total += brdf::brdf(&point, l, albedo).x * n_dot_l * 2.0 * up * 2.0;
                }
                total /= f64::from(STEPS * STEPS);
                assert!((total - 1.0).abs() < 0.01, "{metallic} {strength} {sheen_roughness} {n_dot_v}: {total}");
            }
        }
    }
}
