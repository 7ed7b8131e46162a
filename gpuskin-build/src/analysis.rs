//! Analysis of a glTF file for people: size, rig, clips, likely mistakes, and a draft of a manifest.
//!
//! The commands `inspect` and `new` print and use it. A bake does not depend on it.

mod clips;
mod draft;
mod hints;
mod manifest_text;
mod rig;
mod summary;

use std::collections::BTreeMap;
use std::path::Path;

use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
use crate::import::{FileOutline, Inputs, import_with_or_without_clips, outline};
use crate::manifest::Manifest;

pub(crate) use clips::ClipSummary;
pub(crate) use draft::Draft;
use manifest_text::{model_name, string, without_locations};
use rig::Rig;
pub(crate) use rig::Role;
pub(crate) use summary::{Analysis, GeometrySummary, INFLUENCE_BINS};

impl Analysis {
    /// Analyses a glTF file.
    ///
    /// # Errors
    /// Returns the errors of a file that cannot be read as glTF. Other errors are part of the
    /// analysis.
    pub(crate) fn new(path: &Path) -> Result<Self, Diagnostics> {
        let Some(shown) = path.to_str() else {
            let message = format!("the path {} is not UTF-8", path.display());
            return Err(Diagnostic::error(DiagnosticCode::FileUnreadable, message).into());
        };
        let mut inputs = Inputs::without_digests();
        let mut diagnostics = Diagnostics::default();
        let minimal = format!("[[model]]\nname = {:?}\npath = {}\n", model_name(path), string(shown));
        let manifest = parse(&minimal)?;
        let entry = &manifest.models[0];
        let Some(outline) = outline(&manifest, entry, &mut diagnostics, &mut inputs) else {
            return Err(diagnostics);
        };
        let model = import_with_or_without_clips(&manifest, entry, &mut diagnostics, &mut inputs);
        let diagnostics = without_locations(diagnostics);

        let geometry = model.as_ref().filter(|m| !m.primitives.is_empty()).map(GeometrySummary::new);
        let rig = Rig::new(&outline, model.as_ref());
        let clips = model.as_ref().map(clips::summaries).unwrap_or_default();
        let mut analysis = Self {
            path: shown.to_owned(),
            bytes: std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
            roles: rig.roles.clone(),
            name_counts: name_counts(&outline),
            outline,
            model,
            geometry,
            clips,
            hints: Vec::new(),
            diagnostics,
            inputs: inputs.paths().cloned().collect(),
            rig,
            scale: None,
            z_up: false,
            forward: None,
        };
        analysis.add_hints();
        Ok(analysis)
    }
}

/// Parses a manifest in the current folder.
fn parse(text: &str) -> Result<Manifest, Diagnostics> {
    Manifest::parse(Path::new("gpuskin.toml"), text).map_err(without_locations)
}

fn name_counts(outline: &FileOutline) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in outline.nodes.iter().filter(|n| n.in_scene).filter_map(|n| n.name.clone()) {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests;
