//! Parts of a manifest's text: strings, keys and names, and diagnostics about a manifest that the program wrote.

use std::fmt::Write;
use std::path::Path;

use crate::diagnostic::Diagnostics;
use crate::identifier_case::snake;

/// Returns a TOML string.
pub(super) fn string(text: &str) -> String {
    let mut result = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' | '\\' => result.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(result, "\\u{:04X}", u32::from(c));
            }
            c => result.push(c),
        }
    }
    result + "\""
}

/// Returns a TOML key, quoted if needed.
pub(super) fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if bare { name.to_owned() } else { string(name) }
}

/// Removes locations in the manifest, which the user did not write.
pub(super) fn without_locations(diagnostics: Diagnostics) -> Diagnostics {
    let mut result = Diagnostics::default();
    diagnostics.into_iter().for_each(|diagnostic| result.push(diagnostic.without_location()));
    result
}

/// Returns a name for the model of a file: letters, digits and `_`, a letter first.
pub(crate) fn model_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ascii: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(60).collect();
    let name = if ascii.contains(|c: char| c.is_ascii_alphanumeric()) { snake(&ascii) } else { String::new() };
    match name.trim_start_matches('_') {
        "" => "model".to_owned(),
        name if name.starts_with(|c: char| c.is_ascii_digit()) => format!("m{name}"),
        name => name.to_owned(),
    }
}
