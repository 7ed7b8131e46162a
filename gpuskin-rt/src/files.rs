//! Locates and reads the files of baked models.
//!
//! Small files are part of the executable. Large ones (see `storage` in `gpuskin.toml`) are side
//! files. Bytes that the game has passed to [`provide_file`] come first. Files are searched for in
//! the folder of [`set_asset_folder`], in the folder that the environment variable `GPUSKIN_ASSETS`
//! names, in `<folder of the executable>/gpuskin/`, and finally in the output folder of the bake, so
//! that `cargo run` needs no setup. A web program has no folders: there, all bytes are provided.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use crate::{Data, Payload};

static FOLDER: RwLock<Option<PathBuf>> = RwLock::new(None);
static PROVIDED: RwLock<BTreeMap<String, Cow<'static, [u8]>>> = RwLock::new(BTreeMap::new());

/// Sets the folder in which side files are searched for first.
pub fn set_asset_folder(folder: impl Into<PathBuf>) {
    *FOLDER.write().unwrap_or_else(PoisonError::into_inner) = Some(folder.into());
}

/// Hands over the bytes of a side file, for example after a web page has fetched them.
///
/// Call it before the model is given to a renderer. Files that are provided take precedence over
/// those on disk. Bytes of another bake are refused when the model is loaded, with
/// [`FileError::OtherBake`].
///
/// - `name`: path below the bake's `gpuskin/` folder with `/` separators, such as
///   `soldier/1f0a55c3/color-0-bc7.ktx2`; `CrowdRenderer::side_files` lists the names.
/// - `bytes`: content of the file. It is kept until the program ends or the name is provided again;
///   an empty value forgets it.
pub fn provide_file(name: impl Into<String>, bytes: impl Into<Cow<'static, [u8]>>) {
    let (name, bytes) = (name.into(), bytes.into());
    let mut provided = PROVIDED.write().unwrap_or_else(PoisonError::into_inner);
    match bytes.is_empty() {
        true => provided.remove(&name),
        false => provided.insert(name, bytes),
    };
}

/// Returns how many bytes of the path of a bake folder [`released_folder`] keeps: none in a web program,
/// which reads no files.
pub const fn released_len(path: &str, debug: bool) -> usize {
    let bytes = path.as_bytes();
    if cfg!(target_family = "wasm") {
        return 0;
    }
    if debug {
        return bytes.len();
    }
    let (mut start, mut separators) = (bytes.len(), 0);
    while start > 0 {
        if matches!(bytes[start - 1], b'/' | b'\\') {
            separators += 1;
            if separators == 3 {
                break;
            }
        }
        start -= 1;
    }
    bytes.len() - start
}

/// Returns what a program contains of the path of its bake folder: all of it in a debug build, and
/// otherwise the last three components, which name nothing of the build machine. `LEN`: [`released_len`].
///
/// An array, because a part of a string constant would put the whole string into the program.
pub const fn released_folder<const LEN: usize>(path: &str) -> [u8; LEN] {
    let (bytes, mut kept, mut i) = (path.as_bytes(), [0; LEN], 0);
    while i < LEN {
        kept[i] = bytes[bytes.len() - LEN + i];
        i += 1;
    }
    kept
}

/// Returns the paths at which a side file is searched for, in order.
fn candidates(name: &str, baked: &str) -> Vec<PathBuf> {
    if cfg!(target_family = "wasm") {
        return Vec::new();
    }
    let set = FOLDER.read().unwrap_or_else(PoisonError::into_inner).clone();
    let variable = std::env::var_os("GPUSKIN_ASSETS").map(PathBuf::from);
    let executable = std::env::current_exe().ok();
    let beside = executable.as_deref().and_then(|exe| Some(exe.parent()?.join("gpuskin")));
    let mut folders: Vec<PathBuf> = [set, variable, beside].into_iter().flatten().collect();
    folders.extend(bake_folders(Path::new(baked), executable.as_deref()).map(|folder| folder.join("gpuskin")));
    folders.iter().map(|folder| folder.join(name)).collect()
}

/// Returns the folders that can be the output folder of the bake. `baked`: the folder, or the last
/// components of its path; empty if the model was not baked into this program.
fn bake_folders(baked: &Path, executable: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    // `cargo run` and `cargo test` set the variable to the folder of the package.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    // A program in target/TRIPLE/release/deps is five folders below its package.
    let above = executable.into_iter().flat_map(|exe| exe.ancestors().skip(1).take(5)).map(Path::to_path_buf);
    let roots: Vec<PathBuf> = match (baked.as_os_str().is_empty(), baked.is_absolute()) {
        (true, _) => Vec::new(),
        (_, true) => vec![PathBuf::new()],
        (_, false) => package.into_iter().chain(above).collect(),
    };
    roots.into_iter().map(move |root| root.join(baked)).filter(|folder| folder.is_dir())
}

/// Reason why the bytes of a model are not available.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileError {
    /// The file does not exist in any searched folder.
    Missing {
        /// Name of the file, relative to the folder of side files.
        #[doc(hidden)]
        name: String,
        /// Paths that were tried.
        #[doc(hidden)]
        tried: Vec<PathBuf>,
    },
    /// The file cannot be read.
    Unreadable {
        /// Path of the file.
        #[doc(hidden)]
        path: PathBuf,
        /// Error message of the operating system.
        #[doc(hidden)]
        reason: String,
    },
    /// Bytes that were given to [`provide_file`] are fewer or more than the file has: mostly a download
    /// that was cut off.
    WrongSize {
        /// Name of the file, as given to [`provide_file`].
        #[doc(hidden)]
        name: String,
        /// Bytes of the file.
        #[doc(hidden)]
        size: u64,
        /// Bytes that were provided.
        #[doc(hidden)]
        provided: u64,
    },
    /// The model was read at run time, without this file.
    NotRead,
    /// The file comes from another bake than the model's constants.
    OtherBake {
        /// Path of the file, or the name that was given to [`provide_file`]; `None` if the program contains
        /// the bytes.
        #[doc(hidden)]
        path: Option<PathBuf>,
    },
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { name, tried } => {
                write!(f, "baked file {name} not found")?;
                for (i, path) in tried.iter().enumerate() {
                    f.write_str(if i == 0 { "; tried" } else { "," })?;
                    write!(f, " {}", path.display())?;
                }
                if cfg!(target_family = "wasm") {
                    return write!(f, "; fetch it and pass it to gpuskin_rt::provide_file before the model is used");
                }
                write!(f, "; copy it to gpuskin/ next to the executable, or set GPUSKIN_ASSETS to its folder")
            }
            Self::Unreadable { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::WrongSize { name, size, provided } => write!(
                f,
                "{provided} bytes were provided for the baked file {name}, which has {size}: either the download was cut off, \
                 or the file comes from another bake; fetch it again, or copy the files of this bake to the server"
            ),
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
        Data::File { name, baked } => match PROVIDED.read().unwrap_or_else(PoisonError::into_inner).get(&**name) {
            Some(bytes) if bytes.len() as u64 != payload.size => {
                let (size, provided) = (payload.size, bytes.len() as u64);
                return Err(FileError::WrongSize { name: name.to_string(), size, provided });
            }
            Some(bytes) => (bytes.clone(), Some(PathBuf::from(&**name))),
            None => {
                let tried = candidates(name, baked);
                let Some(path) = tried.iter().find(|path| path.is_file()).cloned() else {
                    return Err(FileError::Missing { name: name.to_string(), tried });
                };
                let bytes = std::fs::read(&path)
                    .map_err(|e| FileError::Unreadable { path: path.clone(), reason: e.to_string() })?;
                (Cow::Owned(bytes), Some(path))
            }
        },
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
    fn provided_files_take_precedence() {
        let p = payload(Data::File { name: "provided/mesh.bin".into(), baked: "".into() });
        assert!(matches!(load(&p, &[7; 16]), Err(FileError::Missing { tried, .. }) if !tried.is_empty()));
        provide_file("provided/mesh.bin", bytes(7));
        assert_eq!(*load(&p, &[7; 16]).unwrap(), bytes(7)[..]);
        assert_eq!(load(&p, &[8; 16]), Err(FileError::OtherBake { path: Some("provided/mesh.bin".into()) }));
        provide_file("provided/mesh.bin", vec![7; 19]);
        let cut = load(&p, &[7; 16]).unwrap_err();
        let name = "provided/mesh.bin".to_owned();
        assert_eq!(cut, FileError::WrongSize { name, size: 20, provided: 19 });
        assert!(cut.to_string().contains("19 bytes were provided for the baked file provided/mesh.bin"), "{cut}");
        provide_file("provided/mesh.bin", &[][..]);
        assert!(matches!(load(&p, &[7; 16]), Err(FileError::Missing { .. })));
    }

    #[test]
    fn releases_contain_three_components_of_the_bake_folder() {
        const PATH: &str = "/home/user/game/target/release/build/game-0123/out";
        const LEN: usize = released_len(PATH, false);
        const KEPT: [u8; LEN] = released_folder(PATH);
        assert_eq!(std::str::from_utf8(&KEPT), Ok("build/game-0123/out"));
        assert_eq!(released_len(PATH, true), PATH.len());
        assert_eq!(released_len("C:\\game\\target\\build\\a\\out", false), "build\\a\\out".len());
        assert_eq!(released_len("out", false), 3);
    }

    #[test]
    fn bake_folders_are_found_from_the_executable() {
        let folder = std::env::temp_dir().join(format!("gpuskin-folders-{}", std::process::id()));
        let baked = folder.join("target/release/build/game-0123/out");
        std::fs::create_dir_all(&baked).unwrap();
        let found = |program: &str| {
            let program = folder.join(program);
            bake_folders(Path::new("build/game-0123/out"), Some(&program)).collect::<Vec<_>>()
        };
        assert_eq!(found("target/release/game"), [&*baked]);
        assert_eq!(found("target/release/deps/game"), [&*baked]);
        assert_eq!(found("elsewhere/game"), [] as [&Path; 0]);
        assert_eq!(bake_folders(Path::new(""), Some(&folder.join("game"))).count(), 0);
        std::fs::remove_dir_all(folder).unwrap();
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
