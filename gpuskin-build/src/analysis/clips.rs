//! Clips: identifiers, lengths, and loops.

use crate::frames::{nominal_rate, rate};
use crate::loop_guess::{LoopKind, LoopSeam};
use crate::manifest::Fps;
use crate::model::{Clip, Model};
use crate::pose_extent::rest_diagonal;

/// Properties of a clip.
#[derive(Clone, Debug)]
pub(crate) struct ClipSummary {
    /// Name in Rust.
    pub name: String,
    /// Name in the file, or `animation 3`.
    pub source: String,
    pub seconds: f64,
    /// Frame rate of the keys, in frames per second.
    pub rate: f64,
    /// Loop seam: greatest distance between a vertex in the first and in the last pose, in units of
    /// the file.
    pub seam: f64,
    /// Kind that the baker guesses if the manifest does not say.
    pub kind: LoopKind,
}

impl ClipSummary {
    /// Whether the baker makes the clip a loop if the manifest does not say.
    pub(crate) fn loops(&self) -> bool {
        self.kind != LoopKind::Once
    }
}

/// Returns a summary of each clip of a model.
pub(super) fn summaries(model: &Model) -> Vec<ClipSummary> {
    let diagonal = rest_diagonal(model);
    let morphs = model.primitives.iter().any(|p| !p.targets.is_empty());
    let summary = |clip: &Clip| {
        let seam = LoopSeam::new(model, clip, diagonal, morphs);
        ClipSummary {
            name: clip.name.clone(),
            source: clip.source.clone(),
            seconds: clip.end,
            rate: nominal_rate(rate(clip, Fps::Source, morphs)),
            seam: seam.gap,
            kind: seam.guess(clip),
        }
    };
    model.clips.iter().map(summary).collect()
}
