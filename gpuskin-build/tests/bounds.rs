//! Small files that demand many resources: `gpuskin bake` rejects or bakes each within 10 seconds
//! and 1 GiB, with a diagnostic.
#![cfg(target_os = "linux")]

#[path = "input/common/mod.rs"]
mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use common::build::{Gltf, figure, glb};
use serde_json::{Value, json};

const TIME: Duration = Duration::from_secs(10);
/// Wall-clock limit; long enough for a machine that is busy with other work.
const PATIENCE: Duration = Duration::from_secs(100);
const MEMORY: u64 = 1 << 30;

/// Result of a run.
struct Run {
    /// Codes of errors and warnings, without the prefix `gpuskin::`.
    codes: Vec<String>,
    text: String,
}

/// Bakes `model.glb` or `model.gltf` of a folder. Panics if the bake exceeds the limits.
#[track_caller]
fn bake(folder: &Path, more: &str) -> Run {
    let name = if folder.join("model.glb").exists() { "model.glb" } else { "model.gltf" };
    let manifest = format!("[[model]]\nname = \"model\"\npath = \"{name}\"\n{more}");
    std::fs::write(folder.join("gpuskin.toml"), manifest).unwrap();
    let report = std::fs::File::create(folder.join("report")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuskin"));
    command.args(["bake", "--message-format", "json"]).current_dir(folder);
    // No cache.
    for variable in ["GPUSKIN_CACHE", "CARGO_TARGET_DIR", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"] {
        command.env_remove(variable);
    }
    // One bake at a time, so that bakes do not slow each other down.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let start = Instant::now();
    let mut child = command.stdout(report).stderr(Stdio::inherit()).spawn().unwrap();
    let (mut most, mut took) = (0, Duration::ZERO);
    let status = loop {
        // Peak memory as recorded by the kernel, and processor time of all threads.
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        most = most.max(peak.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10);
        took = took.max(processor_time(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if took > TIME || start.elapsed() > PATIENCE || most > MEMORY {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("killed after {took:?} processor time, {:?} in total, at {} MiB", start.elapsed(), most >> 20);
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    eprintln!("{:>6} ms of {:>6} ms, {:>5} MiB", took.as_millis(), start.elapsed().as_millis(), most >> 20);
    let text = std::fs::read_to_string(folder.join("report")).unwrap();
    let objects = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let codes: Vec<String> =
        objects.map(|o| o["code"].as_str().unwrap().trim_start_matches("gpuskin::").into()).collect();
    assert_eq!(status.code(), Some(i32::from(text.contains("\"severity\":\"error\""))), "{text}");
    Run { codes, text }
}

/// Returns the processor time of all threads of a process.
fn processor_time(process: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // After the name, which can contain spaces, the user and system times are fields 12 and 13, in
    // hundredths of a second.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    Duration::from_millis(fields.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() * 10)
}

/// Bakes a file, and asserts that it has a diagnostic with this code.
#[track_caller]
fn says(code: &str, bytes: &[u8], more: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.glb"), bytes).unwrap();
    let run = bake(folder.path(), more);
    assert!(run.codes.iter().any(|c| c == code), "expected {code}, found {:?}\n{}", run.codes, run.text);
}

/// Returns a GLB file whose JSON repeats an item of a list.
fn repeated(list: &str, item: &str, count: usize) -> Vec<u8> {
    let items = vec![item; count].join(",");
    glb(format!("{{\"asset\":{{\"version\":\"2.0\"}},\"{list}\":[{items}]}}").as_bytes(), &[])
}

/// Returns the figure with a change.
fn changed(change: impl FnOnce(&mut Gltf)) -> Vec<u8> {
    let mut g = figure();
    change(&mut g);
    g.glb()
}

#[test]
fn large_json_is_rejected() {
    for list in ["nodes", "meshes", "accessors", "materials", "animations", "skins", "images"] {
        let item = match list {
            "meshes" => "{\"primitives\":[]}",
            "skins" => "{\"joints\":[]}",
            "accessors" => "{\"count\":1,\"componentType\":5126,\"type\":\"VEC3\"}",
            _ => "{}",
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("model.glb"), repeated(list, item, 1_000_000)).unwrap();
        let run = bake(folder.path(), "");
        assert!(!run.codes.is_empty(), "{list}");
    }
    let primitive = "{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":0,\"TANGENT\":0}}]}";
    says("limit::memory", &repeated("meshes", primitive, 1_000_000), "");
    says("gltf::syntax", &repeated("nodes", "{}", (1 << 20) + 1), "");
    says("gltf::syntax", &glb(&[b'['; 1 << 24], &[]), "");
    let extras = "[".repeat(1 << 22);
    says("gltf::syntax", &glb(format!("{{\"extras\":{extras}").as_bytes(), &[]), "");
    let name = "x".repeat(64 << 20);
    let long = changed(|g| g.json["nodes"][0]["name"] = json!(name));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.glb"), long).unwrap();
    bake(folder.path(), "");
}

#[test]
fn extreme_hierarchies_are_rejected() {
    let deep: Vec<Value> = (1..=100_000).map(|i| json!({ "children": [i] })).chain([json!({})]).collect();
    says("limit::depth", &changed(|g| g.json["nodes"] = json!(deep)), "");
    says("node::not_a_tree", &changed(|g| g.json["nodes"][2]["children"] = json!([0])), "");
    says("limit::nodes", &changed(|g| g.json["nodes"] = json!(vec![json!({}); 300_000])), "");
    let bones = |g: &mut Gltf| {
        for i in 0..1100 {
            g.node(Some(0), json!({ "mesh": 1, "name": format!("N{i}") }));
            let node = g.json["nodes"].as_array().unwrap().len() - 1;
            g.clip(&format!("C{i}"), &[node]);
        }
    };
    says("limit::bones", &changed(bones), "");
}

#[test]
fn accessors_without_data_are_limited() {
    let zeros = |shape: &str, count: u64| json!({ "componentType": 5126, "type": shape, "count": count });
    let vertices = |g: &mut Gltf| {
        let accessor = g.push("accessors", zeros("VEC3", 1 << 20));
        for _ in 0..8 {
            let mesh = g.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": accessor } }] }));
            g.node(None, json!({ "mesh": mesh }));
        }
    };
    says("limit::vertices", &changed(vertices), "");
    for count in [u64::from(u32::MAX), 1 << 40, u64::MAX] {
        let huge = |g: &mut Gltf| {
            let accessor = g.push("accessors", zeros("VEC3", count));
            g.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(accessor);
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("model.glb"), changed(huge)).unwrap();
        let run = bake(folder.path(), "");
        assert!(run.codes.iter().any(|c| c.starts_with("limit::") || c.starts_with("gltf::bad_")), "{:?}", run.codes);
    }
    let keys = |g: &mut Gltf| {
        let times = g.floats("SCALAR", &(0..1 << 16).map(|i| i as f32).collect::<Vec<_>>());
        let output = g.push("accessors", zeros("VEC3", 1 << 16));
        let channels = json!([{ "sampler": 0, "target": { "node": 0, "path": "scale" } }]);
        for i in 0..1000 {
            let samplers = json!([{ "input": times, "output": output }]);
            g.push("animations", json!({ "name": format!("C{i}"), "channels": channels, "samplers": samplers }));
        }
    };
    says("limit::memory", &changed(keys), "");
    let clips = |g: &mut Gltf| {
        for i in 0..20_000 {
            g.clip(&format!("Clip{i}"), &[0]);
        }
    };
    says("limit::clips", &changed(clips), "");
    let targets = |g: &mut Gltf| {
        let targets = vec![json!({}); 100_000];
        g.json["meshes"][0]["primitives"][0]["targets"] = json!(targets);
    };
    says("limit::morphs", &changed(targets), "mode = \"vertex\"\n");
}

/// Returns the figure with a single clip of the given length.
fn lasting(seconds: f32) -> Vec<u8> {
    changed(|g| {
        let input = g.floats("SCALAR", &[0.0, seconds]);
        let output = g.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
        let channels = json!([{ "sampler": 0, "target": { "node": 0, "path": "translation" } }]);
        g.json["animations"] =
            json!([{ "name": "Long", "channels": channels, "samplers": [{ "input": input, "output": output }] }]);
    })
}

#[test]
fn long_clips_are_rejected() {
    for seconds in [f32::MAX, 1e30, 1e12, 1e6] {
        for encoding in ["local-packed", "matrix-f32", "vat-f32"] {
            says("limit::frames", &lasting(seconds), &format!("encoding = \"{encoding}\"\n"));
        }
        says("limit::frames", &lasting(seconds), "");
    }
    // Just below the limit.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.glb"), lasting(8000.0)).unwrap();
    bake(folder.path(), "fps = 30\nencoding = \"matrix-f16\"\n");
    says("limit::frames", &lasting(10.0), "fps = 30\n[limits]\nframes = 100\n");
    says("limit::texture", &lasting(10.0), "fps = 30\nencoding = \"matrix-f32\"\n[limits]\ntexture = \"1 KiB\"\n");
}

/// Returns a black PNG image.
fn png(side: u32) -> Vec<u8> {
    use image::ImageEncoder;
    let mut bytes = Vec::new();
    let rows = vec![0; side as usize * side as usize];
    image::codecs::png::PngEncoder::new(&mut bytes)
        .write_image(&rows, side, side, image::ExtendedColorType::L8)
        .unwrap();
    bytes
}

/// Returns a PNG image whose header states another size.
fn header(width: u32, height: u32) -> Vec<u8> {
    let mut file = png(8);
    // First chunk: name, width, height, five more bytes, and the checksum of all of these.
    file[16..20].copy_from_slice(&width.to_be_bytes());
    file[20..24].copy_from_slice(&height.to_be_bytes());
    let crc = !file[12..29].iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    });
    file[29..33].copy_from_slice(&crc.to_be_bytes());
    file
}

#[test]
fn large_images_are_rejected() {
    let with = |images: &[Vec<u8>]| {
        changed(|g| {
            for (i, image) in images.iter().enumerate() {
                let view = g.view(image);
                g.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
                g.push("textures", json!({ "source": i }));
                let texture = json!({ "baseColorTexture": { "index": i } });
                g.push("materials", json!({ "pbrMetallicRoughness": texture }));
                let material = g.json["materials"].as_array().unwrap().len() - 1;
                let mut mesh = g.json["meshes"][1].clone();
                mesh["primitives"][0]["material"] = json!(material);
                let mesh = g.push("meshes", mesh);
                g.node(None, json!({ "mesh": mesh }));
            }
        })
    };
    says("limit::image", &with(&[header(0x7FFF, 0x7FFF)]), "");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.glb"), with(&[header(0x7FFF_FFFF, 0x7FFF_FFFF)])).unwrap();
    assert!(bake(folder.path(), "").codes.iter().any(|c| c == "limit::image" || c == "image::invalid"));
    let large = png(5000);
    says("limit::image", &with(&[large.clone(), large.clone(), large]), "textures = [\"rgba8\"]\n");
}

#[test]
fn files_outside_the_folder_are_rejected() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("art");
    std::fs::create_dir(&folder).unwrap();
    let mut g = figure();
    let bin = std::mem::take(&mut g.bin);
    std::fs::write(above.path().join("secret.bin"), &bin).unwrap();
    let absolute = above.path().join("secret.bin").display().to_string();
    let mut with = |uri: &str| {
        g.json["buffers"] = json!([{ "byteLength": bin.len(), "uri": uri }]);
        std::fs::write(folder.join("model.gltf"), g.json.to_string()).unwrap();
    };
    std::os::unix::fs::symlink("../secret.bin", folder.join("link.bin")).unwrap();
    let file = format!("file://{absolute}");
    for uri in [
        "../secret.bin",
        "link.bin",
        &absolute,
        &file,
        "http://localhost/a",
        "javascript:1",
        "\\\\host\\a",
        "%2e%2e/secret.bin",
    ] {
        with(uri);
        let run = bake(&folder, "");
        assert!(run.codes.iter().any(|c| c == "uri::refused"), "{uri}: {:?}", run.codes);
    }
    // Folders named in `roots` are allowed.
    for uri in ["../secret.bin", "link.bin"] {
        with(uri);
        let run = bake(&folder, "[bake]\nroots = [\"..\"]\n");
        assert!(run.codes.iter().all(|c| c != "uri::refused"), "{}", run.text);
        assert!(folder.join("baked/gpuskin.rs").exists());
        std::fs::remove_dir_all(folder.join("baked")).unwrap();
    }
    with("/dev/zero");
    assert!(bake(&folder, "").codes.iter().any(|c| c == "uri::refused"));
    std::fs::File::create(folder.join("vast.bin")).unwrap().set_len(1 << 40).unwrap();
    with("vast.bin");
    assert!(bake(&folder, "").codes.iter().any(|c| c == "limit::file"));
    std::fs::remove_file(folder.join("model.gltf")).unwrap();
    std::fs::rename(folder.join("vast.bin"), folder.join("model.glb")).unwrap();
    assert!(bake(&folder, "").codes.iter().any(|c| c == "limit::file"));
}
