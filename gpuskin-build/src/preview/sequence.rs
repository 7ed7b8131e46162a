//! What becomes of a clip when something else begins: a crossfade, a layer that fades in. Moments of it, in rows of a sheet.

use gpuskin_rt::{Clip, Crowd, Dynamic, InstanceId, Mask, Metadata, Transition};

use super::draw::PreviewScene;
use super::framing::{self, ClipExtent};
use super::layout::{COLUMNS, Layout};
use super::{Sheet, PreviewModel, aspect, labels};
use crate::diagnostic::{DiagnosticCode, Diagnostic};
use crate::suggest::{instead, quoted};

/// Seconds that everything in a sequence takes.
const SECONDS: f32 = 0.5;

/// What a row of a sheet shows, from the moment on when it begins until it is complete, in half a second. Clips by their
/// names in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// From one clip to another.
    Crossfade {
        /// What plays.
        from: String,
        /// What it fades to.
        to: String,
    },
    /// A layer over a clip, whose weight goes to one. In `local-packed` only.
    Layer {
        /// What plays.
        base: String,
        /// What the layer plays.
        clip: String,
        /// Bones that it acts on, by the name in the manifest; `None`: all.
        mask: Option<String>,
    },
}

/// The same by numbers.
struct Act {
    base: u16,
    clip: u16,
    /// As a layer, on a mask or on all bones.
    layer: Option<Option<u8>>,
    title: String,
}

impl Act {
    fn new(meta: &Metadata, sequence: &Sequence) -> Result<Self, Diagnostic> {
        let clips = || meta.clips.iter().map(|clip| &*clip.name);
        let masks = || meta.masks.iter().map(|mask| &*mask.name);
        let clip = |name: &String| {
            let missing = || Diagnostic::error(DiagnosticCode::ClipNotFound, format!("there is no clip {}", quoted(name)));
            let at = clips().position(|clip| clip == name).ok_or_else(|| missing().help(instead(name, clips())))?;
            Ok::<u16, Diagnostic>(at as u16)
        };
        let mask = |name: &String| {
            let missing = || Diagnostic::error(DiagnosticCode::PreviewMask, format!("there is no mask {}", quoted(name)));
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

    fn begin(&self, crowd: &Crowd<Dynamic>, actor: InstanceId) -> Result<(), gpuskin_rt::Error> {
        let (clip, over) = (Clip::new(self.clip), Transition::crossfade(SECONDS));
        match self.layer {
            Some(mask) => crowd.play_layer(actor, 0, clip, mask.map(Mask::new), over, 1.0).map(|_| ()),
            None => {
                crowd.play(actor, clip, over);
                Ok(())
            }
        }
    }
}

impl Sheet {
    /// A row for each sequence.
    pub(super) fn sequences(
        gpu: (wgpu::Device, wgpu::Queue),
        take: &PreviewModel,
        sequences: &[Sequence],
    ) -> Result<Self, Diagnostic> {
        let meta = take.meta();
        let acts: Vec<Act> = sequences.iter().map(|sequence| Act::new(meta, sequence)).collect::<Result<_, _>>()?;
        let seconds: Vec<f64> =
            (0..COLUMNS).map(|i| f64::from(SECONDS) * f64::from(i) / f64::from(COLUMNS - 1)).collect();
        let times = vec![seconds.clone(); acts.len()];
        // Between two clips nothing is far outside of both.
        let of_clips = take.outlines(&take.times());
        let outline = |act: &Act| of_clips[usize::from(act.base)].union(of_clips[usize::from(act.clip)]);
        let layout = Layout::new(acts.len());
        let framings = framing::frame(&acts.iter().map(outline).collect::<Vec<ClipExtent>>(), aspect(&layout));
        let scale = framing::common(&framings);
        let mut sheet = Self::blank(layout, &times);
        labels::header(&mut sheet.canvas, &layout, meta, scale);
        let mut stage = PreviewScene::new(gpu, &take.runtime, layout.cell)?;
        for (row, (act, framing)) in (0..).zip(acts.iter().zip(&framings)) {
            let canvas = &mut sheet.canvas;
            let begin = |crowd: &Crowd<Dynamic>, actor| act.begin(crowd, actor);
            stage.sequence(act.base, framing, &seconds, begin, |bytes, stride| {
                for column in 0..COLUMNS {
                    let left = (column * layout.cell[0] * 4) as usize;
                    canvas.lay(layout.cell(row, 0, column), layout.cell, &bytes[left..], stride);
                }
            })?;
            let what = if act.layer.is_some() { "a layer fades in" } else { "crossfade" };
            labels::sequence(&mut sheet.canvas, &layout, row, &act.title, &format!("{what} over {SECONDS} s"));
        }
        sheet.write_times(&times);
        Ok(sheet)
    }
}
