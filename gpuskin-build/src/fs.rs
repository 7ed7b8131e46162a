//! The file system as the cache and the output use it. Each call is one that can fail, and tests make it fail.

#[cfg(test)]
pub(crate) mod fault;
pub(crate) mod lock;
pub(crate) mod fingerprint;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempPath;

/// What is done to a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Open,
    Write,
    Sync,
    Rename,
    Remove,
    Folder,
}

/// Names of files that are not finished begin so.
const UNFINISHED: &str = ".gpuskin-";
/// Where nothing can be locked, an unfinished file that is older belongs to nobody.
const ABANDONED: Duration = Duration::from_secs(3600);

#[cfg(not(test))]
fn may(_: Op, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
fn may(op: Op, path: &Path) -> io::Result<()> {
    fault::hit(op, path)
}

/// Opens a file to read it.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    may(Op::Open, path)?;
    File::open(path)
}

/// Reads a regular file of at most so many bytes.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Asked first: opening a pipe would wait for its writer.
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(most) as usize + 1);
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// Makes a folder and those above it.
pub(crate) fn create_dir(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    may(Op::Folder, folder)?;
    fs::create_dir_all(folder)
}

/// Removes a file.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    may(Op::Remove, path)?;
    fs::remove_file(path)
}

/// Moves a finished file to its place.
pub(crate) fn rename(from: TempPath, to: &Path) -> io::Result<()> {
    may(Op::Rename, to)?;
    from.persist(to).map_err(|e| e.error)
}

/// A file that is not finished, and goes unless it is moved to its place. Until it is dropped, the handle tells others
/// that somebody is at it.
pub(crate) struct Unfinished {
    pub(crate) file: File,
    pub(crate) path: TempPath,
}

/// Writes a file that is not in its place yet.
pub(crate) fn write_unfinished(folder: &Path, bytes: &[u8]) -> io::Result<Unfinished> {
    create_dir(folder)?;
    may(Op::Open, folder)?;
    let (mut file, path) = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?.into_parts();
    // Where there are no locks nobody can ask for one.
    let _ = file.try_lock();
    write(&mut file, &path, bytes)?;
    #[cfg(unix)]
    {
        // A temporary file is its owner's alone; a baked one is anybody's to read.
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    Ok(Unfinished { file, path })
}

/// The system may take a part at a time.
fn write(file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        may(Op::Write, path)?;
        #[cfg(test)]
        let part = &rest[..fault::part(path, rest.len())];
        #[cfg(not(test))]
        let part = rest;
        match file.write(part) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Waits until the content of a file is where a loss of power leaves it.
pub(crate) fn sync(file: &File, path: &Path) -> io::Result<()> {
    may(Op::Sync, path)?;
    file.sync_all()
}

/// The same for the names in a folder, where the system has that.
pub(crate) fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    #[cfg(not(unix))]
    let _ = folder;
}

/// Removes the unfinished files in a folder that nobody is at. `alone`: nobody else writes here.
pub(crate) fn remove_unfinished(folder: &Path, alone: bool) {
    for path in entries(folder).unwrap_or_default() {
        let unfinished = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(UNFINISHED));
        if unfinished && (alone || is_abandoned(&path)) {
            // Whoever else wants it gone has been faster.
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_abandoned(path: &Path) -> bool {
    let Ok(file) = File::options().write(true).open(path) else { return false };
    match file.try_lock() {
        Ok(()) => true,
        Err(fs::TryLockError::WouldBlock) => false,
        Err(fs::TryLockError::Error(_)) => {
            let modified = file.metadata().and_then(|metadata| metadata.modified());
            modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > ABANDONED))
        }
    }
}

/// What stands in a folder, sorted; nothing if there is no folder.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let read = match fs::read_dir(folder) {
        Ok(read) => read,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut paths: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}
