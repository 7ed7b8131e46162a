//! Whether the words of a file lead where they say. Everything that reads them afterwards trusts them.

use super::layout::{
    Kind, MAX_BONES, MAX_NODES, MAX_WIDTH, bone, clip, entry_kind, entry_track, header, node, shape_width, track,
};

/// Whether words can be evaluated without leaving them: counts, offsets, parents before children.
pub(super) fn is_sound(words: &[u32]) -> bool {
    check(words).is_some()
}

fn check(words: &[u32]) -> Option<()> {
    let head = words.get(..header::WORDS)?;
    let [nodes, bones, levels, clips] = [header::NODES, header::BONES, header::LEVELS, header::CLIPS].map(|i| head[i]);
    let sane = (1..=MAX_NODES).contains(&nodes) && bones <= MAX_BONES && (1..=nodes).contains(&levels);
    if !sane {
        return None;
    }
    let levels = section(words, head[header::LEVELS_AT], levels as usize + 1)?;
    hierarchy(levels, section(words, head[header::NODES_AT], nodes as usize * node::WORDS)?)?;
    let bones = section(words, head[header::BONES_AT], bones as usize * bone::WORDS)?;
    if bones.chunks_exact(bone::WORDS).any(|b| b[bone::NODE] >= nodes) {
        return None;
    }
    let clips = section(words, head[header::CLIPS_AT], clips as usize)?;
    clips.iter().try_for_each(|&at| one_clip(words, at, nodes as usize))
}

fn section(words: &[u32], at: u32, len: usize) -> Option<&[u32]> {
    let at = at as usize;
    words.get(at..at.checked_add(len)?)
}

fn hierarchy(levels: &[u32], nodes: &[u32]) -> Option<()> {
    let count = (nodes.len() / node::WORDS) as u32;
    let ascend = levels.windows(2).all(|w| w[0] < w[1]);
    if !ascend || levels[0] != 0 || *levels.last()? != count {
        return None;
    }
    let parent = |i: u32| nodes[i as usize * node::WORDS + node::PARENT];
    let sound = levels.windows(2).all(|level| {
        let above = level[0];
        let fits = |i: u32| if above == 0 { parent(i) == node::NO_PARENT } else { parent(i) < above };
        (level[0]..level[1]).all(fits)
    });
    sound.then_some(())
}

fn one_clip(words: &[u32], at: u32, nodes: usize) -> Option<()> {
    let head = section(words, at, clip::ENTRIES + nodes)?;
    let (frame_words, stored, intervals) = (head[clip::FRAME_WORDS], head[clip::STORED], head[clip::INTERVALS]);
    if intervals == 0 || stored == 0 || u64::from(stored) > u64::from(intervals) + 1 {
        return None;
    }
    // A component may be read with the word after it.
    let frames = u64::from(frame_words) * u64::from(stored) + 1;
    section(words, head[clip::FRAMES_AT], usize::try_from(frames).ok()?)?;
    for &entry in &head[clip::ENTRIES..] {
        let mut at = entry_track(entry);
        for property in 0..3 {
            if (entry >> (2 * property)) & 3 == 3 {
                return None;
            }
            let kind = entry_kind(entry, property);
            let words = section(words, at, kind.words())?;
            if kind == Kind::Moving {
                let widths = [0, 1, 2].map(|c| shape_width(words[track::SHAPE], c));
                let end = u64::from(words[track::BIT]) + widths.iter().map(|w| u64::from(*w)).sum::<u64>();
                if widths.iter().any(|w| *w > MAX_WIDTH) || end > u64::from(frame_words) * 32 {
                    return None;
                }
            }
            at = at.checked_add(kind.words() as u32)?;
        }
    }
    Some(())
}
