//! Analysis of a glTF file for people: size, rig, clips, likely mistakes, and a draft of a manifest.
//!
//! The commands `inspect` and `new` print and use it. A bake does not depend on it.

mod clips;
mod draft;
mod hints;
mod rig;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
use crate::identifier_case::snake;
use crate::import::{FileOutline, Inputs, import_with_or_without_clips, outline};
use crate::manifest::Manifest;
use crate::model::Model;
use crate::pose_extent::rest_bounds;

pub(crate) use clips::ClipSummary;
pub(crate) use hints::Hint;
use rig::Rig;
pub(crate) use rig::{Role, Side};

/// Number of influences per vertex that the histogram distinguishes; its last entry also counts
/// vertices with more.
pub(crate) const INFLUENCE_BINS: usize = 8;

/// Findings about a glTF file.
#[derive(Debug)]
pub(crate) struct Analysis {
    /// Path of the file as given.
    pub path: String,
    /// Size of the .glb or .gltf file, in bytes.
    pub bytes: u64,
    pub outline: FileOutline,
    /// The imported model; `None` if it has errors.
    pub model: Option<Model>,
    /// Shape of the mesh; `None` without a model.
    pub geometry: Option<Geometry>,
    /// Role of each node of the rig, for example hand or head. `[node]`
    pub roles: Vec<Option<(Role, Option<Side>)>>,
    pub clips: Vec<ClipSummary>,
    pub hints: Vec<Hint>,
    /// Errors and warnings of the baker, without locations in a manifest.
    pub diagnostics: Diagnostics,
    /// The model's file, and the buffers and images that it refers to.
    pub inputs: BTreeSet<PathBuf>,
    rig: Rig,
    /// Number of nodes of the scene per name.
    name_counts: BTreeMap<String, usize>,
    /// Correction of the unit, if the size is implausible.
    scale: Option<f64>,
    /// Whether the model's up axis is z.
    z_up: bool,
}

/// Shape of the mesh in the rest pose, one unit of the file being one metre.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    /// Corners of the bounding box, in metres.
    pub min: [f32; 3],
    pub max: [f32; 3],
    pub triangles: usize,
    pub vertices: usize,
    /// Number of vertices with 1, 2, ... influences; the last entry counts that number or more.
    pub influences: [usize; INFLUENCE_BINS],
}

impl Geometry {
    fn new(model: &Model) -> Self {
        let bounds = rest_bounds(model);
        let mut influences = [0; INFLUENCE_BINS];
        for primitive in &model.primitives {
            for vertex in 0..primitive.positions.len() {
                let count = primitive.influences.of(vertex).len().clamp(1, INFLUENCE_BINS);
                influences[count - 1] += 1;
            }
        }
        Self {
            min: bounds.min,
            max: bounds.max,
            triangles: model.primitives.iter().map(|p| p.triangles.len()).sum(),
            vertices: model.primitives.iter().map(|p| p.positions.len()).sum(),
            influences,
        }
    }

    /// Returns the lengths of the bounding box's edges, in metres. `[x, y, z]`
    pub(crate) fn size(&self) -> [f32; 3] {
        [0, 1, 2].map(|axis| (self.max[axis] - self.min[axis]).max(0.0))
    }
}

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
        let minimal = format!("[[model]]\nname = {:?}\npath = {}\n", model_name(path), draft::string(shown));
        let manifest = parse(&minimal)?;
        let entry = &manifest.models[0];
        let Some(outline) = outline(&manifest, entry, &mut diagnostics, &mut inputs) else {
            return Err(diagnostics);
        };
        let titles = clips::titles(&outline.animations);
        let manifest = match clips::need_names(&titles) {
            true => parse(&(minimal + &clips::tables(&titles)))?,
            false => manifest,
        };
        let model = import_with_or_without_clips(&manifest, &manifest.models[0], &mut diagnostics, &mut inputs);
        let diagnostics = without_locations(diagnostics);

        let geometry = model.as_ref().filter(|m| !m.primitives.is_empty()).map(Geometry::new);
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
        };
        analysis.add_hints();
        Ok(analysis)
    }

    /// Whether the baker bakes the file without errors.
    pub(crate) fn is_bakeable(&self) -> bool {
        self.model.is_some() && !self.diagnostics.has_errors()
    }

    /// Returns the size of the model as the draft bakes it, in metres. `[x, y, z]`, y up
    pub(crate) fn baked_size(&self) -> Option<[f32; 3]> {
        let [x, y, z] = self.geometry?.size().map(|length| length * self.scale.unwrap_or(1.0) as f32);
        Some(if self.z_up { [x, z, y] } else { [x, y, z] })
    }
}

/// Parses a manifest in the current folder.
fn parse(text: &str) -> Result<Manifest, Diagnostics> {
    Manifest::parse(Path::new("gpuskin.toml"), text).map_err(without_locations)
}

/// Removes locations in the manifest, which the user did not write.
fn without_locations(diagnostics: Diagnostics) -> Diagnostics {
    let mut result = Diagnostics::default();
    diagnostics.into_iter().for_each(|diagnostic| result.push(diagnostic.without_location()));
    result
}

/// Returns a name for the model of a file: letters, digits and `_`, a letter first.
pub(crate) fn model_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ascii: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(60).collect();
    let name = if ascii.contains(|c: char| c.is_ascii_alphanumeric()) { snake(&ascii) } else { String::new() };
    match name.trim_start_matches('_') {
        "" => "model".to_owned(),
        name if name.starts_with(|c: char| c.is_ascii_digit()) => format!("m{name}"),
        name => name.to_owned(),
    }
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
