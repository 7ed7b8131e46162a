//! Variants of a model: images that replace base colour textures.

use std::collections::BTreeMap;

use super::file::File;
use super::material::Materials;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::manifest::{At, BASE, ModelEntry, VariantEntry, VariantImage};
use crate::suggest::{closest, list, quoted};

/// Extension that lists materials per variant. It is not read, because the manifest names images.
const EXTENSION: &str = "KHR_materials_variants";
/// Maximum number of names that a message lists.
const LISTED: usize = 8;

/// Reads the images of the variants, and returns the names of the variants.
pub(super) fn read(
    file: &File<'_>,
    entry: &ModelEntry,
    materials: &mut Materials,
    report: &mut Report<'_>,
) -> Vec<String> {
    warn_of_extension(file, entry, report);
    if entry.variants.is_empty() {
        return Vec::new();
    }
    let count = entry.variants.len() + 1;
    let mut images: BTreeMap<&str, Result<usize, Diagnostic>> = BTreeMap::new();
    for (index, variant) in (1..).zip(&entry.variants) {
        for VariantImage { material, path } in &variant.images {
            let within = |diagnostic: Diagnostic| {
                let label = format!("variant {}", quoted(&variant.name.value));
                diagnostic.within(format!("material {}", quoted(&material.value))).within(label)
            };
            let slots = match named(file, materials, material) {
                Ok(slots) => slots,
                Err(diagnostic) => {
                    report.error_at(&material.span, within(diagnostic));
                    continue;
                }
            };
            let image = images.entry(&path.value).or_insert_with(|| {
                let bytes = file.beside_manifest(&path.value)?;
                materials.textures.other_image(path.value.clone(), &bytes, file.limits().image)
            });
            let image = match image {
                Ok(image) => *image,
                Err(diagnostic) => {
                    report.error_at(&path.span, within(diagnostic.clone()));
                    continue;
                }
            };
            for slot in slots {
                if let Err(diagnostic) = materials.set_variant(slot, (index, count), image) {
                    report.error_at(&path.span, within(diagnostic));
                }
            }
        }
    }
    let names = entry.variants.iter().map(|VariantEntry { name, .. }| name.value.clone());
    std::iter::once(BASE.to_owned()).chain(names).collect()
}

/// Returns the indices of the materials in use with a name.
fn named(file: &File<'_>, materials: &Materials, name: &At<String>) -> Result<Vec<usize>, Diagnostic> {
    let named = |(slot, material): (usize, &crate::model::Material)| (material.name == name.value).then_some(slot);
    let slots: Vec<usize> = materials.list.iter().enumerate().filter_map(named).collect();
    if !slots.is_empty() {
        return Ok(slots);
    }
    let names = || materials.list.iter().map(|material| &*material.name).filter(|name| !name.is_empty());
    let unused = file.document.materials.iter().any(|material| material.name.as_ref() == Some(&name.value));
    let help = match closest(&name.value, names()) {
        _ if unused => {
            "no mesh that is baked has the material: correct `include` and `exclude`, or remove it".to_owned()
        }
        Some(near) => format!("did you mean {}?", quoted(near)),
        None if names().next().is_none() => "name the material in the modelling tool, and export the file again".into(),
        None => format!("the model has the materials {}", list(names(), LISTED)),
    };
    let message = format!("not found in {}", file.shown);
    Err(Diagnostic::error(DiagnosticCode::MaterialNotFound, message).help(help))
}

impl Materials {
    /// Sets the image of a material in a variant, given the number of variants.
    fn set_variant(&mut self, slot: usize, (variant, count): (usize, usize), image: usize) -> Result<(), Diagnostic> {
        let material = &mut self.list[slot];
        let Some(base) = material.base_color_texture.map(|texture| texture.image) else {
            let message = "the material has no base colour texture that an image could replace";
            let help = "give the material a base colour texture in the modelling tool, and export the file again";
            return Err(Diagnostic::error(DiagnosticCode::MaterialVariant, message).help(help));
        };
        let [own, other] = [base, image].map(|image| &self.textures.images[image]);
        if [own.width, own.height] != [other.width, other.height] {
            let message = format!(
                "{} has {} x {} texels, but the base colour of the material has {} x {}",
                other.name, other.width, other.height, own.width, own.height
            );
            let help = "scale one of the two images: all variants of a material are layers of one texture";
            return Err(Diagnostic::error(DiagnosticCode::MaterialVariant, message).help(help));
        }
        let images = &mut material.variant_images;
        if images.is_empty() {
            *images = vec![base; count];
        }
        images[variant] = image;
        Ok(())
    }
}

/// Warns about variants of the file, which are not baked.
fn warn_of_extension(file: &File<'_>, entry: &ModelEntry, report: &mut Report<'_>) {
    if !entry.variants.is_empty() || !file.document.extensions_used.iter().any(|name| name == EXTENSION) {
        return;
    }
    let message = format!("the variants of {EXTENSION} are not baked: the model has the look without them");
    let help = "write the base colour images of each variant under [model.variants]";
    let diagnostic = Diagnostic::warning(DiagnosticCode::MaterialExtension, message).help(help);
    report.warn(diagnostic.within(Label::file(&file.shown)));
}
