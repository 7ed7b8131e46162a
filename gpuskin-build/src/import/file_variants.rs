//! Variants of a glTF file: `KHR_materials_variants`, which gives primitives other materials.

use std::collections::{BTreeMap, BTreeSet};

use gltf::json;
use serde_json::{Map, Value};

use super::document::GltfPrimitive;
use super::file::File;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::identifier_case::{constant, has_words, snake};
use crate::manifest::{BASE, ModelEntry};
use crate::suggest::quoted;

pub(super) const EXTENSION: &str = "KHR_materials_variants";

/// Materials of a primitive by the number of the variant, where they are not the primitive's own. Variants of the file
/// are numbered from 1; 0 is the model's own look.
pub(super) type VariantMaterials = BTreeMap<u8, usize>;

/// Returns the names of the file's variants in snake case, without repetition; `None` if they are not read.
///
/// Names that would become the constant of another one, or that cannot become an identifier, get a number.
pub(super) fn names(file: &File<'_>, entry: &ModelEntry, most: usize, report: &mut Report<'_>) -> Option<Vec<String>> {
    if !entry.file_variants {
        return None;
    }
    let listed = file.document.extensions.variants.as_ref().map_or(&[][..], |list| &list.variants);
    if listed.len() > most {
        let message = format!("{EXTENSION}: the file has {} variants; a model can have at most {most}", listed.len());
        let help = "remove variants from the file, or leave them all out with `file_variants = false`";
        let diagnostic = Diagnostic::error(DiagnosticCode::LimitVariants, message).help(help);
        report.error(diagnostic.within(Label::file(&file.shown)));
        return None;
    }
    let mut taken = BTreeSet::from([constant(BASE)]);
    let mut names = Vec::with_capacity(listed.len());
    for (number, variant) in (1..).zip(listed) {
        let written = variant.name.as_deref().filter(|name| has_words(name));
        let wanted = written.map_or_else(|| format!("variant_{number}"), snake);
        let numbered = (number..).map(|number: usize| format!("{wanted}_{number}"));
        let mut free = std::iter::once(wanted.clone()).chain(numbered).filter(|name| taken.insert(constant(name)));
        let name = free.next().expect("there are more numbers than variants");
        if written.is_some() && name != wanted {
            let message = format!(
                "{EXTENSION}: the name of variant {} is taken; the variant is named {}",
                quoted(written.unwrap_or_default()),
                quoted(&name)
            );
            let diagnostic = Diagnostic::warning(DiagnosticCode::NameCollision, message);
            report.warn(diagnostic.help("rename the variant in the file").within(Label::file(&file.shown)));
        }
        names.push(name);
    }
    Some(names)
}

/// Returns the materials of a primitive in the file's variants. `count`: number of variants; `None` if they are not read.
pub(super) fn materials(
    file: &File<'_>,
    primitive: &GltfPrimitive,
    count: Option<usize>,
    label: &Label,
    report: &mut Report<'_>,
) -> Result<VariantMaterials, Diagnostic> {
    let mut found = VariantMaterials::new();
    let (Some(mappings), Some(count)) = (&primitive.extensions.variants, count) else { return Ok(found) };
    let own = primitive.material.map(|material| material.value());
    let mut mapped = BTreeSet::new();
    for mapping in &mappings.mappings {
        file.get(&file.document.materials, mapping.material, "material").map_err(|e| e.within(EXTENSION))?;
        for &variant in &mapping.variants {
            let number = usize::try_from(variant).ok().filter(|variant| *variant < count).map(|variant| variant + 1);
            let Some(number) = number.and_then(|number| u8::try_from(number).ok()) else {
                let message = format!("variant {variant} does not exist; the file has {count}");
                return Err(Diagnostic::error(DiagnosticCode::GltfIndex, message).within(EXTENSION));
            };
            if !mapped.insert(number) {
                let message = format!("variant {variant} has two materials; the first is used");
                let diagnostic = Diagnostic::warning(DiagnosticCode::MaterialInvalid, message);
                report.warn(diagnostic.collected().within(EXTENSION).within(label));
            } else if own != Some(mapping.material.value()) {
                found.insert(number, mapping.material.value());
            }
        }
    }
    Ok(found)
}

/// Returns the names of the properties, apart from the base colour, in which a material differs from the one that it
/// replaces in a variant. `own`: index of the latter; `None` is the default material.
pub(super) fn differences(file: &File<'_>, own: Option<usize>, other: usize) -> Result<Vec<String>, Diagnostic> {
    let materials = &file.document.materials;
    let of = |index: usize| {
        let properties = properties(file, &materials[index]);
        properties.map_err(|message| {
            let message = format!("the material cannot be compared: {message}");
            Diagnostic::error(DiagnosticCode::MaterialInvalid, message).within(format!("material {index}"))
        })
    };
    let own = match own {
        Some(own) => of(own)?,
        None => properties(file, &json::Material::default()).unwrap_or_default(),
    };
    let other = of(other)?;
    let names: BTreeSet<&String> = own.keys().chain(other.keys()).collect();
    let names = names.into_iter().filter(|name| own.get(*name) != other.get(*name));
    Ok(names.cloned().collect())
}

/// Returns the properties of a material apart from its name and its base colour. Those of nested objects are listed
/// by their own names; textures are given by image and sampler.
fn properties(file: &File<'_>, material: &json::Material) -> Result<Map<String, Value>, serde_json::Error> {
    let Value::Object(mut properties) = serde_json::to_value(material)? else { return Ok(Map::new()) };
    let [mut extensions, mut factors] =
        ["extensions", "pbrMetallicRoughness"].map(|name| object(properties.remove(name)));
    if let Some(Value::Object(glossy)) = extensions.get_mut("KHR_materials_pbrSpecularGlossiness") {
        glossy.retain(|name, _| !["diffuseFactor", "diffuseTexture"].contains(&&**name));
    }
    properties.append(&mut extensions);
    properties.append(&mut factors);
    properties.retain(|name, _| !["name", "extras", "baseColorFactor", "baseColorTexture"].contains(&&**name));
    let mut values: Vec<&mut Value> = properties.values_mut().collect();
    while let Some(value) = values.pop() {
        match value {
            Value::Array(items) => values.extend(items),
            Value::Object(members) => {
                if let Some(index) = members.get_mut("index") {
                    let texture = index.as_u64().and_then(|i| file.document.textures.get(usize::try_from(i).ok()?));
                    if let Some(texture) = texture {
                        let [image, sampler] =
                            [texture.image().map(|i| i.value()), texture.sampler.map(|sampler| sampler.value())];
                        *index = serde_json::json!([image, sampler]);
                    }
                }
                values.extend(members.values_mut());
            }
            _ => {}
        }
    }
    Ok(properties)
}

fn object(value: Option<Value>) -> Map<String, Value> {
    if let Some(Value::Object(object)) = value { object } else { Map::new() }
}
