//! Checks of names and paths in the manifest.

use std::path::{Path, PathBuf};

use super::At;
use super::section::{Notes, shorten};
use crate::diagnostic::DiagnosticCode;
use crate::suggest::closest;

/// Kind of a file that the manifest names.
pub(super) struct FileKind {
    /// Noun with an article.
    noun: &'static str,
    /// Endings of files of this kind, for suggestions.
    endings: &'static [&'static str],
    /// Endings of other kinds that are often tried.
    others: &'static [&'static str],
    /// Advice for a file of another kind.
    convert: &'static str,
    /// Advice for a folder.
    in_folder: &'static str,
}

/// Advice for a model in a file of another kind.
pub(crate) const EXPORT: &str = "export it as glTF 2.0, for example from Blender: File > Export > glTF 2.0";

pub(super) const GLTF: FileKind = FileKind {
    noun: "a glTF file",
    endings: &[".glb", ".gltf"],
    others: &["fbx", "blend", "dae", "obj", "usd", "usda", "usdc", "usdz", "bvh"],
    convert: EXPORT,
    in_folder: "give the path of the .glb or .gltf file in the folder",
};

pub(super) const PANORAMA: FileKind = FileKind {
    noun: "a panorama that can be read",
    endings: &[".hdr", ".pfm", ".png", ".jpg", ".jpeg"],
    others: &["exr", "tif", "tiff", "ktx", "ktx2", "dds", "webp"],
    convert: "save it as Radiance HDR (.hdr), for example from Blender: Image > Save As",
    in_folder: "give the path of the .hdr, .pfm, .png or .jpg file in the folder",
};

pub(super) const IMAGE: FileKind = FileKind {
    noun: "an image that can be read",
    endings: &[".png", ".jpg", ".jpeg", ".webp", ".ktx2"],
    others: &["tga", "tif", "tiff", "dds", "psd", "bmp", "exr", "hdr"],
    convert: "save it as PNG, JPEG, WebP or KTX2 (Basis Universal)",
    in_folder: "give the path of the image in the folder",
};

impl FileKind {
    /// Returns whether the ending of a path is that of another kind.
    fn is_other(&self, path: &Path) -> bool {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        self.others.contains(&extension.as_str())
    }
}

/// Returns whether a path ends as those of models in other formats do.
#[cfg(feature = "cli")]
pub(crate) fn is_other_model(path: &Path) -> bool {
    GLTF.is_other(path)
}

/// Checks a name that becomes a Rust constant and a folder, so it must be safe for any file system. `of`: noun of
/// what it names, with an article.
pub(super) fn check_name(of: &str, name: &At<String>, notes: &mut Notes) -> bool {
    let text = name.value.as_str();
    let fits = text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if !fits {
        let message = format!("`{}` is not a valid name of {of}", shorten(text));
        let help = "the name becomes a Rust identifier and a folder: use up to 64 letters, digits, `_` and `-`, starting with a letter";
        notes.error(DiagnosticCode::NameInvalid, name.span.clone(), message, help);
    }
    fits
}

/// Reports a file that does not exist, or has an unsupported format.
pub(super) fn check(path: &At<String>, folder: &Path, kind: &FileKind, notes: &mut Notes) {
    let file = folder.join(&path.value);
    let shown = shorten(&path.value);
    match std::fs::metadata(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let help = match nearby(&file, kind).map(|near| Path::new(&path.value).with_file_name(near)) {
                Some(near) => format!("did you mean \"{}\"?", near.display().to_string().replace('\\', "/")),
                // A single backslash in double quotes begins an escape: `\t` is a tab, and `\e` is the control character ESC.
                None if path.value.contains(|c: char| c == '\\' || c.is_control()) => "write paths with `/`".to_owned(),
                None if Path::new(&path.value).is_absolute() => "correct the path: it is absolute".to_owned(),
                None => {
                    // The folder of a bare file name is the empty path, which has no absolute form.
                    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
                    format!("paths are relative to {}", folder.display())
                }
            };
            notes.error(DiagnosticCode::FileNotFound, path.span.clone(), format!("file not found: {shown}"), help);
        }
        Err(error) => notes.error(
            DiagnosticCode::FileUnreadable,
            path.span.clone(),
            format!("{shown} cannot be read: {error}"),
            "",
        ),
        Ok(metadata) if metadata.is_dir() => {
            notes.error(DiagnosticCode::FileKind, path.span.clone(), format!("{shown} is a folder"), kind.in_folder);
        }
        Ok(_) => {
            if kind.is_other(&file) {
                let message = format!("{shown} is not {}", kind.noun);
                notes.error(DiagnosticCode::FileKind, path.span.clone(), message, kind.convert);
            }
        }
    }
}

/// Returns the file of a kind in the same folder with the most similar name, but not the file itself, which may
/// have been written since it was looked for.
fn nearby(file: &Path, kind: &FileKind) -> Option<String> {
    let own = file.file_name()?.to_str()?;
    let folder =
        file.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(PathBuf::from("."), PathBuf::from);
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| kind.endings.iter().any(|ending| name.ends_with(ending)) && name != own)
        .take(1000)
        .collect();
    names.sort();
    closest(own, names.iter().map(String::as_str)).map(str::to_owned)
}
