//! Result of an analysis.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::clips::ClipSummary;
use super::rig::{Rig, Role, Side};
use crate::diagnostic::Diagnostics;
use crate::import::FileOutline;
use crate::model::Model;
use crate::pose_extent::rest_bounds;

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
    pub geometry: Option<GeometrySummary>,
    /// Role of each node of the rig, for example hand or head. `[node]`
    pub roles: Vec<Option<(Role, Option<Side>)>>,
    pub clips: Vec<ClipSummary>,
    pub hints: Vec<Hint>,
    /// Errors and warnings of the baker, without locations in a manifest.
    pub diagnostics: Diagnostics,
    /// The model's file, and the buffers and images that it refers to.
    pub inputs: BTreeSet<PathBuf>,
    pub(super) rig: Rig,
    /// Number of nodes of the scene per name.
    pub(super) name_counts: BTreeMap<String, usize>,
    /// Correction of the unit, if the size is implausible.
    pub(super) scale: Option<f64>,
    /// Whether the model's up axis is z.
    pub(super) z_up: bool,
    /// Value of the manifest's `forward`, if the model does not look along the default.
    pub(super) forward: Option<&'static str>,
}

/// Shape of the mesh in the rest pose, one unit of the file being one metre.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeometrySummary {
    /// Corners of the bounding box, in metres.
    pub min: [f32; 3],
    pub max: [f32; 3],
    pub triangles: usize,
    pub vertices: usize,
    /// Number of vertices with 1, 2, ... influences; the last entry counts that number or more.
    pub influences: [usize; INFLUENCE_BINS],
}

impl GeometrySummary {
    pub(super) fn new(model: &Model) -> Self {
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

/// A likely mistake in a file.
#[derive(Clone, Debug)]
pub(crate) struct Hint {
    /// The observation.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl Analysis {
    /// Whether the baker bakes the file without errors.
    pub(crate) fn is_bakeable(&self) -> bool {
        self.model.is_some() && !self.diagnostics.has_errors()
    }

    /// Returns the size of the model as the draft bakes it, in metres. `[x, y, z]`, y up
    pub(crate) fn baked_size(&self) -> Option<[f32; 3]> {
        let [x, y, z] = self.geometry?.size().map(|length| length * self.scale.unwrap_or(1.0) as f32);
        let [x, y, z] = if self.z_up { [x, z, y] } else { [x, y, z] };
        Some(if matches!(self.forward, Some("x" | "-x")) { [z, y, x] } else { [x, y, z] })
    }
}
