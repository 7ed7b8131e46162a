//! Clips: identifiers, lengths, and loops.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::manifest_text::{key, string};
use crate::frames::rate;
use crate::identifier_case::snake;
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
            rate: rate(clip, Fps::Source, morphs),
            seam: seam.gap,
            kind: seam.guess(clip),
        }
    };
    model.clips.iter().map(summary).collect()
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
