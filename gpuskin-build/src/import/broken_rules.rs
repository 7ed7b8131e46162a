//! Warnings about rules of glTF that a file breaks without an effect on the model.

use super::document::BYTE_ORDER_MARK;
use super::file::File;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};

/// Warns about the container, and about indices that are ignored.
pub(super) fn warn(file: &File<'_>, report: &mut Report<'_>) {
    let document = &file.document;
    let mut warn = |message: &str| {
        let diagnostic = Diagnostic::warning(DiagnosticCode::GltfBrokenRule, message);
        report.warn(diagnostic.within(Label::file(&file.shown)));
    };
    file.broken_rules.iter().for_each(|rule| warn(rule));
    if file.json().starts_with(BYTE_ORDER_MARK) {
        warn("the JSON starts with a byte order mark, which is ignored");
    }
    if let (Some(scene), true) = (document.scene, document.scenes.is_empty()) {
        warn(&format!("the default scene is {scene}, but the file has no scenes; all nodes are read"));
    }
    let nodes = document.nodes.len();
    for (i, skin) in document.skins.iter().enumerate() {
        if let Some(skeleton) = skin.skeleton.filter(|skeleton| skeleton.value() >= nodes) {
            warn(&format!(
                "skin {i}: `skeleton` is node {skeleton}, but the file has {nodes} nodes; the value is ignored"
            ));
        }
    }
}
