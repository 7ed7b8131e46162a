//! Chunks of the binary container (GLB).

use std::ops::Range;

use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::manifest::EXPORT;

const MAGIC: &[u8] = b"glTF";
const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;

/// Byte ranges of the chunks in a file.
#[derive(Debug, PartialEq)]
pub(super) struct Chunks {
    pub json: Range<usize>,
    pub bin: Option<Range<usize>>,
    /// Rules that the file breaks without effect.
    pub broken_rules: Vec<&'static str>,
}

/// Finds the chunks of a file. A file without the GLB magic number is one JSON chunk, whatever its
/// extension.
pub(super) fn chunks(bytes: &[u8]) -> Result<Chunks, Diagnostic> {
    if !bytes.starts_with(MAGIC) {
        if let Some((what, help)) = other_format(bytes) {
            return Err(
                Diagnostic::error(DiagnosticCode::FileKind, format!("the file is not glTF: it is {what}")).help(help)
            );
        }
        return Ok(Chunks { json: 0..bytes.len(), bin: None, broken_rules: Vec::new() });
    }
    let word = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let cut_off = |what: &str| {
        Diagnostic::error(DiagnosticCode::GltfCutOff, format!("the GLB file is truncated: {what}"))
            .help("export the file again")
    };
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        return Err(cut_off("the header is incomplete"));
    };
    if version != 2 {
        return Err(Diagnostic::error(DiagnosticCode::GltfVersion, format!("GLB version {version} is not supported"))
            .help("export it as glTF 2.0"));
    }
    let length = length as usize;
    if length > bytes.len() {
        return Err(cut_off(&format!("{} of {length} bytes are present", bytes.len())));
    }
    let (mut json, mut bin, mut broken_rules) = (None, None, Vec::new());
    let mut at = 12;
    while at + 8 <= length {
        let (Some(size), Some(kind)) = (word(at), word(at + 4)) else { break };
        let body = at + 8..(at + 8).saturating_add(size as usize);
        if body.end > length {
            return Err(cut_off(&format!("a chunk of {size} bytes has only {} bytes", length - body.start)));
        }
        at = body.end;
        match kind {
            JSON if json.is_none() => json = Some(body),
            BIN if bin.is_none() => {
                if json.is_none() {
                    broken_rules.push("the binary chunk precedes the JSON chunk");
                }
                bin = Some(body);
            }
            JSON => broken_rules.push("the file has a second JSON chunk, which is ignored"),
            BIN => broken_rules.push("the file has a second binary chunk, which is ignored"),
            _ => {}
        }
    }
    let json = json.ok_or_else(|| cut_off("the JSON chunk is missing"))?;
    broken_rules.dedup();
    Ok(Chunks { json, bin, broken_rules })
}

/// Returns what a file is that is often taken for glTF, and advice.
pub(crate) fn other_format(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const DOWNLOAD: &str = "download the model itself";
    let text = bytes.trim_ascii_start();
    let known: [(&str, &str, &str); 7] = [
        ("Kaydara FBX", "an FBX file", EXPORT),
        ("; FBX", "an FBX file", EXPORT),
        ("BLENDER", "a Blender file", EXPORT),
        ("<!doctype html", "a web page", DOWNLOAD),
        ("<html", "a web page", DOWNLOAD),
        ("<?xml", "an XML file", EXPORT),
        ("PK\x03\x04", "a ZIP archive", "unpack it"),
    ];
    if text.is_empty() {
        return Some(("empty", "export or copy it again"));
    }
    let starts =
        |magic: &str| text.get(..magic.len()).is_some_and(|start| start.eq_ignore_ascii_case(magic.as_bytes()));
    known.into_iter().find(|(magic, ..)| starts(magic)).map(|(_, what, help)| (what, help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_files_are_rejected() {
        let mut file = b"glTF\x02\0\0\0\x1c\0\0\0\x04\0\0\0JSON{}  ".to_vec();
        file.extend(0_u32.to_le_bytes());
        file[8] = file.len() as u8;
        assert_eq!(chunks(&file).expect("whole"), Chunks { json: 20..24, bin: None, broken_rules: vec![] });
        for end in 4..file.len() {
            assert!(chunks(&file[..end]).is_err(), "{end} bytes");
        }
        file[4] = 1;
        assert!(chunks(&file).expect_err("version 1").message().contains("version 1"));
    }
}
