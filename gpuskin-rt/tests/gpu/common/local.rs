//! Random words of `local-packed`: hierarchies of any shape, tracks of every kind and bit width.

use glam::{Quat, Vec3};
use gpuskin_rt::internals::ClipRecord;
use gpuskin_rt::internals::local::layout::{self, Kind, bone, clip, header, node};

use super::model::Random;

/// Number of masks: random sets of nodes.
pub const MASKS: u32 = 3;

/// Returns the reference of an additive clip: the second of three clips refers to the last.
pub fn reference(clip: usize) -> Option<u16> {
    (clip == 1).then_some(2)
}

/// Returns words with a third more nodes than bones, in a tree that is about as deep as it is wide.
pub fn words(random: &mut Random, bones: u32, records: &[ClipRecord]) -> Vec<u8> {
    let parents = parents(random, bones + bones / 3);
    let mut words = vec![0; header::WORDS];
    words[header::NODES] = parents.len() as u32;
    words[header::BONES] = bones;
    words[header::CLIPS] = records.len() as u32;

    let chain = |node: u32| std::iter::successors(Some(node), |node| parents[*node as usize]);
    // Trees with an odd number of nodes are composed link by link; the last node ends the longest
    // chain.
    let longest = chain(parents.len() as u32 - 1).count() as u32;
    let link = if parents.len().is_multiple_of(2) { 1 } else { longest.isqrt() };
    words[header::LINK] = link;

    words[header::NODES_AT] = words.len() as u32;
    for node in 0..parents.len() as u32 {
        let above = |count: u32| chain(node).nth(count as usize).unwrap_or(node::NO_PARENT);
        words.extend(rotation(random).to_array().map(f32::to_bits));
        words.extend((random.vector() * 0.2).to_array().map(f32::to_bits));
        words.push(above(1));
        words.extend(scale(random).to_array().map(f32::to_bits));
        words.push(above(link));
    }

    words[header::BONES_AT] = words.len() as u32;
    for _ in 0..bones {
        let m = glam::Mat3::from_quat(rotation(random));
        for row in 0..3 {
            words.extend(m.row(row).extend(random.within(-0.2, 0.2)).to_array().map(f32::to_bits));
        }
        words.push(random.below(parents.len() as u32));
    }
    assert_eq!(bone::WORDS, 13);

    words[header::MASKS] = MASKS;
    words[header::MASKS_AT] = words.len() as u32;
    words.extend((0..MASKS as usize * layout::mask_words(parents.len())).map(|_| random.bits() as u32));

    let held = records.iter().any(|record| record.held & ClipRecord::STEPPED != 0);
    words[header::CLIPS_AT] = words.len() as u32;
    words.resize(words.len() + records.len(), 0);
    for (i, record) in records.iter().enumerate() {
        let at = words[header::CLIPS_AT] as usize + i;
        words[at] = words.len() as u32;
        let at = words.len();
        one_clip(random, &mut words, parents.len(), record, held);
        words[at + clip::REFERENCE] = reference(i).map_or(0, |clip| u32::from(clip) + 1);
    }
    words.push(0);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Parents before children, level by level.
fn parents(random: &mut Random, count: u32) -> Vec<Option<u32>> {
    let mut parents: Vec<Option<u32>> = vec![None];
    let (mut above, mut level) = (0..1, 1);
    while parents.len() < count as usize {
        let end = (level + 1 + random.below(2 + level / 3)).min(count);
        parents.extend((level..end).map(|_| Some(above.start + random.below(above.end - above.start))));
        (above, level) = (level..end, end);
    }
    parents
}

fn rotation(random: &mut Random) -> Quat {
    Quat::from_axis_angle(random.direction(), random.within(-0.7, 0.7))
}

fn scale(random: &mut Random) -> Vec3 {
    Vec3::ONE + random.vector() * 0.1
}

/// `held`: whether some of the tracks that move are held between frames.
fn one_clip(random: &mut Random, words: &mut Vec<u32>, nodes: usize, record: &ClipRecord, held: bool) {
    let at = words.len();
    words.resize(at + clip::ENTRIES + nodes, 0);
    let mut bits = 0;
    for i in 0..nodes {
        let moving = |property| if held && (i + property) % 3 == 1 { Kind::Held } else { Kind::Moving };
        let kinds = [0, 1, 2].map(|property| [Kind::Rest, Kind::Constant, moving(property)][random.below(3) as usize]);
        words[at + clip::ENTRIES + i] = layout::entry(kinds, words.len()).unwrap();
        for (property, kind) in kinds.into_iter().enumerate() {
            let origin = match property {
                0 => gpuskin_rt::internals::local::to_projection(rotation(random).into()),
                1 => random.vector() * 0.2,
                _ => scale(random),
            };
            if matches!(kind, Kind::Moving | Kind::Held) {
                let widths = [0, 1, 2].map(|_| random.below(layout::MAX_WIDTH + 1));
                // The step is such that the widest component reaches the greatest value.
                let most = widths.iter().fold(0, |most, w| most.max((1_u32 << w) - 1)).max(1);
                words.extend([bits, layout::shape(widths, 0.3 / most as f32)]);
                bits += widths.iter().sum::<u32>();
            }
            if kind != Kind::Rest {
                words.extend(origin.to_array().map(f32::to_bits));
            }
        }
    }
    let frame_words = bits.div_ceil(32);
    words[at + clip::FRAME_WORDS] = frame_words;
    words[at + clip::FRAMES_AT] = words.len() as u32;
    words[at + clip::INTERVALS] = record.intervals;
    words[at + clip::STORED] = record.stored;
    words[at + clip::FIRST_FRAME] = record.first_frame;
    words[at + clip::HELD] = record.held;
    words.extend((0..frame_words * record.stored).map(|_| random.bits() as u32));
}
