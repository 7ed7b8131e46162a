//! Material properties besides the base colour: textures that are imported, shared, or left out
//! with a reason.

use crate::common::build::{Gltf, figure};
use gpuskin_build::internals::model::{Material, Model};
use gpuskin_build::{BakeOptions, Manifest, bake};
use gpuskin_rt::internals::{Data, MaterialTexture};
use serde_json::{Value, json};

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(vec![]);
    image::RgbImage::new(width, height).write_to(&mut bytes, image::ImageFormat::Png).expect("encodes");
    bytes.into_inner()
}

/// Returns a PNG of 4 x 4 equal texels, RGBA.
fn plain(texel: [u8; 4]) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(vec![]);
    let image = image::RgbaImage::from_pixel(4, 4, image::Rgba(texel));
    image.write_to(&mut bytes, image::ImageFormat::Png).expect("encodes");
    bytes.into_inner()
}

/// Bakes a model whose material has these extensions, and returns the first texel of one of its textures, RGBA.
fn first_texel(
    images: &[Vec<u8>; 2],
    extensions: Value,
    texture: impl Fn(&gpuskin_rt::internals::Material) -> Option<MaterialTexture>,
) -> [u8; 4] {
    let g = with(&images.each_ref().map(|i| &i[..]), json!({ "name": "Steel", "extensions": extensions }));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.glb"), g.glb()).unwrap();
    let text = "[[model]]\nname = \"model\"\npath = \"model.glb\"\ntextures = [\"rgba8\"]\n";
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).unwrap();
    let baked = bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    let model = &baked.runtime_models()[0];
    let material = model.meta.materials().iter().find(|m| &*m.name == "Steel").unwrap();
    let payload = &model.textures[texture(material).unwrap().texture as usize];
    let Data::Bytes(bytes) = &payload.data else { panic!("in memory") };
    *bytes[payload.levels[0].offset as usize..].first_chunk().unwrap()
}

/// Returns a figure with two sets of texture coordinates, the given images, and a material.
fn with(images: &[&[u8]], material: Value) -> Gltf {
    let mut g = figure();
    for image in images {
        let view = g.view(image);
        let index = g.push("images", json!({ "bufferView": view }));
        g.push("textures", json!({ "source": index }));
    }
    let uv = g.floats("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let material = g.push("materials", material);
    let primitive = &mut g.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["TEXCOORD_0"] = json!(uv);
    primitive["attributes"]["TEXCOORD_1"] = json!(uv);
    primitive["material"] = json!(material);
    g
}

fn surface(model: &Model) -> &Material {
    model.materials.iter().find(|m| m.name == "Steel").expect("a material named Steel")
}

#[test]
fn textures_and_factors_are_read() {
    let transform = json!({ "KHR_texture_transform": { "scale": [2, 2] } });
    let material = json!({
        "name": "Steel",
        "pbrMetallicRoughness": {
            "metallicFactor": 0.25, "roughnessFactor": 0.5,
            "baseColorTexture": { "index": 0, "extensions": transform },
            "metallicRoughnessTexture": { "index": 1, "extensions": transform },
        },
        "occlusionTexture": { "index": 1, "strength": 0.75, "extensions": transform },
        "normalTexture": { "index": 2, "scale": 1.5, "extensions": transform },
        "emissiveTexture": { "index": 0, "extensions": transform },
        "emissiveFactor": [1, 0.5, 0.25],
        "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 6.0 } },
    });
    let outcome = with(&[&png(4, 4), &png(8, 4), &png(4, 8)], material).import();
    assert!(outcome.warnings().is_empty(), "{:#?}", outcome.warnings());
    let m = surface(outcome.model());
    let image = |texture: Option<gpuskin_build::internals::model::Texture>| {
        texture.map(|t| (outcome.model().images[t.image].width, outcome.model().images[t.image].height))
    };
    assert_eq!((image(m.base_color_texture), image(m.emissive_texture)), (Some((4, 4)), Some((4, 4))));
    assert_eq!((image(m.metallic_roughness_texture), image(m.occlusion_texture)), (Some((8, 4)), Some((8, 4))));
    assert_eq!(image(m.normal_texture), Some((4, 8)));
    assert_eq!(outcome.model().images.len(), 3, "each image must be decoded once");
    assert_eq!((m.metallic, m.roughness, m.occlusion_strength, m.normal_scale), (0.25, 0.5, 0.75, 1.5));
    assert_eq!(m.emissive, [6.0, 3.0, 1.5]);
}

#[test]
fn index_and_specular_are_read() {
    let read = |extensions: Value, images: &[&[u8]]| {
        with(images, json!({ "name": "Steel", "extensions": extensions })).import()
    };
    let images = [png(4, 4), png(4, 4), png(8, 4)];
    let images = images.each_ref().map(|image| &image[..]);
    let outcome = read(
        json!({
            "KHR_materials_ior": { "ior": 1.33 },
            "KHR_materials_specular": {
                "specularFactor": 0.5, "specularColorFactor": [2, 0.5, 0],
                "specularTexture": { "index": 0 }, "specularColorTexture": { "index": 1 },
            },
        }),
        &images,
    );
    assert!(outcome.warnings().is_empty(), "{:#?}", outcome.warnings());
    let m = surface(outcome.model());
    assert_eq!((m.ior, m.specular, m.specular_color), (1.33, 0.5, [2.0, 0.5, 0.0]));
    assert!(m.specular_texture.is_some() && m.specular_color_texture.is_some());

    let outcome = read(json!({ "KHR_materials_ior": {}, "KHR_materials_specular": {} }), &[]);
    assert!(outcome.warnings().is_empty(), "{:#?}", outcome.warnings());
    let m = surface(outcome.model());
    assert_eq!((m.ior, m.specular, m.specular_color), (1.5, 1.0, [1.0; 3]));

    for (extensions, warning, ior, specular, color) in [
        (json!({ "KHR_materials_ior": { "ior": 0 } }), "", 0.0, 1.0, [1.0; 3]),
        (json!({ "KHR_materials_ior": { "ior": 0.5 } }), "refractive index 0.5", 1.5, 1.0, [1.0; 3]),
        (json!({ "KHR_materials_ior": { "ior": -1 } }), "refractive index -1", 1.5, 1.0, [1.0; 3]),
        (json!({ "KHR_materials_specular": { "specularFactor": 3 } }), "specular factor 3", 1.5, 1.0, [1.0; 3]),
        (json!({ "KHR_materials_specular": { "specularFactor": -3 } }), "specular factor -3", 1.5, 0.0, [1.0; 3]),
        (
            json!({ "KHR_materials_specular": { "specularColorFactor": [1, -1, 1e9] } }),
            "specular colour is negative",
            1.5,
            1.0,
            [1.0, 0.0, 1e9],
        ),
        (
            json!({ "KHR_materials_specular": {
                "specularTexture": { "index": 0, "texCoord": 1 }, "specularColorTexture": { "index": 2 } } }),
            "specular texture is ignored: its texture coordinates differ from those of the specular colour",
            1.5,
            1.0,
            [1.0; 3],
        ),
    ] {
        let outcome = read(extensions.clone(), &images);
        let warnings = outcome.warnings();
        assert!(warnings.len() == usize::from(!warning.is_empty()), "{extensions}: {warnings:#?}");
        assert!(warnings.iter().all(|w| w.contains(warning)), "{extensions}: {warnings:#?}");
        let m = surface(outcome.model());
        assert_eq!((m.ior, m.specular, m.specular_color), (ior, specular, color), "{extensions}");
        assert!(m.specular_texture.is_none());
    }
    assert!(read(json!({ "KHR_materials_ior": { "ior": "x" } }), &[]).errors()[0].contains("materials[0].extensions"));
}

#[test]
fn clear_coats_are_read() {
    let images = [png(4, 4), png(8, 4)];
    let images = images.each_ref().map(|image| &image[..]);
    let read = |coat: Value| {
        let extensions = json!({ "KHR_materials_clearcoat": coat });
        with(&images, json!({ "name": "Steel", "extensions": extensions })).import()
    };
    for (coat, warning, factors, textures) in [
        (json!({}), "", (0.0, 0.0), [false; 2]),
        (json!({ "clearcoatFactor": 0.5, "clearcoatRoughnessFactor": 0.25 }), "", (0.5, 0.25), [false; 2]),
        (
            json!({ "clearcoatFactor": 1, "clearcoatTexture": { "index": 0 }, "clearcoatRoughnessTexture": { "index": 0 } }),
            "",
            (1.0, 0.0),
            [true; 2],
        ),
        (
            json!({
                "clearcoatFactor": 1,
                "clearcoatTexture": { "index": 0 }, "clearcoatRoughnessTexture": { "index": 1, "texCoord": 1 },
            }),
            "clear coat texture is ignored: its texture coordinates differ",
            (1.0, 0.0),
            [false, true],
        ),
        (json!({ "clearcoatFactor": 3 }), "strength 3 of the clear coat", (1.0, 0.0), [false; 2]),
        (json!({ "clearcoatRoughnessFactor": -1 }), "roughness -1 of the clear coat", (0.0, 0.0), [false; 2]),
        (json!({ "clearcoatFactor": "x" }), "KHR_materials_clearcoat is ignored", (0.0, 0.0), [false; 2]),
        (json!({ "clearcoatTexture": 3 }), "KHR_materials_clearcoat is ignored", (0.0, 0.0), [false; 2]),
    ] {
        let outcome = read(coat.clone());
        let warnings = outcome.warnings();
        assert!(warnings.len() == usize::from(!warning.is_empty()), "{coat}: {warnings:#?}");
        assert!(warnings.iter().all(|w| w.contains(warning)), "{coat}: {warnings:#?}");
        let m = surface(outcome.model());
        assert_eq!((m.clearcoat, m.clearcoat_roughness), factors, "{coat}");
        assert_eq!([m.clearcoat_texture.is_some(), m.clearcoat_roughness_texture.is_some()], textures, "{coat}");
    }
}

/// A normal map of the coat alone makes tangents, unless there is no coat.
#[test]
fn normals_of_a_clear_coat_are_read() {
    let images = [png(4, 4), png(4, 4)];
    let images = images.each_ref().map(|image| &image[..]);
    let moved = json!({ "KHR_texture_transform": { "offset": [0.5, 0] } });
    for (factor, texture, warning, scale, read, tangents) in [
        (1.0, json!({ "index": 1 }), "", 1.0, true, true),
        (1.0, json!({ "index": 1, "scale": 0.5, "extensions": moved }), "", 0.5, true, true),
        (0.0, json!({ "index": 1 }), "", 1.0, true, false),
        (1.0, json!({ "index": 1, "scale": 1e39 }), "scale inf of the clear coat's normals", 1.0, true, true),
        (1.0, json!({ "index": 9 }), "clear coat's normal texture is ignored: texture 9", 1.0, false, false),
    ] {
        let coat = json!({ "clearcoatFactor": factor, "clearcoatNormalTexture": texture });
        let extensions = json!({ "KHR_materials_clearcoat": coat });
        let outcome = with(&images, json!({ "name": "Steel", "extensions": extensions })).import();
        let warnings = outcome.warnings();
        assert!(warnings.len() == usize::from(!warning.is_empty()), "{coat}: {warnings:#?}");
        assert!(warnings.iter().all(|w| w.contains(warning)), "{coat}: {warnings:#?}");
        let m = surface(outcome.model());
        let found = (m.clearcoat_normal_scale, m.clearcoat_normal_texture.is_some(), m.normal_map);
        assert_eq!(found, (scale, read, tangents), "{coat}");
    }
    // Both normal maps have the tangents of one set of texture coordinates.
    let coat = json!({ "clearcoatFactor": 1, "clearcoatNormalTexture": { "index": 1, "extensions": moved } });
    let material = json!({
        "name": "Steel", "normalTexture": { "index": 0 }, "extensions": { "KHR_materials_clearcoat": coat },
    });
    let outcome = with(&images, material).import();
    let warnings = outcome.warnings();
    assert!(
        warnings[0].contains("clear coat's normal texture is ignored: its texture coordinates differ"),
        "{warnings:?}"
    );
    assert!(surface(outcome.model()).clearcoat_normal_texture.is_none());
}

/// Strength in red and roughness in green of one texture, which the renderer samples.
#[test]
fn textures_of_a_clear_coat_share_one() {
    let images = [plain([10, 20, 30, 40]), plain([40, 50, 60, 70])];
    let [strength, roughness] = [0, 1].map(|index| json!({ "index": index }));
    for (coat, expected) in [
        (json!({ "clearcoatTexture": strength, "clearcoatRoughnessTexture": roughness }), [10, 50]),
        (json!({ "clearcoatTexture": strength }), [10, 255]),
        (json!({ "clearcoatRoughnessTexture": roughness }), [255, 50]),
    ] {
        let mut coat = coat;
        coat["clearcoatFactor"] = json!(1);
        let extensions = json!({ "KHR_materials_clearcoat": coat });
        let texel = first_texel(&images, extensions, |material| material.clearcoat_texture);
        assert_eq!(texel[..2], expected);
    }
}

#[test]
fn sheens_are_read() {
    let images = [png(4, 4), png(8, 4)];
    let images = images.each_ref().map(|image| &image[..]);
    let read = |sheen: Value| {
        let extensions = json!({ "KHR_materials_sheen": sheen });
        with(&images, json!({ "name": "Steel", "extensions": extensions })).import()
    };
    let [one, other] = [0, 1].map(|set| json!({ "index": set, "texCoord": set }));
    for (sheen, warning, color, roughness, textures) in [
        (json!({}), "", [0.0; 3], 0.0, [false; 2]),
        (
            json!({ "sheenColorFactor": [1, 0.5, 0.25], "sheenRoughnessFactor": 0.75 }),
            "",
            [1.0, 0.5, 0.25],
            0.75,
            [false; 2],
        ),
        (json!({ "sheenColorTexture": one, "sheenRoughnessTexture": one }), "", [0.0; 3], 0.0, [true; 2]),
        (
            json!({ "sheenColorTexture": one, "sheenRoughnessTexture": other }),
            "sheen roughness texture is ignored: its texture coordinates differ from those of the sheen colour",
            [0.0; 3],
            0.0,
            [true, false],
        ),
        (
            json!({ "sheenColorFactor": [2, -1, 0.5] }),
            "colour [2.0, -1.0, 0.5] of the sheen is not in 0..1",
            [1.0, 0.0, 0.5],
            0.0,
            [false; 2],
        ),
        (json!({ "sheenRoughnessFactor": 3 }), "roughness 3 of the sheen", [0.0; 3], 1.0, [false; 2]),
        (json!({ "sheenColorFactor": [1, 1] }), "KHR_materials_sheen is ignored", [0.0; 3], 0.0, [false; 2]),
        (json!({ "sheenRoughnessFactor": "x" }), "KHR_materials_sheen is ignored", [0.0; 3], 0.0, [false; 2]),
    ] {
        let outcome = read(sheen.clone());
        let warnings = outcome.warnings();
        assert!(warnings.len() == usize::from(!warning.is_empty()), "{sheen}: {warnings:#?}");
        assert!(warnings.iter().all(|w| w.contains(warning)), "{sheen}: {warnings:#?}");
        let m = surface(outcome.model());
        assert_eq!((m.sheen_color, m.sheen_roughness), (color, roughness), "{sheen}");
        assert_eq!([m.sheen_color_texture.is_some(), m.sheen_roughness_texture.is_some()], textures, "{sheen}");
    }
}

/// Colour in red, green and blue and roughness in alpha of one texture, which the renderer samples. A transform that all
/// textures of the material have is that of the vertices.
#[test]
fn textures_of_a_sheen_share_one() {
    let images = [plain([10, 20, 30, 40]), plain([50, 60, 70, 80])];
    let extensions = json!({ "KHR_texture_transform": { "scale": [2, 2] } });
    let [color, roughness] = [0, 1].map(|index| json!({ "index": index, "extensions": extensions }));
    for (sheen, expected) in [
        (json!({ "sheenColorTexture": color, "sheenRoughnessTexture": roughness }), [10, 20, 30, 80]),
        (json!({ "sheenColorTexture": color }), [10, 20, 30, 255]),
        (json!({ "sheenRoughnessTexture": roughness }), [255, 255, 255, 80]),
    ] {
        let mut sheen = sheen;
        sheen["sheenColorFactor"] = json!([1, 1, 1]);
        let extensions = json!({ "KHR_materials_sheen": sheen });
        assert_eq!(first_texel(&images, extensions, |material| material.sheen_texture), expected);
    }
}

#[test]
fn emissive_strength_is_applied() {
    let read = |strength: Value| {
        let extension = json!({ "KHR_materials_emissive_strength": strength });
        with(&[], json!({ "name": "Steel", "emissiveFactor": [1, 0, 0.5], "extensions": extension })).import()
    };
    let outcome = read(json!({}));
    assert!(outcome.warnings().is_empty(), "{:#?}", outcome.warnings());
    assert_eq!(surface(outcome.model()).emissive, [1.0, 0.0, 0.5]);
    let outcome = read(json!({ "emissiveStrength": -2 }));
    assert!(outcome.warnings()[0].contains("`Steel`: the emissive factor is negative"), "{:#?}", outcome.warnings());
    assert_eq!(surface(outcome.model()).emissive, [0.0; 3]);
    assert!(read(json!({ "emissiveStrength": "x" })).errors()[0].contains("materials[0].extensions"));
}

#[test]
fn unsupported_textures_are_left_out_with_a_reason() {
    let good = png(4, 4);
    let broken = &good[..40];
    let huge = png(8200, 2);
    let base = json!({ "index": 0 });
    for (images, key, value, reason) in [
        (
            [&good[..], broken],
            "normalTexture",
            json!({ "index": 1 }),
            "normal texture is ignored: image 1: the image cannot be decoded",
        ),
        (
            [&good, &huge],
            "emissiveTexture",
            json!({ "index": 1 }),
            "emissive texture is ignored: image 1: the image has 8200 x 2",
        ),
        (
            [&good, b"none"],
            "occlusionTexture",
            json!({ "index": 1 }),
            "occlusion texture is ignored: image 1: the image is not PNG",
        ),
        ([&good, &good], "normalTexture", json!({ "index": 9 }), "normal texture is ignored: texture 9 does not exist"),
        (
            [&good, &good],
            "occlusionTexture",
            json!({ "index": 1, "extensions": { "KHR_texture_transform": { "offset": "x" } } }),
            "occlusion texture is ignored: KHR_texture_transform",
        ),
    ] {
        let mut material = json!({ "name": "Steel", "pbrMetallicRoughness": { "baseColorTexture": base } });
        material[key] = value;
        let outcome = with(&images, material).import();
        let warnings = outcome.warnings();
        let told = |w: &String| w.contains(reason) && w.contains("material") && w.contains("`Steel`");
        assert!(warnings.len() == 1 && told(&warnings[0]), "{key}: expected {reason}, found {warnings:#?}");
        let m = surface(outcome.model());
        assert!(m.base_color_texture.is_some());
        assert!(m.normal_texture.is_none() && m.occlusion_texture.is_none() && m.emissive_texture.is_none());
    }
}

#[test]
fn factors_beyond_f32_are_rejected() {
    let material = json!({ "name": "Steel", "normalTexture": { "index": 0, "scale": 1e39 } });
    let outcome = with(&[&png(4, 4)], material).import();
    let errors = outcome.errors();
    assert!(errors.iter().any(|e| e.contains("materials[0].normalTexture.scale")), "{errors:#?}");
}
