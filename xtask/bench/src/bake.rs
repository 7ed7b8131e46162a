//! Bake times of all models of a folder, without a cache.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use gpuskin_build::{BakeOptions, Manifest, bake};

use crate::Options;
use crate::context::text;
use crate::report::{heading, line, seconds};

pub(crate) fn measure(options: &Options) -> Result<(), String> {
    heading("bake: source files to baked files in memory, without a cache");
    let manifest = Manifest::load(&options.manifest).map_err(|findings| text(&findings))?;
    bake_one("the sample manifest", &manifest)?;
    let Some(folder) = &options.models else { return Ok(()) };
    let mut files = Vec::new();
    find_models(folder, &mut files).map_err(|e| format!("{}: {e}", folder.display()))?;
    files.sort();
    let mut all = String::new();
    for (n, file) in files.iter().enumerate() {
        let model = format!("[[model]]\nname = \"m{n}\"\npath = '{}'\n", file.display());
        let path = folder.join("gpuskin.toml");
        let manifest = Manifest::parse(&path, model.clone()).map_err(|findings| text(&findings))?;
        let name = file.strip_prefix(folder).unwrap_or(file).display().to_string();
        match bake_one(&name, &manifest) {
            Ok(()) => {
                let _ = writeln!(all, "{model}");
            }
            Err(message) => line(&name, format!("refused: {}", message.lines().next().unwrap_or_default().trim())),
        }
    }
    let manifest = Manifest::parse(&folder.join("gpuskin.toml"), all).map_err(|findings| text(&findings))?;
    bake_one("all models in one manifest", &manifest)
}

fn bake_one(name: &str, manifest: &Manifest) -> Result<(), String> {
    let (time, baked) = seconds(|| bake(manifest, &BakeOptions::default()));
    let baked = baked.map_err(|failed| text(&failed.diagnostics))?;
    let bytes: usize = baked.files.values().map(Vec::len).sum();
    line(name, format!("{:8.1} ms  {:8.1} KiB", time * 1e3, bytes as f64 / 1024.0));
    Ok(())
}

pub(crate) fn find_models(folder: &Path, out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_models(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "glb" || e == "gltf") {
            out.push(path);
        }
    }
    Ok(())
}
