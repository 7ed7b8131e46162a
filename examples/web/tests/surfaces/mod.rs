//! Sources of the models of the browser test, and of an environment: `surfaces`, eight spheres, each with another kind
//! of surface or deformation, [`plaster`], and [`banner`], in several encodings.

mod banner;
mod gltf_file;
mod plaster;

use std::f32::consts::PI;
use std::io;
use std::path::{Path, PathBuf};

use image::{Rgb, RgbImage, Rgba, RgbaImage};
use serde_json::{Value, json};

use gltf_file::File;

const MANIFEST: &str = r#"
[bake]
devices = ["compute", "webgl2"]

[[model]]
name = "surfaces"
path = "surfaces.gltf"
lods = false
variants = { painted = { Uniform = "painted.png" } }
tint_masks = { Uniform = "mask.png" }

[[model]]
name = "banner"
path = "banner.gltf"
variants = { painted = { Cloth = "painted.png", Sign = "painted.png" } }
tint_masks = { Cloth = "mask.png", Sign = "mask.png" }
masks = { cloth = { roots = ["Cloth1", "Cloth2", "Cloth3", "Cloth4"] } }

[model.clips]
wave = {}
hang = {}
# Lifts cloth that hangs.
lift = { source = "wave", additive = "hang" }

# The same file in vertex mode.
[[model]]
name = "vertex_banner"
path = "banner.gltf"
mode = "vertex"
variants = { painted = { Cloth = "painted.png", Sign = "painted.png" } }
tint_masks = { Cloth = "mask.png", Sign = "mask.png" }

[[model]]
name = "plaster"
path = "plaster.gltf"
lods = false

[[model]]
name = "vertex_plaster"
path = "plaster.gltf"
mode = "vertex"

[[environment]]
name = "sky"
path = "sky.png"
size = 64
intensity = 3
"#;

/// Encodings that need no compute shaders. The manifest has a model of each, with its name.
const ENCODINGS: [&str; 13] = [
    "matrix-f32",
    "matrix-f16",
    "matrix-unorm",
    "trs-f16",
    "trs-packed",
    "fixed16",
    "vat-f32",
    "vat-f16",
    "vat-unorm8",
    "vat-unorm16",
    "vat-unorm24",
    "vat-packed",
    "vat-packed-fine",
];

/// Side of the images, texels.
const SIDE: u32 = 64;
/// Rings and segments of a sphere.
const RINGS: usize = 24;
const SEGMENTS: usize = 32;
/// Joint that moves all spheres but the last one.
const BODY: usize = 8;

/// Writes the sources into a folder. Returns the path of the manifest.
pub fn write(folder: &Path) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let save = |name: &str, color: fn(u32, u32) -> [u8; 4]| {
        let image = RgbaImage::from_fn(SIDE, SIDE, |x, y| Rgba(color(x, y)));
        image.save(folder.join(name)).map_err(io::Error::other)
    };
    save("checks.png", |x, y| if (x / 8 + y / 8) % 2 == 0 { [255, 220, 160, 255] } else { [90, 60, 200, 255] })?;
    save("painted.png", |x, _| if x / 8 % 2 == 0 { [40, 200, 90, 255] } else { [240, 240, 60, 255] })?;
    save("mask.png", |x, y| if (x / 8 + y / 8) % 2 == 0 { [255; 4] } else { [0, 0, 0, 255] })?;
    save("holes.png", |x, y| [250, 200, 60, if x % 16 < 8 && y % 16 < 8 { 0 } else { 255 }])?;
    // Occlusion, roughness, metal.
    save("orm.png", |x, _| if x / 8 % 2 == 0 { [255, 60, 255, 255] } else { [120, 180, 0, 255] })?;
    save("bumps.png", |x, y| {
        let [x, y] = [x, y].map(|texel| (texel as f32 / SIDE as f32 * 8.0 * PI).sin());
        [128.0 + 50.0 * x, 128.0 + 50.0 * y, 240.0, 255.0].map(|channel| channel as u8)
    })?;
    let sky = RgbImage::from_fn(2 * SIDE, SIDE, |x, y| {
        let turn = (x as f32 / SIDE as f32 * PI).cos();
        let up = 1.0 - 2.0 * y as f32 / SIDE as f32;
        Rgb([0.45 - 0.25 * turn, 0.4 + 0.2 * up, 0.45 + 0.4 * up].map(|channel| (255.0 * channel) as u8))
    });
    sky.save(folder.join("sky.png")).map_err(io::Error::other)?;
    for (name, (json, bytes)) in [("surfaces", model()), ("banner", banner::model()), ("plaster", plaster::model())] {
        std::fs::write(folder.join(name).with_extension("gltf"), json.to_string())?;
        std::fs::write(folder.join(name).with_extension("bin"), bytes)?;
    }
    let models = ENCODINGS.map(|encoding| {
        let mode = if encoding.starts_with("vat-") { "vertex" } else { "bone" };
        let name = encoding.replace('-', "_");
        format!("[[model]]\nname = \"{name}\"\npath = \"banner.gltf\"\nmode = \"{mode}\"\nencoding = \"{encoding}\"\n")
    });
    let manifest = folder.join("gpuskin.toml");
    std::fs::write(&manifest, MANIFEST.to_owned() + &models.concat())?;
    Ok(manifest)
}

/// Materials of the spheres. Textures are those of [`model`], by index.
fn materials() -> [Value; 8] {
    let [checks, holes, orm, bumps] = [0, 1, 2, 3].map(|index| json!({ "index": index }));
    let pbr = |color: [f32; 4], metallic: f32, roughness: f32| json!({ "baseColorFactor": color, "metallicFactor": metallic, "roughnessFactor": roughness });
    let textured =
        |texture: &Value| json!({ "baseColorTexture": texture, "metallicFactor": 0, "roughnessFactor": 0.6 });
    let sheen =
        json!({ "sheenColorFactor": [0.9, 0.8, 1.0], "sheenRoughnessFactor": 0.5, "sheenColorTexture": checks });
    let coat = json!({ "clearcoatFactor": 1, "clearcoatRoughnessFactor": 0.1, "clearcoatNormalTexture": bumps });
    let mut all = textured(&checks);
    all["metallicRoughnessTexture"] = orm.clone();
    let mut all_coat = coat.clone();
    all_coat["clearcoatTexture"] = checks.clone();
    [
        json!({ "name": "Cloth", "pbrMetallicRoughness": pbr([0.3, 0.02, 0.05, 1.0], 0.0, 0.8),
            "extensions": { "KHR_materials_sheen": sheen } }),
        json!({ "name": "Paint", "pbrMetallicRoughness": pbr([0.02, 0.05, 0.5, 1.0], 0.0, 0.7),
            "extensions": { "KHR_materials_clearcoat": coat } }),
        json!({ "name": "Metal", "pbrMetallicRoughness": pbr([0.9, 0.7, 0.4, 1.0], 1.0, 0.3), "normalTexture": bumps }),
        json!({ "name": "Fence", "pbrMetallicRoughness": textured(&holes), "alphaMode": "MASK", "doubleSided": true }),
        json!({ "name": "Glass", "pbrMetallicRoughness": pbr([0.2, 0.7, 0.3, 0.4], 0.0, 0.2), "alphaMode": "BLEND" }),
        json!({ "name": "Uniform", "pbrMetallicRoughness": textured(&checks) }),
        json!({ "name": "Mirror", "pbrMetallicRoughness": pbr([0.95, 0.95, 0.95, 1.0], 1.0, 0.1) }),
        // All textures that a material can have.
        json!({ "name": "All", "pbrMetallicRoughness": all, "normalTexture": bumps, "occlusionTexture": orm,
            "emissiveTexture": checks, "emissiveFactor": [0.1, 0.0, 0.2],
            "extensions": { "KHR_materials_sheen": sheen, "KHR_materials_clearcoat": all_coat,
                "KHR_materials_specular": { "specularColorFactor": [1, 0.5, 0.5], "specularColorTexture": checks } } }),
    ]
}

/// Two rows of four spheres. The seventh one has a morph target, the last one follows eight joints.
fn model() -> (Value, Vec<u8>) {
    let mut file = File::default();
    let (mut normals, mut uvs, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for ring in 0..=RINGS {
        for segment in 0..=SEGMENTS {
            let [u, v] = [segment as f32 / SEGMENTS as f32, ring as f32 / RINGS as f32];
            let ((sin, cos), (y, across)) = ((2.0 * PI * u).sin_cos(), ((PI * v).cos(), (PI * v).sin()));
            normals.push([across * sin, y, across * cos]);
            uvs.extend([2.0 * u, v]);
            if ring < RINGS && segment < SEGMENTS {
                let [a, b] = [0, 1].map(|below| ((ring + below) * (SEGMENTS + 1) + segment) as u16);
                indices.extend([a, b, a + 1, a + 1, b, b + 1]);
            }
        }
    }
    let count = normals.len();
    let normal = file.floats("VEC3", normals.concat());
    let uv = file.floats("VEC2", uvs);
    let index = file.accessor(
        "SCALAR",
        5123,
        indices.len(),
        &indices.iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<u8>>(),
    );
    // The morph target pulls the sphere into a lens.
    let lens = file.floats(
        "VEC3",
        normals.iter().flat_map(|[x, y, _]| [0.0, -0.25 * y, 0.0].map(|c: f32| c * (1.0 - x * x))).collect(),
    );
    let corner = |joint: usize| [0, 1, 2].map(|axis| if joint >> axis & 1 == 0 { -1.0_f32 } else { 1.0 });
    let joints: Vec<usize> = (0..=BODY).map(|i| file.push("nodes", json!({ "name": format!("Joint{i}") }))).collect();
    let mut primitives = Vec::new();
    for (i, material) in materials().into_iter().enumerate() {
        let center = [i as f32 % 4.0 - 1.5, 0.5 - (i / 4) as f32, 0.0];
        let position = normals.iter().flat_map(|n| [0, 1, 2].map(|axis| center[axis] + 0.42 * n[axis])).collect();
        let mut primitive = json!({ "material": file.push("materials", material), "indices": index, "attributes": {
            "POSITION": file.floats("VEC3", position), "NORMAL": normal, "TEXCOORD_0": uv } });
        for set in 0..2 {
            let of = |n: &[f32; 3], joint: usize| {
                let facing: f32 = (0..3).map(|axis| n[axis] * corner(joint)[axis]).sum();
                (facing.max(0.0) + 0.2).powi(2)
            };
            let weights = normals.iter().flat_map(|n| {
                let all: f32 = (0..8).map(|joint| of(n, joint)).sum();
                [0, 1, 2, 3].map(|lane| match (i, set, lane) {
                    (7, ..) => of(n, 4 * set + lane) / all,
                    (_, 0, 0) => 1.0,
                    _ => 0.0,
                })
            });
            let weights = weights.collect();
            let bones = [0, 1, 2, 3].map(|lane| if i == 7 { 4 * set + lane } else { BODY } as u8).repeat(count);
            primitive["attributes"][format!("WEIGHTS_{set}")] = json!(file.floats("VEC4", weights));
            primitive["attributes"][format!("JOINTS_{set}")] = json!(file.accessor("VEC4", 5121, count, &bones));
        }
        let still = file.floats("VEC3", vec![0.0; 3 * count]);
        primitive["targets"] = json!([{ "POSITION": if i == 6 { lens } else { still } }]);
        primitives.push(primitive);
    }
    let mesh = file.push("meshes", json!({ "name": "Surfaces", "primitives": primitives, "weights": [0] }));
    let skin = file.push("skins", json!({ "joints": joints }));
    let node = file.push("nodes", json!({ "name": "Surfaces", "mesh": mesh, "skin": skin }));
    let input = file.floats("SCALAR", vec![0.0, 0.5, 1.0]);
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    let mut animate = |node: usize, path: &str, output: usize| {
        channels.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
        samplers.push(json!({ "input": input, "output": output }));
    };
    for (i, joint) in joints.iter().enumerate().take(8) {
        // The corners of a cube move outwards, one more than the other.
        let moved = corner(i).map(|c| c * 0.06 * i as f32);
        animate(*joint, "translation", file.floats("VEC3", [[0.0; 3], moved, [0.0; 3]].concat()));
    }
    animate(joints[BODY], "translation", file.floats("VEC3", vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0]));
    animate(node, "weights", file.floats("SCALAR", vec![0.0, 1.0, 0.0]));
    file.push("animations", json!({ "name": "move", "samplers": samplers, "channels": channels }));
    for uri in ["checks.png", "holes.png", "orm.png", "bumps.png"] {
        let image = file.push("images", json!({ "uri": uri }));
        file.push("textures", json!({ "source": image }));
    }
    file.finish("surfaces.bin", node + 1)
}
