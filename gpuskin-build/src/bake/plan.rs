//! What will be baked of a model: its frames and the shape of its texture.

use gpuskin_rt::local::layout::MAX_NODES;
use gpuskin_rt::{AnimationTexture, ClipRecord, Encoding, MAX_CLIPS};

use super::BakeOptions;
use crate::encode::{self, Texels, TooLarge};
use crate::finding::{Finding, Findings};
use crate::frames::{EXACT_SEAM_TOLERANCE, FrameGrid, SEAM_TOLERANCE, rate, rest_diagonal, seam};
use crate::manifest::{Manifest, ModelEntry};
use crate::model::Model;
use crate::units::length;

/// Greatest animation texture: what a game would load for one model is far below.
const MAX_TEXTURE_BYTES: u64 = 1 << 30;

/// A model and how it will stand in its texture.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The model.
    pub model: Model,
    /// How bones stand in the texture.
    pub encoding: Encoding,
    /// Frames of each clip.
    pub grids: Vec<FrameGrid>,
    /// Whether each clip starts over.
    pub looped: Vec<bool>,
    /// Where each clip stands.
    pub records: Vec<ClipRecord>,
    /// Shape of the texture.
    pub texture: AnimationTexture,
    /// The animation, where its size is not known before it is encoded.
    pub(super) local: Option<Texels>,
}

impl Plan {
    pub(super) fn new(
        model: Model,
        manifest: &Manifest,
        entry: &ModelEntry,
        options: &BakeOptions<'_>,
        findings: &mut Findings,
    ) -> Option<Self> {
        let encoding = options.encoding.unwrap_or(entry.encoding.value);
        let within = format!("model `{}`", model.name);
        let at_name = |finding: Finding| finding.within(&within).at(&manifest.source, entry.name.span.clone());
        if model.clips.len() > MAX_CLIPS {
            let finding = Finding::error(format!("{} clips; a model has at most {MAX_CLIPS}", model.clips.len()));
            findings.push(at_name(finding).help("name those that the game plays under [model.clips]"));
            return None;
        }
        let diagonal = rest_diagonal(&model);
        let closes_within = diagonal * if encoding.is_exact() { EXACT_SEAM_TOLERANCE } else { SEAM_TOLERANCE };
        let (mut grids, mut looped, mut records) = (Vec::new(), Vec::new(), Vec::new());
        let mut first_frame: u64 = 0;
        for clip in &model.clips {
            let settings = entry.clips.iter().flatten().find(|c| c.name.value == clip.name);
            let fps = settings.and_then(|s| s.fps).unwrap_or(entry.fps);
            let seam = seam(&model, clip);
            let meets = seam <= diagonal * SEAM_TOLERANCE;
            let wish = settings.and_then(|s| s.looped.as_ref());
            if let Some(wish) = wish.filter(|wish| wish.value && !meets) {
                let apart = length(seam as f32);
                let message = format!("clip `{}` loops, but its ends are {apart} apart: it will jump there", clip.name);
                findings.push(
                    Finding::warning(message)
                        .within(&within)
                        .at(&manifest.source, wish.span.clone())
                        .help("make its last key equal its first, or drop `loop = true`"),
                );
            }
            let loops = wish.map_or(meets, |wish| wish.value);
            let grid = FrameGrid::new(clip.end, rate(clip, fps), loops && seam <= closes_within);
            first_frame += u64::from(encoding.range_frames());
            records.push(ClipRecord {
                // A sum beyond u32 is refused below, before anything is made of it.
                first_frame: first_frame.min(u64::from(u32::MAX)) as u32,
                intervals: grid.intervals,
                stored: grid.stored,
                reserved: 0,
            });
            first_frame += u64::from(grid.stored);
            grids.push(grid);
            looped.push(loops);
        }
        let bones = model.bones.len() as u32;
        let bytes = first_frame.saturating_mul(u64::from(bones)).saturating_mul(encoding.bytes() as u64);
        let frames = u32::try_from(first_frame).ok().filter(|_| bytes <= MAX_TEXTURE_BYTES);
        let Some(texture) = frames.and_then(|frames| encode::shape(encoding, frames, bones)) else {
            let longest = (0..grids.len()).max_by_key(|&i| grids[i].stored).unwrap_or(0);
            let message = format!(
                "{first_frame} frames of {bones} bones in {} do not fit a texture of 1 GiB; clip `{}` alone has {} frames",
                encoding.name(),
                model.clips[longest].name,
                grids[longest].stored
            );
            findings.push(at_name(Finding::error(message)).help("bake fewer clips, or set a lower `fps`"));
            return None;
        };
        if !encoding.needs_compute() {
            return Some(Self { model, encoding, grids, looped, records, texture, local: None });
        }
        let local = match encode::local_packed(&model, &grids, &records, texture) {
            Ok(local) => local,
            Err(TooLarge::Nodes(count)) => {
                let message = format!("{count} moving nodes are above its bones; local-packed holds {MAX_NODES}");
                findings.push(at_name(Finding::error(message)).help("use `encoding = \"matrix-f16\"`"));
                return None;
            }
            Err(TooLarge::Words) => {
                let finding = Finding::error("its animation takes more than 256 MiB in local-packed");
                findings.push(at_name(finding).help("bake fewer clips, or set a lower `fps`"));
                return None;
            }
        };
        let texture = local.texture;
        Some(Self { model, encoding, grids, looped, records, texture, local: Some(local) })
    }

    /// Bytes of the animation texture on the GPU.
    pub fn texture_bytes(&self) -> u64 {
        self.texture.byte_len(self.encoding)
    }
}
