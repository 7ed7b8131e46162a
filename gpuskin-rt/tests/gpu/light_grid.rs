//! Grids of many lights, against pictures whose surfaces loop over all lights.

use glam::DVec3;
use gpuskin_rt::internals::*;

use crate::common::lit::*;
use crate::common::{BACKENDS, Gpu, gpu};

/// Pixels along a side of a picture.
const SIDE: u32 = 65;
/// Most lights of a renderer without a grid.
const FEW: u32 = 4;

/// Numbers in 0..1.
fn random(seed: u32) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    }
}

/// Lights in front of the square and around it, every fourth a spot light, every twentieth without a range.
fn scattered(count: u32) -> Vec<PunctualLight> {
    let mut random = random(1);
    let of = |i: u32| {
        let position = [2.6 * random() - 1.3, 2.6 * random() - 1.3, 0.05 + 0.4 * random()];
        let cone = LightCone { direction: [random() - 0.5, random() - 0.5, -1.0], inner: 0.1, outer: 0.3 + random() };
        let range = (i % 20 != 7).then(|| 0.2 + 0.4 * random());
        let intensity = if range.is_some() { 0.2 } else { 0.01 };
        let color = [random(), random(), random()];
        PunctualLight { position, color, intensity, range, cone: i.is_multiple_of(4).then_some(cone), shadow: false }
    };
    (0..count).map(of).collect()
}

/// A scene that is dark but for point and spot lights, its renderer, and a crowd of one.
struct Shown {
    scene: Scene<'static>,
    renderer: CrowdRenderer,
    _crowd: Crowd<Dynamic>,
}

fn renderer(gpu: &Gpu, shown: &Model, features: LightingFeatures) -> Shown {
    let dark = Lighting { ambient: Ambient::NONE, ..sun([0.0, 0.0, 1.0], 0.0) };
    let scene = Scene { features, side: SIDE, ..scene(&[], dark) };
    let mut renderer = scene.renderer(gpu);
    let crowd = Crowd::with_model(&mut renderer, shown, Default::default()).unwrap();
    crowd.spawn(Instance::at([0.0; 3]));
    Shown { scene, renderer, _crowd: crowd }
}

/// Returns the pixels of the model.
fn draw(gpu: &Gpu, shown: &mut Shown, lights: &[PunctualLight]) -> Vec<DVec3> {
    shown.renderer.set_lights(lights).unwrap();
    let picture = shown.scene.draw_with(gpu, &mut shown.renderer);
    picture.covered().map(|(_, _, color)| color).collect()
}

pub fn light_of_a_grid_is_the_sum_of_its_lights() {
    let room = |lights| LightingFeatures { lights, ..Default::default() };
    let matte = material([0.9, 0.5, 0.2], 0.1, 0.8);
    let coated = Material { clearcoat: 1.0, clearcoat_roughness: 0.5, ..matte.clone() };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for material in [&matte, &coated] {
            let shown = model(square(material.clone()));
            let mut looping = renderer(&gpu, &shown, room(FEW));
            // The last one is the limit of WebGL2.
            for count in [17, 150, 341] {
                let lights = scattered(count);
                let together = draw(&gpu, &mut renderer(&gpu, &shown, room(count)), &lights);
                let mut sum = vec![DVec3::ZERO; together.len()];
                for few in lights.chunks(FEW as usize) {
                    let part = draw(&gpu, &mut looping, few);
                    sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
                }
                assert!(together.len() > 3000, "{} pixels", together.len());
                for (i, (seen, expected)) in together.into_iter().zip(sum).enumerate() {
                    assert_close(seen, expected, 0.003, &(i, count, material.clearcoat, &gpu.name));
                }
            }
        }
    }
}

pub fn shadows_are_the_same_in_a_grid() {
    let shown = model(square(material([0.9, 0.5, 0.2], 0.1, 0.8)));
    let mut lights = scattered(FEW);
    // Behind the square and in front of it: a spot light and a point light.
    lights[1] = PunctualLight { position: [0.1, 0.1, -0.3], shadow: true, range: Some(3.0), ..lights[1] };
    let cone = Some(LightCone { direction: [0.0, 0.0, -1.0], inner: 0.2, outer: 0.6 });
    lights[2] = PunctualLight { position: [-0.2, 0.1, 0.8], shadow: true, cone, range: None, ..lights[2] };
    let light_shadows = Some(LightShadowDescriptor { tiles: 7, size: 256 });
    let room = |lights| LightingFeatures { lights, light_shadows: light_shadows.clone(), ..Default::default() };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let [all, grid] = [FEW, FEW + 1].map(|count| draw(&gpu, &mut renderer(&gpu, &shown, room(count)), &lights));
        for (i, (seen, expected)) in grid.into_iter().zip(all).enumerate() {
            assert_close(seen, expected, 0.002, &(i, &gpu.name));
        }
    }
}

pub fn lights_of_a_grid_move() {
    let shown = model(square(material([0.9, 0.5, 0.2], 0.1, 0.8)));
    let mut lights = scattered(64);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let renderer = || renderer(&gpu, &shown, LightingFeatures { lights: 64, ..Default::default() });
        let mut kept = renderer();
        // Many, few, none, and many at other places.
        for count in [64, 3, 0, 64] {
            lights.iter_mut().for_each(|light| light.position[0] *= -0.9);
            let [seen, expected] =
                [draw(&gpu, &mut kept, &lights[..count]), draw(&gpu, &mut renderer(), &lights[..count])];
            assert_eq!(seen, expected, "{count} lights on {}", gpu.name);
            let lit = seen.iter().any(|color| *color != DVec3::ZERO);
            assert_eq!(lit, count > 0, "{count} lights on {}", gpu.name);
        }
    }
}
