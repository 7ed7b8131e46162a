//! Plan of a bake: the frames of a model and the shape of its texture.

use std::ops::Range;
use std::sync::Arc;

use gpuskin_rt::internals::{AnimationTexture, ClipRecord, Encoding, MAX_CLIPS};

use super::loops::{self, ClipLoop};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Label};
use crate::encode;
use crate::frames::{FrameGrid, Hold, rate};
use crate::limits::{self, Limits};
use crate::loop_guess::{EXACT_SEAM_TOLERANCE, SEAM_TOLERANCE};
use crate::manifest::{Fps, Manifest, ModelEntry, RestTime};
use crate::model::{Clip, Model};
use crate::suggest::{instead, quoted};
use crate::vertex_mode::VertexMesh;

/// Bytes per bone or vertex per frame while a clip is encoded: three rows of four `f64`.
const POSE_BYTES: u64 = 96;

/// Properties of a model before its encoding is chosen.
#[derive(Clone, Debug)]
pub(super) struct ModelOutline {
    pub(super) model: Arc<Model>,
    /// Length of the diagonal of the rest pose's bounding box, in metres.
    pub(super) diagonal: f64,
    pub(super) clips: Vec<ClipOutline>,
    /// Mesh of vertex mode, if vertex mode is allowed.
    pub(super) vertices: Option<Arc<VertexMesh>>,
    /// Index of the clip and time of the static mesh; `None` for the node transforms of the file.
    pub(super) rest: Option<(usize, RestTime)>,
    /// Width of the texture in texels, if the manifest sets it.
    width: Option<u32>,
    limits: Limits,
}

/// Properties of a clip before an encoding is chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClipOutline {
    /// Frame rate setting of the manifest.
    pub(super) fps: Fps,
    /// Whether the clip loops, and how far its ends are apart.
    pub(super) loops: ClipLoop,
    /// Interval in which nothing moves.
    hold: Hold,
    /// Index of the first clip that has the same curves; usually the clip itself. Clips with the
    /// same curves and rate share frames.
    family: usize,
}

impl ModelOutline {
    pub(super) fn new(
        mut model: Model,
        diagonal: f64,
        manifest: &Manifest,
        entry: &ModelEntry,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let within = Label::model(&model.name);
        if !diagonal.is_finite() {
            let diagnostic =
                Diagnostic::error(DiagnosticCode::GltfNotFinite, "its rest pose is outside the range of 32-bit floats")
                    .help("look for extreme values in vertices, morph targets or transforms, or set `scale`");
            diagnostics.push(diagnostic.within(&within).at(&manifest.source, entry.name.span.clone()));
            return None;
        }
        if model.clips.len() > MAX_CLIPS {
            let diagnostic = Diagnostic::error(
                DiagnosticCode::LimitClips,
                format!("{} clips; a model can have at most {MAX_CLIPS}", model.clips.len()),
            )
            .help("list only the clips that the game plays under [model.clips]");
            diagnostics.push(diagnostic.within(&within).at(&manifest.source, entry.name.span.clone()));
            return None;
        }
        let loops = loops::close(&mut model, diagonal, manifest, entry, diagnostics);
        let morphs = entry.wants_vertices() || !model.morph_tracks.is_empty();
        let outline = |(index, (clip, of_ends)): (usize, (&Clip, &ClipLoop))| ClipOutline {
            fps: entry.clip(&clip.name).and_then(|settings| settings.fps).unwrap_or(entry.fps),
            loops: *of_ends,
            hold: Hold::longest(clip, morphs),
            family: model.clips[..index].iter().position(|other| other.moves_as(clip)).unwrap_or(index),
        };
        let clips = model.clips.iter().zip(&loops).enumerate().map(outline).collect();
        let vertices = entry.wants_vertices().then(|| Arc::new(VertexMesh::new(&model)));
        let rest = match rest(&model, entry) {
            Ok(rest) => rest,
            Err((diagnostic, span)) => {
                diagnostics.push(diagnostic.within(&within).at(&manifest.source, span));
                return None;
            }
        };
        let (width, limits) = (entry.width, manifest.limits);
        Some(Self { model: Arc::new(model), diagonal, clips, vertices, rest, width, limits })
    }

    /// Returns the rate of each clip, before any search.
    pub(super) fn rates(&self) -> Vec<f64> {
        let morphs = self.vertices.is_some() || !self.model.morph_tracks.is_empty();
        let rate = |(clip, outline): (_, &ClipOutline)| rate(clip, outline.fps, morphs);
        self.model.clips.iter().zip(&self.clips).map(rate).collect()
    }

    /// Returns the noun and the number of texture rows per frame.
    fn rows(&self, encoding: Encoding) -> (&'static str, u32) {
        match &self.vertices {
            Some(mesh) if encoding.is_vertex() => ("vertices", encoding.range_rows() + mesh.rows()),
            _ => ("bones", self.model.bones.len() as u32),
        }
    }
}

/// A diagnostic and its span in the manifest.
type LocatedDiagnostic = (Diagnostic, Range<usize>);

/// Finds the clip of the manifest's `rest_frame`.
fn rest(model: &Model, entry: &ModelEntry) -> Result<Option<(usize, RestTime)>, LocatedDiagnostic> {
    let Some(rest) = &entry.rest_frame else { return Ok(None) };
    let names = || model.clips.iter().map(|clip| clip.name.as_str());
    let Some(clip) = names().position(|name| name == rest.clip.value) else {
        let message = format!("`rest_frame`: clip {} not found", quoted(&rest.clip.value));
        let diagnostic =
            Diagnostic::error(DiagnosticCode::ClipNotFound, message).help(instead(&rest.clip.value, names()));
        return Err((diagnostic, rest.clip.span.clone()));
    };
    let length = model.clips[clip].end;
    match rest.time.value {
        RestTime::Seconds(seconds) if seconds > length => {
            let name = quoted(&rest.clip.value);
            let message = format!("`rest_frame` is at {seconds} s, but clip {name} ends at {length:.3} s");
            let diagnostic = Diagnostic::error(DiagnosticCode::ManifestValue, message).clip(&rest.clip.value);
            Err((diagnostic.help("write a time within the clip"), rest.time.span.clone()))
        }
        time => Ok(Some((clip, time))),
    }
}

/// A model and its layout in the animation texture.
#[derive(Clone, Debug)]
pub struct BakePlan {
    /// Model.
    pub model: Arc<Model>,
    /// Encoding of bones or vertices.
    pub encoding: Encoding,
    /// Frames of each clip.
    pub grids: Vec<FrameGrid>,
    /// Whether each clip loops.
    pub looped: Vec<bool>,
    /// Location of each clip in the texture.
    pub records: Vec<ClipRecord>,
    /// Shape of the texture.
    pub texture: AnimationTexture,
}

impl BakePlan {
    /// Plans the frames of each clip at the given rates, in frames per second.
    pub(super) fn new(outline: &ModelOutline, encoding: Encoding, rates: &[f64]) -> Result<Self, Diagnostic> {
        let model = &outline.model;
        let closes_within = outline.diagonal * if encoding.is_exact() { EXACT_SEAM_TOLERANCE } else { SEAM_TOLERANCE };
        let (mut grids, mut records) = (Vec::new(), Vec::new());
        let mut first_frame: u64 = 0;
        for ((clip, shape), rate) in model.clips.iter().zip(&outline.clips).zip(rates) {
            let closed = shape.loops.looped && shape.loops.gap <= closes_within;
            let grid = if shape.hold.is_all_of(clip) {
                FrameGrid::still(clip.end)
            } else {
                FrameGrid::new(clip.end, *rate, closed).holding(shape.hold)
            };
            // Clips with the same curves at the same times share their frames. Encodings with
            // tracks share equal tracks when they are written instead.
            let same = |&other: &usize| outline.clips[other].family == shape.family && grids[other] == grid;
            if let Some(other) = (0..grids.len()).find(same).filter(|_| !encoding.needs_compute()) {
                records.push(records[other]);
                grids.push(grid);
                continue;
            }
            first_frame += u64::from(encoding.range_frames());
            records.push(ClipRecord {
                // A sum beyond `u32` is rejected below, before the value is used.
                first_frame: first_frame.min(u64::from(u32::MAX)) as u32,
                intervals: grid.intervals,
                stored: grid.stored,
                held: grid.held_bits(),
            });
            first_frame += u64::from(grid.stored);
            grids.push(grid);
        }
        let (what, rows) = outline.rows(encoding);
        let name = encoding.name();
        if encode::shape(encoding, 1, rows, outline.width).is_none() {
            let message = format!("one frame of {rows} {what} in {name} does not fit into one layer of the texture");
            let widest = "set `width = 2048` or remove it, use bone mode, or remove nodes with `include` and `exclude`";
            return Err(Diagnostic::error(DiagnosticCode::LimitTexture, message).help(widest));
        }
        let bytes = first_frame.saturating_mul(u64::from(rows)).saturating_mul(encoding.bytes() as u64);
        let limits = &outline.limits;
        let longest = (0..grids.len()).max_by_key(|&i| grids[i].stored).unwrap_or(0);
        let alone = || format!("clip `{}` alone has {}", model.clips[longest].name, grids[longest].stored);
        if first_frame > limits.frames {
            let message = format!("{first_frame} frames are above the limit of {}; {}", limits.frames, alone());
            return Err(Diagnostic::error(DiagnosticCode::LimitFrames, message).clip(&model.clips[longest].name));
        }
        let poses = u64::from(grids[longest].stored).saturating_mul(u64::from(rows)).saturating_mul(POSE_BYTES);
        if poses > limits.memory {
            let most = limits::format_bytes(limits.memory);
            let message =
                format!("the poses of {rows} {what} take more memory than the limit of {most}; {} frames", alone());
            return Err(Diagnostic::error(DiagnosticCode::LimitMemory, message).clip(&model.clips[longest].name));
        }
        let frames = u32::try_from(first_frame).ok().filter(|_| bytes <= limits.texture);
        let Some(texture) = frames.and_then(|frames| encode::shape(encoding, frames, rows, outline.width)) else {
            let most = limits::format_bytes(limits.texture);
            let message = format!(
                "{first_frame} frames of {rows} {what} in {name} do not fit into a texture of {most}; {} frames",
                alone()
            );
            return Err(Diagnostic::error(DiagnosticCode::LimitTexture, message).clip(&model.clips[longest].name));
        };
        let looped = outline.clips.iter().map(|c| c.loops.looped).collect();
        Ok(Self { model: model.clone(), encoding, grids, looped, records, texture })
    }

    /// Number of stored frames. Frames shared by several clips count once.
    pub fn frames(&self) -> u64 {
        let shared = |i: usize| self.records[..i].contains(&self.records[i]);
        (0..self.records.len()).filter(|&i| !shared(i)).map(|i| u64::from(self.records[i].stored)).sum()
    }

    /// Bytes of the animation texture on the GPU.
    pub fn texture_bytes(&self) -> u64 {
        self.texture.byte_len(self.encoding)
    }
}
