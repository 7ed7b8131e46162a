//! Variants of a model, which are images that replace base colour textures, and tint masks.

use std::collections::BTreeMap;

use gpuskin_rt::internals::MAX_VARIANTS;

use super::file::File;
use super::file_variants;
use super::looks::Look;
use super::material::Materials;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::identifier_case::constant;
use crate::manifest::{At, BASE, MaterialImage, ModelEntry, VariantEntry};
use crate::suggest::{closest, list, quoted};

/// Maximum number of names that a message lists.
const LISTED: usize = 8;

/// Names of a model's variants.
pub(super) struct VariantNames {
    /// [`BASE`], then the variants of the file, then those that only the manifest has; empty if there are none.
    pub names: Vec<String>,
    /// Number of variants of the file; `None` if they are not read.
    pub of_file: Option<usize>,
    /// Index into [`Self::names`] per variant of the manifest.
    of_manifest: Vec<usize>,
}

impl VariantNames {
    /// Reads the names. A variant of the manifest whose constant is that of a variant of the file adds to that variant.
    pub(super) fn read(file: &File<'_>, entry: &ModelEntry, report: &mut Report<'_>) -> Self {
        let most = MAX_VARIANTS - 1;
        let of_file = file_variants::names(file, entry, most, report);
        let count = of_file.as_ref().map(Vec::len);
        let mut names: Vec<String> = std::iter::once(BASE.to_owned()).chain(of_file.into_iter().flatten()).collect();
        let mut of_manifest = Vec::with_capacity(entry.variants.len());
        for VariantEntry { name, .. } in &entry.variants {
            let same = names.iter().position(|other| constant(other) == constant(&name.value));
            let index = same.unwrap_or(names.len());
            if same.is_none() {
                names.push(name.value.clone());
            } else {
                names[index].clone_from(&name.value);
            }
            of_manifest.push(index);
        }
        if names.len() > MAX_VARIANTS {
            let message =
                format!("the file and the manifest have {} variants; a model can have at most {most}", names.len() - 1);
            let help = "remove variants from the manifest, or leave those of the file out with `file_variants = false`";
            let diagnostic = Diagnostic::error(DiagnosticCode::LimitVariants, message).help(help);
            report.error(diagnostic.within(Label::file(&file.shown)));
        }
        if names.len() == 1 {
            names.clear();
        }
        Self { names, of_file: count, of_manifest }
    }
}

/// Reads the images of the manifest's variants and its tint masks, and sets the images of all variants.
pub(super) fn read(
    file: &File<'_>,
    entry: &ModelEntry,
    variants: &VariantNames,
    materials: &mut Materials,
    report: &mut Report<'_>,
) {
    let mut images: BTreeMap<&str, Result<usize, Diagnostic>> = BTreeMap::new();
    for (&index, variant) in variants.of_manifest.iter().zip(&entry.variants) {
        for MaterialImage { material, path } in &variant.images {
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
                if let Err(diagnostic) = materials.set_variant(slot, index, image) {
                    report.error_at(&path.span, within(diagnostic));
                }
            }
        }
    }
    for MaterialImage { material, path } in &entry.tint_masks {
        let within = |diagnostic: Diagnostic| {
            diagnostic.within(format!("material {}", quoted(&material.value))).within("tint mask")
        };
        let slots = match named(file, materials, material) {
            Ok(slots) => slots,
            Err(diagnostic) => {
                report.error_at(&material.span, within(diagnostic));
                continue;
            }
        };
        let bytes = file.beside_manifest(&path.value);
        let image =
            bytes.and_then(|bytes| materials.textures.other_image(path.value.clone(), &bytes, file.limits().image));
        let set = image.and_then(|image| slots.into_iter().try_for_each(|slot| materials.set_tint_mask(slot, image)));
        set.unwrap_or_else(|diagnostic| report.error_at(&path.span, within(diagnostic)));
    }
    if report.failed() {
        return;
    }
    let Materials { textures, list, looks, .. } = materials;
    let (count, most) = (variants.names.len(), file.limits().image);
    let mut pairs = list.iter_mut().zip(looks.iter());
    let baked = pairs.try_for_each(|(material, looks)| looks.bake(material, textures, count, most));
    report.take(baked.map_err(|diagnostic| diagnostic.within(Label::file(&file.shown))));
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
    /// Sets the tint mask of a material. `image`: its index in the images of the model.
    fn set_tint_mask(&mut self, slot: usize, image: usize) -> Result<(), Diagnostic> {
        let error =
            |message: String, help| Err(Diagnostic::error(DiagnosticCode::MaterialTintMask, message).help(help));
        let material = &mut self.list[slot];
        if material.alpha_cutoff.is_some() || material.alpha_blend {
            let help = "make the material opaque: a mask takes the place of the alpha of its base colour";
            return error("the material has alpha of its own".to_owned(), help);
        }
        let Some(base) = self.looks[slot].image() else {
            let help = "give the material a base colour texture in the modelling tool, and export the file again";
            return error(
                "the material has no base colour texture beside which a mask could be stored".to_owned(),
                help,
            );
        };
        let [own, mask] = [base, image].map(|image| &self.textures.images[image]);
        if [own.width, own.height] != [mask.width, mask.height] {
            let message = format!(
                "{} has {} x {} texels, but the base colour of the material has {} x {}",
                mask.name, mask.width, mask.height, own.width, own.height
            );
            return error(message, "scale the mask to the size of the base colour");
        }
        material.tint_mask = Some(image);
        Ok(())
    }

    /// Sets the image of a material in a variant. The factor is that of the material itself.
    fn set_variant(&mut self, slot: usize, variant: usize, image: usize) -> Result<(), Diagnostic> {
        let looks = &mut self.looks[slot];
        let Some(base) = looks.image() else {
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
        looks.set(variant, Look { image: Some(image), ..looks.own() });
        Ok(())
    }
}
