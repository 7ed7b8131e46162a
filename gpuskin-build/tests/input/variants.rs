//! Variants of a model: the manifest, the images, the layers of the baked texture, and the generated constants.

use std::path::Path;

use gpuskin_build::internals::import::Pixels;
use gpuskin_build::{BakeOptions, Baked, Manifest, Style, bake};
use gpuskin_rt::internals::{ColorFormat, Data, Metadata, Model};
use serde_json::json;

use crate::common::build::{Gltf, figure};
use crate::common::import_entry;
use crate::common::manifest::has_errors;

pub const RED: [u8; 3] = [255, 0, 0];
pub const GREEN: [u8; 3] = [0, 255, 0];
pub const BLUE: [u8; 3] = [0, 0, 255];

pub fn png(side: u32, color: [u8; 3]) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(vec![]);
    let image = image::RgbImage::from_pixel(side, side, image::Rgb(color));
    image.write_to(&mut bytes, image::ImageFormat::Png).expect("encodes");
    bytes.into_inner()
}

/// A figure with three materials: two with a red texture of 4 x 4 texels, one without a texture.
pub fn soldier() -> Gltf {
    let mut g = figure();
    let view = g.view(&png(4, RED));
    let image = g.push("images", json!({ "bufferView": view }));
    let texture = g.push("textures", json!({ "source": image }));
    let uv = g.floats("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let textured = json!({ "baseColorTexture": { "index": texture } });
    let materials = [("Uniform", textured.clone()), ("Face", textured), ("Steel", json!({}))]
        .map(|(name, pbr)| g.push("materials", json!({ "name": name, "pbrMetallicRoughness": pbr })));
    let mut primitive = g.json["meshes"][0]["primitives"][0].clone();
    primitive["attributes"]["TEXCOORD_0"] = json!(uv);
    let primitives = materials.map(|material| {
        primitive["material"] = json!(material);
        primitive.clone()
    });
    g.json["meshes"][0]["primitives"] = json!(primitives);
    g
}

/// A folder with the model and images.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("soldier.glb"), soldier().glb()).unwrap();
    for (name, side, color) in
        [("red", 4, RED), ("green", 4, GREEN), ("again", 4, GREEN), ("blue", 4, BLUE), ("large", 8, BLUE)]
    {
        std::fs::write(folder.path().join(format!("{name}.png")), png(side, color)).unwrap();
    }
    std::fs::write(folder.path().join("odd.png"), png(6, RED)).unwrap();
    std::fs::write(folder.path().join("text.png"), "no image").unwrap();
    folder
}

fn text(variants: &str) -> String {
    format!("[[model]]\nname = \"soldier\"\npath = \"soldier.glb\"\ntextures = [\"rgba8\"]\n{variants}\n")
}

fn parse(folder: &Path, variants: &str) -> Result<Manifest, String> {
    let parsed = Manifest::parse(&folder.join("gpuskin.toml"), text(variants));
    parsed.map_err(|diagnostics| diagnostics.render(Style::Plain))
}

fn baked(folder: &Path, variants: &str) -> Baked {
    let manifest = parse(folder, variants).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let baked = bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    assert!(baked.warnings.is_empty(), "{}", baked.warnings);
    baked
}

/// Colours of the layers of a material's texture, from the first texel of each, and the layers of the variants.
pub fn layers(model: &Model, material: &str) -> (Vec<[u8; 3]>, Vec<u8>) {
    let material = model.meta.materials().iter().find(|m| &*m.name == material).unwrap();
    let texture = material.base_color_texture.unwrap().texture as usize;
    let (info, payload) = (&model.meta.textures[texture], &model.textures[texture]);
    assert_eq!(&*info.formats, [ColorFormat::Rgba8]);
    let Data::Bytes(bytes) = &payload.data else { panic!("in memory") };
    assert_eq!(payload.levels.len(), 3);
    for (level, range) in (0..).zip(payload.levels.iter()) {
        assert_eq!(range.len, info.level_bytes(ColorFormat::Rgba8, level));
    }
    // The last level has one texel per layer.
    let last = payload.levels[2];
    let texels = bytes[last.offset as usize..][..last.len as usize].as_chunks::<4>().0;
    let file = ktx2::Reader::new(bytes).unwrap();
    assert_eq!(file.header().layer_count.max(1), info.layers);
    (texels.iter().map(|[r, g, b, _]| [*r, *g, *b]).collect(), material.variant_layers.to_vec())
}

const VARIANTS: &str = r#"
[model.variants]
veteran = { Uniform = "green.png" }
recruit = { Uniform = "again.png", Face = "red.png" }
ghost = { Face = "blue.png", Uniform = "blue.png" }
plain = { Face = "red.png" }
"#;

#[test]
fn images_become_layers_and_equal_images_share_one() {
    let folder = folder();
    let baked = baked(folder.path(), VARIANTS);
    let model = &baked.runtime_models()[0];
    let names: Vec<&str> = model.meta.variants().collect();
    assert_eq!(names, ["base", "veteran", "recruit", "ghost", "plain"]);
    assert_eq!(layers(model, "Uniform"), (vec![RED, GREEN, BLUE], vec![0, 1, 1, 2, 0]));
    assert_eq!(layers(model, "Face"), (vec![RED, BLUE], vec![0, 0, 0, 1, 0]));
    let steel = model.meta.materials().iter().find(|m| &*m.name == "Steel").unwrap();
    assert!(steel.base_color_texture.is_none() && steel.variant_layers.is_empty());
    assert_eq!(model.meta.textures.len(), 2, "no texture of the model without variants is left");

    let code = std::str::from_utf8(&baked.files["gpuskin.rs"]).unwrap();
    let module = code.split_once("pub mod variants {").expect("a module of variants").1;
    let module = module.split_once("\n}").unwrap().0;
    for (index, name) in ["BASE", "VETERAN", "RECRUIT", "GHOST", "PLAIN"].iter().enumerate() {
        let constant = format!("SOLDIER_{name}: ModelVariant<models::Soldier>");
        let words = module.split_whitespace().collect::<Vec<_>>().join(" ");
        let value = words.split_once(&constant).unwrap_or_else(|| panic!("{constant} in {module}")).1;
        assert!(
            value.starts_with(&format!(" = ModelVariant::new( {index}, )"))
                || value.starts_with(&format!(" = ModelVariant::new({index})")),
            "{name}: {value}"
        );
        assert!(code.contains(&format!("const SOLDIER_VARIANT_{name}: u32 = {index}u;")), "{code}");
    }
}

/// Files whose layers contradict each other are refused.
#[test]
fn layered_models_are_loaded_at_run_time() {
    let folder = folder();
    let baked = baked(folder.path(), VARIANTS);
    let file = |name: &str| {
        let found =
            baked.files.iter().find(|(path, _)| path.rsplit('/').next().is_some_and(|own| own.starts_with(name)));
        found.unwrap_or_else(|| panic!("{name}")).1.to_vec()
    };
    let read = |change: &dyn Fn(&str, &mut Vec<u8>)| {
        let model = Model::from_ktx2(file("anim-")).unwrap().with_mesh(file("mesh.bin")).unwrap();
        model.with_textures(|name| {
            let mut bytes = file(name);
            change(name, &mut bytes);
            Ok(bytes)
        })
    };
    let loaded = read(&|_, _| ()).unwrap();
    assert_eq!(loaded.meta, baked.runtime_models()[0].meta);
    assert_eq!(layers(&loaded, "Uniform").0, [RED, GREEN, BLUE]);
    // The number of layers in the header of the file.
    for layers in [0_u32, 1, 2, 4, u32::MAX] {
        let error = read(&|name, bytes| {
            if name == "color-0-rgba8.ktx2" {
                bytes[32..36].copy_from_slice(&layers.to_le_bytes());
            }
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("color-0-rgba8.ktx2") && error.contains("size"), "{error}");
    }
    let mut meta = loaded.meta.clone();
    meta.textures.to_mut()[0].layers = 2;
    let bytes = file("anim-");
    let old = loaded.meta.to_postcard();
    let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
    let new = meta.to_postcard();
    assert_eq!(new.len(), old.len());
    let changed = [&bytes[..at], &new, &bytes[at + new.len()..]].concat();
    let error = Model::from_ktx2(changed).unwrap_err().to_string();
    assert!(error.contains("layers of a texture do not match the variants"), "{error}");
}

#[test]
fn models_without_variants_have_nothing_of_them() {
    let folder = folder();
    let plain = baked(folder.path(), "");
    let model = &plain.runtime_models()[0];
    assert_eq!(model.meta.variants().len(), 0);
    assert_eq!(layers(model, "Uniform"), (vec![RED], vec![]));
    assert!(!std::str::from_utf8(&plain.files["gpuskin.rs"]).unwrap().contains("mod variants"));
    // A variant that changes nothing has a name, but no layer.
    let same = baked(folder.path(), "variants = { same = { Uniform = \"red.png\" } }");
    let model = &same.runtime_models()[0];
    assert_eq!(model.meta.variants().collect::<Vec<_>>(), ["base", "same"]);
    assert_eq!(layers(model, "Uniform"), (vec![RED], vec![]));
}

/// Bytes grow by the layers alone: no vertex, index or frame more.
#[test]
fn variants_cost_bytes_of_textures_only() {
    let folder = folder();
    let sizes = |variants: &str| {
        let baked = baked(folder.path(), variants);
        let model = baked.runtime_models().remove(0);
        let Metadata { mesh, texture, .. } = &model.meta;
        let textures: u64 = model.textures.iter().flat_map(|payload| &*payload.levels).map(|level| level.len).sum();
        ((mesh.vertices.len, mesh.indices.len, mesh.parts.len(), texture.rows, model.animation.levels[0].len), textures)
    };
    let one = sizes("");
    let variants: String = (0..20)
        .map(|i| {
            std::fs::write(folder.path().join(format!("{i}.png")), png(4, [i * 10, 9, 200])).unwrap();
            format!("v{i} = {{ Uniform = \"{i}.png\" }}\n")
        })
        .collect();
    let twenty = sizes(&format!("[model.variants]\n{variants}"));
    assert_eq!(one.0, twenty.0);
    // 4 x 4, 2 x 2 and 1 x 1 texels; the texture of `Face` has one layer.
    assert_eq!((one.1, twenty.1), (84, 84 * 22));
}

#[test]
fn files_of_variants_are_inputs() {
    let folder = folder();
    let manifest = parse(folder.path(), VARIANTS).unwrap();
    let outcome = import_entry(folder.path(), &manifest.models[0], Pixels::Decode);
    for name in ["green.png", "again.png", "blue.png", "red.png"] {
        assert!(outcome.inputs.contains(&folder.path().join(name)), "{name}");
    }
    let sizes = import_entry(folder.path(), &manifest.models[0], Pixels::SizeOnly);
    assert_eq!(sizes.model().variants, outcome.model().variants);
}

#[test]
fn invalid_variants_in_the_manifest_are_refused() {
    let folder = folder();
    let refuses = |variants: &str, expected: &[(&str, &str, &str)]| {
        let rendered = parse(folder.path(), variants).expect_err("the manifest must be rejected");
        has_errors(&rendered.replace("\n  │ ", " "), expected);
    };
    refuses("variants = 3", &[("5:12", "`variants` must be a table of tables", "[model.variants]")]);
    refuses("variants = { a = 3 }", &[("5:18", "variant `a` must be a table of images", "veteran")]);
    refuses("variants = { a = {} }", &[("5:18", "variant `a` has no images", "veteran")]);
    refuses("variants = { a = { Uniform = 3 } }", &[("5:30", "`Uniform` must be the path of an image", "")]);
    refuses("variants = { a = { Uniform = \"\" } }", &[("5:30", "`Uniform` is empty", "")]);
    let missing = "variants = { a = { Uniform = \"gren.png\" } }";
    refuses(missing, &[("5:30", "file not found: gren.png", "did you mean \"green.png\"?")]);
    let base = "variants = { base = { Uniform = \"green.png\" } }";
    refuses(base, &[("5:14", "`base` is the look of the model's own textures", "choose another name")]);
    let base = "variants = { Base = { Uniform = \"green.png\" } }";
    refuses(base, &[("5:14", "variants `base` and `Base` would both become `variants::SOLDIER_BASE`", "")]);
    let same = "variants = { a-b = { Uniform = \"green.png\" }, a_b = { Uniform = \"green.png\" } }";
    refuses(same, &[("5:47", "variants `a-b` and `a_b` would both become `variants::SOLDIER_A_B`", "")]);
    let odd = "variants = { \"-\" = { Uniform = \"green.png\" } }";
    refuses(odd, &[("5:14", "the name of variant `-` cannot become a Rust identifier", "")]);
    let twice = "[model.variants]\na = { Uniform = \"green.png\" }\na = { Uniform = \"blue.png\" }";
    refuses(twice, &[("7:1", "duplicate key", "")]);
    let key = "[model.variants]\na = { Uniform = \"green.png\" }\nlods = 3";
    refuses(key, &[("7:8", "variant `lods` must be a table of images", "move it above [model.variants]")]);
    let many: String = (0..256).map(|i| format!("v{i} = {{ Uniform = \"green.png\" }}\n")).collect();
    refuses(
        &format!("[model.variants]\n{many}"),
        &[("5:1", "the model has 256 variants; it can have at most 255", "")],
    );
}

#[test]
fn invalid_images_of_variants_are_refused() {
    let folder = folder();
    let refuses = |variants: &str, code: &str, expected: &[&str]| {
        let manifest = parse(folder.path(), variants).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let failed = bake(&manifest, &BakeOptions::default()).expect_err("the model must be rejected").diagnostics;
        let diagnostic = failed.iter().find(|d| d.code().name() == code).unwrap_or_else(|| panic!("{code}: {failed}"));
        let rendered = failed.render(Style::Plain);
        for text in expected {
            assert!(diagnostic.message().contains(text) || rendered.contains(text), "{text} in {rendered}");
        }
        assert!(diagnostic.message().contains("soldier"), "{diagnostic}");
    };
    let of = |material: &str, path: &str| format!("variants = {{ a = {{ {material} = \"{path}\" }} }}");
    let found = ["variant `a`", "material `Unifrom`: not found in soldier.glb", "did you mean `Uniform`?"];
    refuses(&of("Unifrom", "green.png"), "gpuskin::material::not_found", &found);
    let listed = ["the model has the materials `Face`, `Steel`", "Uniform"];
    let _ = listed;
    refuses(&of("Water", "green.png"), "gpuskin::material::not_found", &["the model has the materials"]);
    let steel = ["variant `a`: material `Steel`", "has no base colour texture"];
    refuses(&of("Steel", "green.png"), "gpuskin::material::variant", &steel);
    let size = ["material `Uniform`: large.png has 8 x 8 texels", "has 4 x 4", "scale one of the two images"];
    refuses(&of("Uniform", "large.png"), "gpuskin::material::variant", &size);
    let not = ["variant `a`: material `Uniform`: text.png: the image is not PNG, JPEG, WebP or KTX2"];
    refuses(&of("Uniform", "text.png"), "gpuskin::image::invalid", &not);
    let limit = format!("{}\n[limits]\nimage = 20", of("Uniform", "green.png"));
    refuses(&limit, "gpuskin::limit::image", &["more than 20 texels"]);
}

#[cfg(feature = "textures")]
#[test]
fn compressed_layers_are_whole_images() {
    let folder = folder();
    let text = text(VARIANTS).replace("[\"rgba8\"]", "[\"bc7\", \"astc\", \"etc2\", \"rgba8\", \"universal\"]");
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).unwrap();
    let baked = bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    let model = &baked.runtime_models()[0];
    let info = model.meta.textures.iter().find(|texture| texture.layers == 3).unwrap();
    for (name, bytes) in baked.files.iter().filter(|(name, _)| name.contains("/color-")) {
        let file = ktx2::Reader::new(bytes).unwrap();
        let layers = file.header().layer_count.max(1);
        assert_eq!(file.header().level_count, 3, "{name}");
        let Some(format) = ColorFormat::ALL.into_iter().find(|f| name.contains(f.name())) else {
            assert!(name.contains("universal") && layers > 1, "{name}");
            continue;
        };
        for (level, data) in (0..).zip(file.levels()) {
            let expected = format.image_bytes(info.level_size(level)) * u64::from(layers);
            assert_eq!(data.data.len() as u64, expected, "{name}, level {level}");
        }
    }
    // Each layer of BC7 is one block of one colour, unlike the others.
    let file = baked
        .files
        .iter()
        .find(|(name, bytes)| name.contains("bc7") && ktx2::Reader::new(bytes).unwrap().header().layer_count == 3);
    let level = ktx2::Reader::new(file.unwrap().1).unwrap().levels().next().unwrap().data.to_vec();
    let [red, green, blue] = level.as_chunks::<16>().0 else { panic!("three blocks") };
    for (block, color) in [(red, RED), (green, GREEN), (blue, BLUE)] {
        let mut texels = [0; 16];
        texture2ddecoder::decode_bc7(block, 4, 4, &mut texels).unwrap();
        let [b, g, r, _] = texels[5].to_le_bytes();
        let near = [r, g, b].iter().zip(color).all(|(a, b)| a.abs_diff(b) <= 2);
        assert!(near, "{:?}, expected {color:?}", [r, g, b]);
    }
}
