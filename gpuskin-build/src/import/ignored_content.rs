//! Warnings about content of a file that is not drawn.

use std::collections::{BTreeMap, BTreeSet};

use super::file::{File, is_known};
use super::material::UNLIT;
use super::report::Report;
use super::surface_layers::{CLEARCOAT, SHEEN};
use super::vrm;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::suggest::{list, quoted};

/// Maximum number of names that a warning lists.
const LISTED: usize = 5;

/// Warns about material extensions that are not drawn, once for all materials with the same set of
/// extensions. [`unknown_extensions`] tells of those of VRM.
pub(super) fn material_extensions(file: &File<'_>, used: impl Iterator<Item = usize>, report: &mut Report<'_>) {
    let mut by_extensions: BTreeMap<Vec<&str>, Vec<String>> = BTreeMap::new();
    for index in used {
        let Some(material) = file.document.materials.get(index) else { continue };
        let Some(extensions) = &material.extensions else { continue };
        let drawn = [UNLIT, CLEARCOAT, SHEEN];
        let names: BTreeSet<&str> = extensions
            .others
            .keys()
            .map(String::as_str)
            .filter(|name| !drawn.contains(name) && !vrm::is_extension(name))
            .collect();
        if !names.is_empty() {
            let name = material.name.clone().unwrap_or_else(|| format!("material {index}"));
            by_extensions.entry(names.into_iter().collect()).or_default().push(name);
        }
    }
    for (extensions, materials) in by_extensions {
        let message = format!(
            "extensions of materials {} are not drawn: {}",
            list(materials.iter().map(String::as_str), LISTED),
            list(extensions.iter().copied(), LISTED),
        );
        report.warn(Diagnostic::warning(DiagnosticCode::MaterialExtension, message).within(Label::file(&file.shown)));
    }
}

/// Warns about unknown extensions in `extensionsUsed`, and about those of VRM, of which only the humanoid bones are
/// read. Unknown extensions in `extensionsRequired` are errors.
pub(super) fn unknown_extensions(file: &File<'_>, report: &mut Report<'_>) {
    let used: BTreeSet<&str> = file.document.extensions_used.iter().map(String::as_str).collect();
    let unread = used.into_iter().filter(|name| !is_known(name));
    let (vrm, unknown): (Vec<&str>, Vec<&str>) = unread.partition(|name| vrm::is_extension(name));
    let mut warn = |message: String, help: Option<&str>| {
        let warning = Diagnostic::warning(DiagnosticCode::GltfExtension, message).within(Label::file(&file.shown));
        report.warn(help.into_iter().fold(warning, Diagnostic::help));
    };
    if !vrm.is_empty() {
        let message = format!("of the VRM extensions {}, only the humanoid bones are read", list(vrm, LISTED));
        let help = "spring bones need clips that move them; expressions are morph targets, which clips and `set_morphs` \
                    weight; MToon materials are drawn as the glTF materials that they extend";
        warn(message, Some(help));
    }
    if !unknown.is_empty() {
        warn(format!("the file uses unknown extensions: {}", list(unknown, LISTED)), None);
    }
}

/// Warns about scenes that are not baked.
pub(super) fn other_scenes(file: &File<'_>, report: &mut Report<'_>) {
    let scenes = &file.document.scenes;
    let drawn = file.document.scene.map_or(0, |scene| scene.value());
    if scenes.len() < 2 || drawn >= scenes.len() {
        return;
    }
    let name = |i: usize| scenes[i].name.clone().unwrap_or_else(|| format!("scene {i}"));
    let others: Vec<String> = (0..scenes.len()).filter(|i| *i != drawn).map(name).collect();
    let which =
        if file.document.scene.is_some() { "the default" } else { "the first, because the file has no default scene" };
    let message = format!(
        "the file has {} scenes: {} ({which}) is baked, but not {}",
        scenes.len(),
        quoted(&name(drawn)),
        list(others.iter().map(String::as_str), LISTED)
    );
    report.warn(Diagnostic::warning(DiagnosticCode::SceneMultiple, message).within(Label::file(&file.shown)));
}
