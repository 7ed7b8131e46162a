//! The metallic-roughness material: energy, textures, normal maps.

use core::f64::consts::PI;

use glam::{DVec3, Vec2, Vec4};
use gpuskin_rt::internals::*;

use crate::common::brdf::{self, SurfacePoint};
use crate::common::lit::*;
use crate::common::model::nearest;
use crate::common::{BACKENDS, gpu};

pub fn white_surfaces_reflect_all_ambient_light() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for metallic in [0.0, 0.3, 0.7, 1.0] {
            for roughness in [0.0, 0.1, 0.25, 0.5, 0.75, 1.0] {
                let white = model(sphere(material([1.0; 3], metallic, roughness)));
                let lighting = Lighting { ambient: Ambient::uniform([1.0, 0.5, 0.25]), ..sun([0.0, 1.0, 0.0], 0.0) };
                let picture = scene(&[&white], lighting).draw(&gpu);
                let mut pixels = 0;
                for (x, y, seen) in picture.covered() {
                    let expected = DVec3::new(1.0, 0.5, 0.25);
                    assert_close(seen, expected, 0.01, &(metallic, roughness, x, y, &gpu.name));
                    pixels += 1;
                }
                assert!(pixels > 500, "{pixels}");
            }
        }
    }
}

/// Light of all directions together: the integral of the BRDF over the hemisphere.
pub fn white_surfaces_reflect_all_sunlight() {
    for metallic in [0.0, 0.5, 1.0] {
        for roughness in [0.15, 0.4, 0.7, 1.0] {
            for n_dot_v in [0.2_f64, 0.6, 1.0] {
                let to_eye = DVec3::new((1.0 - n_dot_v * n_dot_v).sqrt(), 0.0, n_dot_v);
                let point = SurfacePoint { to_eye, ..surface(&material([1.0; 3], metallic, roughness)) };
                let albedo = brdf::albedo(n_dot_v, f64::from(roughness));
                let a2 = f64::from(roughness).powi(4);
                const STEPS: u32 = 500;
                let mut sum = 0.0;
                for i in 0..2 * STEPS * STEPS {
                    let [u, turn] = [i / 2 / STEPS, i / 2 % STEPS].map(|i| (f64::from(i) + 0.5) / f64::from(STEPS));
                    let (sin, cos) = (2.0 * PI * turn).sin_cos();
                    // Half of the directions follow the cosine, half the distribution of microfacets; both are
                    // weighted by the density of all.
                    let around = |up: f64| DVec3::new((1.0 - up * up).sqrt() * cos, (1.0 - up * up).sqrt() * sin, up);
                    let l = match i % 2 {
                        0 => around((1.0 - u).sqrt()),
                        _ => {
                            let h = around(((1.0 - u) / (1.0 + (a2 - 1.0) * u)).sqrt());
                            2.0 * to_eye.dot(h) * h - to_eye
                        }
                    };
                    if l.z <= 0.0 {
                        continue;
                    }
                    let h = (l + to_eye).normalize();
                    let d = a2 / (PI * (h.z * h.z * (a2 - 1.0) + 1.0).powi(2));
                    let density = 0.5 * (l.z / PI + d * h.z / (4.0 * to_eye.dot(h)));
                    sum += brdf::brdf(&point, l, albedo).x / PI * l.z / density;
                }
                let total = sum / f64::from(2 * STEPS * STEPS);
                assert!((total - 1.0).abs() < 0.01, "{metallic} {roughness} {n_dot_v}: {total}");
            }
        }
    }
}

pub fn sunlit_surfaces_match_f64_reference() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for metallic in [0.0, 0.4, 1.0] {
            for roughness in [0.2, 0.5, 1.0] {
                let material = material([0.9, 0.5, 0.2], metallic, roughness);
                let shown = model(square(Material { emissive: [0.1, 0.0, 0.2], ..material.clone() }));
                for to_sun in [[0.0, 0.0, 1.0], [0.3, 0.1, 1.0], [1.0, 2.0, 1.5], [-3.0, 0.5, 1.0], [0.0, 1.0, -0.1]] {
                    let ambient = DVec3::new(0.2, 0.3, 0.4);
                    let lighting = Lighting { ambient: Ambient::uniform([0.2, 0.3, 0.4]), ..sun(to_sun, 6.0) };
                    let point = SurfacePoint { emitted: DVec3::new(0.1, 0.0, 0.2), ..surface(&material) };
                    let expected = brdf::radiance(&point, &lighting, ambient);
                    let seen = scene(&[&shown], lighting).draw(&gpu).center();
                    assert_close(seen, expected, 0.01, &(metallic, roughness, to_sun, &gpu.name));
                }
            }
        }
    }
}

/// `KHR_materials_ior` and `KHR_materials_specular`, by the sun, a lamp and ambient light.
pub fn dielectrics_of_any_index_and_colour_match_f64_reference() {
    let lamp = PunctualLight { position: [0.0, 3.0, 4.0], intensity: 40.0, ..Default::default() };
    let strengths = [
        (1.0, 1.0, [1.0; 3]),
        (1.33, 1.0, [1.0; 3]),
        (2.42, 1.0, [1.0, 0.6, 0.2]),
        (0.0, 1.0, [0.9, 0.5, 0.1]),
        (1.5, 0.0, [1.0; 3]),
        (1.5, 0.4, [0.1, 0.5, 1.0]),
        (1.5, 1.0, [40.0, 3.0, 0.0]),
    ];
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (ior, specular, specular_color) in strengths {
            for (metallic, roughness) in [(0.0, 0.3), (0.0, 1.0), (0.5, 0.5), (1.0, 0.4)] {
                for texture in [None, Some([128, 200, 255, 100])] {
                    let material =
                        Material { ior, specular, specular_color, ..material([0.7, 0.5, 0.2], metallic, roughness) };
                    let mut point = surface(&material);
                    let mut recipe = square(material.clone());
                    if let Some(rgba) = texture {
                        recipe.materials[0].specular_texture = Some(nearest(0));
                        recipe.textures = vec![texel(true, rgba)];
                        let [r, g, b] = [0, 1, 2].map(|c| linear(rgba[c]));
                        let ratio = ((f64::from(ior) - 1.0) / (f64::from(ior) + 1.0)).powi(2);
                        let color = DVec3::from(specular_color.map(f64::from)) * DVec3::new(r, g, b);
                        point.f90 = f64::from(specular) * f64::from(rgba[3]) / 255.0;
                        point.f0 = (color * ratio).min(DVec3::ONE) * point.f90;
                    }
                    let ambient = [0.4, 0.5, 0.6];
                    let lighting = Lighting { ambient: Ambient::uniform(ambient), ..sun([0.7, 0.1, 1.0], 3.0) };
                    let to_lamp = DVec3::new(0.0, 3.0, 4.0);
                    let albedo = brdf::albedo(1.0, point.roughness);
                    let of_lamp = brdf::brdf(&point, to_lamp.normalize(), albedo) * 40.0 / PI / 25.0 * 0.8;
                    let expected = brdf::radiance(&point, &lighting, DVec3::from(ambient.map(f64::from))) + of_lamp;
                    let seen = scene(&[&model(recipe)], lighting).draw_by_lamp(&gpu, lamp).center();
                    let what = (ior, specular, specular_color, metallic, roughness, texture, &gpu.name);
                    assert_close(seen, expected, 0.01, &what);
                }
            }
        }
    }
}

/// `KHR_materials_clearcoat`, by the sun, a lamp and ambient light.
pub fn clear_coats_match_f64_reference() {
    let lamp = PunctualLight { position: [0.0, 3.0, 4.0], intensity: 40.0, ..Default::default() };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (clearcoat, clearcoat_roughness) in [(1.0, 0.0), (1.0, 0.3), (0.5, 1.0), (0.2, 0.1)] {
            for (metallic, roughness, ior) in [(0.0, 0.8, 1.5), (1.0, 0.4, 1.5), (0.3, 0.5, 1.8)] {
                for texture in [None, Some([100, 180, 7, 255])] {
                    let emissive = [0.1, 0.0, 0.3];
                    let material = Material {
                        clearcoat,
                        clearcoat_roughness,
                        ior,
                        emissive,
                        ..material([0.7, 0.2, 0.1], metallic, roughness)
                    };
                    let mut point = surface(&material);
                    let mut recipe = square(material.clone());
                    if let Some(rgba) = texture {
                        recipe.materials[0].clearcoat_texture = Some(nearest(0));
                        recipe.textures = vec![texel(false, rgba)];
                        point.coat[0] *= f64::from(rgba[0]) / 255.0;
                        point.coat[1] *= f64::from(rgba[1]) / 255.0;
                    }
                    let ambient = [0.4, 0.5, 0.6];
                    let lighting = Lighting { ambient: Ambient::uniform(ambient), ..sun([0.3, 0.1, 1.0], 3.0) };
                    let albedo = brdf::albedo(1.0, point.roughness);
                    let to_lamp = DVec3::new(0.0, 3.0, 4.0).normalize();
                    let of_lamp = brdf::brdf(&point, to_lamp, albedo) * 40.0 / PI / 25.0 * 0.8;
                    let expected = brdf::radiance(&point, &lighting, DVec3::from(ambient.map(f64::from))) + of_lamp;
                    let seen = scene(&[&model(recipe)], lighting).draw_by_lamp(&gpu, lamp).center();
                    let what = (clearcoat, clearcoat_roughness, metallic, roughness, texture, &gpu.name);
                    assert_close(seen, expected, 0.01, &what);
                }
            }
        }
    }
}

pub fn white_surfaces_under_clear_coats_reflect_all_light() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (clearcoat, clearcoat_roughness) in [(1.0, 0.0), (1.0, 1.0), (0.4, 0.5)] {
            for (metallic, roughness) in [(0.0, 0.5), (1.0, 0.2)] {
                let material = Material { clearcoat, clearcoat_roughness, ..material([1.0; 3], metallic, roughness) };
                let lighting = Lighting { ambient: Ambient::uniform([1.0; 3]), ..sun([0.0, 1.0, 0.0], 0.0) };
                for (x, y, seen) in scene(&[&model(sphere(material))], lighting).draw(&gpu).covered() {
                    assert_close(seen, DVec3::ONE, 0.01, &(clearcoat, clearcoat_roughness, metallic, x, y, &gpu.name));
                }
            }
        }
    }
}

/// White surfaces reflect all light, whatever their dielectric part reflects; coloured reflections lose some.
pub fn white_dielectrics_of_any_index_reflect_all_light() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (ior, specular, color, all) in
            [(1.0, 1.0, [1.0; 3], true), (2.0, 0.7, [1.0; 3], true), (1.5, 1.0, [9.0, 1.0, 1.0], false)]
        {
            for roughness in [0.0, 0.4, 1.0] {
                let material = Material { ior, specular, specular_color: color, ..material([1.0; 3], 0.0, roughness) };
                let lighting = Lighting { ambient: Ambient::uniform([1.0; 3]), ..sun([0.0, 1.0, 0.0], 0.0) };
                for (x, y, seen) in scene(&[&model(sphere(material))], lighting).draw(&gpu).covered() {
                    let (least, most) = (seen.min_element(), seen.max_element());
                    let lossless = least > 0.99 || !all;
                    assert!(lossless && most < 1.01, "{ior} {specular} {color:?} {roughness} {x} {y}: {seen}");
                }
            }
        }
    }
}

pub fn impossible_dielectrics_give_finite_pictures() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1.0, -0.5] {
            for index in 0..8 {
                let mut material = material([0.7, 0.5, 0.2], 0.2, 0.5);
                match index {
                    0 => material.ior = number,
                    1 => material.specular = number,
                    2 => material.clearcoat = number,
                    3 => (material.clearcoat, material.clearcoat_roughness) = (1.0, number),
                    4 => material.sheen_color = [0.3, number, 0.0],
                    5 => {
                        material.clearcoat = 1.0;
                        (material.clearcoat_normal_scale, material.clearcoat_normal_texture) =
                            (number, Some(nearest(0)));
                    }
                    6 => (material.sheen_color, material.sheen_roughness) = ([1.0; 3], number),
                    _ => material.specular_color[1] = number,
                }
                let lighting = Lighting { ambient: Ambient::uniform([0.5; 3]), ..sun([0.2, 0.1, 1.0], 3.0) };
                let mut recipe = square(material);
                recipe.textures = vec![texel(false, [204, 166, 222, 255])];
                let seen = scene(&[&model(recipe)], lighting).draw(&gpu).center();
                assert!(seen.is_finite() && seen.min_element() >= 0.0 && seen.max_element() < 20.0, "{number}: {seen}");
            }
        }
    }
}

pub fn each_texture_changes_the_surface() {
    let base = [200, 120, 40, 255];
    let orm = [128, 90, 200, 255];
    let emissive = [255, 0, 128, 255];
    let factors =
        Material { occlusion_strength: 0.5, emissive: [0.5, 1.0, 2.0], ..material([0.9, 0.8, 0.7], 0.8, 0.9) };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for bits in 0..8_u32 {
            let [has_base, has_orm, has_emissive] = [1, 2, 4].map(|bit| bits & bit != 0);
            let used = |used: bool, texture| used.then(|| nearest(texture));
            let mut recipe = square(Material {
                base_color_texture: used(has_base, 0),
                orm_texture: used(has_orm, 1),
                emissive_texture: used(has_emissive, 2),
                ..factors.clone()
            });
            recipe.textures = vec![texel(true, base), texel(false, orm), texel(true, emissive)];
            let mut point = surface(&factors);
            if has_base {
                point.base_color *= DVec3::new(linear(base[0]), linear(base[1]), linear(base[2]));
            }
            if has_orm {
                let [o, r, m] = [0, 1, 2].map(|i| f64::from(orm[i]) / 255.0);
                point.occlusion = 1.0 + 0.5 * (o - 1.0);
                (point.roughness, point.metallic) = (0.9 * r, 0.8 * m);
            }
            if has_emissive {
                point.emitted *= DVec3::new(1.0, 0.0, linear(emissive[2]));
            }
            let ambient = [0.5, 0.6, 0.7];
            let lighting = Lighting { ambient: Ambient::uniform(ambient), ..sun([0.4, 0.3, 1.0], 3.0) };
            let expected = brdf::radiance(&point, &lighting, DVec3::from(ambient.map(f64::from)));
            let shown = model(recipe);
            let seen = scene(&[&shown], lighting).draw(&gpu).center();
            assert_close(seen, expected, 0.01, &(bits, &gpu.name));
        }
    }
}

/// Maps of the surface, of its clear coat, and of both.
pub fn normal_maps_point_along_texture_coordinates() {
    // 0.6 to the right in the texture, 0.3 up; for the coat, 0.4 to the left, 0.5 down.
    let (map, coat_map) = ([204, 166, 222, 255], [76, 64, 226, 255]);
    let stored = |map: [u8; 4]| DVec3::from([0, 1, 2].map(|i| f64::from(map[i]) / 127.5 - 1.0));
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (tangents, mirrored, turned, back) in [
            (true, false, false, false),
            (true, true, false, false),
            (true, false, false, true),
            (false, false, false, false),
            (false, true, false, false),
            (false, false, true, false),
            (false, false, false, true),
        ] {
            for (maps, clearcoat) in
                [([true, false], 0.0), ([true, false], 0.8), ([false, true], 0.8), ([true; 2], 0.8)]
            {
                let [normal_texture, clearcoat_normal_texture] = [0, 1].map(|i| maps[i].then(|| nearest(i as u32)));
                let (normal_scale, clearcoat_normal_scale) = (0.5, 0.7);
                // Below a coat, dark: the coat shows.
                let base = if clearcoat > 0.0 { 0.05 } else { 0.8 };
                let plain = Material { clearcoat, clearcoat_roughness: 0.4, ..material([base; 3], 0.0, 0.6) };
                let mut recipe = square(Material {
                    normal_texture,
                    normal_scale,
                    clearcoat_normal_texture,
                    clearcoat_normal_scale,
                    double_sided: true,
                    ..plain.clone()
                });
                recipe.textures = vec![texel(false, map), texel(false, coat_map)];
                recipe.format.tangent = tangents;
                for vertex in &mut recipe.vertices {
                    if mirrored {
                        vertex.uv.x = 1.0 - vertex.uv.x;
                        vertex.tangent = Vec4::new(-1.0, 0.0, 0.0, -1.0);
                    }
                    if turned {
                        // The right of the texture points up, its top to the left.
                        vertex.uv = Vec2::new(1.0 - vertex.uv.y, vertex.uv.x);
                    }
                }
                let direction = |used: bool, map, scale: f32| {
                    let stored: DVec3 = stored(map);
                    let mut direction = DVec3::new(stored.x * f64::from(scale), stored.y * f64::from(scale), stored.z);
                    if mirrored {
                        direction.x = -direction.x;
                    }
                    if turned {
                        direction = DVec3::new(-direction.y, direction.x, direction.z);
                    }
                    if used { direction.normalize() } else { DVec3::Z }
                };
                let normal = direction(maps[0], map, normal_scale);
                let coat_normal = direction(maps[1], coat_map, clearcoat_normal_scale);
                let camera = match back {
                    false => front(),
                    true => Camera::orthographic_look_at([0.0, 0.0, -100.0], [0.0; 3], 1.1, 1.1, 200.0),
                };
                let side = if back { -1.0 } else { 1.0 };
                let shown = model(recipe);
                for to_sun in [[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]] {
                    let ambient = Ambient::uniform([0.2; 3]);
                    let lighting = Lighting { ambient, ..sun([to_sun[0], to_sun[1], to_sun[2] * side as f32], 3.0) };
                    let point = SurfacePoint {
                        normal: normal * side,
                        coat_normal: coat_normal * side,
                        to_eye: DVec3::Z * side,
                        ..surface(&plain)
                    };
                    let expected = brdf::radiance(&point, &lighting, DVec3::splat(0.2));
                    let seen = Scene { camera, ..scene(&[&shown], lighting) }.draw(&gpu).center();
                    let what = (maps, clearcoat, tangents, mirrored, turned, back, to_sun, &gpu.name);
                    assert_close(seen, expected, 0.02, &what);
                }
            }
        }
    }
}

pub fn a_function_of_the_game_changes_the_surface() {
    let text = "
        fn surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint {
            var wet = point;
            let snow = smoothstep(-2.0, -1.0, point.position.y) * point.normal.z;
            wet.base_color = mix(point.base_color, vec3<f32>(0.9, 0.5, 0.2), snow);
            wet.roughness = point.roughness * 0.5 + uv.x * 0.1;
            wet.metallic = 0.4;
            wet.emitted = vec3<f32>(uv, 0.0) * 0.1;
            return wet;
        }";
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let shown = model(square(material([0.1; 3], 0.0, 1.0)));
        let features = LightingFeatures { surface: Some(text.into()), lights: 1, ..Default::default() };
        let lighting = sun([0.3, 0.1, 1.0], 6.0);
        let seen = Scene { features, ..scene(&[&shown], lighting) }.draw(&gpu).center();
        let changed = surface(&material([0.9, 0.5, 0.2], 0.4, 0.55));
        let point = SurfacePoint { emitted: DVec3::new(0.05, 0.05, 0.0), ..changed };
        assert_close(seen, brdf::radiance(&point, &lighting, DVec3::ZERO), 0.01, &gpu.name);

        // Unlit surfaces are as before; a mistake is an error.
        let unlit = model(square(Material { unlit: true, ..material([0.1; 3], 0.0, 1.0) }));
        let features = LightingFeatures { surface: Some(text.into()), ..Default::default() };
        let seen = Scene { features, ..scene(&[&unlit], lighting) }.draw(&gpu).center();
        assert_close(seen, DVec3::splat(0.1), 0.01, &gpu.name);
        let features = LightingFeatures { surface: Some("fn surface() {}".into()), ..Default::default() };
        let mut renderer = Scene { features, ..scene(&[], lighting) }.renderer(&gpu);
        let error = Crowd::<Dynamic>::with_model(&mut renderer, &shown, Default::default()).unwrap_err().to_string();
        assert!(error.contains("surface"), "{error}");
    }
}

pub fn a_function_of_the_game_reflects_light() {
    let text = "
        fn light(point: SurfacePoint, to_light: vec3<f32>, color: vec3<f32>) -> vec3<f32> {
            let through = max(-dot(point.normal, to_light), 0.0);
            return 0.5 * gpuskin_reflected_light(point, to_light, color) + through * color * vec3<f32>(0.2, 0.4, 0.1);
        }";
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let material = material([0.6, 0.5, 0.4], 0.3, 0.5);
        let shown = model(square(material.clone()));
        let features = |lights| LightingFeatures { light: Some(text.into()), lights, ..Default::default() };
        for lights in [0, 1] {
            // Half of what the material reflects, and the same ambient light.
            let lighting = sun([0.3, 0.1, 1.0], 6.0);
            let seen = Scene { features: features(lights), ..scene(&[&shown], lighting) }.draw(&gpu).center();
            let dark = brdf::radiance(&surface(&material), &sun([0.3, 0.1, 1.0], 0.0), DVec3::ZERO);
            let lit = brdf::radiance(&surface(&material), &lighting, DVec3::ZERO);
            assert!(lit.distance(dark) > 0.1);
            assert_close(seen, 0.5 * (lit + dark), 0.01, &gpu.name);
            // Light from behind reaches the function.
            let lighting = sun([0.0, 0.0, -1.0], 6.0);
            let seen = Scene { features: features(lights), ..scene(&[&shown], lighting) }.draw(&gpu).center();
            let color = DVec3::from(lighting.sun.color.map(f64::from)) * (6.0 / core::f64::consts::PI);
            let behind = color * DVec3::new(0.2, 0.4, 0.1);
            assert_close(seen, dark + behind, 0.01, &gpu.name);
        }
        let wrong = LightingFeatures { light: Some("fn light() {}".into()), ..Default::default() };
        let mut renderer = Scene { features: wrong, ..scene(&[], sun([0.0, 0.0, 1.0], 1.0)) }.renderer(&gpu);
        let error = Crowd::<Dynamic>::with_model(&mut renderer, &shown, Default::default()).unwrap_err().to_string();
        assert!(error.contains("light"), "{error}");
    }
}
