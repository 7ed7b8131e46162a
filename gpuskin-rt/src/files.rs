//! Locates and reads the files of baked models.
//!
//! Small files are part of the executable. Large ones (see `storage` in `gpuskin.toml`) are side
//! files. They are searched for in the folder of [`set_asset_folder`], in the folder that the environment
//! variable `GPUSKIN_ASSETS` names, in `<folder of the executable>/gpuskin/`, and finally in the
//! output folder of the bake, so that `cargo run` needs no setup.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use crate::{Data, Payload};

static FOLDER: RwLock<Option<PathBuf>> = RwLock::new(None);

/// Sets the folder in which side files are searched for first.
pub fn set_asset_folder(folder: impl Into<PathBuf>) {
    *FOLDER.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(folder.into());
}

/// Returns the paths at which a side file is searched for, in order.
fn candidates(name: &str, baked: &str) -> Vec<PathBuf> {
    let set = FOLDER.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    let variable = std::env::var_os("GPUSKIN_ASSETS").map(PathBuf::from);
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("gpuskin")));
    let mut all: Vec<PathBuf> = [set, variable, beside].into_iter().flatten().map(|folder| folder.join(name)).collect();
    all.push(Path::new(baked).join("gpuskin").join(name));
    all
}

/// Reason why the bytes of a model are not available.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileError {
    /// The file does not exist in any searched folder.
    Missing {
        /// Paths that were tried.
        tried: Vec<PathBuf>,
    },
    /// The file cannot be read.
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error message of the operating system.
        reason: String,
    },
    /// The model was read at run time, without this file.
    NotRead,
    /// The file comes from another bake than the model's constants.
    OtherBake {
        /// Path of the file; `None` if the bytes are in memory.
        path: Option<PathBuf>,
    },
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { tried } => {
                write!(f, "baked file not found; tried")?;
                for path in tried {
                    write!(f, " {}", path.display())?;
                }
                write!(f, "; copy it to gpuskin/ next to the executable, or set GPUSKIN_ASSETS to its folder")
            }
            Self::Unreadable { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::NotRead => {
                write!(
                    f,
                    "the model was read from its animation file alone; use Model::load, or add Model::with_mesh and Model::with_textures"
                )
            }
            Self::OtherBake { path: Some(path) } => {
                write!(
                    f,
                    "{} comes from another bake than this executable; bake and build again, then copy both",
                    path.display()
                )
            }
            Self::OtherBake { path: None } => {
                write!(f, "a baked file comes from another bake than the model's constants; bake again")
            }
        }
    }
}

impl std::error::Error for FileError {}

/// Returns the bytes of a payload. Checks that they come from the bake with the given content hash.
///
/// # Errors
/// If a side file is missing, unreadable, or comes from another bake.
#[doc(hidden)]
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
    fn load_refuses_bytes_of_another_bake() {
        let p = payload(Data::Bytes(Cow::Owned(bytes(7))));
        assert_eq!(load(&p, &[7; 16]).unwrap().len(), 20);
        assert_eq!(load(&p, &[8; 16]), Err(FileError::OtherBake { path: None }));
        let short = payload(Data::Bytes(Cow::Owned(vec![7; 19])));
        assert_eq!(load(&short, &[7; 16]), Err(FileError::OtherBake { path: None }));
    }

    #[test]
    fn side_files_fall_back_to_bake_folder() {
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
