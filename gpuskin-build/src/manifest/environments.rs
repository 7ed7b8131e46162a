//! Reader of the `[[environment]]` tables.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::de::DeValue;

use super::section::{Notes, Section};
use super::values::power_of_two;
use super::{At, EnvironmentEntry, files, keys};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::identifier_case::{constant, has_words};

const DEFAULT_SIZE: u32 = 256;

/// Returns the environments that have no errors. `models`: names of the models, whose files have a folder each, too.
pub(super) fn read(
    root: Section<'_>,
    folder: &Path,
    models: &[&At<String>],
    notes: &mut Notes,
) -> Vec<EnvironmentEntry> {
    let help = "each environment is a separate table:\n[[environment]]\nname = \"harbour\"\npath = \"art/harbour.hdr\"";
    let Some(value) = root.get("environment") else { return Vec::new() };
    let DeValue::Array(array) = value.get_ref() else {
        notes.error(DiagnosticCode::ManifestType, value.span(), "`environment` must be an array of tables", help);
        return Vec::new();
    };
    let mut taken: BTreeMap<String, At<String>> = BTreeMap::new();
    let mut entries = Vec::new();
    for value in array.iter() {
        let DeValue::Table(table) = value.get_ref() else {
            notes.error(DiagnosticCode::ManifestType, value.span(), "an environment must be a table", help);
            continue;
        };
        let section = Section::new(table, &keys::ENVIRONMENT, notes);
        let entry = entry(section, value.span(), folder, &mut taken, notes);
        entries.extend(entry.filter(|entry| has_own_folder(&entry.name, models, notes)));
    }
    entries
}

/// Whether no model has the name; otherwise reports that.
fn has_own_folder(name: &At<String>, models: &[&At<String>], notes: &mut Notes) -> bool {
    let Some(model) = models.iter().find(|model| constant(&model.value) == constant(&name.value)) else { return true };
    let message = format!("environment `{}` and model `{}` would have one folder", name.value, model.value);
    let diagnostic = Diagnostic::error(DiagnosticCode::NameCollision, message).help("rename one of them");
    notes.diagnostics.push(diagnostic.at(&notes.source, name.span.clone()).also(model.span.clone(), "the model"));
    false
}

fn entry(
    section: Section<'_>,
    header: Range<usize>,
    folder: &Path,
    taken: &mut BTreeMap<String, At<String>>,
    notes: &mut Notes,
) -> Option<EnvironmentEntry> {
    let before = notes.diagnostics.len();
    let name = section.string("name", notes);
    let path = section.string("path", notes);
    let size = power_of_two(section, "size", keys::ENVIRONMENT_SIZES, notes).unwrap_or(DEFAULT_SIZE);
    let intensity = section.positive("intensity", keys::MAX_INTENSITY, notes).unwrap_or(1.0);
    for (key, example) in [("name", "harbour"), ("path", "art/harbour.hdr")] {
        if section.get(key).is_none() {
            let (message, help) = (format!("the environment has no `{key}`"), format!("add {key} = \"{example}\""));
            notes.error(DiagnosticCode::ManifestMissing, header.clone(), message, help);
        }
    }
    if let Some(path) = &path {
        files::check(path, folder, &files::PANORAMA, notes);
    }
    let (name, path) = (name?, path?);
    if files::check_name("an environment", &name, notes) {
        if !has_words(&name.value) {
            let message = format!("name `{}` cannot become a Rust identifier", name.value);
            notes.error(DiagnosticCode::NameInvalid, name.span.clone(), message, "use letters, digits and `_`");
        } else if let Some(first) = taken.insert(constant(&name.value), name.clone()) {
            let message = format!(
                "environments `{}` and `{}` would both become `environments::{}`",
                first.value,
                name.value,
                constant(&name.value)
            );
            let diagnostic = Diagnostic::error(DiagnosticCode::NameCollision, message).help("rename one of them");
            notes.diagnostics.push(diagnostic.at(&notes.source, name.span.clone()).also(first.span, "the other one"));
        }
    }
    (notes.diagnostics.len() == before).then_some(EnvironmentEntry { name, path, size, intensity })
}
