//! Tint masks: the manifest, the alpha of the baked base colour, and what does not fit.

use std::path::Path;

use gpuskin_build::{BakeOptions, Baked, Manifest, Style, bake};
use gpuskin_rt::internals::{Data, FORMAT_VERSION, Model};
use serde_json::json;

use crate::common::build::Gltf;
use crate::common::manifest::has_errors;
use crate::variants::{BLUE, GREEN, RED, png, soldier};

/// A mask of four columns: 0, 51, 102 and 255 in red; green and blue differ.
fn mask(side: u32) -> Vec<u8> {
    let image =
        image::RgbImage::from_fn(side, side, |x, y| image::Rgb([[0, 51, 102, 255][x as usize % 4], 7, y as u8]));
    let mut bytes = std::io::Cursor::new(vec![]);
    image.write_to(&mut bytes, image::ImageFormat::Png).expect("encodes");
    bytes.into_inner()
}

fn folder(g: &Gltf) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("soldier.glb"), g.glb()).unwrap();
    let images = [("mask", mask(4)), ("large", mask(8)), ("green", png(4, GREEN)), ("blue", png(4, BLUE))];
    for (name, bytes) in images.into_iter().chain([("text", b"no image".to_vec())]) {
        std::fs::write(folder.path().join(format!("{name}.png")), bytes).unwrap();
    }
    folder
}

fn parse(folder: &Path, more: &str) -> Result<Manifest, String> {
    let text = format!("[[model]]\nname = \"soldier\"\npath = \"soldier.glb\"\ntextures = [\"rgba8\"]\n{more}\n");
    Manifest::parse(&folder.join("gpuskin.toml"), text).map_err(|diagnostics| diagnostics.render(Style::Plain))
}

fn baked(folder: &Path, more: &str) -> Baked {
    let manifest = parse(folder, more).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let baked = bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    assert!(baked.warnings.is_empty(), "{}", baked.warnings);
    baked
}

/// Texels of the largest mip level of a material's base colour.
fn texels(model: &Model, material: &str) -> Vec<[u8; 4]> {
    let material = model.meta.materials().iter().find(|m| &*m.name == material).unwrap();
    let payload = &model.textures[material.base_color_texture.unwrap().texture as usize];
    let Data::Bytes(bytes) = &payload.data else { panic!("in memory") };
    let level = payload.levels[0];
    bytes[level.offset as usize..][..level.len as usize].as_chunks::<4>().0.to_vec()
}

#[test]
fn the_red_of_a_mask_is_the_alpha_of_all_layers() {
    let folder = folder(&soldier());
    let more = "[model.variants]\na = { Uniform = \"green.png\", Face = \"blue.png\" }\n[model.tint_masks]\nUniform = \"mask.png\"";
    let model = &baked(folder.path(), more).runtime_models()[0];
    let layer = |[r, g, b]: [u8; 3]| [0, 51, 102, 255].map(|a| [r, g, b, a]).repeat(4);
    assert_eq!(texels(model, "Uniform"), [layer(RED), layer(GREEN)].concat());
    // The other materials keep their alpha, although they have the same image.
    assert!(texels(model, "Face").iter().all(|texel| texel[3] == 255));
    let masked: Vec<&str> = model.meta.materials().iter().filter(|m| m.has_tint_mask()).map(|m| &*m.name).collect();
    assert_eq!(masked, ["Uniform"]);
    // The mask is in no texture of its own.
    assert_eq!(model.meta.textures.len(), 2);
    assert_eq!(model.meta.format_version, FORMAT_VERSION);
}

/// A mask costs no byte.
#[test]
fn masks_cost_no_bytes() {
    let folder = folder(&soldier());
    let bytes = |more: &str| -> u64 {
        let model = baked(folder.path(), more).runtime_models().remove(0);
        model.textures.iter().flat_map(|payload| &*payload.levels).map(|level| level.len).sum()
    };
    let both = "[model.tint_masks]\nUniform = \"mask.png\"\nFace = \"mask.png\"";
    assert_eq!(bytes(both), bytes(""));
}

#[test]
fn invalid_masks_in_the_manifest_are_refused() {
    let folder = folder(&soldier());
    let refuses = |more: &str, expected: &[(&str, &str, &str)]| {
        let rendered = parse(folder.path(), more).expect_err("the manifest must be rejected");
        has_errors(&rendered.replace("\n  │ ", " "), expected);
    };
    refuses("tint_masks = 3", &[("5:14", "`tint_masks` must be a table of images", "[model.tint_masks]")]);
    refuses("tint_masks = { Uniform = 3 }", &[("5:26", "`Uniform` must be the path of an image", "")]);
    let missing = "tint_masks = { Uniform = \"masc.png\" }";
    refuses(missing, &[("5:26", "file not found: masc.png", "did you mean \"mask.png\"?")]);
}

#[test]
fn masks_that_do_not_fit_are_refused() {
    let mut g = soldier();
    let texture = g.json["materials"][0]["pbrMetallicRoughness"].clone();
    for (name, mode) in [("Hair", "MASK"), ("Visor", "BLEND")] {
        let material = g.push("materials", json!({ "name": name, "alphaMode": mode, "pbrMetallicRoughness": texture }));
        let mut primitive = g.json["meshes"][0]["primitives"][0].clone();
        primitive["material"] = json!(material);
        g.json["meshes"][0]["primitives"].as_array_mut().unwrap().push(primitive);
    }
    let folder = folder(&g);
    let refuses = |material: &str, path: &str, code: &str, expected: &[&str]| {
        let manifest = parse(folder.path(), &format!("tint_masks = {{ {material} = \"{path}\" }}")).unwrap();
        let failed = bake(&manifest, &BakeOptions::default()).expect_err("the model must be rejected").diagnostics;
        let diagnostic = failed.iter().find(|d| d.code().name() == code).unwrap_or_else(|| panic!("{code}: {failed}"));
        let rendered = failed.render(Style::Plain).replace("\n  │ ", " ");
        for text in expected {
            assert!(diagnostic.message().contains(text) || rendered.contains(text), "{text} in {rendered}");
        }
    };
    let fit = "gpuskin::material::tint_mask";
    for material in ["Hair", "Visor"] {
        let message = format!("soldier`: tint mask: material `{material}`: the material has alpha of its own");
        refuses(material, "mask.png", fit, &[&message, "make the material opaque"]);
    }
    refuses("Steel", "mask.png", fit, &["material `Steel`: the material has no base colour texture"]);
    refuses("Uniform", "large.png", fit, &["large.png has 8 x 8 texels", "has 4 x 4", "scale the mask"]);
    refuses(
        "Unifrom",
        "mask.png",
        "gpuskin::material::not_found",
        &["not found in soldier.glb", "did you mean `Uniform`?"],
    );
    refuses("Uniform", "text.png", "gpuskin::image::invalid", &["tint mask: material `Uniform`: text.png"]);
}
