//! Formats that exporters for the web write: meshes compressed with Draco, images as WebP and KTX2.
//! References were decoded by other programs; tests/data/README.md names them.

use crate::common::build::{Gltf, figure, glb};
use crate::common::mutate::Random;
use crate::common::{Outcome, import_file, refused};
use serde_json::{Value, json};

/// Number of damaged copies per file.
const DAMAGED: usize = 2000;

const POLE: &[u8] = include_bytes!("../data/pole-draco.glb");
const POLE_PLAIN: &[u8] = include_bytes!("../data/pole-draco-plain.glb");
const ETC1S: &[u8] = include_bytes!("../data/patch-etc1s.ktx2");
const UASTC: &[u8] = include_bytes!("../data/patch-uastc.ktx2");
const WEBP: &[u8] = include_bytes!("../data/patch.webp");

/// Splits a GLB file into JSON and binary data.
fn split(file: &[u8]) -> Gltf {
    let json_len = u32::from_le_bytes(file[12..16].try_into().expect("4 bytes")) as usize;
    let json = serde_json::from_slice(&file[20..20 + json_len]).expect("JSON");
    Gltf { json, bin: file[28 + json_len..].to_vec() }
}

fn imported(file: &[u8]) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("pole.glb"), file).expect("writes");
    import_file(folder.path(), "pole.glb")
}

#[test]
fn draco_meshes_equal_those_of_the_reference_decoder() {
    let [ours, plain] = [imported(POLE), imported(POLE_PLAIN)];
    assert!(ours.warnings().is_empty(), "{:#?}", ours.warnings());
    let [ours, plain] = [&ours.model().primitives[0], &plain.model().primitives[0]];
    assert_eq!(ours.positions, plain.positions);
    assert_eq!(ours.normals, plain.normals);
    assert_eq!(ours.triangles, plain.triangles);
    assert!((0..plain.positions.len()).all(|vertex| ours.influences.of(vertex) == plain.influences.of(vertex)));
}

#[test]
fn faulty_draco_meshes_are_refused() {
    let changed = |place: &str, value: Value| {
        let mut g = split(POLE);
        *g.json.pointer_mut(place).expect(place) = value;
        imported(&g.glb())
    };
    let primitive = "/meshes/0/primitives/0";
    let draco = format!("{primitive}/extensions/KHR_draco_mesh_compression");
    refused(
        &changed(&format!("{draco}/attributes/POSITION"), json!(77)),
        &["KHR_draco_mesh_compression", "POSITION", "no attribute 77"],
    );
    refused(&changed(&format!("{draco}/bufferView"), json!(99)), &["buffer view 99 does not exist"]);
    let g = split(POLE);
    let position = g.json.pointer(&format!("{primitive}/attributes/POSITION")).expect("there").clone();
    refused(&changed(&format!("/accessors/{position}/count"), json!(5)), &["POSITION", "has 6 elements; expected 5"]);
    refused(&changed(&format!("/accessors/{position}/type"), json!("VEC2")), &["POSITION", "3 numbers; expected 2"]);
    let mut strip = split(POLE);
    strip.json["meshes"][0]["primitives"][0]["mode"] = json!(5);
    refused(&imported(&strip.glb()), &["KHR_draco_mesh_compression", "only lists of triangles"]);
    // A count of faces above that of the accessor must not be decompressed.
    let indices = g.json.pointer(&format!("{primitive}/indices")).expect("there").clone();
    refused(&changed(&format!("/accessors/{indices}/count"), json!(3)), &["cannot be decompressed"]);
}

/// Returns a figure whose hat has a texture.
fn textured(texture: Value, images: &[&[u8]]) -> Gltf {
    let mut g = figure();
    for image in images {
        let view = g.view(image);
        g.push("images", json!({ "bufferView": view }));
    }
    g.push("textures", texture);
    g.push(
        "materials",
        json!({ "name": "Felt", "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 }, "baseColorFactor": [1, 0, 0, 1] } }),
    );
    let uv = g.floats("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let primitive = &mut g.json["meshes"][1]["primitives"][0];
    primitive["attributes"]["TEXCOORD_0"] = json!(uv);
    primitive["material"] = json!(0);
    g
}

fn webp(source: usize) -> Value {
    json!({ "extensions": { "EXT_texture_webp": { "source": source } } })
}

fn basisu(source: usize) -> Value {
    json!({ "extensions": { "KHR_texture_basisu": { "source": source } } })
}

/// Returns the largest differences of colour and alpha between the imported image and a PNG.
fn differences(outcome: &Outcome, reference: &[u8]) -> [u8; 2] {
    let reference = image::load_from_memory(reference).expect("a PNG").into_rgba8();
    let image = &outcome.model().images[0];
    assert_eq!((image.width, image.height), reference.dimensions());
    assert_eq!(image.rgba.len(), reference.len());
    let mut most = [0; 2];
    for (i, (a, b)) in image.rgba.iter().zip(reference.as_raw()).enumerate() {
        let most = &mut most[usize::from(i % 4 == 3)];
        *most = (*most).max(a.abs_diff(*b));
    }
    most
}

#[test]
fn webp_and_ktx2_images_equal_those_of_other_decoders() {
    let outcome = textured(webp(0), &[WEBP]).import();
    assert!(outcome.warnings().is_empty(), "{:#?}", outcome.warnings());
    // Decoders round the conversion from YUV differently.
    let [color, alpha] = differences(&outcome, include_bytes!("../data/patch-webp.png"));
    assert!(color <= 4 && alpha == 0, "{color}, {alpha}");
    let outcome = textured(basisu(0), &[UASTC]).import();
    assert!(outcome.warnings().is_empty(), "{:#?}", outcome.warnings());
    assert_eq!(differences(&outcome, include_bytes!("../data/patch-uastc.png")), [0, 0]);
    // ETC2 approximates the alpha of ETC1S.
    let [color, alpha] =
        differences(&textured(basisu(0), &[ETC1S]).import(), include_bytes!("../data/patch-etc1s.png"));
    assert!(color == 0 && alpha <= 8, "{color}, {alpha}");
}

#[test]
fn images_of_the_core_format_precede_those_of_extensions() {
    let mut png = std::io::Cursor::new(vec![]);
    image::RgbImage::new(8, 4).write_to(&mut png, image::ImageFormat::Png).expect("encodes");
    let png = png.into_inner();
    let width = |texture: Value| textured(texture, &[&png, WEBP]).import().model().images[0].width;
    assert_eq!(width(json!({ "source": 0, "extensions": { "EXT_texture_webp": { "source": 1 } } })), 8);
    assert_eq!(
        width(json!({ "extensions": { "EXT_texture_webp": { "source": 1 }, "VENDOR_x": { "source": 9 } } })),
        20
    );
}

#[test]
fn texture_without_an_image_is_left_out() {
    let outcome = textured(json!({}), &[]).import();
    let felt = outcome.model().materials.iter().find(|m| m.name == "Felt").expect("there");
    assert!(felt.base_color_texture.is_none() && felt.base_color == [1.0, 0.0, 0.0, 1.0]);
    let warnings = outcome.warnings();
    assert!(warnings.iter().any(|w| w.contains("`Felt`") && w.contains("texture 0 has no image")), "{warnings:#?}");
}

#[test]
fn faulty_ktx2_images_are_refused() {
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut file = UASTC.to_vec();
        change(&mut file);
        textured(basisu(0), &[&file]).import()
    };
    refused(&with(&|file| file.truncate(40)), &["image 0", "truncated"]);
    refused(&with(&|file| file.truncate(300)), &["image 0", "cannot be decoded"]);
    refused(&with(&|file| file[36] = 6), &["image 0", "a cube, an array or a volume"]);
    refused(&with(&|file| file[22] = 9), &["image 0", "texels; at most 8192"]);
    // Format 37 is RGBA8, which glTF does not allow in KTX2.
    refused(&with(&|file| file[12] = 37), &["image 0", "no Basis Universal texture"]);
}

/// Damaged files are refused, or have a picture or a mesh; they may not crash.
#[test]
fn damaged_data_is_survived() {
    let mut random = Random(0x5eed_0022);
    let mut damage = |file: &mut Vec<u8>| {
        for _ in 0..1 + random.below(6) {
            let at = random.below(file.len());
            file[at] = random.below(256) as u8;
        }
        if random.below(8) == 0 {
            file.truncate(random.below(file.len()));
        }
    };
    let mut read = [0; 4];
    for _ in 0..DAMAGED {
        for (i, file) in [ETC1S, UASTC, WEBP].into_iter().enumerate() {
            let mut file = file.to_vec();
            damage(&mut file);
            if file.is_empty() {
                continue;
            }
            let texture = if i == 2 { webp(0) } else { basisu(0) };
            read[i] += usize::from(textured(texture, &[&file]).import().errors().is_empty());
        }
        let mut pole = split(POLE);
        damage(&mut pole.bin);
        read[3] += usize::from(imported(&glb(pole.json.to_string().as_bytes(), &pole.bin)).errors().is_empty());
    }
    // Some damage is harmless, and some is found.
    assert!(read.iter().all(|read| (1..DAMAGED).contains(read)), "{read:?}");
}
