//! Folder of the cache that the command line uses.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cache::Cache;

/// Reason why a cache is where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CachePlace {
    /// The folder that `GPUSKIN_CACHE` names.
    Variable,
    /// The target folder of a Cargo package.
    Package,
    /// The user's cache folder, because the manifest is not in a Cargo package.
    User,
}

/// Opens the cache for a manifest in `folder`. Returns `None` outside of a Cargo package if the user
/// has no cache folder.
pub(super) fn open(folder: &Path) -> Option<(Cache, CachePlace)> {
    let (cache, place) = match Cache::shared() {
        Some(cache) => (cache, CachePlace::Variable),
        None => {
            let (folder, place) = local(folder, &|name| std::env::var_os(name))?;
            (Cache::new(folder), place)
        }
    };
    Some((cache.with_shared_from_environment(), place))
}

/// Returns the folder of the cache, if `GPUSKIN_CACHE` does not name one. `variable` reads an
/// environment variable.
fn local(folder: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<(PathBuf, CachePlace)> {
    let path = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The parent of a bare file name is the empty path, which has no absolute form.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let target = || Some(workspace(&std::path::absolute(folder).ok()?)?.join("target"));
    if let Some(target) = path("CARGO_TARGET_DIR").or_else(target) {
        return Some((target.join("gpuskin-cache"), CachePlace::Package));
    }
    let home = || path("HOME").filter(|home| home.is_absolute());
    let user = if cfg!(windows) {
        path("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Caches"))
    } else {
        // The XDG Base Directory Specification ignores relative paths.
        path("XDG_CACHE_HOME").filter(|cache| cache.is_absolute()).or_else(|| home().map(|home| home.join(".cache")))
    };
    Some((user?.join("gpuskin"), CachePlace::User))
}

/// Returns the folder in which Cargo has its target folder for a package that contains `folder`: that of the nearest
/// `Cargo.lock` or `[workspace]`, or of the nearest `Cargo.toml` before the first build.
fn workspace(folder: &Path) -> Option<&Path> {
    let mut package = None;
    for folder in folder.ancestors() {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok();
        let is_root = manifest.as_ref().is_some_and(|text| text.lines().any(|line| line.starts_with("[workspace")));
        if is_root || folder.join("Cargo.lock").is_file() {
            return Some(folder);
        }
        if manifest.is_some() && package.is_none() {
            package = Some(folder);
        }
    }
    package
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn found(folder: &Path, variables: &[(&str, &str)]) -> Option<(PathBuf, CachePlace)> {
        local(folder, &|name| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn package_has_the_cache_of_its_manifests() {
        let package = tempfile::tempdir().unwrap();
        let art = package.path().join("game/art");
        std::fs::create_dir_all(&art).unwrap();
        let user = [("HOME", "/home/someone")];
        assert_eq!(found(&art, &user), Some(("/home/someone/.cache/gpuskin".into(), CachePlace::User)));
        std::fs::write(package.path().join("Cargo.lock"), "").unwrap();
        let in_target = package.path().join("target/gpuskin-cache");
        assert_eq!(found(&art, &user), Some((in_target, CachePlace::Package)));
        let elsewhere = found(&art, &[("CARGO_TARGET_DIR", "/build")]);
        assert_eq!(elsewhere, Some(("/build/gpuskin-cache".into(), CachePlace::Package)));
    }

    #[test]
    fn package_has_the_cache_before_its_first_build() {
        let around = tempfile::tempdir().unwrap();
        let [member, art] = ["game", "game/art"].map(|name| around.path().join(name));
        std::fs::create_dir_all(&art).unwrap();
        let cache_of = |folder: &Path| Some((folder.join("target/gpuskin-cache"), CachePlace::Package));
        let write = |folder: &Path, text: &str| std::fs::write(folder.join("Cargo.toml"), text).unwrap();
        write(&member, "[package]\nname = \"game\"\n");
        assert_eq!(found(&art, &[]), cache_of(&member));
        write(around.path(), "[workspace]\nmembers = [\"game\"]\n");
        assert_eq!(found(&art, &[]), cache_of(around.path()));
        write(&member, "[package]\nname = \"game\"\n\n[workspace]\n");
        std::fs::write(around.path().join("Cargo.lock"), "").unwrap();
        assert_eq!(found(&art, &[]), cache_of(&member));
    }

    #[test]
    fn bare_manifest_path_is_in_the_current_folder() {
        // The tests run in the folder of this package.
        let current = std::env::current_dir().unwrap();
        assert_eq!(found(Path::new(""), &[]), found(&current, &[]));
    }

    #[test]
    fn user_folder_follows_the_xdg_specification() {
        let folder = tempfile::tempdir().unwrap();
        let of = |variables: &[(&str, &str)]| found(folder.path(), variables).map(|(folder, _)| folder);
        assert_eq!(of(&[("XDG_CACHE_HOME", "/caches"), ("HOME", "/home/a")]), Some("/caches/gpuskin".into()));
        assert_eq!(of(&[("XDG_CACHE_HOME", "relative"), ("HOME", "/home/a")]), Some("/home/a/.cache/gpuskin".into()));
        assert_eq!(of(&[("XDG_CACHE_HOME", ""), ("HOME", "")]), None);
    }
}
