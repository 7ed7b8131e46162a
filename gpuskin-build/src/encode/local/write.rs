//! Writer of tracks as words, in the layout of `gpuskin_rt::local::layout`.

use gpuskin_rt::internals::ClipRecord;
use gpuskin_rt::internals::local::layout::{self, Kind, clip, header, node};

use super::clip::{EncodedClip, RestTransform};
use super::skeleton::Skeleton;
use super::track::Track;
use crate::encode::bit_set;
use crate::model::Model;

/// Returns all words of a model, or `None` if offsets exceed their bit width.
pub(super) fn words(
    model: &Model,
    skeleton: &Skeleton,
    rests: &[RestTransform],
    records: &[ClipRecord],
    clips: &[EncodedClip],
) -> Option<Vec<u32>> {
    let mut words = vec![0; header::WORDS];
    words[header::NODES] = skeleton.joints.len() as u32;
    words[header::BONES] = skeleton.bones.len() as u32;
    let link = skeleton.link();
    words[header::LINK] = link as u32;
    words[header::CLIPS] = clips.len() as u32;

    words[header::NODES_AT] = words.len() as u32;
    for (i, rest) in rests.iter().enumerate() {
        let above = |link: usize| skeleton.chain(i).nth(link).map_or(node::NO_PARENT, |joint| joint as u32);
        words.extend(rest.rotation.map(f32::to_bits));
        words.extend(rest.translation.map(f32::to_bits));
        words.push(above(1));
        words.extend(rest.scale.map(f32::to_bits));
        words.push(above(link));
    }

    words[header::BONES_AT] = words.len() as u32;
    for bone in &skeleton.bones {
        let rows = crate::sample::rows(&bone.inverse_bind);
        words.extend(rows.as_flattened().iter().map(|v| (*v as f32).to_bits()));
        words.push(bone.joint as u32);
    }

    words[header::MASKS] = model.masks.len() as u32;
    words[header::MASKS_AT] = words.len() as u32;
    for mask in &model.masks {
        words.extend(bit_set(skeleton.joints.len(), |joint| skeleton.is_in(joint, mask)));
    }

    words[header::CLIPS_AT] = words.len() as u32;
    words.resize(words.len() + clips.len(), 0);
    for (i, (coded, record)) in clips.iter().zip(records).enumerate() {
        let clips_at = words[header::CLIPS_AT] as usize;
        words[clips_at + i] = u32::try_from(words.len()).ok()?;
        let alike = |other: &usize| clips[*other].tracks == coded.tracks && records[*other].stored == record.stored;
        let clip_at = words.len();
        match (0..i).find(alike) {
            Some(other) => {
                let at = words[clips_at + other] as usize;
                same_tracks(&mut words, at, coded, record);
            }
            None => one_clip(&mut words, coded, record)?,
        }
        words[clip_at + clip::REFERENCE] = model.clips[i].additive.map_or(0, |reference| reference as u32 + 1);
    }
    // Padding: the decoder of the last component may read the word after it.
    words.push(0);
    Some(words)
}

fn one_clip(words: &mut Vec<u32>, coded: &EncodedClip, record: &ClipRecord) -> Option<()> {
    let at = words.len();
    words.resize(at + clip::ENTRIES + coded.tracks.len(), 0);
    let mut frame_bits: u32 = 0;
    for (j, tracks) in coded.tracks.iter().enumerate() {
        let kinds = [0, 1, 2].map(|i| match &tracks[i] {
            Track::Rest => Kind::Rest,
            Track::Constant(_) => Kind::Constant,
            Track::Moving(moving) if moving.held => Kind::Held,
            Track::Moving(_) => Kind::Moving,
        });
        words[at + clip::ENTRIES + j] = layout::entry(kinds, words.len())?;
        for track in tracks {
            match track {
                Track::Rest => {}
                Track::Constant(value) => words.extend(value.map(f32::to_bits)),
                Track::Moving(moving) => {
                    words.extend([frame_bits, moving.shape]);
                    words.extend(moving.origin.map(f32::to_bits));
                    frame_bits += moving.widths().iter().sum::<u32>();
                }
            }
        }
    }
    let frame_words = frame_bits.div_ceil(32);
    words[at + clip::FRAME_WORDS] = frame_words;
    words[at + clip::FRAMES_AT] = u32::try_from(words.len()).ok()?;
    timing(&mut words[at..], record);
    let moving = || coded.tracks.iter().flatten().filter_map(|t| if let Track::Moving(m) = t { Some(m) } else { None });
    for frame in 0..record.stored as usize {
        let mut bits = BitWriter { words, filled: 32 };
        for track in moving() {
            for (value, width) in track.frames[frame].into_iter().zip(track.widths()) {
                bits.push(value, width);
            }
        }
    }
    Some(())
}

/// Appends a clip that refers to the tracks of an equal clip, at the word `other`.
fn same_tracks(words: &mut Vec<u32>, other: usize, coded: &EncodedClip, record: &ClipRecord) {
    let at = words.len();
    words.extend_from_within(other..other + clip::ENTRIES + coded.tracks.len());
    timing(&mut words[at..], record);
}

fn timing(clip: &mut [u32], record: &ClipRecord) {
    clip[clip::INTERVALS] = record.intervals;
    clip[clip::STORED] = record.stored;
    clip[clip::FIRST_FRAME] = record.first_frame;
    clip[clip::HELD] = record.held;
}

/// Appends bits, lowest first, starting at a new word.
struct BitWriter<'a> {
    words: &'a mut Vec<u32>,
    /// Number of bits used in the last word.
    filled: u32,
}

impl BitWriter<'_> {
    fn push(&mut self, value: u32, width: u32) {
        if width == 0 {
            return;
        }
        if self.filled == 32 {
            self.words.push(0);
            self.filled = 0;
        }
        let last = self.words.len() - 1;
        self.words[last] |= value << self.filled;
        let room = 32 - self.filled;
        if width > room {
            self.words.push(value >> room);
            self.filled = width - room;
        } else {
            self.filled += width;
        }
    }
}
