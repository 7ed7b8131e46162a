//! Content of a report, as written to JSON. docs/guide/src/report.md describes the fields.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::number::Number;

/// First field of a report: names the kind of file.
pub(crate) const FORMAT: &str = "gpuskin-report";
/// Version of the fields. A report of another version is refused.
pub(crate) const VERSION: u32 = 1;

/// Report of a bake.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) format: String,
    pub(crate) version: u32,
    /// Name and version of the baker.
    pub(crate) baker: String,
    /// Whether the bake failed. `models` is empty then.
    pub(crate) failed: bool,
    /// Names of the models of a failed bake, in the order of the manifest.
    pub(crate) not_baked: Vec<String>,
    /// Models in the order of the manifest. Variants for other classes of devices follow their model.
    pub(crate) models: Vec<ModelReport>,
    /// Errors and warnings, with the fields of `--message-format json`.
    pub(crate) diagnostics: Vec<Box<RawValue>>,
}

/// A model in one encoding.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ModelReport {
    pub(crate) name: String,
    /// 0, or the number of a variant for another class of devices.
    pub(crate) variant: usize,
    pub(crate) encoding: String,
    /// Whether the texture has vertices instead of bones.
    pub(crate) vertex_mode: bool,
    pub(crate) vertices: u32,
    pub(crate) triangles: u64,
    pub(crate) texture: TextureReport,
    /// Files that a game ships. A device loads one of the formats of a texture.
    pub(crate) files: Vec<FileReport>,
    /// Bytes of the files by kind of data.
    pub(crate) data: Vec<DataReport>,
    /// Bytes of animation and vertices on the GPU.
    pub(crate) gpu_bytes: u64,
    pub(crate) budgets: BudgetsReport,
    pub(crate) clips: Vec<ClipReport>,
    pub(crate) bones: Vec<String>,
    pub(crate) levels: Vec<LevelReport>,
    /// Encodings that were evaluated; empty if one is named and `--explain` is not given.
    pub(crate) candidates: Vec<CandidateReport>,
    pub(crate) parts: Vec<String>,
    /// Bytes of the mesh by part; empty if the model has no parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) part_bytes: Vec<PartBytesReport>,
    pub(crate) masks: Vec<MaskReport>,
}

/// Bytes of the mesh that belong to a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PartBytesReport {
    /// `None`: what is always visible.
    pub(crate) part: Option<String>,
    pub(crate) vertices: u64,
    pub(crate) indices: u64,
    /// Indices of coarser levels.
    #[serde(rename = "levels of detail")]
    pub(crate) levels: u64,
}

/// Shape of the animation texture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TextureReport {
    pub(crate) format: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) layers: u32,
    pub(crate) frames: u32,
}

/// A file of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FileReport {
    /// File name without its folder, which is named by a hash.
    pub(crate) file: String,
    /// `animation`, `mesh` or `texture`.
    pub(crate) kind: String,
    /// Format of a texture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<String>,
    pub(crate) bytes: u64,
}

/// Bytes of one kind of data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DataReport {
    /// `animation`, `vertices`, `indices`, `levels of detail`, `morph targets`, `rest pose`, `other` or `textures`.
    pub(crate) kind: String,
    /// Format of textures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<String>,
    pub(crate) bytes: u64,
}

/// Tolerances of the errors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BudgetsReport {
    pub(crate) encoding: BudgetReport,
    pub(crate) motion: BudgetReport,
    pub(crate) normal: BudgetReport,
}

/// Tolerance of one kind of error.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BudgetReport {
    /// In metres; of normals, in degrees.
    pub(crate) limit: Number,
    /// Key of the manifest.
    pub(crate) key: String,
    /// Whether the manifest sets the key. Otherwise the limit is a default.
    pub(crate) set: bool,
}

/// A clip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ClipReport {
    pub(crate) name: String,
    /// Name in the glTF file.
    pub(crate) source: String,
    /// Number of stored frames.
    pub(crate) frames: u32,
    /// Number of intervals between frames.
    pub(crate) intervals: u32,
    pub(crate) fps: f64,
    pub(crate) seconds: f64,
    pub(crate) ends: EndsReport,
    pub(crate) root_motion: bool,
    pub(crate) additive: bool,
    pub(crate) events: Vec<EventReport>,
    /// Error at the frames.
    pub(crate) encoding: ErrorReport,
    /// Error at the frames and between them.
    pub(crate) motion: ErrorReport,
    /// Number of tracks with STEP keys. Vertices that they move are excluded between frames.
    pub(crate) step_tracks: usize,
    pub(crate) curve: CurveReport,
}

/// End of a clip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EndsReport {
    pub(crate) looped: bool,
    /// Whether the baker guessed it.
    pub(crate) guessed: bool,
    /// `none`, `frame added` or `blended`.
    pub(crate) change: String,
    /// Distance between the last and the first pose of the source, in metres.
    pub(crate) gap: Number,
}

/// An event of a clip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventReport {
    pub(crate) name: String,
    pub(crate) seconds: f64,
}

/// Errors of a clip. Distances in metres.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ErrorReport {
    pub(crate) max: Number,
    pub(crate) p9996: Number,
    pub(crate) normal_degrees: Number,
    /// Time of `max`, from the start of the clip.
    pub(crate) seconds: Number,
    /// Position of `max` in frames: 2.25 is a quarter of the way from frame 2 to frame 3.
    pub(crate) frame: f64,
    /// Source vertex of `max`.
    pub(crate) vertex: u32,
    /// Bone with the greatest weight at that vertex: index into the bones of the model.
    pub(crate) bone: u32,
}

/// Error of a clip over time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CurveReport {
    /// Number of frames that share a point; 1 unless the clip is long.
    pub(crate) frames_per_point: u32,
    pub(crate) at_frames: PointsReport,
    pub(crate) between: PointsReport,
}

/// Points of a curve, as columns of equal length.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PointsReport {
    pub(crate) seconds: Vec<Number>,
    /// Greatest distance of a vertex, in metres.
    pub(crate) error: Vec<Number>,
    pub(crate) vertex: Vec<u32>,
    pub(crate) bone: Vec<u32>,
}

/// A level of detail.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LevelReport {
    pub(crate) triangles: u64,
    /// Greatest distance to the finest level, in metres; 0 for the finest.
    pub(crate) error: Number,
}

/// An encoding that was evaluated.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CandidateReport {
    pub(crate) encoding: String,
    pub(crate) gpu_bytes: u64,
    /// Bytes per bone per frame; in vertex mode per vertex per frame.
    pub(crate) bytes_per_sample: f64,
    /// Greatest errors of all clips; `None` if they were not measured.
    pub(crate) errors: Option<CandidateErrors>,
    /// Whether the model is baked in this encoding.
    pub(crate) chosen: bool,
    /// Reason why the encoding was not chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Greatest errors of a candidate. Distances in metres.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CandidateErrors {
    pub(crate) encoding: Number,
    pub(crate) encoding_p9996: Number,
    pub(crate) motion: Number,
    pub(crate) motion_p9996: Number,
    pub(crate) normal_degrees: Number,
}

/// A bone mask.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MaskReport {
    pub(crate) name: String,
    /// Number of bones.
    pub(crate) bones: usize,
}
