//! Generates the sample models `soldier.glb`, `hound.glb`, `grass.glb` and `starling.glb` in the folder
//! above this crate.
//!
//! `cargo run -p gpuskin-assets` writes the files that changed. With `-- --check` it writes
//! nothing, and fails if a file differs.

mod glb;
mod grass;
mod hound;
mod ik;
mod math;
mod mesh;
mod paint;
mod sdf;
mod skeleton;
mod soldier;
mod starling;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn models() -> Vec<glb::Model> {
    vec![soldier::model(), hound::model(), grass::model(), starling::model()]
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => {
            eprintln!("usage: gpuskin-assets [--check]");
            return ExitCode::from(2);
        }
    };
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the assets folder").to_owned();
    let mut failed = false;
    for model in models() {
        let path = folder.join(format!("{}.glb", model.name.to_lowercase()));
        match update(&path, &glb::write(&model), check) {
            Ok(message) => println!("{message}"),
            Err(message) => {
                eprintln!("{message}");
                failed = true;
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Updates a file, or checks that it is up to date. Writes a new file beside the old one and
/// renames it.
fn update(path: &PathBuf, bytes: &[u8], check: bool) -> Result<String, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let old = std::fs::read(path).ok();
    if old.as_deref() == Some(bytes) {
        return Ok(format!("{name}: up to date ({} bytes)", bytes.len()));
    }
    if check {
        let state = old.map_or_else(
            || "is missing".to_owned(),
            |o| format!("differs ({} bytes, should be {})", o.len(), bytes.len()),
        );
        return Err(format!("{name} {state}; run `cargo run -p gpuskin-assets` and commit the result"));
    }
    let fresh = path.with_extension("glb.new");
    std::fs::write(&fresh, bytes)
        .and_then(|()| std::fs::rename(&fresh, path))
        .map_err(|e| format!("{name} cannot be written: {e}"))?;
    Ok(format!("{name}: written ({} bytes)", bytes.len()))
}
