//! Texture coordinates: a material has those of its base colour, and one other source.

use crate::common::build::{Gltf, figure};
use gpuskin_build::internals::model::{Material, Model};
use gpuskin_build::{BakeOptions, Manifest, bake};
use gpuskin_rt::internals::Data;
use gpuskin_rt::internals::vertex::{Vertex, unpack};
use serde_json::{Value, json};

/// Number of vertices of the textured primitive.
const CORNERS: usize = 3;
const FIRST: [f32; 6] = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0];
const SECOND: [f32; 6] = [0.5, 0.25, -3.0, 0.125, 0.75, 7.0];

/// Returns a figure with a material, three images, and these sets of texture coordinates.
fn with(sets: &[&[f32]], material: Value) -> Gltf {
    let mut g = figure();
    for width in [4, 8, 4] {
        let mut bytes = std::io::Cursor::new(vec![]);
        image::RgbImage::new(width, width).write_to(&mut bytes, image::ImageFormat::Png).expect("encodes");
        let view = g.view(&bytes.into_inner());
        let index = g.push("images", json!({ "bufferView": view }));
        g.push("textures", json!({ "source": index }));
    }
    let sets: Vec<usize> = sets.iter().map(|uvs| g.floats("VEC2", uvs)).collect();
    let material = g.push("materials", material);
    let primitive = &mut g.json["meshes"][0]["primitives"][0];
    for (set, uvs) in sets.into_iter().enumerate() {
        primitive["attributes"][format!("TEXCOORD_{set}")] = json!(uvs);
    }
    primitive["material"] = json!(material);
    g
}

fn steel(model: &Model) -> &Material {
    model.materials.iter().find(|m| m.name == "Steel").expect("a material named Steel")
}

/// Returns both texture coordinates of the textured primitive.
fn coordinates(model: &Model) -> [Vec<f32>; 2] {
    let primitive = model.primitives.iter().find(|p| model.materials[p.material].name == "Steel").expect("a primitive");
    [&primitive.uvs, &primitive.second_uvs].map(|uvs| uvs.iter().flat_map(|uv| uv.as_vec2().to_array()).collect())
}

/// Occlusion often has coordinates of its own, without overlaps; metallic and roughness, in the same texture of the bake, those
/// of the base colour. The sizes of the images differ.
fn occlusion_apart() -> Value {
    json!({
        "name": "Steel",
        "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 }, "metallicRoughnessTexture": { "index": 2 } },
        "occlusionTexture": { "index": 1, "texCoord": 1 },
    })
}

#[test]
fn a_texture_may_have_another_attribute_or_transform() {
    let outcome = with(&[&FIRST, &SECOND], occlusion_apart()).import();
    assert_eq!(outcome.warnings(), [""; 0]);
    let model = outcome.model();
    let seconds = |m: &Material| {
        [m.metallic_roughness_texture, m.occlusion_texture, m.normal_texture].map(|t| t.map(|t| t.second_uv))
    };
    assert_eq!(seconds(steel(model)), [Some(false), Some(true), None]);
    assert_eq!(coordinates(model), [FIRST.to_vec(), SECOND.to_vec()]);

    let twice = json!({ "KHR_texture_transform": { "scale": [2, 4] } });
    let normal = json!({ "index": 1, "extensions": twice });
    let base = json!({ "baseColorTexture": { "index": 0 } });
    let material = json!({ "name": "Steel", "pbrMetallicRoughness": base, "normalTexture": normal });
    let outcome = with(&[&FIRST], material).import();
    assert_eq!(outcome.warnings(), [""; 0]);
    assert_eq!(seconds(steel(outcome.model())), [None, None, Some(true)]);
    assert_eq!(coordinates(outcome.model())[1], [0.0, 0.0, 2.0, 0.0, 0.0, 4.0]);
    // Tangents are those of the normal map.
    let primitive = |p: &&gpuskin_build::internals::model::Primitive| p.second_normal_map;
    assert_eq!(outcome.model().primitives.iter().filter(primitive).count(), 1);
}

#[test]
fn a_third_source_of_coordinates_is_left_out() {
    let moved = json!({ "KHR_texture_transform": { "offset": [0.5, 0] } });
    let material = json!({
        "name": "Steel",
        "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } },
        "normalTexture": { "index": 1, "extensions": moved },
        "emissiveTexture": { "index": 1, "texCoord": 1 },
    });
    let outcome = with(&[&FIRST, &SECOND], material).import();
    let warnings = outcome.warnings();
    let expected = "emissive texture is ignored: its texture coordinates are the third of the material";
    assert!(warnings.len() == 1 && warnings[0].contains(expected), "{warnings:#?}");
    assert!(warnings[0].contains("`Steel`"), "{warnings:#?}");
    let m = steel(outcome.model());
    assert!(m.normal_texture.is_some() && m.emissive_texture.is_none());
}

#[test]
fn textures_that_share_channels_share_coordinates() {
    let sheen = json!({
        "sheenColorFactor": [1, 1, 1],
        "sheenColorTexture": { "index": 0 }, "sheenRoughnessTexture": { "index": 1, "texCoord": 1 },
    });
    let material = json!({ "name": "Steel", "extensions": { "KHR_materials_sheen": sheen } });
    let outcome = with(&[&FIRST, &SECOND], material).import();
    let warnings = outcome.warnings();
    let expected =
        "sheen roughness texture is ignored: its texture coordinates differ from those of the sheen colour texture";
    assert!(warnings.len() == 1 && warnings[0].contains(expected), "{warnings:#?}");
    assert!(steel(outcome.model()).sheen_roughness_texture.is_none());
    // No other texture reads them.
    assert!(coordinates(outcome.model())[1].is_empty());
}

/// The channels of one texture have one sampler.
#[test]
fn a_sampler_that_is_not_drawn_is_named() {
    let clamp = json!({ "wrapS": 33071, "wrapT": 33071 });
    let repeat = json!({ "wrapS": 10497, "wrapT": 10497 });
    let nearest = json!({ "magFilter": 9728 });
    let coat = json!({ "clearcoatFactor": 1, "clearcoatTexture": { "index": 1 }, "clearcoatRoughnessTexture": { "index": 2 } });
    let sheen = json!({ "sheenRoughnessTexture": { "index": 1 }, "sheenColorTexture": { "index": 2 } });
    let specular = json!({ "specularTexture": { "index": 1 }, "specularColorTexture": { "index": 2 } });
    let cases = [
        ("occlusion", "metallic-roughness", occlusion_apart()),
        ("clear coat", "clear coat's roughness", json!({ "extensions": { "KHR_materials_clearcoat": coat } })),
        ("sheen roughness", "sheen colour", json!({ "extensions": { "KHR_materials_sheen": sheen } })),
        ("specular", "specular colour", json!({ "extensions": { "KHR_materials_specular": specular } })),
    ];
    for (what, name, mut material) in cases {
        material["name"] = json!("Steel");
        // The sampler of the second and of the third texture.
        for (samplers, told) in [([&clamp, &repeat], true), ([&repeat, &nearest], true), ([&clamp, &clamp], false)] {
            let mut g = with(&[&FIRST, &SECOND], material.clone());
            for (texture, sampler) in [1, 2].into_iter().zip(samplers) {
                g.json["textures"][texture]["sampler"] = json!(g.push("samplers", sampler.clone()));
            }
            let outcome = g.import();
            let warnings = outcome.warnings();
            let expected = format!("the {what} texture is drawn with the sampler of the {name} texture");
            assert_eq!(warnings.len(), usize::from(told), "{warnings:#?}");
            assert!(warnings.iter().all(|w| w.contains(&expected) && w.contains("`Steel`")), "{warnings:#?}");
        }
    }
}

/// A row of texels and a column would share a texture of 64 million, more than the images of a model may have.
#[test]
fn combined_images_count_as_large_as_their_texture() {
    let mut g = figure();
    for [width, height] in [[8192, 1], [1, 8192]] {
        for _ in 0..6 {
            let mut bytes = std::io::Cursor::new(vec![]);
            image::RgbImage::new(width, height).write_to(&mut bytes, image::ImageFormat::Png).expect("encodes");
            let view = g.view(&bytes.into_inner());
            let index = g.push("images", json!({ "bufferView": view }));
            g.push("textures", json!({ "source": index }));
        }
    }
    let uvs = g.floats("VEC2", &FIRST);
    let mut own = g.json["meshes"][0]["primitives"][0].clone();
    own["attributes"]["TEXCOORD_0"] = json!(uvs);
    for i in 0..6 {
        let rough = json!({ "metallicRoughnessTexture": { "index": i } });
        own["material"] = json!(
            g.push("materials", json!({ "pbrMetallicRoughness": rough, "occlusionTexture": { "index": 6 + i } }))
        );
        g.json["meshes"][0]["primitives"].as_array_mut().unwrap().push(own.clone());
    }
    let outcome = g.import();
    let warnings = outcome.warnings();
    let told = |w: &String| w.contains("occlusion texture is ignored: the images") && w.contains("texels in total");
    assert!(warnings.len() == 1 && told(&warnings[0]), "{warnings:#?}");
    assert!(warnings[0].ends_with("also at 5 other places: material 1; material 2; material 3; and 2 more"));
}

#[test]
fn a_mesh_without_the_second_attribute_is_named() {
    let outcome = with(&[&FIRST], occlusion_apart()).import();
    let warnings = outcome.warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("no TEXCOORD_1"), "{warnings:#?}");
    assert!(coordinates(outcome.model())[1].is_empty());
}

#[test]
fn baked_vertices_have_both_coordinates_in_both_modes() {
    for mode in ["bone", "vertex"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("model.glb"), with(&[&FIRST, &SECOND], occlusion_apart()).glb()).unwrap();
        let text = format!("[[model]]\nname = \"model\"\npath = \"model.glb\"\nmode = \"{mode}\"\n");
        let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), &text).unwrap();
        let baked = bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
        let model = &baked.runtime_models()[0];
        let mesh = &model.meta.mesh;
        assert!(mesh.format.second_uv, "{mode}");
        let material = model.meta.materials().iter().find(|m| &*m.name == "Steel").unwrap();
        assert!(material.occlusion_second_uv && !material.orm_texture.unwrap().second_uv);
        let texture = &model.meta.textures[material.orm_texture.unwrap().texture as usize];
        assert_eq!([texture.width, texture.height], [8, 8], "the smaller image is enlarged");
        let Data::Bytes(bytes) = &model.mesh.data else { panic!("in memory") };
        let bytes = &bytes[model.mesh.levels[0].offset as usize..][mesh.vertices.offset as usize..];
        let words: Vec<u32> = bytes[..mesh.vertices.len as usize]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word))
            .collect();
        let vertices: Vec<Vertex> =
            words.chunks_exact(mesh.format.words()).map(|words| unpack(words, mesh.format, &mesh.range)).collect();
        let [first, second] = [FIRST, SECOND].map(|uvs| uvs.as_chunks::<2>().0.to_vec());
        let close = |a: [f32; 2], b: [f32; 2]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
        for corner in 0..CORNERS {
            let found = |v: &Vertex| v.second_uv.to_array() == second[corner] && close(v.uv.into(), first[corner]);
            assert!(vertices.iter().any(found), "{mode} {corner}: {vertices:#?}");
        }
    }
}
