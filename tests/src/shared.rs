//! Files outside this package.

use std::path::{Path, PathBuf};

/// The sample models and their manifest.
pub fn assets() -> PathBuf {
    workspace().join("assets")
}

/// The workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a workspace").to_owned()
}

/// The folder of shared models and of the ground truth: `GPUSKIN_SHARED`, else beside the workspace. `None`, said
/// plainly, where there is none; on CI that is a failure.
pub fn shared() -> Option<PathBuf> {
    let beside = || workspace().parent().expect("the workspace is in a folder").join("shared");
    let folder = std::env::var_os("GPUSKIN_SHARED").map_or_else(beside, PathBuf::from);
    if folder.join("models").is_dir() && folder.join("truth/expected").is_dir() {
        return Some(folder);
    }
    let missing = format!("there are no models and no ground truth at {}", folder.display());
    assert!(std::env::var_os("CI").is_none(), "{missing}");
    println!("SKIPPED: {missing}; GPUSKIN_SHARED says where they are");
    None
}

/// Everything in a folder, sorted by name.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = read.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}

/// The last part of a path.
pub fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("names of ours are UTF-8")
}
