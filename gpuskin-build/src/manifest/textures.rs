//! `textures`: what colour textures are baked to.

use gpuskin_rt::ColorFormat;

use super::keys;
use super::section::{Notes, Section, check_word};
use crate::diagnostic::DiagnosticCode;
#[cfg(not(feature = "textures"))]
use crate::diagnostic::Diagnostic;

/// What colour textures are baked to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Textures {
    /// Formats for devices, best first; a file each. Not empty.
    pub formats: Vec<ColorFormat>,
    /// Keeps a portable file too: UASTC, which any of the formats can be made from. The runtime does not read it.
    pub universal: bool,
}

impl Default for Textures {
    /// BC7 for desktops, ASTC for phones, RGBA8 for the rest; RGBA8 alone without the feature `textures`.
    fn default() -> Self {
        let formats = if cfg!(feature = "textures") {
            vec![ColorFormat::Bc7, ColorFormat::Astc, ColorFormat::Rgba8]
        } else {
            vec![ColorFormat::Rgba8]
        };
        Self { formats, universal: false }
    }
}

/// The feature that compresses textures is off.
#[cfg(not(feature = "textures"))]
pub(crate) fn needs_feature() -> Diagnostic {
    Diagnostic::error(DiagnosticCode::ManifestFeature, "compressed textures need the feature `textures` of gpuskin-build")
        .help("add features = [\"textures\"] to the dependency, or write textures = [\"rgba8\"]")
}

/// The key of a table, where it is there.
pub(super) fn read(section: Section<'_>, notes: &mut Notes) -> Option<Textures> {
    let value = section.get("textures")?;
    let findings_before = notes.diagnostics.len();
    let words = section.strings("textures", notes);
    let mut textures = Textures { formats: Vec::new(), universal: false };
    for (index, word) in words.iter().enumerate() {
        if !check_word(word, "textures", &keys::TEXTURE, "", notes) {
            continue;
        }
        if words[..index].iter().any(|before| before.value == word.value) {
            notes.error(
                DiagnosticCode::ManifestValue,
                word.span.clone(),
                format!("`textures` names \"{}\" twice", word.value),
                "",
            );
            continue;
        }
        #[cfg(not(feature = "textures"))]
        if word.value != ColorFormat::Rgba8.name() {
            notes.diagnostics.push(needs_feature().at(&notes.source, word.span.clone()));
            continue;
        }
        match ColorFormat::from_name(&word.value) {
            Some(format) => textures.formats.push(format),
            None => textures.universal = true,
        }
    }
    if notes.diagnostics.len() > findings_before {
        return None;
    }
    if words.is_empty() {
        notes.error(DiagnosticCode::ManifestValue, value.span(), "`textures` is empty", "write [\"rgba8\"], or leave it out");
        return None;
    }
    if textures.formats.is_empty() {
        // The portable file alone: devices get what they get by default.
        textures.formats = Textures::default().formats;
    }
    Some(textures)
}
