//! Fuzz targets: each takes bytes, and must not panic, hang or use unbounded memory. The programs
//! of cargo-fuzz call them, and so does a test of gpuskin-build, with every seed and every input
//! that once crashed.
#![allow(dead_code, unreachable_pub, reason = "each program calls one of them")]

use std::path::{Path, PathBuf};

use arbitrary::Unstructured;
use gpuskin_build::internals::manifest::Limits;
use gpuskin_build::{BakeOptions, Manifest, Style, bake};
use serde_json::{Value, json};

/// Limits for small models, so that about a hundred of them bake per second.
const LIMITS: Limits = Limits {
    file: 1 << 20,
    memory: 16 << 20,
    nodes: 1 << 10,
    depth: 100,
    bones: 64,
    vertices: 1 << 10,
    image: 1 << 12,
    frames: 200,
    texture: 1 << 20,
};

/// Parses the text of a manifest.
pub fn manifest(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Manifest::parse(Path::new("nowhere/gpuskin.toml"), text) {
        Ok(manifest) => assert!(manifest.models.iter().all(|model| !model.name.value.is_empty())),
        Err(findings) => {
            let drawn = findings.render(Style::Plain);
            assert!(findings.has_errors() && drawn.chars().all(|c| !c.is_control() || c == '\n'), "{drawn:?}");
            assert_eq!(findings.to_json_lines().lines().count(), findings.len());
        }
    }
}

/// Bakes a document with changed values: import, encoding and code generation.
pub fn gltf(data: &[u8]) {
    let mut choices = Unstructured::new(data);
    let mut document: Value = serde_json::from_str(include_str!("../seeds/figure.gltf")).expect("JSON");
    let mut bin = include_bytes!("../seeds/figure.bin").to_vec();
    let settings = mutate(&mut document, &mut bin, &mut choices).unwrap_or_default();
    bake_bytes(&container(document.to_string().as_bytes(), &bin), &settings);
}

/// Bakes a file of arbitrary bytes.
pub fn glb(data: &[u8]) {
    bake_bytes(data, "");
}

/// Inspects a file of arbitrary bytes.
pub fn ktx2(data: &[u8]) {
    match gpuskin_build::internals::inspect_bytes(data) {
        Ok(text) | Err(text) => assert!(!text.is_empty()),
    }
}

/// Decodes metadata as the runtime does.
pub fn metadata(data: &[u8]) {
    if let Ok(meta) = gpuskin_rt::Metadata::from_postcard(data) {
        let again =
            gpuskin_rt::Metadata::from_postcard(&meta.to_postcard()).expect("decoded metadata encodes to valid bytes");
        assert_eq!(meta.to_postcard(), again.to_postcard());
    }
}

/// Damages the entries of a cache: a bake with it must equal a bake without it. Entries with
/// changed content and a matching digest, which only an attacker makes, may lead to any result
/// except a crash.
pub fn cache(data: &[u8]) {
    use gpuskin_build::Cache;
    use gpuskin_build::bake_into;
    let Ok(folder) = work() else { return };
    let path = |name: &str| folder.path().join(name);
    let mut document: Value = serde_json::from_str(include_str!("../seeds/figure.gltf")).expect("JSON");
    textured(&mut document);
    let file = container(document.to_string().as_bytes(), include_bytes!("../seeds/figure.bin"));
    std::fs::write(path("model.glb"), file).expect("writable");
    std::fs::write(path("gpuskin.toml"), model("textures = [\"bc7\"]\nencoding = \"trs-f16\"\n")).expect("writable");
    let baked = || bake_into(path("gpuskin.toml"), path("out"), Some(&Cache::new(path("cache"))));
    baked().expect("bakes");
    let clean = contents(&path("out"));
    let entries = files(&path("cache"));
    assert!(entries.len() >= 5, "expected at least 5 cache entries");
    let mut choices = Unstructured::new(data);
    let sealed = choices.arbitrary().unwrap_or(false);
    for entry in &entries {
        let mut bytes = std::fs::read(entry).expect("readable");
        if sealed {
            // magic | key | digest of kind, key and content | content
            let (head, content) = bytes.split_at(bytes.len().min(72));
            let (mut head, mut content) = (head.to_vec(), content.to_vec());
            damage(&mut content, &mut choices).unwrap_or_default();
            let name = entry.file_name().unwrap_or_default().to_string_lossy();
            if let (Some((kind, _)), 72) = (name.split_once('-'), head.len()) {
                let digest = blake3::hash(&[kind.as_bytes(), &head[8..40], &content].concat());
                head[40..].copy_from_slice(digest.as_bytes());
            }
            bytes = [head, content].concat();
        } else {
            damage(&mut bytes, &mut choices).unwrap_or_default();
        }
        std::fs::write(entry, bytes).expect("writable");
    }
    if choices.arbitrary().unwrap_or(true) {
        std::fs::remove_dir_all(path("out")).expect("removable");
    }
    match baked() {
        Ok(_) if !sealed => assert!(contents(&path("out")) == clean, "a damaged entry was served"),
        Ok(_) | Err(_) if sealed => {}
        result => panic!("{:?}", result.err()),
    }
}

/// Files below a folder, with their contents.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let read = |path: PathBuf| (path.clone(), std::fs::read(path).expect("readable"));
    files(folder).into_iter().map(read).collect()
}

/// Files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    collect_files(folder, &mut all);
    all.sort();
    all
}

fn collect_files(folder: &Path, all: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() { collect_files(&path, all) } else { all.push(path) }
    }
}

/// Changes a byte, truncates, appends bytes or replaces all of them.
fn damage(bytes: &mut Vec<u8>, choices: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    match choices.int_in_range(0..=3)? {
        0 => {
            let at = choices.choose_index(bytes.len().max(1))?;
            if let Some(byte) = bytes.get_mut(at) {
                *byte = choices.arbitrary()?;
            }
        }
        1 => bytes.truncate(choices.choose_index(bytes.len().max(1))?),
        2 => bytes.extend_from_slice(choices.bytes(choices.len().min(64))?),
        _ => *bytes = choices.bytes(choices.len().min(64))?.to_vec(),
    }
    Ok(())
}

/// Creates a temporary folder, in memory if the system has such a file system.
fn work() -> std::io::Result<tempfile::TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

fn model(settings: &str) -> String {
    format!("[[model]]\nname = \"model\"\npath = \"model.glb\"\n{settings}")
}

fn bake_bytes(file: &[u8], settings: &str) {
    let Ok(folder) = work() else { return };
    std::fs::write(folder.path().join("model.glb"), file).expect("writable");
    let text = model(&format!("textures = [\"rgba8\"]\n{settings}"));
    let mut manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).expect("a manifest");
    manifest.limits = LIMITS;
    match bake(&manifest, &BakeOptions::default()) {
        Ok(baked) => assert!(baked.files.contains_key("gpuskin.rs")),
        Err(failed) => assert!(failed.diagnostics.has_errors() && !failed.diagnostics.render(Style::Plain).is_empty()),
    }
}

/// Builds a GLB from its two chunks.
fn container(json: &[u8], bin: &[u8]) -> Vec<u8> {
    let mut file = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, part, fill) in [(b"JSON", json, b' '), (b"BIN\0", bin, 0)] {
        file.extend((part.len().next_multiple_of(4) as u32).to_le_bytes());
        file.extend(kind);
        file.extend(part);
        file.resize(file.len().next_multiple_of(4), fill);
    }
    let length = file.len() as u32;
    file[8..12].copy_from_slice(&length.to_le_bytes());
    file
}

/// Gives the first material a texture of 4 x 4 texels.
fn textured(document: &mut Value) {
    const PIXELS: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAKUlEQVR42g3HMQEAAAzCMIRVGGdFIXDLlyQSGxcTBIvjU6mt62cyOzcPp2MTQQYaK1UAAAAASUVORK5CYII=";
    document["images"] = json!([{ "uri": PIXELS }]);
    document["textures"] = json!([{ "source": 0 }]);
    document["materials"] = json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
    for mesh in document["meshes"].as_array_mut().into_iter().flatten() {
        mesh["primitives"][0]["material"] = json!(0);
    }
}

/// Changes some values of a document and some bytes of its buffer. Returns settings for the
/// manifest.
fn mutate(document: &mut Value, bin: &mut [u8], choices: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    const MODES: [&str; 12] = [
        "",
        "encoding = \"matrix-f32\"\n",
        "encoding = \"local-packed\"\n",
        "encoding = \"trs-packed\"\n",
        "encoding = \"fixed16\"\n",
        "encoding = \"matrix-unorm\"\n",
        "encoding = \"trs-f16\"\n",
        "mode = \"vertex\"\n",
        "encoding = \"vat-packed\"\n",
        "fps = \"auto\"\n",
        "encoding = \"vat-unorm8\"\nup = \"z\"\n",
        "mode = \"auto\"\nfps = 5\n",
    ];
    let settings = (*choices.choose(&MODES)?).to_owned();
    if choices.arbitrary()? {
        textured(document);
    }
    let mut places = Vec::new();
    collect(document, String::new(), &mut places);
    for _ in 0..choices.int_in_range(0..=4)? {
        let place = choices.choose(&places)?;
        let other = choices.choose(&places)?;
        let value = match choices.int_in_range(0..=4)? {
            // A value from elsewhere in the document.
            0 => document.pointer(other).cloned().unwrap_or_default(),
            1 => number(choices)?,
            2 => word(choices)?,
            3 => doubled(document.pointer(place).cloned().unwrap_or_default()),
            _ => {
                remove(document, place);
                continue;
            }
        };
        if let Some(found) = document.pointer_mut(place) {
            *found = value;
        }
    }
    for _ in 0..choices.int_in_range(0..=4)? {
        let at = choices.choose_index(bin.len())?;
        let value: u32 =
            *choices.choose(&[0, 1, 0x3F80_0000, 0x7F80_0000, 0xFFC0_0000, 0x7F7F_FFFF, 0x0000_0001, u32::MAX])?;
        let end = (at + 4).min(bin.len());
        bin[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
    }
    Ok(settings)
}

fn number(choices: &mut Unstructured<'_>) -> arbitrary::Result<Value> {
    Ok(match choices.int_in_range(0..=3)? {
        0 => json!(choices.int_in_range(0..=9)?),
        1 => json!(*choices.choose(&[
            -1_i64,
            255,
            256,
            5120,
            5121,
            5123,
            5125,
            5126,
            65535,
            1 << 20,
            1 << 32,
            i64::MAX
        ])?),
        2 => json!(*choices.choose(&[0.5, -0.0, 1e-30, 1e30, -1e300, 1e308])?),
        _ => json!(choices.arbitrary::<f32>()?),
    })
}

fn word(choices: &mut Unstructured<'_>) -> arbitrary::Result<Value> {
    const WORDS: [&str; 16] = [
        "SCALAR",
        "VEC2",
        "VEC3",
        "VEC4",
        "MAT4",
        "LINEAR",
        "STEP",
        "CUBICSPLINE",
        "rotation",
        "scale",
        "translation",
        "weights",
        "",
        "data:;base64,AAAA",
        "../a",
        "MASK",
    ];
    Ok(match choices.int_in_range(0..=4)? {
        0 => json!(null),
        1 => json!([]),
        2 => json!({}),
        _ => json!(*choices.choose(&WORDS)?),
    })
}

/// Repeats the items of a list; wraps any other value in a list.
fn doubled(value: Value) -> Value {
    match value {
        Value::Array(list) => json!([&list[..], &list[..]].concat()),
        other => json!([other]),
    }
}

fn remove(document: &mut Value, place: &str) {
    let Some((parent, key)) = place.rsplit_once('/') else { return };
    match document.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.remove(key)),
        Some(Value::Array(list)) => {
            if let Some(at) = key.parse().ok().filter(|at| *at < list.len()) {
                list.remove(at);
            }
        }
        _ => {}
    }
}

/// Collects the JSON pointers of all values in a document.
fn collect(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| collect(v, format!("{at}/{i}"), found)),
        Value::Object(map) => map.iter().for_each(|(k, v)| collect(v, format!("{at}/{k}"), found)),
        _ => {}
    }
    if !at.is_empty() {
        found.push(at);
    }
}
