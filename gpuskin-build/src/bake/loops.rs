//! Decides which clips loop, and closes the seams of those that do.

use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Label};
use crate::loop_close::{blend_shut, repeat_first_key};
use crate::loop_guess::{LoopKind, LoopSeam, is_cycle, source_frame};
use crate::manifest::{LoopWish, Manifest, ModelEntry};
use crate::model::{Clip, Model};
use crate::units::length;

/// End of a clip: whether it loops, who says so, and how far its ends are apart.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClipLoop {
    /// Whether the clip loops.
    pub looped: bool,
    /// Whether the baker guessed it, rather than reading it from the manifest.
    pub guessed: bool,
    /// Change of the curves that closes the loop.
    pub change: LoopChange,
    /// Greatest distance of a vertex between the last and the first pose of the source, in metres.
    pub source_gap: f64,
    /// [`Self::source_gap`] after the change.
    pub gap: f64,
}

/// Change of a clip's curves that closes its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum LoopChange {
    /// The curves are those of the source.
    None,
    /// A frame was added that leads from the last key back to the first.
    FrameAdded,
    /// The end was blended into the start.
    Blended,
}

/// Decides for each clip whether it loops, and changes the curves of clips that need it.
pub(super) fn close(
    model: &mut Model,
    diagonal: f64,
    manifest: &Manifest,
    entry: &ModelEntry,
    diagnostics: &mut Diagnostics,
) -> Vec<ClipLoop> {
    let morphs = entry.wants_vertices() || !model.morph_tracks.is_empty();
    let mut loops = Vec::new();
    for index in 0..model.clips.len() {
        let clip = &model.clips[index];
        let wish = entry.clip(&clip.name).and_then(|settings| settings.looped.as_ref());
        let seam = LoopSeam::new(model, clip, diagonal, morphs);
        let kind = seam.guess(clip);
        let change = match wish.map(|wish| wish.value) {
            Some(LoopWish::Close) if !seam.meets() => LoopChange::Blended,
            Some(LoopWish::Loop) | None if kind == LoopKind::LoopWithoutLastKey => LoopChange::FrameAdded,
            _ => LoopChange::None,
        };
        let frame = source_frame(clip, morphs);
        let clip = &mut model.clips[index];
        match change {
            LoopChange::None => {}
            LoopChange::FrameAdded => repeat_first_key(clip, frame),
            LoopChange::Blended => blend_shut(clip, frame),
        }
        let clip = &model.clips[index];
        let closed = if change == LoopChange::None { seam } else { LoopSeam::new(model, clip, diagonal, morphs) };
        let looped = match wish {
            Some(wish) => wish.value != LoopWish::Once,
            None => kind != LoopKind::Once,
        };
        let ends = ClipLoop { looped, guessed: wish.is_none(), change, source_gap: seam.gap, gap: closed.gap };
        if let Some(diagnostic) = doubt(clip, &ends, &closed, diagonal) {
            let diagnostic = diagnostic.clip(&clip.name).within(Label::model(&model.name));
            let named = || entry.clip(&clip.name).map(|clip| clip.name.span.clone());
            let span = wish.map(|wish| wish.span.clone()).or_else(named).unwrap_or(entry.name.span.clone());
            diagnostics.push(diagnostic.at(&manifest.source, span));
        }
        loops.push(ends);
    }
    loops
}

/// Greatest gap between the ends of a clip that may have been meant as a cycle, relative to the
/// diagonal of the rest pose.
const NEAR: f64 = 0.1;

/// Returns a warning about a loop that jumps, or about a clip with the name of a cycle that plays
/// once.
fn doubt(clip: &Clip, ends: &ClipLoop, seam: &LoopSeam, diagonal: f64) -> Option<Diagnostic> {
    let apart = length(ends.gap as f32);
    if ends.looped && seam.travels() && clip.root.is_none() {
        let way = length(seam.displacement as f32);
        let message = format!("clip `{}` moves the character by {way}, and jumps back when it loops", clip.name);
        return Some(Diagnostic::warning(DiagnosticCode::ClipSeam, message).help(
            "write `root_motion = \"planar\"` to have the motion as data for the game, or export the clip in place",
        ));
    }
    if ends.looped && seam.jumps(ends.guessed) {
        let message =
            format!("clip `{}` loops, but its last pose is {apart} away from its first: it jumps there", clip.name);
        let diagnostic = Diagnostic::warning(DiagnosticCode::ClipSeam, message);
        return Some(match (ends.change, clip.root) {
            (LoopChange::Blended, Some(_)) => {
                diagnostic.help("the motion of the root node is not blended: make its height and tilt meet in the file")
            }
            _ => diagnostic,
        });
    }
    let near = ends.gap <= NEAR * diagonal;
    if !ends.looped && ends.guessed && near && clip.end > 0.0 && is_cycle(&clip.name) == Some(true) {
        let message = format!(
            "clip `{}` plays once, though its name is that of a cycle: its last pose is {apart} away from its first",
            clip.name
        );
        return Some(Diagnostic::warning(DiagnosticCode::ClipPlaysOnce, message));
    }
    None
}
