//! `Baked -> files`: whole files or none, and only those that changed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::finding::{Code, Finding};

/// How a file in the output folder differs from the bake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// It is not there.
    Missing(PathBuf),
    /// It holds something else.
    Changed(PathBuf),
    /// The bake makes no such file.
    Stale(PathBuf),
}

impl Difference {
    /// The file.
    pub fn path(&self) -> &Path {
        let (Self::Missing(path) | Self::Changed(path) | Self::Stale(path)) = self;
        path
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self {
            Self::Missing(_) => "missing",
            Self::Changed(_) => "changed",
            Self::Stale(_) => "stale",
        };
        write!(f, "{what} {}", self.path().display())
    }
}

/// What [`write()`] would change.
///
/// # Errors
/// When the folder cannot be read.
pub fn check(files: &BTreeMap<String, Vec<u8>>, folder: &Path) -> Result<Vec<Difference>, Finding> {
    let mut differences = Vec::new();
    for (name, bytes) in files {
        let path = folder.join(name);
        match fs::read(&path) {
            Ok(found) if found == *bytes => {}
            Ok(_) => differences.push(Difference::Changed(path)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => differences.push(Difference::Missing(path)),
            Err(e) => return Err(failure("read", &path, &e)),
        }
    }
    differences.extend(stale(files, folder)?.into_iter().map(Difference::Stale));
    Ok(differences)
}

/// Brings a folder to the state of a bake: payloads first, the module that names them last, then what earlier bakes
/// left is removed. Each file is replaced whole, by a rename; files that are right already are not touched.
/// Returns the files written.
///
/// # Errors
/// When the folder cannot be read or written.
pub fn write(files: &BTreeMap<String, Vec<u8>>, folder: &Path) -> Result<Vec<PathBuf>, Finding> {
    let (modules, payloads): (Vec<_>, Vec<_>) = files.iter().partition(|(name, _)| name.ends_with(".rs"));
    let mut written = Vec::new();
    for (name, bytes) in payloads.into_iter().chain(modules) {
        let path = folder.join(name);
        if fs::read(&path).is_ok_and(|found| found == *bytes) {
            continue;
        }
        replace(&path, bytes).map_err(|e| failure("write", &path, &e))?;
        written.push(path);
    }
    for path in stale(files, folder)? {
        fs::remove_file(&path).map_err(|e| failure("remove", &path, &e))?;
        // Fails, as it should, while the folder holds something else.
        let _ = path.parent().map(fs::remove_dir);
    }
    Ok(written)
}

/// Writes a file beside its place, then moves it there.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".gpuskin-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.flush()?;
    #[cfg(unix)]
    {
        // A temporary file is its owner's alone; a baked one is anybody's to read.
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Files of earlier bakes that this one does not make: in the folders of models, with names that bakes give.
fn stale(files: &BTreeMap<String, Vec<u8>>, folder: &Path) -> Result<Vec<PathBuf>, Finding> {
    let ours = |name: &str| {
        name == "mesh.bin" || (name.ends_with(".ktx2") && (name.starts_with("anim-") || name.starts_with("color-")))
    };
    let mut stale = Vec::new();
    for model in entries(&folder.join("gpuskin"))? {
        if !model.is_dir() {
            continue;
        }
        let model_name = model.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        for path in entries(&model)? {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            if ours(&name) && !files.contains_key(&format!("gpuskin/{model_name}/{name}")) {
                stale.push(path);
            }
        }
    }
    Ok(stale)
}

/// What stands in a folder, sorted; nothing if there is no folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Finding> {
    let read = match fs::read_dir(folder) {
        Ok(read) => read,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(failure("read", folder, &e)),
    };
    let mut paths: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

fn failure(what: &str, path: &Path, error: &io::Error) -> Finding {
    Finding::error(Code::OutputFailed, format!("cannot {what} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        list.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn only_what_changed_is_written_and_what_is_left_over_goes() {
        let dir = tempfile::tempdir().unwrap();
        let first =
            files(&[("gpuskin.rs", "a"), ("gpuskin/fox/anim-matrix-f16.ktx2", "b"), ("gpuskin/cat/mesh.bin", "c")]);
        assert_eq!(check(&first, dir.path()).unwrap().len(), 3);
        assert_eq!(write(&first, dir.path()).unwrap().len(), 3);
        assert_eq!(check(&first, dir.path()).unwrap(), []);
        assert_eq!(write(&first, dir.path()).unwrap(), Vec::<PathBuf>::new());

        fs::write(dir.path().join("gpuskin/fox/notes.txt"), "mine").unwrap();
        let second = files(&[("gpuskin.rs", "x"), ("gpuskin/fox/anim-trs-f16.ktx2", "b")]);
        let differences = check(&second, dir.path()).unwrap();
        let shown: Vec<String> =
            differences.iter().map(|d| d.to_string().replace(dir.path().to_str().unwrap(), "")).collect();
        assert_eq!(
            shown,
            [
                "changed /gpuskin.rs",
                "missing /gpuskin/fox/anim-trs-f16.ktx2",
                "stale /gpuskin/cat/mesh.bin",
                "stale /gpuskin/fox/anim-matrix-f16.ktx2"
            ]
        );
        assert_eq!(write(&second, dir.path()).unwrap().len(), 2);
        assert_eq!(check(&second, dir.path()).unwrap(), []);
        assert!(!dir.path().join("gpuskin/cat").exists());
        assert!(dir.path().join("gpuskin/fox/notes.txt").exists());
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("gpuskin"), "a file where a folder should be").unwrap();
        let error = write(&files(&[("gpuskin/fox/mesh.bin", "b")]), dir.path()).unwrap_err();
        assert!(error.message().contains("mesh.bin"), "{error}");
    }
}
