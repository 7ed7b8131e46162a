//! File operations of the cache and the output. Every operation that can fail goes through this
//! module, so that tests can make it fail.

#[cfg(test)]
pub(crate) mod fault;
pub(crate) mod fingerprint;
pub(crate) mod lock;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempPath;

/// Kind of a file operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Open,
    Write,
    Sync,
    Rename,
    Remove,
    Folder,
}

/// Prefix of the names of unfinished files.
const UNFINISHED: &str = ".gpuskin-";
/// Age from which an unfinished file is considered abandoned on file systems without locks.
const ABANDONED: Duration = Duration::from_secs(3600);

#[cfg(not(test))]
fn may(_: Op, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
fn may(op: Op, path: &Path) -> io::Result<()> {
    fault::hit(op, path)
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    may(Op::Open, path)?;
    File::open(path)
}

/// Reads a regular file of at most `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // The metadata is read first, because opening a pipe would block until it has a writer.
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

/// Creates a folder and its parents.
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

/// Moves a finished file to its final path.
pub(crate) fn rename(from: TempPath, to: &Path) -> io::Result<()> {
    may(Op::Rename, to)?;
    from.persist(to).map_err(|e| e.error)
}

/// An unfinished file, which is removed unless it is moved to its final path. The open handle holds
/// a lock, so that other processes do not remove the file.
pub(crate) struct Unfinished {
    pub(crate) file: File,
    pub(crate) path: TempPath,
}

/// Writes a temporary file in `folder`, whose content are `parts` one after the other.
pub(crate) fn write_unfinished(folder: &Path, parts: &[&[u8]]) -> io::Result<Unfinished> {
    create_dir(folder)?;
    may(Op::Open, folder)?;
    let (mut file, path) = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?.into_parts();
    // Fails only on file systems without locks.
    let _ = file.try_lock();
    parts.iter().try_for_each(|part| write(&mut file, &path, part))?;
    #[cfg(unix)]
    {
        // Temporary files are readable only by their owner; baked files must be readable by all
        // users.
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    Ok(Unfinished { file, path })
}

/// Writes all bytes. The system can write fewer bytes than requested per call.
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

/// Flushes the content of a file to disk, so that it survives a power failure.
pub(crate) fn sync(file: &File, path: &Path) -> io::Result<()> {
    may(Op::Sync, path)?;
    file.sync_all()
}

/// Flushes the entries of a folder to disk, on systems that support this.
pub(crate) fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    #[cfg(not(unix))]
    let _ = folder;
}

/// Removes the abandoned unfinished files in a folder. `alone` means that no other process writes
/// to the folder, so all unfinished files are abandoned.
pub(crate) fn remove_unfinished(folder: &Path, alone: bool) {
    for path in entries(folder).unwrap_or_default() {
        let unfinished = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(UNFINISHED));
        if unfinished && (alone || is_abandoned(&path)) {
            // Fails if another process has already removed the file.
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

/// Returns the entries of a folder, sorted; empty if the folder does not exist.
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
