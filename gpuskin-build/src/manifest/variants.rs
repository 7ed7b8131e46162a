//! Reader of `[model.variants]`, images that replace base colour textures, and of `[model.tint_masks]`.

use std::path::Path;

use gpuskin_rt::internals::MAX_VARIANTS;
use toml::de::{DeTable, DeValue};

use super::gameplay::named;
use super::section::{Notes, Section, shorten, string};
use super::{At, BASE, MaterialImage, VariantEntry, files, keys};
use crate::diagnostic::DiagnosticCode;

const HELP: &str = "each variant is a table of images by the names of materials:\n\
    [model.variants]\nveteran = { Uniform = \"art/veteran.png\" }";

pub(super) fn read(section: Section<'_>, folder: &Path, notes: &mut Notes) -> Vec<VariantEntry> {
    let Some(value) = section.get("variants") else { return Vec::new() };
    let DeValue::Table(_) = value.get_ref() else {
        notes.error(DiagnosticCode::ManifestType, value.span(), "`variants` must be a table of tables", HELP);
        return Vec::new();
    };
    let mut variants = Vec::new();
    for (name, value) in named(value, "variants", "a table of tables", notes) {
        let shown = shorten(&name.value);
        if name.value == BASE {
            let message = format!("variant `{BASE}` is the look of the model's own textures");
            notes.error(DiagnosticCode::NameCollision, name.span.clone(), message, "choose another name");
            continue;
        }
        let DeValue::Table(table) = value.get_ref() else {
            let help = keys::of_model(&name.value, "[model.variants]").unwrap_or_else(|| HELP.to_owned());
            let message = format!("variant `{shown}` must be a table of images");
            notes.error(DiagnosticCode::ManifestType, value.span(), message, help);
            continue;
        };
        if table.is_empty() {
            let message = format!("variant `{shown}` has no images");
            notes.error(DiagnosticCode::ManifestValue, value.span(), message, HELP);
        }
        variants.push(VariantEntry { images: images(table, folder, notes), name });
    }
    if variants.len() >= MAX_VARIANTS {
        let most = MAX_VARIANTS - 1;
        let message = format!("the model has {} variants; it can have at most {most}", variants.len());
        notes.error(DiagnosticCode::ManifestValue, value.span(), message, "an instance has one byte for its variant");
    }
    variants
}

/// Reads `[model.tint_masks]`: images by material.
pub(super) fn tint_masks(section: Section<'_>, folder: &Path, notes: &mut Notes) -> Vec<MaterialImage> {
    let Some(value) = section.get("tint_masks") else { return Vec::new() };
    let DeValue::Table(table) = value.get_ref() else {
        let help = "name an image per material:\n[model.tint_masks]\nUniform = \"art/cloth.png\"";
        notes.error(DiagnosticCode::ManifestType, value.span(), "`tint_masks` must be a table of images", help);
        return Vec::new();
    };
    images(table, folder, notes)
}

/// Images by material, in the order of the file.
fn images(table: &DeTable<'_>, folder: &Path, notes: &mut Notes) -> Vec<MaterialImage> {
    // The parser sorts tables by key.
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(material, _)| material.span().start);
    let mut images = Vec::new();
    for (material, path) in entries {
        let material = At { value: material.get_ref().to_string(), span: material.span() };
        let Some(path) = string(path, &shorten(&material.value), "the path of an image", notes) else { continue };
        files::check(&path, folder, &files::IMAGE, notes);
        images.push(MaterialImage { material, path });
    }
    images
}
