//! Where the bytes of a baked model come from.
//!
//! Small files are part of the executable. Large ones (see `storage` in `gpuskin.toml`) stand beside it, under
//! `<folder of the executable>/gpuskin/`. [`set_folder`] or the environment variable `GPUSKIN_ASSETS` name
//! another folder; last comes the place where the bake wrote them, so that `cargo run` needs nothing.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use crate::{Data, Payload};

static FOLDER: RwLock<Option<PathBuf>> = RwLock::new(None);

/// Side files are looked for in this folder first.
pub fn set_folder(folder: impl Into<PathBuf>) {
    *FOLDER.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(folder.into());
}

/// Folders and files in the order in which a side file is looked for.
fn candidates(name: &str, baked: &str) -> Vec<PathBuf> {
    let set = FOLDER.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    let variable = std::env::var_os("GPUSKIN_ASSETS").map(PathBuf::from);
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("gpuskin")));
    let mut all: Vec<PathBuf> = [set, variable, beside].into_iter().flatten().map(|folder| folder.join(name)).collect();
    all.push(Path::new(baked).join("gpuskin").join(name));
    all
}

/// Why the bytes of a model are not there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileError {
    /// No such file in any of these places.
    Missing {
        /// Where it was looked for.
        tried: Vec<PathBuf>,
    },
    /// The file could not be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The model was read at run time, without this file.
    NotRead,
    /// The file is not the one that the executable was built with.
    OtherBake {
        /// The file, or nothing where the bytes are in memory.
        path: Option<PathBuf>,
    },
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { tried } => {
                write!(f, "a baked file is missing; looked for")?;
                for path in tried {
                    write!(f, " {}", path.display())?;
                }
                write!(f, "; copy it beside the executable into gpuskin/, or set GPUSKIN_ASSETS to its folder")
            }
            Self::Unreadable { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::NotRead => {
                write!(f, "it was read from its animation alone; Model::load reads what is needed to draw it")
            }
            Self::OtherBake { path: Some(path) } => {
                write!(
                    f,
                    "{} belongs to another bake than this executable; bake and build again, and copy both",
                    path.display()
                )
            }
            Self::OtherBake { path: None } => {
                write!(f, "a baked file belongs to another bake than its constants; bake again")
            }
        }
    }
}

impl std::error::Error for FileError {}

/// The bytes of a payload, checked to be of the bake whose content hash is given.
///
/// # Errors
/// When a side file is missing, unreadable, or of another bake.
pub fn load<'a>(payload: &'a Payload, content_hash: &[u8; 16]) -> Result<Cow<'a, [u8]>, FileError> {
    let (bytes, path) = match &payload.data {
        Data::Bytes(bytes) if bytes.is_empty() && payload.size == 0 => return Err(FileError::NotRead),
        Data::Bytes(bytes) => (Cow::Borrowed(&**bytes), None),
        Data::File { name, baked } => {
            let tried = candidates(name, baked);
            let Some(path) = tried.iter().find(|path| path.is_file()).cloned() else {
                return Err(FileError::Missing { tried });
            };
            let bytes = std::fs::read(&path)
                .map_err(|e| FileError::Unreadable { path: path.clone(), reason: e.to_string() })?;
            (Cow::Owned(bytes), Some(path))
        }
    };
    let hash = bytes.get(payload.hash_at as usize..).and_then(|rest| rest.first_chunk());
    if bytes.len() as u64 != payload.size || hash != Some(content_hash) {
        return Err(FileError::OtherBake { path });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(data: Data) -> Payload {
        Payload { data, size: 20, hash_at: 2, levels: Cow::Borrowed(&[]) }
    }

    fn bytes(fill: u8) -> Vec<u8> {
        let mut bytes = vec![0; 20];
        bytes[2..18].fill(fill);
        bytes
    }

    #[test]
    fn bytes_of_another_bake_are_refused() {
        let p = payload(Data::Bytes(Cow::Owned(bytes(7))));
        assert_eq!(load(&p, &[7; 16]).unwrap().len(), 20);
        assert_eq!(load(&p, &[8; 16]), Err(FileError::OtherBake { path: None }));
        let short = payload(Data::Bytes(Cow::Owned(vec![7; 19])));
        assert_eq!(load(&short, &[7; 16]), Err(FileError::OtherBake { path: None }));
    }

    #[test]
    fn side_files_come_from_the_place_of_the_bake_when_nothing_else_has_them() {
        let folder = std::env::temp_dir().join(format!("gpuskin-files-{}", std::process::id()));
        let file = folder.join("gpuskin/no-such-model/mesh.bin");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let p = payload(Data::File {
            name: "no-such-model/mesh.bin".into(),
            baked: folder.to_str().unwrap().to_owned().into(),
        });
        let missing = load(&p, &[7; 16]).unwrap_err();
        assert!(missing.to_string().contains("GPUSKIN_ASSETS"), "{missing}");
        std::fs::write(&file, bytes(7)).unwrap();
        assert_eq!(load(&p, &[7; 16]).unwrap().len(), 20);
        assert_eq!(load(&p, &[8; 16]), Err(FileError::OtherBake { path: Some(file.clone()) }));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
