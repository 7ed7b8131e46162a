//! Rows that show a transition: a crossfade, or a layer that fades in.

use gpuskin_rt::internals::{Clip, Crowd, Dynamic, InstanceId, Mask, Metadata, Transition};

use super::draw::PreviewScene;
use super::framing::{self, ClipExtent};
use super::labels;
use super::layout::{CELL, COLUMNS, Layout};
use super::options::PreviewModel;
use super::sheet::{ASPECT, Sheet};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::gpu::Gpu;
use crate::suggest::{instead, quoted};

/// Duration of a transition, in seconds.
const SECONDS: f32 = 0.5;

/// A row of a sheet that shows a transition from start to end. Takes half a second. Clips are given
/// by their names in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// A crossfade from one clip to another.
    Crossfade {
        /// Clip that plays at the start.
        from: String,
        /// Clip that is faded in.
        to: String,
    },
    /// A layer over a clip that fades in to weight one. Needs the encoding `local-packed`.
    Layer {
        /// Clip that plays at the start.
        base: String,
        /// Clip of the layer.
        clip: String,
        /// Mask of the layer, by its name in the manifest; `None` for all bones.
        mask: Option<String>,
    },
}

/// A sequence by indices.
struct SequencePlayback {
    base: u16,
    clip: u16,
    /// The mask of a layer; `Some(None)` is a layer on all bones, `None` a crossfade.
    layer: Option<Option<u8>>,
    title: String,
}

impl SequencePlayback {
    fn new(meta: &Metadata, sequence: &Sequence) -> Result<Self, Diagnostic> {
        let clips = || meta.clips.iter().map(|clip| &*clip.name);
        let masks = || meta.masks.iter().map(|mask| &*mask.name);
        let clip = |name: &String| {
            let missing =
                || Diagnostic::error(DiagnosticCode::ClipNotFound, format!("clip {} not found", quoted(name)));
            let at = clips().position(|clip| clip == name).ok_or_else(|| missing().help(instead(name, clips())))?;
            Ok::<u16, Diagnostic>(at as u16)
        };
        let mask = |name: &String| {
            let missing = || Diagnostic::error(DiagnosticCode::PreviewMask, format!("mask {} not found", quoted(name)));
            let at = masks().position(|mask| mask == name).ok_or_else(|| missing().help(instead(name, masks())))?;
            Ok::<u8, Diagnostic>(at as u8)
        };
        Ok(match sequence {
            Sequence::Crossfade { from, to } => {
                Self { base: clip(from)?, clip: clip(to)?, layer: None, title: format!("{from} -> {to}") }
            }
            Sequence::Layer { base, clip: over, mask: on } => {
                let title = match on {
                    Some(mask) => format!("{base} + {over} on {mask}"),
                    None => format!("{base} + {over}"),
                };
                let layer = Some(on.as_ref().map(mask).transpose()?);
                Self { base: clip(base)?, clip: clip(over)?, layer, title }
            }
        })
    }

    fn begin(&self, crowd: &Crowd<Dynamic>, actor: InstanceId) -> Result<(), gpuskin_rt::internals::Error> {
        let (clip, over) = (Clip::new(self.clip), Transition::crossfade(SECONDS));
        match self.layer {
            Some(mask) => crowd.play_layer(actor, 0, clip, mask.map(Mask::new), over, 1.0),
            None => Ok(crowd.play(actor, clip, over)?),
        }
    }
}

impl Sheet {
    /// Draws one row per sequence.
    pub(super) fn sequences(gpu: Gpu, model: &PreviewModel, sequences: &[Sequence]) -> Result<Self, Diagnostic> {
        let meta = model.meta();
        let rows: Vec<SequencePlayback> =
            sequences.iter().map(|sequence| SequencePlayback::new(meta, sequence)).collect::<Result<_, _>>()?;
        let seconds: Vec<f64> =
            (0..COLUMNS).map(|i| f64::from(SECONDS) * f64::from(i) / f64::from(COLUMNS - 1)).collect();
        let times = vec![seconds.clone(); rows.len()];
        // A blend of two clips stays close to the union of their extents.
        let of_clips = model.outlines(&model.times());
        let outline = |row: &SequencePlayback| of_clips[usize::from(row.base)].union(of_clips[usize::from(row.clip)]);
        let layout = Layout::new(rows.len());
        let outlines: Vec<ClipExtent> = rows.iter().map(outline).collect();
        let framings = framing::frame(&outlines, model.camera, ASPECT);
        let scale = framing::common(&framings);
        let mut sheet = Self::blank(layout, &times);
        labels::header(&mut sheet.canvas, &layout, meta, scale, "");
        let mut scene = PreviewScene::new(gpu, model, CELL)?;
        for (index, (row, framing)) in (0..).zip(rows.iter().zip(&framings)) {
            let canvas = &mut sheet.canvas;
            let begin = |crowd: &Crowd<Dynamic>, actor| row.begin(crowd, actor);
            scene.sequence(model, row.base, framing, &seconds, begin, |bytes, stride| {
                for column in 0..COLUMNS {
                    let left = (column * CELL[0] * 4) as usize;
                    canvas.blit(layout.cell(index, 0, column), CELL, &bytes[left..], stride);
                }
            })?;
            let what = if row.layer.is_some() { "a layer fades in" } else { "crossfade" };
            labels::sequence(&mut sheet.canvas, &layout, index, &row.title, &format!("{what} over {SECONDS} s"));
        }
        sheet.write_times(&times);
        Ok(sheet)
    }
}
