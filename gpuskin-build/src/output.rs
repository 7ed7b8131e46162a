//! `Baked -> files`: writes changed files only, all of them or none.
//!
//! First, every changed file is written beside its final path and flushed to disk. Only then are
//! the files moved, so that a full disk cannot interrupt the moves. The generated module is moved
//! last: the files that it names are in folders of their own, so that at any moment a module and all
//! its files are those of one bake. Files of earlier bakes are removed after that.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tempfile::TempPath;

use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::fs;
use crate::fs::lock::Lock;

/// Maximum size in bytes of an existing file that is compared.
const MAX_COMPARED_BYTES: u64 = 1 << 40;

/// Expected content of a file.
#[derive(Clone, Debug)]
pub(crate) enum FileContent<'a> {
    /// Content in memory.
    Bytes(Cow<'a, [u8]>),
    /// Content in the cache, given by its digest and its length in bytes.
    Cached { digest: blake3::Hash, len: u64 },
}

impl FileContent<'_> {
    /// Returns the bytes if they are in memory.
    pub(crate) fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Bytes(bytes) => Some(bytes.into_owned()),
            Self::Cached { .. } => None,
        }
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Cached { len, .. } => *len,
        }
    }

    pub(crate) fn digest(&self) -> blake3::Hash {
        match self {
            Self::Bytes(bytes) => blake3::hash(bytes),
            Self::Cached { digest, .. } => *digest,
        }
    }

    /// Whether a file has this content.
    fn matches_file(&self, path: &Path) -> io::Result<bool> {
        if std::fs::metadata(path)?.len() != self.len() {
            return Ok(false);
        }
        let found = fs::read(path, MAX_COMPARED_BYTES)?;
        Ok(match self {
            Self::Bytes(bytes) => found == **bytes,
            Self::Cached { digest, .. } => blake3::hash(&found) == *digest,
        })
    }
}

/// Difference between a file in the output folder and the bake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The file does not exist.
    Missing(PathBuf),
    /// The file has another content.
    Changed(PathBuf),
    /// The bake does not make this file.
    Stale(PathBuf),
}

impl Difference {
    /// Returns the path of the missing, changed or stale file.
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

/// Returns the changes that [`write_folder`] would make.
///
/// # Errors
/// If the folder cannot be read.
pub fn compare_folder(files: &BTreeMap<String, Vec<u8>>, folder: &Path) -> Result<Vec<Difference>, Diagnostic> {
    differences(&borrowed(files), folder)
}

/// Returns the changes that [`apply`] would make.
pub(crate) fn differences(
    files: &BTreeMap<String, FileContent<'_>>,
    folder: &Path,
) -> Result<Vec<Difference>, Diagnostic> {
    let mut differences = Vec::new();
    for (name, content) in files {
        let path = folder.join(name);
        match content.matches_file(&path) {
            Ok(true) => {}
            Ok(false) => differences.push(Difference::Changed(path)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => differences.push(Difference::Missing(path)),
            Err(e) => return Err(failure("read", &path, &e)),
        }
    }
    differences.extend(stale_files(files, folder)?.into_iter().map(Difference::Stale));
    Ok(differences)
}

/// Writes the files of a bake to a folder, and removes stale files of earlier bakes. Returns the
/// paths that were written.
///
/// Payloads are written first, then the module that names them, and files of earlier bakes are
/// removed at the end. Each file is replaced atomically by a rename; unchanged files are not touched.
/// The folder is locked meanwhile.
///
/// # Errors
/// If the folder cannot be read or written. The module and the files that it names are unchanged
/// then.
pub fn write_folder(files: &BTreeMap<String, Vec<u8>>, folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let lock = lock_folder(folder, || ())?;
    let job = WritePlan { folder, whole: true, in_place: &|_| None, load: &|_, _| None };
    apply(&borrowed(files), &job, &lock).map_err(|trouble| match trouble {
        WriteError::Failed(diagnostic) => diagnostic,
        WriteError::Lost(_) => unreachable!("all contents are in memory"),
    })
}

fn borrowed(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, FileContent<'_>> {
    files.iter().map(|(name, bytes)| (name.clone(), FileContent::Bytes(Cow::Borrowed(bytes)))).collect()
}

/// Writes a file beside its final path, then moves it there.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unfinished = fs::write_unfinished(folder, &[bytes])?;
    fs::rename(unfinished.path, path)
}

/// Creates an output folder and locks it.
pub(crate) fn lock_folder(folder: &Path, waiting: impl FnOnce()) -> Result<Lock, Diagnostic> {
    fs::create_dir(folder).map_err(|e| failure("create", folder, &e))?;
    Ok(Lock::folder(folder, waiting))
}

/// Inputs of [`apply`] in addition to the files.
pub(crate) struct WritePlan<'a> {
    pub(crate) folder: &'a Path,
    /// Whether the files are the complete output, so that all others are stale.
    pub(crate) whole: bool,
    /// Returns the digest of an output file that is known to be unchanged, by name.
    pub(crate) in_place: &'a (dyn Fn(&str) -> Option<blake3::Hash> + Sync),
    /// Loads the bytes with a digest and a length.
    pub(crate) load: &'a (dyn Fn(&blake3::Hash, u64) -> Option<Vec<u8>> + Sync),
}

/// Reason why files were not written.
pub(crate) enum WriteError {
    /// A file operation failed.
    Failed(Diagnostic),
    /// The contents of these files are no longer in the cache.
    Lost(BTreeSet<String>),
}

/// Writes files like [`write_folder`], in a locked folder.
pub(crate) fn apply(
    files: &BTreeMap<String, FileContent<'_>>,
    job: &WritePlan<'_>,
    lock: &Lock,
) -> Result<Vec<PathBuf>, WriteError> {
    let folder = job.folder;
    let failed = |what: &str, path: &Path, e: &io::Error| WriteError::Failed(failure(what, path, e));
    remove_unfinished(folder, lock.held()).map_err(WriteError::Failed)?;
    let stage = |(name, content): (&String, &FileContent<'_>)| -> Result<Option<Staged>, WriteError> {
        let path = folder.join(name);
        let known = || match content {
            FileContent::Cached { digest, .. } => (job.in_place)(name) == Some(*digest),
            FileContent::Bytes(_) => false,
        };
        if known() || content.matches_file(&path).unwrap_or(false) {
            return Ok(None);
        }
        let bytes = match content {
            FileContent::Bytes(bytes) => Cow::Borrowed(&**bytes),
            FileContent::Cached { digest, len } => match (job.load)(digest, *len) {
                Some(bytes) => Cow::Owned(bytes),
                None => return Err(WriteError::Lost(BTreeSet::from([name.clone()]))),
            },
        };
        let beside = path.parent().expect("the path is inside the folder");
        let written = fs::write_unfinished(beside, &[&bytes]).and_then(|unfinished| {
            fs::sync(&unfinished.file, &path)?;
            Ok(unfinished.path)
        });
        let from = written.map_err(|e| failed("write", &path, &e))?;
        Ok(Some(Staged { from, path, module: name.ends_with(".rs") }))
    };
    let mut lost = BTreeSet::new();
    let mut staged = Vec::new();
    for result in files.par_iter().map(stage).collect::<Vec<_>>() {
        match result {
            Ok(file) => staged.extend(file),
            Err(WriteError::Lost(names)) => lost.extend(names),
            Err(trouble) => return Err(trouble),
        }
    }
    if !lost.is_empty() {
        return Err(WriteError::Lost(lost));
    }
    let stale = if job.whole { stale_files(files, folder).map_err(WriteError::Failed)? } else { Vec::new() };
    staged.sort_by_key(|file| file.module);
    let written: Vec<PathBuf> = staged.iter().map(|file| file.path.clone()).collect();
    commit(staged).map_err(WriteError::Failed)?;
    written.iter().filter_map(|path| path.parent()).collect::<BTreeSet<_>>().into_iter().for_each(fs::sync_folder);
    for path in stale {
        remove_with_folders(&path, fs::remove).map_err(|e| failed("remove", &path, &e))?;
    }
    Ok(written)
}

/// A file that is written beside its final path.
struct Staged {
    from: TempPath,
    path: PathBuf,
    module: bool,
}

/// Moves all files to their final paths. After an error, removes the files that are new.
fn commit(staged: Vec<Staged>) -> Result<(), Diagnostic> {
    let mut new: Vec<PathBuf> = Vec::new();
    for Staged { from, path, .. } in staged {
        let exists = path.exists();
        if let Err(error) = fs::rename(from, &path) {
            for path in new {
                // The error to report is that of the rename.
                let _ = remove_with_folders(&path, |path| std::fs::remove_file(path));
            }
            return Err(failure("write", &path, &error));
        }
        if !exists {
            new.push(path);
        }
    }
    Ok(())
}

/// Removes a file of a model, then its content folder and the folder of the model if they are empty.
fn remove_with_folders(path: &Path, remove: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    remove(path)?;
    for folder in path.ancestors().skip(1).take(2) {
        // Fails intentionally if the folder is not empty.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}

/// Removes unfinished files of interrupted bakes.
fn remove_unfinished(folder: &Path, alone: bool) -> Result<(), Diagnostic> {
    fs::remove_unfinished(folder, alone);
    fs::remove_unfinished(&folder.join("gpuskin"), alone);
    for model in model_folders(folder)?.into_iter().rev() {
        fs::remove_unfinished(&model, alone);
        // Fails intentionally if the folder is not empty.
        let _ = std::fs::remove_dir(model);
    }
    Ok(())
}

/// Returns the folders below `gpuskin/`: one per model, then in each one per bake that is present.
fn model_folders(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut folders = entries(&folder.join("gpuskin"))?;
    for model in folders.clone() {
        folders.extend(entries(&model)?);
    }
    folders.retain(|folder| folder.is_dir());
    Ok(folders)
}

/// Returns files of earlier bakes that this bake does not make: files in model folders whose names
/// have the form of baked files.
fn stale_files<T>(files: &BTreeMap<String, T>, folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let ours = |name: &str| {
        (name.ends_with(".bin") && (name == "mesh.bin" || name.starts_with("mesh-")))
            || (name.ends_with(".ktx2") && (name.starts_with("anim-") || name.starts_with("color-")))
            || name == "environment.ktx2"
    };
    let mut stale = Vec::new();
    for model in model_folders(folder)? {
        for path in entries(&model)? {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let relative = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            if ours(&name) && !files.contains_key(&relative) {
                stale.push(path);
            }
        }
    }
    stale.sort();
    Ok(stale)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    match fs::entries(folder) {
        // A file where a folder is expected.
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => Ok(Vec::new()),
        entries => entries.map_err(|e| failure("read", folder, &e)),
    }
}

fn failure(what: &str, path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error(DiagnosticCode::OutputFailed, format!("cannot {what} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn files(list: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        list.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn write_replaces_changed_and_removes_stale_files() {
        let dir = tempfile::tempdir().unwrap();
        let first =
            files(&[("gpuskin.rs", "a"), ("gpuskin/fox/anim-matrix-f16.ktx2", "b"), ("gpuskin/cat/mesh.bin", "c")]);
        assert_eq!(compare_folder(&first, dir.path()).unwrap().len(), 3);
        assert_eq!(write_folder(&first, dir.path()).unwrap().len(), 3);
        assert_eq!(compare_folder(&first, dir.path()).unwrap(), []);
        assert_eq!(write_folder(&first, dir.path()).unwrap(), Vec::<PathBuf>::new());

        fs::write(dir.path().join("gpuskin/fox/notes.txt"), "mine").unwrap();
        let second = files(&[("gpuskin.rs", "x"), ("gpuskin/fox/anim-trs-f16.ktx2", "b")]);
        let differences = compare_folder(&second, dir.path()).unwrap();
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
        assert_eq!(write_folder(&second, dir.path()).unwrap().len(), 2);
        assert_eq!(compare_folder(&second, dir.path()).unwrap(), []);
        assert!(!dir.path().join("gpuskin/cat").exists());
        assert!(dir.path().join("gpuskin/fox/notes.txt").exists());
    }

    #[test]
    fn write_names_the_path_that_cannot_be_written() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("gpuskin"), "a file where a folder should be").unwrap();
        let error = write_folder(&files(&[("gpuskin/fox/mesh.bin", "b")]), dir.path()).unwrap_err();
        assert!(error.message().contains("mesh.bin"), "{error}");
    }
}
