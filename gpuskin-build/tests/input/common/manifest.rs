//! Manifests as text, and what is said about them.

use gpuskin_build::{Manifest, Style};

/// Returns a folder with the files that the manifests below name.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("art")).unwrap();
    for file in ["soldier.glb", "wolf.gltf", "run.glb", "soldier.fbx", "harbour.hdr", "sky.exr"] {
        std::fs::write(folder.path().join("art").join(file), b"").unwrap();
    }
    folder
}

pub fn parse(text: &str) -> Result<Manifest, String> {
    let folder = folder();
    Manifest::parse(&folder.path().join("gpuskin.toml"), text).map_err(|diagnostics| {
        let path = folder.path().display().to_string();
        diagnostics.render(Style::Plain).replace(&format!("{path}/"), "")
    })
}

pub const SOLDIER: &str = "[[model]]\nname = \"soldier\"\npath = \"art/soldier.glb\"\n";

pub fn good(text: &str) -> Manifest {
    parse(text).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

/// Asserts the diagnostics of a manifest, in order: location, message and help.
#[track_caller]
pub fn refuses(text: &str, expected: &[(&str, &str, &str)]) {
    has_errors(&parse(text).expect_err("the manifest must be rejected"), expected);
}

/// Asserts that a rendered list of errors consists of these, in order: location, message and help.
#[track_caller]
pub fn has_errors(rendered: &str, expected: &[(&str, &str, &str)]) {
    let mut at = 0;
    for (place, message, help) in expected {
        for part in [message, place, help] {
            let found = rendered[at..].find(part);
            at += found.unwrap_or_else(|| panic!("`{part}` is missing or out of order in:\n{rendered}")) + part.len();
        }
    }
    assert_eq!(rendered.matches("  × ").count(), expected.len(), "{rendered}");
}
