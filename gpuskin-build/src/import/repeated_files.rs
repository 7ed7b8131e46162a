//! Files that the manifest names twice for one model.

use std::path::{Component, Path};

use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::manifest::{AnimationEntry, ModelEntry};

/// Returns the files of `animations`, each once, without the model's own file. Reports the others, whose clips would
/// all have the names of clips that are there already.
pub(super) fn without<'a>(entry: &'a ModelEntry, report: &mut Report<'_>) -> Vec<&'a AnimationEntry> {
    let mut files: Vec<&AnimationEntry> = Vec::with_capacity(entry.animations.len());
    for animation in &entry.animations {
        let AnimationEntry { path, .. } = animation;
        let file = components(&path.value);
        let (diagnostic, first) = if components(&entry.path.value) == file {
            let message =
                format!("`animations` names {}, which is the model's own file: its clips are read once", path.value);
            let help = "remove the file from `animations`; the clips of `path` are baked without it";
            (Diagnostic::warning(DiagnosticCode::ManifestNoEffect, message).help(help), &entry.path)
        } else if let Some(first) = files.iter().find(|first| components(&first.path.value) == file) {
            let diagnostic = if bones(first) == bones(animation) {
                let message = format!("`animations` names {} twice: its clips are read once", path.value);
                Diagnostic::warning(DiagnosticCode::ManifestNoEffect, message)
            } else {
                let message = format!("`animations` names {} twice, with different `retarget` or `bones`", path.value);
                Diagnostic::error(DiagnosticCode::ManifestConflict, message)
            };
            (diagnostic.help("remove one of the two from `animations`"), &first.path)
        } else {
            files.push(animation);
            continue;
        };
        report.add_at(&path.span, (&first.span, "first here"), diagnostic);
    }
    files
}

/// Returns the components of a path without `.`, and with `..` applied to the folder before it.
fn components(path: &str) -> Vec<Component<'_>> {
    let mut components: Vec<Component<'_>> = Vec::new();
    for component in Path::new(path).components() {
        match (component, components.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                components.pop();
            }
            _ => components.push(component),
        }
    }
    components
}

/// Returns the bones and nodes of a retargeted file; `None` if it is not retargeted.
fn bones(animation: &AnimationEntry) -> Option<Vec<(&str, &str)>> {
    let bones = animation.retarget.as_ref()?;
    Some(bones.iter().map(|entry| (&*entry.bone.value, &*entry.node.value)).collect())
}
