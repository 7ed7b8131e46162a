//! Reader of `animations` and of the bones of humanoids.

use toml::de::DeValue;

use super::gameplay::named;
use super::section::{Notes, Section, Value, shorten, string};
use super::{AnimationEntry, At, BoneEntry, keys};
use crate::diagnostic::DiagnosticCode;

/// Reads the animation files of a model: paths, or tables with a path.
pub(super) fn read(section: Section<'_>, notes: &mut Notes) -> Vec<AnimationEntry> {
    let Some(value) = section.get("animations") else { return Vec::new() };
    match value.get_ref() {
        DeValue::Array(array) => array.iter().filter_map(|value| file(value, notes)).collect(),
        DeValue::String(text) => {
            let help = format!("write [{}]", toml::Value::from(shorten(text)));
            let message = "`animations` must be an array, not a string";
            notes.error(DiagnosticCode::ManifestType, value.span(), message, help);
            Vec::new()
        }
        _ => {
            notes.expected("animations", "an array of paths and tables", value);
            Vec::new()
        }
    }
}

fn file(value: Value<'_>, notes: &mut Notes) -> Option<AnimationEntry> {
    let DeValue::Table(table) = value.get_ref() else {
        let path = string(value, "animations", "an array of paths and tables", notes)?;
        return Some(AnimationEntry { path, retarget: None });
    };
    let section = Section::new(table, &keys::ANIMATION, notes);
    let path = section.string("path", notes);
    let wanted = section.choice("retarget", &keys::SKELETONS, notes);
    let bones = bones(section, "bones", notes);
    if let (Some(value), None) = (section.get("bones"), section.get("retarget")) {
        let help = "add `retarget = \"humanoid\"`, or remove `bones`";
        notes.error(DiagnosticCode::ManifestConflict, value.span(), "`bones` needs `retarget`", help);
    }
    if section.get("path").is_none() {
        let help = "add path = \"art/run.glb\"";
        notes.error(DiagnosticCode::ManifestMissing, value.span(), "the file has no `path`", help);
    }
    Some(AnimationEntry { path: path?, retarget: wanted.map(|_| bones) })
}

/// Reads a table of nodes by bone. The importer checks the names.
pub(super) fn bones(section: Section<'_>, key: &str, notes: &mut Notes) -> Vec<BoneEntry> {
    let Some(value) = section.get(key) else { return Vec::new() };
    let expected = "a table of nodes by bone, such as { left_foot = \"Ankle.L\" }";
    let mut bones = Vec::new();
    for (bone, value) in named(value, key, expected, notes) {
        let node = string(value, &shorten(&bone.value), "the name of a node", notes);
        bones.extend(node.map(|node: At<String>| BoneEntry { bone, node }));
    }
    bones
}
