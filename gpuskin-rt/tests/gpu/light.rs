//! Light of the metallic-roughness material: shadows, fog, exposure, tone mapping, invalid input.

use glam::{DVec3, Vec2, Vec3};
use gpuskin_rt::internals::*;

use crate::common::lit::*;
use crate::common::model::{nearest, plain};
use crate::common::{BACKENDS, gpu};

fn shadows(cascades: u32) -> LightingFeatures {
    let shadows = ShadowDescriptor { cascades, size: 512, distance: 28.0, caster_distance: 30.0 };
    LightingFeatures { shadows: Some(shadows), ..Default::default() }
}

/// A square at a height, facing up, with sides of twice `half` metres.
fn floor(half: f32, height: f32, material: Material) -> Model {
    let mut recipe = square(Material { double_sided: true, name: format!("floor {height}").into(), ..material });
    for vertex in &mut recipe.vertices {
        let Vec3 { x, y, .. } = vertex.position;
        (vertex.position, vertex.normal) = (Vec3::new(x * half, height, -y * half), Vec3::Y);
    }
    model(recipe)
}

pub fn shadows_are_received() {
    let (ground, roof) = (floor(8.0, 0.0, plain([0.8; 4])), floor(1.0, 2.0, plain([0.8; 4])));
    // From above and a little to the side, so that the roof does not hide its shadow.
    let eye = [0.0, 10.0, 14.0];
    let camera = Camera::perspective_look_at(eye, [0.0; 3], 0.8, 1.0, 0.1, 100.0);
    let side = 129;
    let pixel = |p: Vec3| {
        let clip = glam::Mat4::from_cols_array_2d(&camera.view_proj).project_point3(p);
        [0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y].map(|c| (c * side as f32) as u32)
    };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for cascades in 1..=4 {
            for to_sun in [[1.0, 1.0, 0.0], [-0.5, 1.0, 0.7], [0.0, 1.0, 0.0]] {
                let lighting = Lighting { ambient: Ambient::uniform([0.1; 3]), ..sun(to_sun, 3.0) };
                let both = [&ground, &roof];
                let of = |features, models| Scene { features, lighting, models, camera, side }.draw(&gpu);
                let lit = of(Default::default(), &both[..1]);
                let shadowed = of(shadows(cascades), &both);
                let alone = of(shadows(cascades), &both[..1]);
                // Below the roof, along the light.
                let shadow = Vec3::new(-2.0 * to_sun[0] / to_sun[1], 0.0, -2.0 * to_sun[2] / to_sun[1]);
                let from_above = to_sun == [0.0, 1.0, 0.0];
                for (x, z) in [(0.0, 0.0), (0.3, 0.3), (-0.3, 0.3), (0.3, -0.3), (-0.3, -0.3)] {
                    let [x, y] = pixel(shadow + Vec3::new(x, 0.0, z));
                    let is = shadowed.at(x, y).x / lit.at(x, y).x;
                    // Where the roof is in front of its shadow, the roof is seen.
                    assert!(is < 0.25 || from_above, "{is} at {x} {y}, {cascades} cascades, {to_sun:?}, {}", gpu.name);
                }
                for (x, z) in [(1.6, 1.6), (-1.6, 1.6), (3.0, 0.0), (-3.0, 2.0), (0.0, 4.0)] {
                    let [x, y] = pixel(shadow + Vec3::new(x, 0.0, z));
                    let is = shadowed.at(x, y).x / lit.at(x, y).x;
                    assert!(is > 0.98, "{is} at {x} {y}, {cascades} cascades, {to_sun:?}, {}", gpu.name);
                }
                // A plane does not shadow itself.
                for (i, (a, b)) in alone.pixels.iter().zip(&lit.pixels).enumerate() {
                    assert!((a[0] - b[0]).abs() <= 0.01 * b[0], "pixel {i}: {a:?} {b:?}, {to_sun:?}");
                }
            }
        }
    }
}

pub fn spheres_do_not_shadow_their_lit_side() {
    let ball = model(sphere(material([0.8; 3], 0.0, 1.0)));
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (size, to_sun) in [(64, [0.5, 0.5, 0.7]), (512, [1.0, 0.2, 0.1]), (1024, [-0.3, 0.2, 0.9])] {
            let mut features = shadows(2);
            features.shadows.as_mut().unwrap().size = size;
            let camera = Camera::perspective_look_at([0.0, 0.0, 4.0], [0.0; 3], 0.6, 1.0, 0.1, 100.0);
            let of = |features| {
                Scene { features, lighting: sun(to_sun, 3.0), models: &[&ball], camera, side: 128 }.draw(&gpu)
            };
            let (shadowed, lit) = (of(features), of(Default::default()));
            let mut darker = 0;
            for (i, (a, b)) in shadowed.pixels.iter().zip(&lit.pixels).enumerate() {
                // White under the sun is 1: a cosine of 0.15.
                if b[0] > 0.12 {
                    assert!(a[0] > 0.98 * b[0], "pixel {i}: {a:?} {b:?}, {size} texels, {to_sun:?}, {}", gpu.name);
                }
                darker += usize::from(a[0] < 0.5 * b[0]);
            }
            assert!(darker < 300, "{darker} pixels");
        }
    }
}

pub fn fog_covers_known_shares() {
    let wall = model(square(Material { emissive: [1.0, 0.0, 0.0], ..material([0.0; 3], 1.0, 1.0) }));
    let features = LightingFeatures { fog: true, ..Default::default() };
    let color = [0.0, 0.0, 1.0];
    let distance: f32 = 20.0;
    // From a height of 3 m down to the wall at 0 m.
    let camera =
        Camera::perspective_look_at([0.0, 3.0, (distance * distance - 9.0).sqrt()], [0.0; 3], 0.08, 1.0, 1.0, 99.0);
    let mean = (1.0 - (-1.5_f32).exp()) / 1.5;
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (density, share) in [
            (FogDensity::None, 0.0),
            (FogDensity::Linear { start: 10.0, end: 50.0 }, 0.25),
            (FogDensity::Linear { start: 0.0, end: 5.0 }, 1.0),
            (FogDensity::Linear { start: 30.0, end: 50.0 }, 0.0),
            (FogDensity::Exponential { density: 0.05 }, 1.0 - (-1.0_f32).exp()),
            (FogDensity::Height { density: 0.05, height: 0.0, falloff: 2.0 }, 1.0 - (-mean).exp()),
            (FogDensity::Height { density: 0.05, height: 3.0, falloff: 1e9 }, 1.0 - (-1.0_f32).exp()),
        ] {
            let fog = Fog { color, sun_glow: [0.0; 3], density };
            let lighting = Lighting { fog, exposure: 0.5, ..sun([0.0, 1.0, 0.0], 0.0) };
            let picture = Scene { features: features.clone(), lighting, models: &[&wall], camera, side: SIDE };
            let seen = picture.draw(&gpu).center();
            let share = f64::from(share);
            assert_close(seen, DVec3::new(0.5 * (1.0 - share), 0.0, 0.5 * share), 0.01, &(density, &gpu.name));
        }
    }
}

/// Khronos PBR Neutral and Narkowicz's curve, as published.
fn mapped(curve: ToneMapping, color: DVec3) -> DVec3 {
    match curve {
        ToneMapping::Aces => color * (2.51 * color + 0.03) / (color * (2.43 * color + 0.59) + 0.14),
        ToneMapping::Neutral => {
            let (start, desaturation) = (0.8 - 0.04, 0.15);
            let x = color.min_element();
            let color = color - if x < 0.08 { x - 6.25 * x * x } else { 0.04 };
            let peak = color.max_element();
            if peak < start {
                return color;
            }
            let d = 1.0 - start;
            let new_peak = 1.0 - d * d / (peak + d - start);
            let g = 1.0 - 1.0 / (desaturation * (peak - new_peak) + 1.0);
            (color * new_peak / peak).lerp(DVec3::splat(new_peak), g)
        }
        _ => color,
    }
}

pub fn exposure_and_tone_mapping_follow_their_curves() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for tone_mapping in [ToneMapping::None, ToneMapping::Neutral, ToneMapping::Aces] {
            let features = LightingFeatures { tone_mapping, ..Default::default() };
            for emissive in [[0.0, 0.0, 0.0], [0.02, 0.05, 0.1], [0.5, 0.4, 0.3], [1.0, 2.0, 0.5], [40.0, 3.0, 9.0]] {
                let name = format!("{emissive:?}").into();
                let shown = model(square(Material { emissive, name, ..material([0.0; 3], 1.0, 1.0) }));
                let lighting = Lighting { exposure: 0.8, ..sun([0.0, 1.0, 0.0], 0.0) };
                let expected = mapped(tone_mapping, DVec3::from(emissive.map(f64::from)) * f64::from(0.8_f32));
                let expected =
                    if tone_mapping == ToneMapping::Aces { expected.clamp(DVec3::ZERO, DVec3::ONE) } else { expected };
                let seen = Scene { features: features.clone(), ..scene(&[&shown], lighting) }.draw(&gpu).center();
                assert_close(seen, expected, 0.005, &(tone_mapping, emissive, &gpu.name));
            }
        }
    }
}

pub fn unlit_surfaces_keep_their_colour() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let unlit = Material {
            unlit: true,
            emissive: [1.0; 3],
            normal_texture: Some(nearest(0)),
            ..plain([0.5, 0.25, 0.75, 1.0])
        };
        let mut recipe = square(unlit);
        recipe.textures = vec![texel(false, [128, 128, 255, 255])];
        let shown = model(recipe);
        for tone_mapping in [ToneMapping::None, ToneMapping::Neutral] {
            let features = LightingFeatures { tone_mapping, ..shadows(2) };
            let lighting = Lighting { exposure: 3.0, ..sun([0.0, 1.0, 1.0], 9.0) };
            let seen = Scene { features, ..scene(&[&shown], lighting) }.draw(&gpu).center();
            assert_close(seen, DVec3::new(0.5, 0.25, 0.75), 0.002, &(tone_mapping, &gpu.name));
        }
    }
}

pub fn invalid_light_and_surfaces_give_finite_pictures() {
    let numbers = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -5.0, f32::MAX];
    let mut no_normals = sphere(material([0.8; 3], 0.5, 0.0));
    no_normals.vertices.iter_mut().for_each(|v| v.normal = Vec3::ZERO);
    // A normal map without tangents, and texture coordinates that do not vary.
    let mut no_frame = sphere(Material { normal_texture: Some(nearest(0)), ..material([0.8; 3], 0.0, 0.0) });
    no_frame.textures = vec![texel(false, [255, 0, 0, 255])];
    no_frame.vertices.iter_mut().for_each(|v| v.uv = Vec2::ZERO);
    let models = [model(no_normals), model(no_frame)];
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for number in numbers {
            for shown in &models {
                let color = [number; 3];
                let fog = |density| {
                    let fog = Fog { color, sun_glow: color, density };
                    Lighting { fog, ..Default::default() }
                };
                let lightings = [
                    Lighting { exposure: number, ..Default::default() },
                    Lighting { sun: Sun { to_sun: color, color, illuminance: number }, ..Default::default() },
                    Lighting { ambient: Ambient::sky(color, [0.1; 3]), ..Default::default() },
                    Lighting { ambient: Ambient::harmonics([color; 9]), ..Default::default() },
                    fog(FogDensity::Linear { start: number, end: number }),
                    fog(FogDensity::Exponential { density: number }),
                    fog(FogDensity::Height { density: number, height: number, falloff: number }),
                ];
                for (i, lighting) in lightings.into_iter().enumerate() {
                    for tone_mapping in [ToneMapping::None, ToneMapping::Neutral, ToneMapping::Aces] {
                        let features = LightingFeatures { fog: true, tone_mapping, ..shadows(1) };
                        let picture = Scene { features, ..scene(&[shown], lighting) }.draw(&gpu);
                        let finite = picture.pixels.iter().flatten().all(|c| c.is_finite() && *c >= 0.0);
                        assert!(finite, "{number} in lighting {i}, {tone_mapping:?}, on {}", gpu.name);
                    }
                }
            }
        }
    }
}

pub fn unusable_shadow_descriptors_are_refused() {
    let gpu = crate::common::noop(wgpu::Limits::downlevel_webgl2_defaults());
    let usual = ShadowDescriptor { cascades: 4, size: 1024, distance: 60.0, caster_distance: 30.0 };
    for (shadows, reason) in [
        (ShadowDescriptor { cascades: 0, ..usual.clone() }, "shadows.cascades: 0"),
        (ShadowDescriptor { cascades: 5, ..usual.clone() }, "shadows.cascades: 5"),
        (ShadowDescriptor { size: 0, ..usual.clone() }, "shadows.size: 0 texels"),
        (ShadowDescriptor { size: 2048, ..usual.clone() }, "16 to 1024"),
        (ShadowDescriptor { distance: f32::NAN, ..usual.clone() }, "distance must be"),
        (ShadowDescriptor { distance: 0.0, ..usual.clone() }, "distance must be"),
        (ShadowDescriptor { caster_distance: -1.0, ..usual.clone() }, "caster_distance"),
    ] {
        let features = LightingFeatures { shadows: Some(shadows), ..Default::default() };
        let descriptor = RendererDescriptor { shading: Shading::MetallicRoughness(features), ..Default::default() };
        let error = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let features = LightingFeatures { shadows: Some(usual), ..Default::default() };
    let descriptor = RendererDescriptor {
        shading: Shading::MetallicRoughness(features),
        depth_compare: wgpu::CompareFunction::Always,
        ..Default::default()
    };
    let error = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap_err().to_string();
    assert!(error.contains("depth_compare"), "{error}");
}
