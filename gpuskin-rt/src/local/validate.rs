//! Validates the words of a file. All later reads rely on it.

use super::layout::{
    Kind, MAX_BONES, MAX_NODES, MAX_WIDTH, bone, clip, entry_kind, entry_track, header, mask_words, node, shape_width,
    track,
};
use super::words::Words;
use crate::ClipRecord;

/// Returns whether poses can be evaluated without reading out of range: checks counts, offsets, and
/// that parents precede children.
pub(super) fn is_sound(words: Words<'_>) -> bool {
    check(words).is_some()
}

fn check(words: Words<'_>) -> Option<()> {
    let head = words.section(0, header::WORDS)?;
    let [nodes, bones, link, clips] = [header::NODES, header::BONES, header::LINK, header::CLIPS].map(|i| head.get(i));
    let sane = (1..=MAX_NODES).contains(&nodes) && bones <= MAX_BONES && (1..=nodes).contains(&link) && clips > 0;
    if !sane {
        return None;
    }
    let node_words = words.section(head.get(header::NODES_AT), nodes as usize * node::WORDS)?;
    if !hierarchy(node_words, nodes, link) {
        return None;
    }
    let bone_words = words.section(head.get(header::BONES_AT), bones as usize * bone::WORDS)?;
    if (0..bones as usize).any(|b| bone_words.get(b * bone::WORDS + bone::NODE) >= nodes) {
        return None;
    }
    let mask_words = (head.get(header::MASKS) as usize).checked_mul(mask_words(nodes as usize))?;
    words.section(head.get(header::MASKS_AT), mask_words)?;
    let offsets = words.section(head.get(header::CLIPS_AT), clips as usize)?;
    let (mut next_frame, mut looked) = (0, Vec::new());
    for at in (0..clips as usize).map(|clip| offsets.get(clip)) {
        // Clips with identical motion share one offset.
        if looked.last().is_some_and(|last| at <= *last) {
            looked.binary_search(&at).ok()?;
            continue;
        }
        looked.push(at);
        next_frame = one_clip(words, at, nodes as usize, next_frame)?;
        if words.get(at as usize + clip::REFERENCE) > clips {
            return None;
        }
    }
    Some(())
}

/// Returns whether parents precede their children, and the chain parent of each node is one link
/// up.
fn hierarchy(words: Words<'_>, nodes: u32, link: u32) -> bool {
    let word = |node: u32, i: usize| words.get(node as usize * node::WORDS + i);
    let parent = |node: u32| word(node, node::PARENT);
    if !(0..nodes).all(|node| parent(node) == node::NO_PARENT || parent(node) < node) {
        return false;
    }
    let up = |node: &u32| Some(parent(*node)).filter(|parent| *parent != node::NO_PARENT);
    let above = |node: u32| std::iter::successors(Some(node), up).nth(link as usize);
    (0..nodes).all(|node| word(node, node::CHAIN_PARENT) == above(node).unwrap_or(node::NO_PARENT))
}

/// Validates a clip and returns the first frame that the next clip may have.
fn one_clip(words: Words<'_>, at: u32, nodes: usize, least_frame: u32) -> Option<u32> {
    let head = words.section(at, clip::ENTRIES + nodes)?;
    let [frame_words, first_frame, intervals, stored, held] =
        [clip::FRAME_WORDS, clip::FIRST_FRAME, clip::INTERVALS, clip::STORED, clip::HELD].map(|i| head.get(i));
    if !(ClipRecord { first_frame, intervals, stored, held }).is_sound() || first_frame < least_frame {
        return None;
    }
    // A read of a component may also load the word after it.
    let frames = u64::from(frame_words) * u64::from(stored) + 1;
    words.section(head.get(clip::FRAMES_AT), usize::try_from(frames).ok()?)?;
    for node in 0..nodes {
        one_node(words, head.get(clip::ENTRIES + node), frame_words)?;
    }
    first_frame.checked_add(stored)
}

fn one_node(words: Words<'_>, entry: u32, frame_words: u32) -> Option<()> {
    let mut at = entry_track(entry);
    for property in 0..3 {
        let kind = entry_kind(entry, property);
        let words = words.section(at, kind.words())?;
        if matches!(kind, Kind::Moving | Kind::Held) {
            let widths = [0, 1, 2].map(|c| shape_width(words.get(track::SHAPE), c));
            let end = u64::from(words.get(track::BIT)) + widths.iter().map(|w| u64::from(*w)).sum::<u64>();
            if widths.iter().any(|w| *w > MAX_WIDTH) || end > u64::from(frame_words) * 32 {
                return None;
            }
        }
        at = at.checked_add(kind.words() as u32)?;
    }
    Some(())
}
