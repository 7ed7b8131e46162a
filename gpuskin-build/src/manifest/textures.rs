//! Reader of `textures`: formats of the colour textures.

#[cfg(not(feature = "textures"))]
use gpuskin_rt::internals::ColorFormat;

use super::section::{Notes, Section, choice};
use super::{Textures, keys};
#[cfg(not(feature = "textures"))]
use crate::diagnostic::Diagnostic;
use crate::diagnostic::DiagnosticCode;

/// Returns the error for compressed textures without the feature `textures`.
#[cfg(not(feature = "textures"))]
pub(crate) fn needs_feature() -> Diagnostic {
    Diagnostic::error(
        DiagnosticCode::ManifestFeature,
        "compressed textures need the feature `textures` of gpuskin-build",
    )
    .help("add features = [\"textures\"] to the dependency, or write textures = [\"rgba8\"]")
}

/// Reads the key `textures` of a table, if it exists.
pub(super) fn read(section: Section<'_>, notes: &mut Notes) -> Option<Textures> {
    let value = section.get("textures")?;
    let diagnostics_before = notes.diagnostics.len();
    let words = section.strings("textures", notes);
    let mut textures = Textures { formats: Vec::new(), universal: false };
    for (index, word) in words.iter().enumerate() {
        let Some(format) = choice(word, "textures", &keys::TEXTURES, "", notes) else { continue };
        if words[..index].iter().any(|before| before.value == word.value) {
            notes.error(
                DiagnosticCode::ManifestValue,
                word.span.clone(),
                format!("`textures` lists \"{}\" twice", word.value),
                "",
            );
            continue;
        }
        #[cfg(not(feature = "textures"))]
        if format != Some(ColorFormat::Rgba8) {
            notes.diagnostics.push(needs_feature().at(&notes.source, word.span.clone()));
            continue;
        }
        match format {
            Some(format) => textures.formats.push(format),
            None => textures.universal = true,
        }
    }
    if notes.diagnostics.len() > diagnostics_before {
        return None;
    }
    if words.is_empty() {
        notes.error(
            DiagnosticCode::ManifestValue,
            value.span(),
            "`textures` is empty",
            "write [\"rgba8\"], or remove the key",
        );
        return None;
    }
    if textures.formats.is_empty() {
        // With only the portable file listed, devices get the default formats.
        textures.formats = Textures::default().formats;
    }
    Some(textures)
}
