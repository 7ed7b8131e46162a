//! Point and spot lights: falloff, range and cones against the `f64` BRDF, numbers of lights, invalid input.

use core::f64::consts::PI;

use glam::DVec3;
use gpuskin_rt::internals::*;

use crate::common::brdf;
use crate::common::lit::*;
use crate::common::model::plain;
use crate::common::{BACKENDS, Gpu, gpu, noop};

const MOST: u32 = 341;

fn features(lights: u32) -> LightingFeatures {
    LightingFeatures { lights, ..Default::default() }
}

/// Draws a model at the origin in point and spot lights alone.
fn draw(gpu: &Gpu, model: &Model, most: u32, lights: &[PunctualLight]) -> Picture {
    let dark = Lighting { ambient: Ambient::NONE, ..sun([0.0, 0.0, 1.0], 0.0) };
    let scene = Scene { features: features(most), ..scene(&[], dark) };
    let mut renderer = scene.renderer(gpu);
    let crowd = Crowd::<Dynamic>::with_model(&mut renderer, model, Default::default()).unwrap();
    crowd.spawn(Instance::at([0.0; 3]));
    renderer.set_lights(lights).unwrap();
    scene.draw_with(gpu, &mut renderer)
}

/// Illuminance at the origin, lux: `KHR_lights_punctual`.
fn illuminance(light: &PunctualLight) -> DVec3 {
    let way = -DVec3::from(light.position.map(f64::from));
    let distance = way.length();
    let window = light.range.map_or(1.0, |range| (1.0 - (distance / f64::from(range)).powi(4)).clamp(0.0, 1.0));
    let cone = light.cone.map_or(1.0, |cone| {
        let [inner, outer] = [cone.inner, cone.outer].map(|angle| f64::from(angle).cos());
        let scale = 1.0 / (inner - outer).max(0.001);
        let cosine = DVec3::from(cone.direction.map(f64::from)).normalize().dot(way / distance);
        ((cosine - outer) * scale).clamp(0.0, 1.0).powi(2)
    });
    DVec3::from(light.color.map(f64::from)) * f64::from(light.intensity) * window * cone / (distance * distance)
}

fn expected(material: &Material, lights: &[PunctualLight]) -> DVec3 {
    let point = surface(material);
    let albedo = brdf::albedo(point.normal.dot(point.to_eye), point.roughness.max(0.045));
    let of = |light: &PunctualLight| {
        let to_light = DVec3::from(light.position.map(f64::from)).normalize();
        let n_dot_l = point.normal.dot(to_light).max(0.0);
        if n_dot_l == 0.0 {
            return DVec3::ZERO;
        }
        illuminance(light) / PI * brdf::brdf(&point, to_light, albedo) * n_dot_l
    };
    lights.iter().map(of).sum()
}

fn light(position: [f32; 3]) -> PunctualLight {
    PunctualLight { position, color: [1.0, 0.8, 0.5], intensity: 7.0, ..Default::default() }
}

pub fn point_and_spot_lights_match_f64_reference() {
    let cone = |direction, inner, outer| Some(LightCone { direction, inner, outer });
    let cases = [
        vec![light([0.5, 0.3, 1.0])],
        vec![light([0.0, 0.0, 3.0])],
        vec![light([2.0, -1.0, 0.4])],
        vec![light([0.3, 0.1, -1.0])],
        vec![PunctualLight { range: Some(2.0), ..light([0.5, 0.3, 1.0]) }],
        vec![PunctualLight { range: Some(1.0), ..light([0.5, 0.3, 1.0]) }],
        // 0.32 rad from the axis: within, between and outside both angles.
        vec![PunctualLight { cone: cone([0.0, 0.0, -2.0], 0.4, 0.5), ..light([1.0, 0.0, 3.0]) }],
        vec![PunctualLight { cone: cone([0.0, 0.0, -2.0], 0.2, 0.5), ..light([1.0, 0.0, 3.0]) }],
        vec![PunctualLight { cone: cone([0.0, 0.0, -2.0], 0.1, 0.3), ..light([1.0, 0.0, 3.0]) }],
        vec![PunctualLight { cone: cone([-1.0, 0.0, -3.0], 0.0, 0.0), ..light([1.0, 0.0, 3.0]) }],
        vec![light([0.5, 0.3, 1.0]), PunctualLight { color: [0.1, 0.2, 1.0], ..light([-1.0, -0.4, 1.2]) }],
        Vec::new(),
    ];
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (metallic, roughness) in [(0.0, 1.0), (0.0, 0.3), (1.0, 0.4), (0.4, 0.6)] {
            let material = material([0.9, 0.5, 0.2], metallic, roughness);
            let shown = model(square(material.clone()));
            for (i, lights) in cases.iter().enumerate() {
                let seen = draw(&gpu, &shown, 2, lights).center();
                assert_close(seen, expected(&material, lights), 0.01, &(i, metallic, roughness, &gpu.name));
            }
        }
    }
}

pub fn as_many_lights_as_promised_are_drawn() {
    let material = material([0.9, 0.5, 0.2], 0.2, 0.7);
    let shown = model(square(material.clone()));
    let turned = |i: u32| {
        let (sin, cos) = (i as f32 * 2.4).sin_cos();
        PunctualLight { intensity: 0.05, ..light([sin, cos, 0.5 + (i % 7) as f32 * 0.2]) }
    };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let most = if gpu.device.limits().max_uniform_buffer_binding_size < 65_536 { MOST } else { 1000 };
        let lights: Vec<_> = (0..most).map(turned).collect();
        for count in [0, 1, 100, most as usize] {
            let seen = draw(&gpu, &shown, most, &lights[..count]).center();
            assert_close(seen, expected(&material, &lights[..count]), 0.01, &(count, &gpu.name));
        }
    }
}

pub fn lights_beyond_the_limit_are_refused() {
    let gpu = noop(wgpu::Limits::downlevel_webgl2_defaults());
    let of = |lights| {
        let shading = Shading::MetallicRoughness(features(lights));
        CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor { shading, ..Default::default() })
    };
    let error = of(MOST + 1).unwrap_err().to_string();
    assert!(error.contains("342 lights") && error.contains("at most 341"), "{error}");
    let renderer = of(MOST).unwrap();
    let lights = vec![PunctualLight::default(); MOST as usize + 1];
    renderer.set_lights(&lights[1..]).unwrap();
    let error = renderer.set_lights(&lights).unwrap_err().to_string();
    assert!(error.contains("342 lights") && error.contains("has 341"), "{error}");
    let diffuse = CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor::default()).unwrap();
    diffuse.set_lights(&[]).unwrap();
    let error = diffuse.set_lights(&lights[..1]).unwrap_err().to_string();
    assert!(error.contains("1 lights") && error.contains("has 0"), "{error}");
    let most = noop(wgpu::Limits::default());
    let shading = Shading::MetallicRoughness(features(1025));
    let descriptor = RendererDescriptor { shading, ..Default::default() };
    let error = CrowdRenderer::new(&most.device, &most.queue, descriptor).unwrap_err().to_string();
    assert!(error.contains("at most 1024"), "{error}");
}

pub fn invalid_lights_give_finite_pictures() {
    let shown = model(square(plain([0.8; 4])));
    let numbers = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1.0, 0.0];
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let unlit = draw(&gpu, &shown, 1, &[]).center();
        assert_eq!(unlit, DVec3::ZERO);
        for number in numbers {
            let usual = light([0.0, 0.0, 1.0]);
            let cone = |direction, inner, outer| Some(LightCone { direction, inner, outer });
            for (i, light) in [
                PunctualLight { position: [number; 3], ..usual },
                PunctualLight { color: [number; 3], ..usual },
                PunctualLight { intensity: number, ..usual },
                PunctualLight { range: Some(number), ..usual },
                PunctualLight { cone: cone([number; 3], 0.1, 0.2), ..usual },
                PunctualLight { cone: cone([0.0, 0.0, -1.0], number, 0.2), ..usual },
                PunctualLight { cone: cone([0.0, 0.0, -1.0], 0.1, number), ..usual },
            ]
            .into_iter()
            .enumerate()
            {
                let picture = draw(&gpu, &shown, 1, &[light]);
                let finite = picture.pixels.iter().flatten().all(|c| c.is_finite() && *c >= 0.0);
                assert!(finite, "{number} in light {i}, on {}", gpu.name);
                let dark = picture.center() == DVec3::ZERO;
                let unlit = number.is_nan() || number <= 0.0;
                assert!(!((i == 1 || i == 2) && dark != unlit), "{number} in light {i}: {dark}, on {}", gpu.name);
            }
        }
    }
}
