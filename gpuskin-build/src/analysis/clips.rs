//! Clips: identifiers, lengths, loops, and the roles that their names suggest.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::manifest_text::{key, string};
use crate::frames::rate;
use crate::identifier_case::snake;
use crate::manifest::Fps;
use crate::model::{Clip, Model};
use crate::pose_extent::{SEAM_TOLERANCE, rest_diagonal, seam};

/// Loop seam, relative to the rest pose's diagonal, up to which a clip with the name of a cycle is
/// suggested as a loop: 2 cm on a character of 2 m.
const CYCLE_SEAM: f64 = 0.01;

/// Words in the names of clips that are cycles.
const CYCLES: [&str; 22] = [
    "idle", "idling", "walk", "walking", "run", "running", "jog", "jogging", "sprint", "trot", "gallop", "swim",
    "swimming", "fly", "flying", "crawl", "sneak", "strafe", "loop", "cycle", "dance", "breathe",
];
/// Words in the names of clips that play once.
const ONE_SHOTS: [&str; 21] = [
    "death", "die", "dying", "attack", "hit", "punch", "kick", "jump", "roll", "dodge", "shoot", "shot", "reload",
    "throw", "slash", "stab", "chop", "hurt", "spawn", "pickup", "cast",
];

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
    /// Whether the baker makes it a loop if the manifest does not say.
    pub loops: bool,
    /// `loop` for the draft, if the name contradicts the baker's guess.
    pub suggested_loop: Option<bool>,
}

/// Returns a summary of each clip of a model.
pub(super) fn summaries(model: &Model) -> Vec<ClipSummary> {
    let diagonal = rest_diagonal(model);
    let morphs = model.primitives.iter().any(|p| !p.targets.is_empty());
    let summary = |clip: &Clip| {
        let seam = seam(model, clip, morphs);
        let loops = seam <= diagonal * SEAM_TOLERANCE;
        let suggested_loop = match is_cycle(&clip.name) {
            Some(true) if !loops && seam <= diagonal * CYCLE_SEAM => Some(true),
            // A pose of one frame has no end to play to.
            Some(false) if loops && clip.end > 0.0 => Some(false),
            _ => None,
        };
        ClipSummary {
            name: clip.name.clone(),
            source: clip.source.clone(),
            seconds: clip.end,
            rate: rate(clip, Fps::Source, morphs),
            seam,
            loops,
            suggested_loop,
        }
    };
    model.clips.iter().map(summary).collect()
}

/// Whether the name of a clip is that of a cycle (`Some(true)`) or of a motion that plays once
/// (`Some(false)`); `None` if it is neither or both.
pub(super) fn is_cycle(name: &str) -> Option<bool> {
    let snake = snake(name);
    let words: Vec<&str> = snake.split('_').map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit())).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    match (has(&CYCLES), has(&ONE_SHOTS)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Returns the names of animations as the importer reports them.
pub(super) fn titles(animations: &[Option<String>]) -> Vec<String> {
    let title = |(i, name): (usize, &Option<String>)| name.clone().unwrap_or_else(|| format!("animation {i}"));
    animations.iter().enumerate().map(title).collect()
}

/// Whether two clips would have the same name in Rust, so that the manifest must name them.
pub(super) fn need_names(titles: &[String]) -> bool {
    identifiers(titles).collect::<BTreeSet<_>>().len() < titles.len()
}

/// Returns `[model.clips]` tables that name each clip. Of clips with the same name in the file only
/// the first can be baked, and is listed.
pub(super) fn tables(titles: &[String]) -> String {
    let (mut text, mut seen, mut taken) = (String::new(), BTreeSet::new(), BTreeSet::new());
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for (title, identifier) in titles.iter().zip(identifiers(titles)) {
        if !seen.insert(title) {
            continue;
        }
        let number = numbers.entry(identifier.clone()).or_insert(1);
        let mut name = identifier.clone();
        while !taken.insert(name.clone()) {
            *number += 1;
            name = format!("{identifier}_{number}");
        }
        let _ = writeln!(text, "[model.clips.{}]\nsource = {}", key(&name), string(title));
    }
    text
}

/// Returns the name in Rust of each clip, without the prefix `Armature|` that all names share.
fn identifiers(titles: &[String]) -> impl Iterator<Item = String> + '_ {
    let prefix = titles.first().and_then(|first| Some(first.split_once('|')?.0.len() + 1));
    let shared = prefix.filter(|&cut| titles.iter().all(|t| t.len() > cut && t.get(..cut) == titles[0].get(..cut)));
    titles.iter().map(move |title| snake(&title[shared.unwrap_or(0)..]))
}
