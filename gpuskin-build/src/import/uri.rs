//! URIs within a glTF file: data, or files of its own folder and below.

use std::path::{Path, PathBuf};

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

const CONFINED: &str = "a glTF file reads from its own folder only: put the file beside it, or export as .glb";

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

/// The path of a relative URI, from the folder of its glTF file. It names something below that folder, as far as the
/// text tells; [`confined`] asks the file system.
pub(super) fn relative(uri: &str) -> Result<PathBuf, Finding> {
    let refused = |why: &str| Finding::error(Code::UriRefused, format!("the URI {} {why}", quoted(uri))).help(CONFINED);
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
    if text.split('/').any(|part| part == "..") {
        return Err(refused("leaves the folder of the file"));
    }
    Ok(text.split('/').filter(|part| !part.is_empty() && *part != ".").collect())
}

/// Refuses a file that links lead out of the folder.
pub(super) fn confined(folder: &Path, path: &Path) -> Result<(), Finding> {
    let canonical = |p: &Path| {
        p.canonicalize()
            .map_err(|e| Finding::error(Code::FileUnreadable, format!("cannot read {}: {e}", path.display())))
    };
    // The folder of `a.gltf` is "", which cannot be asked for.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if canonical(path)?.starts_with(canonical(folder)?) {
        return Ok(());
    }
    Err(Finding::error(Code::UriRefused, format!("{} is a link that leaves the folder of the file", path.display()))
        .help(CONFINED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths() {
        assert_eq!(relative("a%20b.bin").expect("plain"), Path::new("a b.bin"));
        assert_eq!(relative("./textures//skin.png").expect("below"), Path::new("textures/skin.png"));
        assert_eq!(relative("..data.bin").expect("a name"), Path::new("..data.bin"));
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
            assert!(relative(uri).is_err(), "{uri}");
        }
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
