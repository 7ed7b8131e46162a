//! URIs in a glTF file: data, or files in the file's own folder or below.

use std::path::{Component, Path, PathBuf};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::suggest::quoted;

/// Base64 decoder that accepts missing padding, which some exporters omit.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Whether a URI is a `data:` URI.
pub(super) fn is_data(uri: &str) -> bool {
    uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Returns the content of a `data:` URI, or `None` for other URIs.
pub(super) fn data(uri: &str) -> Option<Result<Vec<u8>, Diagnostic>> {
    if !is_data(uri) {
        return None;
    }
    let Some((head, body)) = uri[5..].split_once(',') else {
        return Some(Err(Diagnostic::error(DiagnosticCode::UriData, "a data URI has no comma before its content")));
    };
    if !head.ends_with(";base64") {
        return Some(Ok(percent_decode_str(body).collect()));
    }
    let decoded = if body.contains('%') {
        BASE64.decode(percent_decode_str(body).collect::<Vec<u8>>())
    } else {
        BASE64.decode(body)
    };
    Some(
        decoded.map_err(|e| Diagnostic::error(DiagnosticCode::UriData, format!("a data URI is not valid base64: {e}"))),
    )
}

/// Returns the path of a relative URI, relative to the folder of its glTF file. Unless `climbs` is
/// set, paths with `..` are rejected. Only the text is checked; [`confined`] checks the file
/// system.
pub(super) fn relative(uri: &str, climbs: bool) -> Result<PathBuf, Diagnostic> {
    let refused = |why: &str| Diagnostic::error(DiagnosticCode::UriRefused, format!("the URI {} {why}", quoted(uri)));
    let text = percent_decode_str(uri).decode_utf8().map_err(|_| refused("is not UTF-8 text when decoded"))?;
    if text.is_empty() || text.contains('\0') {
        return Err(refused("names no file"));
    }
    let relative = "copy the file into the folder of the glTF file, and write its path from there, or export as .glb";
    if text.contains(':') {
        return Err(refused("has a scheme or a drive letter").help(relative));
    }
    if text.contains('\\') {
        return Err(refused("has a backslash").help("write the URI with `/`, or export as .glb"));
    }
    if text.starts_with('/') {
        return Err(refused("is an absolute path").help(relative));
    }
    if !climbs && text.split('/').any(|part| part == "..") {
        return Err(refused("leaves the folder of the file"));
    }
    Ok(text.split('/').filter(|part| !part.is_empty() && *part != ".").collect())
}

/// Checks that a file is below the folder or one of the roots, after following all links.
pub(super) fn confined(folder: &Path, roots: &[PathBuf], path: &Path) -> Result<(), Diagnostic> {
    let canonical = |p: &Path| {
        p.canonicalize().map_err(|e| {
            Diagnostic::error(DiagnosticCode::FileUnreadable, format!("cannot read {}: {e}", path.display()))
        })
    };
    // The folder of `a.gltf` is "", which cannot be canonicalised.
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
    Err(Diagnostic::error(
        DiagnosticCode::UriRefused,
        match path.components().any(|part| part == Component::ParentDir) {
            true => format!("{} is neither in the folder of the file nor in one of `roots`", path.display()),
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
