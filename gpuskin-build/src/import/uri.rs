//! URIs within a glTF file: data, or files of its own folder and below.

use std::path::{Component, Path, PathBuf};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

use crate::finding::{Code, Finding};
use crate::suggest::quoted;

/// Some exporters leave the padding out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Whether a URI has its content with it.
pub(super) fn is_data(uri: &str) -> bool {
    uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// The content of a `data:` URI; `None` for other URIs.
pub(super) fn data(uri: &str) -> Option<Result<Vec<u8>, Finding>> {
    if !is_data(uri) {
        return None;
    }
    let Some((head, body)) = uri[5..].split_once(',') else {
        return Some(Err(Finding::error(Code::UriData, "a data URI has no comma before its content")));
    };
    if !head.ends_with(";base64") {
        return Some(Ok(percent_decode_str(body).collect()));
    }
    let decoded = if body.contains('%') {
        BASE64.decode(percent_decode_str(body).collect::<Vec<u8>>())
    } else {
        BASE64.decode(body)
    };
    Some(decoded.map_err(|e| Finding::error(Code::UriData, format!("a data URI is not valid base64: {e}"))))
}

/// The path of a relative URI, from the folder of its glTF file. Unless it may climb, it names something below that folder,
/// as far as the text tells; [`confined`] asks the file system.
pub(super) fn relative(uri: &str, climbs: bool) -> Result<PathBuf, Finding> {
    let refused = |why: &str| Finding::error(Code::UriRefused, format!("the URI {} {why}", quoted(uri)));
    let text = percent_decode_str(uri).decode_utf8().map_err(|_| refused("is not UTF-8 text when decoded"))?;
    if text.is_empty() || text.contains('\0') {
        return Err(refused("names no file"));
    }
    if text.contains(':') {
        return Err(refused("has a scheme or a drive"));
    }
    if text.contains('\\') {
        return Err(refused("has a backslash"));
    }
    if text.starts_with('/') {
        return Err(refused("is an absolute path"));
    }
    if !climbs && text.split('/').any(|part| part == "..") {
        return Err(refused("leaves the folder of the file"));
    }
    Ok(text.split('/').filter(|part| !part.is_empty() && *part != ".").collect())
}

/// Refuses a file that is not below the folder or one of the roots, when all links are followed.
pub(super) fn confined(folder: &Path, roots: &[PathBuf], path: &Path) -> Result<(), Finding> {
    let canonical = |p: &Path| {
        p.canonicalize()
            .map_err(|e| Finding::error(Code::FileUnreadable, format!("cannot read {}: {e}", path.display())))
    };
    // The folder of `a.gltf` is "", which cannot be asked for.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let target = canonical(path)?;
    if target.starts_with(canonical(folder)?) {
        return Ok(());
    }
    for root in roots {
        if target.starts_with(canonical(root)?) {
            return Ok(());
        }
    }
    Err(Finding::error(
        Code::UriRefused,
        match path.components().any(|part| part == Component::ParentDir) {
            true => format!("{} is not in the folder of the file, nor in one of `roots`", path.display()),
            false => format!("{} is a link that leaves the folder of the file", path.display()),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths() {
        assert_eq!(relative("a%20b.bin", false).expect("plain"), Path::new("a b.bin"));
        assert_eq!(relative("./textures//skin.png", false).expect("below"), Path::new("textures/skin.png"));
        assert_eq!(relative("..data.bin", false).expect("a name"), Path::new("..data.bin"));
        for uri in [
            "",
            "/etc/passwd",
            "//host/share",
            "../a.bin",
            "a/../../b.bin",
            "%2e%2e/a.bin",
            "%2Fetc/passwd",
            "..%5Ca.bin",
            "\\\\host\\share",
            "file:///etc/passwd",
            "https://example.com/a.bin",
            "C:a.bin",
            "%ff.bin",
            "a%00.bin",
        ] {
            assert!(relative(uri, false).is_err(), "{uri}");
        }
        assert_eq!(relative("../a.bin", true).expect("may climb"), Path::new("../a.bin"));
        assert!(relative("/etc/passwd", true).is_err() && relative("file:a", true).is_err());
    }

    #[test]
    fn data_uris() {
        let bytes = |uri: &str| data(uri).expect("a data URI").expect("decodes");
        assert_eq!(bytes("data:application/octet-stream;base64,AAECAw=="), [0, 1, 2, 3]);
        assert_eq!(bytes("DATA:;base64,AAECAw"), [0, 1, 2, 3]);
        assert_eq!(bytes("data:;base64,AAECAw%3D%3D"), [0, 1, 2, 3]);
        assert_eq!(bytes("data:,a%01b"), *b"a\x01b");
        assert!(data("data:;base64,*").expect("a data URI").is_err());
        assert!(data("data:").expect("a data URI").is_err());
        assert!(data("a.bin").is_none());
        assert!(data("dataä").is_none());
    }
}
