//! Variants of a glTF file: `KHR_materials_variants`.

use std::path::Path;

use gpuskin_build::internals::import::Pixels;
use gpuskin_build::internals::manifest::Limits;
use gpuskin_build::{BakeOptions, Baked, Manifest, Style, bake};
use gpuskin_rt::internals::{Data, Model};
use serde_json::{Value, json};

use crate::common::build::Gltf;
use crate::common::{Outcome, entry, import_within, refused, warned};
use crate::variants::{BLUE, GREEN, RED, layers, png, soldier};

const EXTENSION: &str = "KHR_materials_variants";

/// Adds a material with a texture of one colour, `side` texels wide. Returns its index.
fn textured(g: &mut Gltf, name: &str, side: u32, color: [u8; 3]) -> usize {
    let view = g.view(&png(side, color));
    let image = g.push("images", json!({ "bufferView": view }));
    let texture = g.push("textures", json!({ "source": image }));
    let pbr = json!({ "baseColorTexture": { "index": texture } });
    g.push("materials", json!({ "name": name, "pbrMetallicRoughness": pbr }))
}

fn plain(g: &mut Gltf, name: &str, factor: [f32; 4]) -> usize {
    g.push("materials", json!({ "name": name, "pbrMetallicRoughness": { "baseColorFactor": factor } }))
}

/// Lists the variants of the file.
fn name(g: &mut Gltf, names: &[&str]) {
    g.json["extensionsUsed"] = json!([EXTENSION]);
    let variants: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    g.json["extensions"] = json!({ EXTENSION: { "variants": variants } });
}

/// Gives a primitive of the soldier other materials: 0 is the uniform, 1 the face, 2 the steel.
fn map(g: &mut Gltf, primitive: usize, mappings: &[(usize, &[u32])]) {
    let mappings: Vec<Value> =
        mappings.iter().map(|(material, variants)| json!({ "material": material, "variants": variants })).collect();
    g.json["meshes"][0]["primitives"][primitive]["extensions"] = json!({ EXTENSION: { "mappings": mappings } });
}

fn baked_in(folder: &Path, g: &Gltf, more: &str) -> Baked {
    std::fs::write(folder.join("soldier.glb"), g.glb()).unwrap();
    let text = format!("[[model]]\nname = \"soldier\"\npath = \"soldier.glb\"\ntextures = [\"rgba8\"]\n{more}\n");
    let manifest = Manifest::parse(&folder.join("gpuskin.toml"), text);
    let manifest = manifest.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(Style::Plain)));
    bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics))
}

fn baked(g: &Gltf) -> Model {
    let folder = tempfile::tempdir().unwrap();
    let baked = baked_in(folder.path(), g, "");
    assert!(baked.warnings.is_empty(), "{}", baked.warnings);
    baked.runtime_models().remove(0)
}

/// A soldier with variants of all kinds.
pub fn uniforms() -> Gltf {
    let mut g = soldier();
    let green = textured(&mut g, "Green", 4, GREEN);
    let gold = plain(&mut g, "Gold", [1.0, 0.75, 0.25, 1.0]);
    name(&mut g, &["veteran", "gold"]);
    map(&mut g, 0, &[(green, &[0]), (gold, &[1])]);
    map(&mut g, 2, &[(gold, &[1]), (green, &[0])]);
    g
}

/// Linear light of a stored colour, in f64.
fn linear(stored: u8) -> f64 {
    let v = f64::from(stored) / 255.0;
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

/// Linear RGB of a material in each variant: its factor times the first texel of the variant's layer.
fn drawn(model: &Model, material: &str) -> Vec<[f64; 3]> {
    let (colors, variants) = layers(model, material);
    let factor = model.meta.materials().iter().find(|m| &*m.name == material).unwrap().base_color;
    let of = |layer: &u8| std::array::from_fn(|c| linear(colors[usize::from(*layer)][c]) * f64::from(factor[c]));
    variants.iter().map(of).collect()
}

/// The greatest error of a stored colour, as linear light.
const ROUNDING: f64 = 0.5 / 255.0 * 2.4;

#[track_caller]
fn near(drawn: &[[f64; 3]], expected: &[[f64; 3]]) {
    assert_eq!(drawn.len(), expected.len());
    let off = drawn.iter().flatten().zip(expected.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < ROUNDING, "{drawn:?}, expected {expected:?}");
}

/// Images that the file names give the same model as images that the manifest names.
#[test]
fn variants_of_the_file_equal_those_of_the_manifest() {
    let folder = tempfile::tempdir().unwrap();
    for (name, color) in [("green", GREEN), ("blue", BLUE)] {
        std::fs::write(folder.path().join(format!("{name}.png")), png(4, color)).unwrap();
    }
    let mut g = soldier();
    let [green, blue] = [("Green", GREEN), ("Blue", BLUE)].map(|(name, color)| textured(&mut g, name, 4, color));
    name(&mut g, &["Veteran", "Night Watch"]);
    map(&mut g, 0, &[(green, &[0]), (blue, &[1])]);
    map(&mut g, 1, &[(blue, &[1])]);
    let of_file = baked_in(folder.path(), &g, "");
    let of_manifest = "file_variants = false\n[model.variants]\nveteran = { Uniform = \"green.png\" }\n\
                       night_watch = { Uniform = \"blue.png\", Face = \"blue.png\" }";
    let of_manifest = baked_in(folder.path(), &g, of_manifest);
    assert!(of_file.warnings.is_empty() && of_manifest.warnings.is_empty());
    let [a, b] = [&of_file, &of_manifest].map(|baked| baked.runtime_models().remove(0));
    assert_eq!(a.meta.variants().collect::<Vec<_>>(), ["base", "veteran", "night_watch"]);
    assert_eq!(layers(&a, "Uniform"), (vec![RED, GREEN, BLUE], vec![0, 1, 2]));
    assert_eq!(layers(&a, "Face"), (vec![RED, BLUE], vec![0, 0, 1]));
    let parts =
        |model: &Model| (model.meta.variants.clone(), model.meta.materials.clone(), model.meta.textures.clone());
    assert_eq!(parts(&a), parts(&b));
    for (a, b) in a.textures.iter().zip(b.textures.iter()) {
        let (Data::Bytes(a), Data::Bytes(b)) = (&a.data, &b.data) else { panic!("in memory") };
        assert_eq!(a, b);
    }
    let code = std::str::from_utf8(&of_file.files["gpuskin.rs"]).unwrap();
    assert!(code.contains("SOLDIER_NIGHT_WATCH: ModelVariant<models::Soldier>"), "{code}");
    // Without the key, the variants are left out, without a word.
    let none = baked_in(folder.path(), &g, "file_variants = false");
    assert!(none.warnings.is_empty() && none.runtime_models()[0].meta.variants().len() == 0);
}

/// Materials without a texture whose variants have other factors get plain layers.
#[test]
fn factors_alone_become_layers() {
    let mut g = soldier();
    let gold = plain(&mut g, "Gold", [1.0, 0.75, 0.25, 1.0]);
    let rust = plain(&mut g, "Rust", [0.3, 0.1, 0.05, 1.0]);
    g.json["materials"][2] =
        json!({ "name": "Steel", "pbrMetallicRoughness": { "baseColorFactor": [0.5, 0.5, 0.6, 1.0] } });
    name(&mut g, &["gold", "rust"]);
    map(&mut g, 2, &[(gold, &[0]), (rust, &[1])]);
    let model = baked(&g);
    near(&drawn(&model, "Steel"), &[[0.5, 0.5, 0.6], [1.0, 0.75, 0.25], [0.3, 0.1, 0.05]]);
    // The greatest factor is that of the material: no layer needs more than 1.
    assert_eq!(model.meta.materials().iter().find(|m| &*m.name == "Steel").unwrap().base_color, [1.0, 0.75, 0.6, 1.0]);
    let uniform = model.meta.materials().iter().find(|m| &*m.name == "Uniform").unwrap();
    assert!(!uniform.has_layers());
}

/// Images are multiplied by factors that differ, also by those above 1 and by zero.
#[test]
fn images_are_multiplied_by_factors_that_differ() {
    let grey = [188, 188, 188];
    let light = linear(188);
    let mut g = soldier();
    let texture = textured(&mut g, "Grey", 4, grey);
    let mut tinted = |factor: [f32; 4]| {
        let mut material = g.json["materials"][texture].clone();
        material["pbrMetallicRoughness"]["baseColorFactor"] = json!(factor);
        g.push("materials", material)
    };
    let [bright, dark] = [[2.0, 0.5, 0.0, 1.0], [0.25, 0.25, 0.0, 1.0]].map(&mut tinted);
    let white = plain(&mut g, "White", [1.0, 1.0, 0.0, 1.0]);
    name(&mut g, &["bright", "dark", "white"]);
    map(&mut g, 0, &[(bright, &[0]), (dark, &[1]), (white, &[2])]);
    let red = g.json["materials"][0]["pbrMetallicRoughness"].as_object_mut().unwrap();
    red.insert("baseColorFactor".into(), json!([0.5, 0.5, 0.0, 1.0]));
    let model = baked(&g);
    let expected =
        [[0.5, 0.0, 0.0], [2.0 * light, 0.5 * light, 0.0], [0.25 * light, 0.25 * light, 0.0], [1.0, 1.0, 0.0]];
    // Twice the error: the greatest factor is 2.
    let halves =
        |colors: Vec<[f64; 3]>| -> Vec<[f64; 3]> { colors.iter().map(|color| color.map(|c| c / 2.0)).collect() };
    near(&halves(drawn(&model, "Uniform")), &halves(expected.to_vec()));
}

/// Materials without a texture may get one in a variant, with texture coordinates of that texture.
#[test]
fn a_texture_in_variants_only_is_drawn() {
    let mut g = soldier();
    let green = textured(&mut g, "Green", 4, GREEN);
    name(&mut g, &["painted"]);
    map(&mut g, 2, &[(green, &[0])]);
    let model = baked(&g);
    near(&drawn(&model, "Steel"), &[[1.0; 3], [0.0, 1.0, 0.0]]);
    let outcome = g.import();
    let steel = outcome.model().materials.iter().position(|m| m.name == "Steel").unwrap();
    let uvs = &outcome.model().primitives.iter().find(|p| p.material == steel).unwrap().uvs;
    assert_eq!(uvs.len(), 3, "the vertices have the texture coordinates of the variant's texture");
    assert!(model.meta.materials().iter().all(|m| &*m.name != "Green"), "materials of variants are not the model's");
}

/// Primitives with one material may have different ones in a variant.
#[test]
fn primitives_of_one_material_have_their_own_mappings() {
    let mut g = soldier();
    let green = textured(&mut g, "Green", 4, GREEN);
    for primitive in 0..3 {
        g.json["meshes"][0]["primitives"][primitive]["material"] = json!(0);
    }
    name(&mut g, &["a", "b"]);
    map(&mut g, 0, &[(green, &[0])]);
    map(&mut g, 1, &[(green, &[0])]);
    // The material of the primitive itself, which changes nothing.
    map(&mut g, 2, &[(0, &[1])]);
    let outcome = g.import();
    let model = outcome.model();
    let figure = model.primitives.iter().filter(|p| model.materials[p.material].name == "Uniform");
    let materials: Vec<usize> = figure.map(|p| p.material).collect();
    assert!(materials[0] == materials[1] && materials[1] != materials[2], "{materials:?}");
    assert_eq!(model.materials[materials[0]].variant_images.len(), 3);
    assert!(model.materials[materials[2]].variant_images.is_empty());
    assert!(outcome.warnings().is_empty(), "{:?}", outcome.warnings());
}

#[test]
fn other_differences_are_named_in_a_warning() {
    let mut g = soldier();
    let green = textured(&mut g, "Green", 4, GREEN);
    g.json["materials"][green]["pbrMetallicRoughness"]["roughnessFactor"] = json!(0.25);
    g.json["materials"][green]["alphaMode"] = json!("MASK");
    g.json["materials"][green]["extensions"] = json!({ "KHR_materials_clearcoat": { "clearcoatFactor": 1.0 } });
    name(&mut g, &["wet", "wetter"]);
    map(&mut g, 0, &[(green, &[0, 1])]);
    let outcome = g.import();
    warned(
        &outcome,
        &[
            "model.glb: material 3 `Green`: the material replaces material 0 `Uniform` in variants, which change base colours only",
            "not drawn: `KHR_materials_clearcoat`, `alphaMode`, `roughnessFactor`",
        ],
    );
    assert_eq!(outcome.warnings().len(), 1, "{:?}", outcome.warnings());
    let uniform = outcome.model().materials.iter().find(|m| m.name == "Uniform").unwrap();
    assert_eq!(uniform.variant_images.len(), 3, "the base colour is baked nevertheless");

    // Another texture with the same image is no difference; another sampler is.
    let mut g = soldier();
    let green = textured(&mut g, "Green", 4, GREEN);
    let again = g.push("textures", json!({ "source": 0 }));
    g.json["materials"][0]["emissiveTexture"] = json!({ "index": 0 });
    g.json["materials"][green]["emissiveTexture"] = json!({ "index": again });
    name(&mut g, &["a"]);
    map(&mut g, 0, &[(green, &[0])]);
    assert!(g.import().warnings().is_empty(), "{:?}", g.import().warnings());
    let sampler = g.push("samplers", json!({ "wrapS": 33071 }));
    g.json["textures"][1]["sampler"] = json!(sampler);
    warned(&g.import(), &["not drawn: `baseColorTexture.sampler`"]);
    let transform = json!({ "KHR_texture_transform": { "scale": [2.0, 2.0] } });
    g.json["materials"][green]["pbrMetallicRoughness"]["baseColorTexture"]["extensions"] = transform;
    warned(&g.import(), &["not drawn: `baseColorTexture.sampler`, `baseColorTexture.texCoord`"]);
}

#[test]
fn images_of_another_size_are_left_out() {
    let mut g = soldier();
    let large = textured(&mut g, "Large", 8, GREEN);
    name(&mut g, &["a"]);
    map(&mut g, 0, &[(large, &[0])]);
    let outcome = g.import();
    warned(&outcome, &["material 3 `Large`: the base colour has 8 x 8 texels", "has 4 x 4", "keep the other one"]);
    assert!(outcome.model().materials.iter().all(|m| m.variant_images.is_empty()));
    assert_eq!(outcome.model().variants, ["base", "a"]);
}

#[test]
fn names_become_unique_identifiers() {
    let mut g = soldier();
    name(&mut g, &["Night Watch", "night-watch", "Base", "", "!", "día", "variant 4"]);
    g.json["extensions"][EXTENSION]["variants"].as_array_mut().unwrap().push(json!({}));
    let outcome = g.import();
    let expected =
        ["base", "night_watch", "night_watch_2", "base_3", "variant_4", "variant_5", "día", "variant_4_7", "variant_8"];
    assert_eq!(outcome.model().variants, expected);
    let warnings = outcome.warnings();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    warned(&outcome, &["the name of variant `Base` is taken; the variant is named `base_3`"]);
}

/// Variants of the manifest add to those of the file, and their images replace those of the file.
#[test]
fn the_manifest_adds_to_the_variants_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("blue.png"), png(4, BLUE)).unwrap();
    let mut g = soldier();
    let green = textured(&mut g, "Green", 4, GREEN);
    g.json["materials"][green]["pbrMetallicRoughness"]["baseColorFactor"] = json!([0.5, 0.5, 0.5, 1.0]);
    name(&mut g, &["Veteran", "Recruit"]);
    map(&mut g, 0, &[(green, &[0, 1])]);
    map(&mut g, 1, &[(green, &[1])]);
    let more = "[model.variants]\nrecruit = { Uniform = \"blue.png\" }\nghost = { Uniform = \"blue.png\" }";
    let baked = baked_in(folder.path(), &g, more);
    let model = &baked.runtime_models()[0];
    assert_eq!(model.meta.variants().collect::<Vec<_>>(), ["base", "veteran", "recruit", "ghost"]);
    let [red, half, blue] = [[1.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 1.0]];
    near(&drawn(model, "Uniform"), &[red, half, blue, blue]);
    near(&drawn(model, "Face"), &[red, red, half, red]);
}

#[test]
fn constants_of_two_models_must_not_collide() {
    let folder = tempfile::tempdir().unwrap();
    let mut g = soldier();
    name(&mut g, &["b_c"]);
    std::fs::write(folder.path().join("one.glb"), g.glb()).unwrap();
    name(&mut g, &["c"]);
    std::fs::write(folder.path().join("two.glb"), g.glb()).unwrap();
    let text = "[[model]]\nname = \"a\"\npath = \"one.glb\"\n[[model]]\nname = \"a_b\"\npath = \"two.glb\"\n";
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).unwrap();
    let failed = bake(&manifest, &BakeOptions::default()).expect_err("a collision").diagnostics.render(Style::Plain);
    assert!(failed.contains("variants `b_c` of `a` and `c` of `a_b` would both become `variants::A_B_C`"), "{failed}");
    assert!(failed.contains("file_variants = false"), "{failed}");
}

#[test]
fn invalid_variants_are_refused() {
    let valid = || {
        let mut g = soldier();
        let green = textured(&mut g, "Green", 4, GREEN);
        name(&mut g, &["a", "b"]);
        map(&mut g, 0, &[(green, &[0])]);
        g
    };
    let mappings = "/meshes/0/primitives/0/extensions/KHR_materials_variants/mappings";
    let changed = |place: &str, value: Value| -> Outcome {
        let mut g = valid();
        *g.json.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = value;
        g.import()
    };
    let material = format!("{mappings}/0/material");
    refused(&changed(&material, json!(9)), &["KHR_materials_variants: material 9 does not exist; the file has 4"]);
    refused(&changed(&material, json!(-1)), &["mappings[0].material", "whole number"]);
    refused(&changed(&material, json!(1_u64 << 32)), &["mappings[0].material", "whole number"]);
    let variants = format!("{mappings}/0/variants");
    for index in [2_u32, 255, 256, u32::MAX] {
        let message = format!("KHR_materials_variants: variant {index} does not exist; the file has 2");
        refused(&changed(&variants, json!([index])), &[&message, "model.glb"]);
    }
    refused(&changed(&variants, json!(0)), &["mappings[0].variants", "expected a sequence"]);
    refused(&changed(mappings, json!({ "material": 1 })), &["KHR_materials_variants.mappings"]);
    refused(&changed(mappings, json!([{ "variants": [0] }])), &["missing field `material`"]);
    let list = "/extensions/KHR_materials_variants";
    refused(&changed(list, json!({})), &["variant 0 does not exist; the file has 0"]);
    refused(&changed(list, json!({ "variants": 3 })), &["extensions.KHR_materials_variants.variants"]);
    refused(&changed(list, json!({ "variants": ["a"] })), &["extensions.KHR_materials_variants.variants[0]"]);
    let many: Vec<Value> = (0..256).map(|i| json!({ "name": format!("v{i}") })).collect();
    let outcome = changed(list, json!({ "variants": many }));
    refused(&outcome, &["model.glb: KHR_materials_variants: the file has 256 variants; a model can have at most 255"]);
    // As many as possible.
    let most = changed(list, json!({ "variants": many[..255] }));
    assert_eq!(most.model().variants.len(), 256);
    // A variant that is mapped twice has the first material.
    let twice = changed(mappings, json!([{ "material": 3, "variants": [1] }, { "material": 1, "variants": [1] }]));
    warned(&twice, &["primitive 0", "variant 1 has two materials; the first is used"]);
    let uniform = twice.model().materials.iter().find(|m| m.name == "Uniform").unwrap();
    assert_ne!(uniform.variant_images[2], uniform.variant_images[0]);
    let invalid = "/materials/3/pbrMetallicRoughness/baseColorTexture/index";
    refused(&changed(invalid, json!(7)), &["material 3 `Green`", "texture 7 does not exist"]);
    let mut g = valid();
    g.json["materials"][3]["pbrMetallicRoughness"]["baseColorFactor"] = json!([1e39, 0, 0, 1]);
    refused(&g.import(), &["materials[3].pbrMetallicRoughness.baseColorFactor[0]", "out of range"]);
    let mut g = valid();
    g.json["materials"][3]["alphaMode"] = json!("GLASS");
    refused(&g.import(), &["material 3", "the material cannot be compared"]);
}

/// Layers that the baker makes count towards the limit on texels.
#[test]
fn layers_of_factors_are_limited() {
    let mut g = soldier();
    let names: Vec<String> = (0..200).map(|i| format!("v{i}")).collect();
    name(&mut g, &names.iter().map(String::as_str).collect::<Vec<_>>());
    let mapped: Vec<usize> = (0..200).map(|i| plain(&mut g, "Plain", [i as f32 / 200.0, 0.5, 0.5, 1.0])).collect();
    let mappings: Vec<(usize, [u32; 1])> = mapped.iter().zip(0..).map(|(material, i)| (*material, [i])).collect();
    let mappings: Vec<(usize, &[u32])> = mappings.iter().map(|(material, i)| (*material, &i[..])).collect();
    map(&mut g, 0, &mappings);
    let import = |texels: u64| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("model.glb"), g.glb()).unwrap();
        let limits = Limits { image: texels, ..Limits::default() };
        [Pixels::Decode, Pixels::SizeOnly]
            .map(|pixels| import_within(folder.path(), &entry("model.glb"), pixels, limits))
    };
    // The image of the file, and 201 layers of 4 x 4 texels, of which that of the model itself is its image.
    assert!(import(201 * 16).iter().all(|outcome| outcome.model().materials[0].variant_images.len() == 201));
    for outcome in import(201 * 16 - 1) {
        refused(&outcome, &["model.glb", "more than 3215 texels"]);
    }
}
