//! Paths outside this package.

use std::path::{Path, PathBuf};

use gpuskin_test_harness::Need;

/// Folder of the sample models and their manifest.
pub fn assets() -> PathBuf {
    workspace().join("assets")
}

/// Folder of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a workspace").to_owned()
}

/// Need of the shared models and the ground truth.
pub const FIXTURES: Need = Need { variable: "GPUSKIN_REQUIRE_FIXTURES", missing: || find_shared().err() };

/// Folder of the shared models and the ground truth, for tests that need [`FIXTURES`].
///
/// # Panics
/// Panics if the folder is missing.
pub fn shared() -> PathBuf {
    find_shared().unwrap_or_else(|missing| panic!("{missing}"))
}

/// Searches the shared folder in `GPUSKIN_SHARED`, or else beside the workspace.
fn find_shared() -> Result<PathBuf, String> {
    let beside = || workspace().parent().expect("the workspace is in a folder").join("shared");
    let folder = std::env::var_os("GPUSKIN_SHARED").map_or_else(beside, PathBuf::from);
    match folder.join("models").is_dir() && folder.join("truth/expected").is_dir() {
        true => Ok(folder),
        false => Err(format!("no shared models in {}; set GPUSKIN_SHARED to their folder", folder.display())),
    }
}

/// Entries of a folder, sorted by name.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = read.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}

/// Folder of the files of a model, given the folder of the model: the only one in it.
///
/// # Panics
/// Panics if there are several.
pub fn content_folder(model: &Path) -> PathBuf {
    let [content] = &entries(model)[..] else { panic!("{} does not have one folder", model.display()) };
    content.clone()
}

/// Last component of a path.
pub fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("a UTF-8 file name")
}
