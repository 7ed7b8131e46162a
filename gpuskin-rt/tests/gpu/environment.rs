//! Environment maps: energy, mip levels by roughness, directions, invalid input.

use std::borrow::Cow;

use glam::DVec3;
use gpuskin_rt::internals::*;

use crate::common::lit::*;
use crate::common::{BACKENDS, Gpu, gpu, noop};

const SIDE: u32 = 64;
const HASH: [u8; 16] = *b"the hash of test";

/// A texel of RGB9E5 for a colour whose greatest channel is in 1..2.
fn texel(color: [f64; 3]) -> [u8; 4] {
    let [r, g, b] = color.map(|c| (c * 256.0).round() as u32);
    (r | g << 9 | b << 18 | 16 << 27).to_le_bytes()
}

/// An environment with a colour per level and face.
fn environment(color: impl Fn(u32, usize) -> [f64; 3]) -> Environment {
    let mut bytes = HASH.to_vec();
    let mut levels = Vec::new();
    for level in 0..Environment::levels(SIDE) {
        let offset = bytes.len() as u64;
        for face in 0..6 {
            (0..(SIDE >> level).pow(2)).for_each(|_| bytes.extend(texel(color(level, face))));
        }
        levels.push(ByteRange { offset, len: bytes.len() as u64 - offset });
    }
    let size = bytes.len() as u64;
    let map = Payload { data: Data::Bytes(Cow::Owned(bytes)), size, hash_at: 0, levels: levels.into() };
    Environment { name: "test".into(), content_hash: HASH, size: SIDE, radiance: [[0.0; 3]; 9], map }
}

fn features() -> LightingFeatures {
    LightingFeatures { environment: true, ..Default::default() }
}

fn draw(gpu: &Gpu, model: &Model, ambient: Ambient, environment: Option<&Environment>) -> Picture {
    let dark = Lighting { ambient, ..sun([0.0, 0.0, 1.0], 0.0) };
    let scene = Scene { features: features(), ..scene(&[], dark) };
    let mut renderer = scene.renderer(gpu);
    let crowd = Crowd::<Dynamic>::with_model(&mut renderer, model, Default::default()).unwrap();
    crowd.spawn(Instance::at([0.0; 3]));
    if environment.is_some() {
        renderer.set_environment(environment).unwrap();
    }
    scene.draw_with(gpu, &mut renderer)
}

pub fn white_surfaces_reflect_all_light_of_an_environment() {
    let white = environment(|_, _| [1.0; 3]);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for metallic in [0.0, 0.3, 0.7, 1.0] {
            for roughness in [0.0, 0.1, 0.25, 0.5, 0.75, 1.0] {
                let shown = model(sphere(material([1.0; 3], metallic, roughness)));
                let picture = draw(&gpu, &shown, Ambient::uniform([1.0; 3]), Some(&white));
                let mut pixels = 0;
                for (x, y, seen) in picture.covered() {
                    assert_close(seen, DVec3::ONE, 0.01, &(metallic, roughness, x, y, &gpu.name));
                    pixels += 1;
                }
                assert!(pixels > 500, "{pixels}");
            }
        }
    }
}

/// A metal mirrors the face that the reflected direction meets.
pub fn mirrors_show_the_faces_of_the_cube() {
    let colors = [[1.5, 0.2, 0.0], [0.0, 1.5, 0.2], [0.2, 0.0, 1.5], [1.5, 1.5, 0.0], [0.0, 1.5, 1.5], [1.5, 0.0, 1.5]];
    let faces = environment(|_, face| colors[face]);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let shown = model(sphere(material([1.0; 3], 1.0, 0.0)));
        let mut found = [0; 6];
        for (x, y, seen) in draw(&gpu, &shown, Ambient::NONE, Some(&faces)).covered() {
            // The camera looks along -z at a sphere of radius 1 in a square of 2.2.
            let [x, y] = [1.1 * x, 1.1 * y];
            let normal = DVec3::new(x, y, (1.0 - x * x - y * y).max(0.0).sqrt());
            let to = 2.0 * normal.z * normal - DVec3::Z;
            let axis = (0..3).max_by(|a, b| to[*a].abs().total_cmp(&to[*b].abs())).unwrap();
            // Not where faces meet, nor at the outline, where the vertices' normals are too coarse.
            let second = (0..3).filter(|a| *a != axis).map(|a| to[a].abs()).fold(0.0, f64::max);
            if second > 0.85 * to[axis].abs() || normal.z < 0.2 {
                continue;
            }
            let face = 2 * axis + usize::from(to[axis] < 0.0);
            assert_close(seen, DVec3::from(colors[face]), 0.01, &(x, y, face, &gpu.name));
            found[face] += 1;
        }
        // The face behind the sphere is seen at its outline alone.
        assert!(found[..5].iter().all(|count| *count > 10), "{found:?}");
    }
}

/// The level of a roughness is r * (2 - r) of the coarsest.
pub fn rough_surfaces_show_coarse_levels() {
    let levels = environment(|level, _| [1.0 + 0.25 * f64::from(level), 1.0, 0.0]);
    let top = f64::from(Environment::levels(SIDE) - 1);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for roughness in [0.0_f32, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0] {
            let shown = model(square(material([1.0; 3], 1.0, roughness)));
            let seen = draw(&gpu, &shown, Ambient::NONE, Some(&levels)).center();
            let r = f64::from(roughness);
            let expected = DVec3::new(1.0 + 0.25 * top * r * (2.0 - r), 1.0, 0.0);
            assert_close(seen, expected, 0.01, &(roughness, &gpu.name));
        }
    }
}

pub fn environments_are_replaced_and_removed() {
    let [red, blue] = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]].map(|color| environment(move |_, _| color));
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let shown = model(square(material([1.0; 3], 1.0, 0.5)));
        assert_eq!(draw(&gpu, &shown, Ambient::NONE, None).center(), DVec3::ZERO, "before the first environment");
        let scene = Scene { features: features(), ..scene(&[], sun([0.0, 0.0, 1.0], 0.0)) };
        let mut renderer = scene.renderer(&gpu);
        let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &shown, Default::default()).unwrap();
        crowd.spawn(Instance::at([0.0; 3]));
        for (environment, expected) in [(Some(&red), DVec3::X), (Some(&blue), DVec3::Z), (None, DVec3::ZERO)] {
            renderer.set_environment(environment).unwrap();
            assert_close(scene.draw_with(&gpu, &mut renderer).center(), expected, 0.01, &(expected, &gpu.name));
        }
        // An environment that is refused changes nothing.
        renderer.set_environment(Some(&red)).unwrap();
        renderer.set_environment(Some(&Environment { size: 32, ..blue.clone() })).unwrap_err();
        assert_close(scene.draw_with(&gpu, &mut renderer).center(), DVec3::X, 0.01, &gpu.name);
    }
}

pub fn invalid_environments_are_refused() {
    let gpu = noop(wgpu::Limits::downlevel_webgl2_defaults());
    let of = |shading| {
        let descriptor = RendererDescriptor { shading, ..Default::default() };
        CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap()
    };
    let white = environment(|_, _| [1.0; 3]);
    for shading in [Shading::Diffuse, Shading::MetallicRoughness(Default::default())] {
        let error = of(shading).set_environment(Some(&white)).unwrap_err().to_string();
        assert!(error.contains("LightingFeatures::environment"), "{error}");
    }
    let mut renderer = of(Shading::MetallicRoughness(features()));
    renderer.set_environment(Some(&white)).unwrap();
    let map = |change: fn(&mut Payload)| {
        let mut changed = white.clone();
        change(&mut changed.map);
        changed
    };
    let short = map(|map| {
        if let Data::Bytes(bytes) = &mut map.data {
            bytes.to_mut().truncate(999);
        }
    });
    let cases = [
        (Environment { size: 0, ..white.clone() }, "mip levels"),
        (Environment { size: 128, ..white.clone() }, "mip levels"),
        (Environment { size: 65, ..white.clone() }, "wrong size"),
        (Environment { size: 1 << 20, ..white.clone() }, "2048"),
        (Environment { content_hash: [0; 16], ..white.clone() }, "another bake"),
        (map(|map| map.levels.to_mut()[1].len -= 4), "wrong size"),
        (map(|map| map.levels.to_mut()[2].offset = u64::MAX), "wrong size"),
        (map(|map| map.levels.to_mut().truncate(2)), "mip levels"),
        (map(|map| map.data = Data::File { name: "no/such.ktx2".into(), baked: "".into() }), "no/such.ktx2 not found"),
        (short, "another bake"),
    ];
    for (environment, part) in cases {
        let error = renderer.set_environment(Some(&environment)).unwrap_err().to_string();
        assert!(error.contains("test: ") && error.contains(part), "{error}, expected {part}");
    }
}
