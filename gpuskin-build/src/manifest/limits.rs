//! Reader of `[limits]` and `[bake] roots`.

use std::path::{Path, PathBuf};

use toml::de::DeValue;

use super::keys::{self, Shape};
use super::section::{Notes, Section, number};
use crate::diagnostic::DiagnosticCode;
use crate::limits::Limits;

/// Reads the table `[limits]`, if it exists.
pub(super) fn read(root: Section<'_>, notes: &mut Notes) -> Limits {
    let mut limits = Limits::default();
    let Some(value) = root.get("limits") else { return limits };
    let DeValue::Table(table) = value.get_ref() else {
        notes.error(
            DiagnosticCode::ManifestType,
            value.span(),
            "`limits` must be a table",
            "write the table [limits] once",
        );
        return limits;
    };
    let section = Section::new(table, &keys::LIMITS, notes);
    let mut set = |key: &str, limit: &mut u64| {
        let (most, size) = match *section.shape(key) {
            Shape::Size { most } => (most, true),
            Shape::Whole { most, .. } => (most, false),
            _ => unreachable!("a limit is a size or a count"),
        };
        let Some(value) = section.get(key) else { return };
        let given = match value.get_ref() {
            DeValue::String(text) if size => parse_bytes(text),
            other => number(other).filter(|n| n.fract() == 0.0 && *n >= 1.0).map(|n| n as u64),
        };
        match given {
            Some(count) if count <= most => *limit = count,
            Some(_) => {
                let most = if size { crate::limits::format_bytes(most) } else { most.to_string() };
                let message = format!("`{key}` must be at most {most}");
                notes.error(DiagnosticCode::ManifestValue, value.span(), message, section.meaning(key));
            }
            None if size => {
                let help = "write \"512 MiB\", with KiB, MiB or GiB, or a number of bytes";
                notes.error(DiagnosticCode::ManifestValue, value.span(), format!("`{key}` must be a size"), help);
            }
            None => notes.expected(key, "a whole number of at least 1", value),
        }
    };
    set("file", &mut limits.file);
    set("memory", &mut limits.memory);
    set("nodes", &mut limits.nodes);
    set("depth", &mut limits.depth);
    set("bones", &mut limits.bones);
    set("vertices", &mut limits.vertices);
    set("image", &mut limits.image);
    set("frames", &mut limits.frames);
    set("texture", &mut limits.texture);
    limits
}

/// Parses a size such as `512 MiB`.
fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let shift = [("KiB", 10), ("MiB", 20), ("GiB", 30)].into_iter().find(|(name, _)| *name == unit.trim())?.1;
    number.parse::<u64>().ok()?.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
}

/// Reads `roots`: folders, besides a glTF file's own, that URIs in glTF files may lead to.
pub(super) fn roots(section: Section<'_>, folder: &Path, notes: &mut Notes) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for root in section.strings("roots", notes) {
        if folder.join(&root.value).is_dir() {
            roots.push(root.value.into());
        } else {
            let message = format!("`roots`: folder {} not found", super::section::shorten(&root.value));
            notes.error(
                DiagnosticCode::FileNotFound,
                root.span,
                message,
                "paths are relative to the folder of the manifest",
            );
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::parse_bytes;

    #[test]
    fn sizes_are_parsed() {
        assert_eq!(parse_bytes("512 MiB"), Some(512 << 20));
        assert_eq!((parse_bytes("1GiB"), parse_bytes(" 3 KiB ")), (Some(1 << 30), Some(3 << 10)));
        for wrong in ["", "512", "MiB", "1.5 GiB", "1 GB", "-1 MiB", "0 MiB", "99999999999999999999 GiB", "1 gib"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }
}
