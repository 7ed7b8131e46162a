//! Environments from the panorama to the picture.

use core::f64::consts::PI;
use std::path::Path;

use glam::DVec3;
use gpuskin_build::{BakeOptions, Baked, Manifest, bake};
use gpuskin_rt::internals::{
    Ambient, Camera, Crowd, CrowdRenderer, Dynamic, Environment, Instance, Lighting, LightingFeatures, Model,
    RendererDescriptor, Shading, Sun,
};
use gpuskin_tests::gpu::{BACKENDS, Canvas, Gpu, Picture, open};

const SIDE: u32 = 128;

/// Radiance of the panorama: another colour in each direction, a disc of light at the upper right in front.
fn radiance(d: DVec3) -> DVec3 {
    let disc = d.dot(DVec3::new(0.5, 0.6, -0.6).normalize()) > 0.96;
    if disc { DVec3::new(0.95, 0.9, 0.1) } else { 0.35 + 0.3 * d }
}

fn write_panorama(path: &Path) {
    const WIDTH: u32 = 1024;
    let mut bytes = format!("PF\n{WIDTH} {}\n-1.0\n", WIDTH / 2).into_bytes();
    for y in (0..WIDTH / 2).rev() {
        for x in 0..WIDTH {
            let (down, around) = (
                PI * (f64::from(y) + 0.5) / f64::from(WIDTH / 2),
                2.0 * PI * ((f64::from(x) + 0.5) / f64::from(WIDTH) - 0.5),
            );
            let d = DVec3::new(down.sin() * around.sin(), down.cos(), -down.sin() * around.cos());
            radiance(d).to_array().iter().for_each(|c| bytes.extend((*c as f32).to_le_bytes()));
        }
    }
    std::fs::write(path, bytes).unwrap();
}

/// Writes a sphere of radius 1 as glTF: a mirror.
fn write_mirror(folder: &Path) {
    const RINGS: u32 = 64;
    let row = 2 * RINGS + 1;
    let mut bytes = Vec::new();
    for i in 0..(RINGS + 1) * row {
        let [up, around] = [i / row, i % row].map(|i| f64::from(i) / f64::from(RINGS) * PI);
        let p = DVec3::new(up.sin() * around.cos(), up.cos(), -up.sin() * around.sin());
        p.to_array().iter().for_each(|c| bytes.extend((*c as f32).to_le_bytes()));
    }
    let positions = bytes.len();
    for i in 0..RINGS * 2 * RINGS {
        let a = i / (2 * RINGS) * row + i % (2 * RINGS);
        [a, a + row, a + row + 1, a, a + row + 1, a + 1].iter().for_each(|i: &u32| bytes.extend(i.to_le_bytes()));
    }
    let (vertices, indices) = ((RINGS + 1) * row, RINGS * 2 * RINGS * 6);
    let text = format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}], "nodes": [{{"mesh": 0}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0, "NORMAL": 0}}, "indices": 1, "material": 0}}]}}],
        "materials": [{{"pbrMetallicRoughness": {{"metallicFactor": 1, "roughnessFactor": 0}}}}],
        "accessors": [
            {{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": {vertices}, "min": [-1, -1, -1], "max": [1, 1, 1]}},
            {{"bufferView": 1, "componentType": 5125, "type": "SCALAR", "count": {indices}}}],
        "bufferViews": [{{"buffer": 0, "byteLength": {positions}}},
            {{"buffer": 0, "byteOffset": {positions}, "byteLength": {}}}],
        "buffers": [{{"uri": "mirror.bin", "byteLength": {}}}]}}"#,
        indices * 4,
        bytes.len()
    );
    std::fs::write(folder.join("mirror.bin"), bytes).unwrap();
    std::fs::write(folder.join("mirror.gltf"), text).unwrap();
}

fn baked() -> Baked {
    let folder = tempfile::tempdir().unwrap();
    write_panorama(&folder.path().join("sky.pfm"));
    write_mirror(folder.path());
    let text = "[[model]]\nname = \"mirror\"\npath = \"mirror.gltf\"\nlods = false\nencoding = \"matrix-f32\"\n\
                [[environment]]\nname = \"sky\"\npath = \"sky.pfm\"\nsize = 128\n";
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).unwrap_or_else(|e| panic!("{e}"));
    bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics))
}

/// Draws a sphere from a distance: the camera looks along -z at a square of 2.2 m.
fn draw(gpu: &Gpu, model: &Model, environment: &Environment) -> Picture {
    let features = LightingFeatures { environment: true, ..Default::default() };
    let shading = Shading::MetallicRoughness(features);
    let descriptor = RendererDescriptor { shading, ..Default::default() };
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let crowd = Crowd::<Dynamic>::with_model(&mut renderer, model, Default::default()).unwrap();
    crowd.spawn(Instance::at([0.0; 3]));
    renderer.set_environment(Some(environment)).unwrap();
    let sun = Sun { to_sun: [0.0, 1.0, 0.0], color: [1.0; 3], illuminance: 0.0 };
    renderer.set_lighting(&Lighting { sun, ambient: Ambient::environment(environment), ..Default::default() });
    let camera = Camera::orthographic_look_at([0.0, 0.0, 100.0], [0.0; 3], 1.1, 1.1, 200.0);
    let canvas = Canvas::new(gpu, SIDE);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &camera, 0.0).unwrap();
    canvas.pass(&mut encoder, |pass| renderer.draw(pass));
    canvas.finish(gpu, encoder)
}

fn linear(srgb: u8) -> f64 {
    let c = f64::from(srgb) / 255.0;
    if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Each pixel of a mirror shows the panorama in the direction that it reflects.
pub fn a_mirror_shows_the_panorama() {
    let baked = baked();
    let (models, environments) = (baked.runtime_models(), baked.runtime_environments());
    for gpu in BACKENDS.into_iter().filter_map(open) {
        let picture = draw(&gpu, &models[0], &environments[0]);
        let (mut compared, mut bright) = (0, 0);
        for (x, y) in (0..SIDE * SIDE).map(|i| (i % SIDE, i / SIDE)) {
            let place = |i: u32| 1.1 * ((f64::from(i) + 0.5) * 2.0 / f64::from(SIDE) - 1.0);
            let [x_at, y_at] = [place(x), -place(y)];
            let z = (1.0 - x_at * x_at - y_at * y_at).max(0.0).sqrt();
            if z < 0.2 {
                continue;
            }
            let at = |x: f64, y: f64| {
                let normal = DVec3::new(x, y, (1.0 - x * x - y * y).sqrt());
                radiance(2.0 * normal.z * normal - DVec3::Z)
            };
            let expected = at(x_at, y_at);
            // Not at the edge of the disc, which texels blur.
            let step = 0.03;
            let around = [(step, 0.0), (-step, 0.0), (0.0, step), (0.0, -step)];
            if around.iter().any(|(dx, dy)| at(x_at + dx, y_at + dy).distance(expected) > 0.1) {
                continue;
            }
            let seen = DVec3::from_array(picture.color(x, y).map(linear));
            assert!((seen - expected).abs().max_element() < 0.02, "{x} {y}: {seen}, not {expected}; {}", gpu.name);
            (compared, bright) = (compared + 1, bright + u32::from(expected.x > 0.9));
        }
        assert!(compared > 5000 && bright > 10, "{compared} {bright}");
    }
}

/// The constants of the generated module name a file of the bake.
pub fn module_has_a_constant_per_environment() {
    let baked = baked();
    let module = &baked.files["gpuskin.rs"];
    let module = std::str::from_utf8(module).unwrap();
    let part = module.split("pub mod environments {").nth(1).expect("a module of environments");
    assert!(part.contains("pub static SKY: Environment = Environment {"), "{part}");
    let file = &baked.environments[0].file;
    assert!(part.contains(&format!("include_bytes!(\"gpuskin/{file}\")")), "{part}");
    let reader = ktx2::Reader::new(&baked.files[&format!("gpuskin/{file}")]).unwrap();
    let header = reader.header();
    assert_eq!((header.format, header.face_count), (Some(ktx2::Format::E5B9G9R9_UFLOAT_PACK32), 6));
    assert_eq!((header.pixel_width, header.pixel_height, header.level_count), (128, 128, 5));
    let lengths: Vec<usize> = reader.levels().map(|level| level.data.len()).collect();
    assert_eq!(lengths, [128, 64, 32, 16, 8].map(|side| 24 * side * side));
}
