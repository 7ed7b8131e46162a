//! Selection of the clips to bake, and their names.

use std::collections::BTreeMap;
use std::ops::Range;

use super::file::File;
use super::hierarchy::Hierarchy;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::identifier_case::snake;
use crate::manifest::{At, BoneEntry, ClipEntry, ModelEntry, matched};
use crate::suggest::{instead, list, quoted};

/// A file with clips.
pub(super) struct ClipFile<'a, 'f> {
    pub file: &'a File<'f>,
    /// Path and its location in the manifest.
    pub path: &'a At<String>,
    pub nodes: ClipNodes<'a>,
}

impl ClipFile<'_, '_> {
    /// Whether the file is an animation file, not the model's own file.
    pub(super) fn is_other(&self) -> bool {
        !matches!(self.nodes, ClipNodes::OfModel)
    }
}

/// Relation of the nodes that the clips of a file move to the nodes of the model.
pub(super) enum ClipNodes<'a> {
    /// The file is the model's own.
    OfModel,
    /// Nodes of the same names.
    ByName,
    /// Nodes of another skeleton, with those that the manifest names by bone.
    Retargeted(Box<Hierarchy>, &'a [BoneEntry]),
}

/// A clip to read.
pub(super) struct SelectedClip {
    /// Index of the source file.
    pub source: usize,
    /// Index of the animation in the file.
    pub animation: usize,
    /// Name in Rust.
    pub name: String,
    /// Name in the file, or `animation 3` if it has none.
    pub title: String,
}

/// Maximum number of clips in all files of a model, including clips that are not baked.
const MAX_OFFERS: usize = 1 << 14;

/// A clip that is available in a source file.
struct AvailableClip {
    source: usize,
    animation: usize,
    title: String,
    /// Length of the prefix of the title that all clips of the file share.
    prefix: usize,
    identifier: String,
}

impl AvailableClip {
    /// Whether a pattern of the manifest matches one of the clip's names.
    fn matches(&self, pattern: &str) -> bool {
        let names = [&self.title, &self.title[self.prefix..], &self.identifier];
        names.into_iter().any(|name| matched(pattern, name).is_some())
    }

    fn chosen(&self, name: &str) -> SelectedClip {
        let AvailableClip { source, animation, title, .. } = self;
        SelectedClip { source: *source, animation: *animation, name: name.to_owned(), title: title.clone() }
    }
}

/// Selects the clips that the manifest lists, in its order, or all clips under their own names.
///
/// Returns nothing for a model without clips. If a file could not be read, missing clips are not
/// reported.
pub(super) fn choose(sources: &[ClipFile<'_, '_>], entry: &ModelEntry, report: &mut Report<'_>) -> Vec<SelectedClip> {
    let complete = sources.len() == 1 + entry.animations.len();
    let count: usize = sources.iter().map(|source| source.file.document.animations.len()).sum();
    if count > MAX_OFFERS {
        let message = format!("the files of the model have {count} clips; at most {MAX_OFFERS} are supported");
        report.error(
            Diagnostic::error(DiagnosticCode::LimitClips, message)
                .help("remove clips that are not baked from the files"),
        );
        return Vec::new();
    }
    let mut offers: Vec<AvailableClip> =
        sources.iter().enumerate().flat_map(|(i, source)| offers(i, source.file)).collect();
    name_by_file(&mut offers, sources);
    if offers.is_empty() {
        if let Some(clip) = entry.clips.iter().flatten().next().filter(|_| complete) {
            let message = format!("clip {} not found: the file has no animation", quoted(&clip.name.value));
            let diagnostic = Diagnostic::error(DiagnosticCode::ClipNone, message);
            report.error_at(&clip.name.span, diagnostic.within(Label::file(&entry.path.value)));
        }
        return Vec::new();
    }
    match &entry.clips {
        Some(clips) if !clips.is_empty() => {
            if !entry.exclude_clips.is_empty() {
                let message = "`exclude_clips` has no effect, because the manifest lists the clips to bake";
                report.warn(Diagnostic::warning(DiagnosticCode::ManifestNoEffect, message));
            }
            clips.iter().filter_map(|clip| find(clip, &offers, sources, complete, report)).collect()
        }
        _ => {
            let offers = without_excluded(offers, entry, complete, report);
            refuse_same_names(&offers, sources, report);
            offers.iter().map(|offer| offer.chosen(&offer.identifier)).collect()
        }
    }
}

/// Returns the clips of a file. Identifiers omit a prefix that all names share, such as
/// `HumanArmature|`, which some exporters add.
fn offers(source: usize, file: &File<'_>) -> Vec<AvailableClip> {
    let animations = &file.document.animations;
    let title = |i: usize| {
        animations[i].name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("animation {i}"))
    };
    let titles: Vec<String> = (0..animations.len()).map(title).collect();
    let prefix = titles.first().and_then(|first| first.split_once('|')).map(|(armature, _)| format!("{armature}|"));
    let prefix = prefix.filter(|prefix| titles.iter().all(|t| t.len() > prefix.len() && t.starts_with(prefix)));
    let cut = prefix.map_or(0, |prefix| prefix.len());
    let offer = |(animation, title): (usize, String)| {
        let identifier = snake(&title[cut..]);
        AvailableClip { source, animation, title, prefix: cut, identifier }
    };
    titles.into_iter().enumerate().map(offer).collect()
}

/// Words that tools put into the names of clips that nobody has named, such as `Armature|mixamo.com|Layer0` and `Take 001`.
const FILLERS: [&str; 16] = [
    "action",
    "anim",
    "animation",
    "animations",
    "armature",
    "base",
    "clip",
    "com",
    "default",
    "layer",
    "mixamo",
    "scene",
    "stack",
    "take",
    "unnamed",
    "unreal",
];

/// Whether a name says nothing about a clip.
fn says_nothing(identifier: &str) -> bool {
    identifier.split('_').all(|word| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.is_empty() || FILLERS.contains(&word)
    })
}

/// Names clips after their animation files, which have one clip each: those whose names say nothing, and those whose names are
/// the same in several files.
fn name_by_file(offers: &mut [AvailableClip], sources: &[ClipFile<'_, '_>]) {
    let only = |offer: &AvailableClip| {
        let source = &sources[offer.source];
        source.is_other() && source.file.document.animations.len() == 1
    };
    // Whether all clips of a name are the only ones of their files, and the number of these clips.
    let mut same: BTreeMap<&str, (bool, usize)> = BTreeMap::new();
    for offer in &*offers {
        let (all, count) = same.entry(&offer.identifier).or_insert((true, 0));
        (*all, *count) = (*all && only(offer), *count + 1);
    }
    let renamed = |offer: &AvailableClip| {
        let (all, count) = same[&*offer.identifier];
        only(offer) && (says_nothing(&offer.identifier) || (all && count > 1))
    };
    let renamed: Vec<bool> = offers.iter().map(renamed).collect();
    for (offer, _) in offers.iter_mut().zip(renamed).filter(|(_, renamed)| *renamed) {
        let path = &sources[offer.source].path.value;
        let stem =
            path.rsplit(['/', '\\']).next().and_then(|file| file.rsplit_once('.')).map_or(&**path, |(stem, _)| stem);
        offer.identifier = snake(stem);
    }
}

fn find(
    clip: &ClipEntry,
    offers: &[AvailableClip],
    sources: &[ClipFile<'_, '_>],
    complete: bool,
    report: &mut Report<'_>,
) -> Option<SelectedClip> {
    let wanted = clip.source.as_ref().unwrap_or(&clip.name);
    let mut found: Vec<&AvailableClip> = offers.iter().filter(|offer| offer.title == wanted.value).collect();
    if found.is_empty()
        && let Some((file, title)) = wanted.value.split_once('#')
    {
        let named = |o: &&AvailableClip| sources[o.source].path.value == file && o.title == title;
        found = offers.iter().filter(named).collect();
    }
    // A table without `source` is named like the Rust identifier: `run` matches
    // `HumanArmature|Run`.
    if found.is_empty() && clip.source.is_none() {
        let identifier = snake(&wanted.value);
        found = offers.iter().filter(|o| o.identifier == identifier || snake(&o.title) == identifier).collect();
    }
    let Some(first) = found.first() else {
        if !complete {
            return None;
        }
        let message = format!("clip {} not found", quoted(&wanted.value));
        let names = offers.iter().map(|o| if clip.source.is_some() { &*o.title } else { &*o.identifier });
        report.error_at(
            &wanted.span,
            Diagnostic::error(DiagnosticCode::ClipNotFound, message)
                .clip(&wanted.value)
                .help(instead(&wanted.value, names)),
        );
        return None;
    };
    if let Some(other) = found.iter().find(|o| o.source != first.source || o.title != first.title) {
        let forms = found.iter().map(|o| qualified(o, sources)).collect::<Vec<_>>();
        let message = format!(
            "{} matches two clips: {} and {}",
            quoted(&wanted.value),
            place(first, sources),
            place(other, sources)
        );
        let help = format!("name one of them: source = {}", list(forms.iter().map(String::as_str), 5));
        report.error_at(&wanted.span, Diagnostic::error(DiagnosticCode::ClipAmbiguous, message).help(help));
        return None;
    }
    if found.len() > 1 {
        let message = format!("{} clips are named {}; the first one is used", found.len(), quoted(&wanted.value));
        report.warn(
            Diagnostic::warning(DiagnosticCode::ClipAmbiguous, message)
                .within(Label::file(&sources[first.source].file.shown)),
        );
    }
    Some(first.chosen(&clip.name.value))
}

/// Leaves out the clips that the manifest excludes. `complete`: whether all files could be read.
fn without_excluded(
    mut offers: Vec<AvailableClip>,
    entry: &ModelEntry,
    complete: bool,
    report: &mut Report<'_>,
) -> Vec<AvailableClip> {
    for pattern in entry.exclude_clips.iter().filter(|_| complete) {
        if !offers.iter().any(|offer| offer.matches(&pattern.value)) {
            let message = format!("`exclude_clips`: no clip is named {}", quoted(&pattern.value));
            let names = offers.iter().map(|offer| &offer.title[offer.prefix..]);
            let diagnostic = Diagnostic::warning(DiagnosticCode::ManifestNoEffect, message);
            report.warn(diagnostic.help(instead(&pattern.value, names)));
        }
    }
    offers.retain(|offer| !entry.exclude_clips.iter().any(|pattern| offer.matches(&pattern.value)));
    offers
}

/// Reports clips that would have the same name in Rust.
fn refuse_same_names(offers: &[AvailableClip], sources: &[ClipFile<'_, '_>], report: &mut Report<'_>) {
    let mut seen: BTreeMap<&str, &AvailableClip> = BTreeMap::new();
    for offer in offers {
        let Some(first) = seen.insert(&offer.identifier, offer) else { continue };
        let message = format!(
            "clips {} and {} would both become `{}` in Rust",
            place(first, sources),
            place(offer, sources),
            offer.identifier
        );
        let span: &Range<usize> = &sources[offer.source].path.span;
        let help = if first.title == offer.title && first.source == offer.source {
            format!(
                "rename one of them in its file; or list all clips to bake, as `gpuskin inspect` prints them: \
                 [model.clips.{}] uses the first one",
                offer.identifier
            )
        } else {
            let source = if first.title == offer.title { qualified(offer, sources) } else { offer.title.clone() };
            format!(
                "leave them out: `exclude_clips = [{:?}]`; or list all clips to bake, one table per \
                 clip:\n[model.clips.{}_2]\nsource = {source:?}",
                &offer.title[offer.prefix..],
                offer.identifier
            )
        };
        report.error_at(span, Diagnostic::error(DiagnosticCode::NameCollision, message).help(help));
    }
}

/// Returns the clip and its file for messages, such as `` `Run` of run.glb ``.
fn place(offer: &AvailableClip, sources: &[ClipFile<'_, '_>]) -> String {
    format!("{} of {}", quoted(&offer.title), sources[offer.source].file.shown)
}

/// Returns `art/run.glb#Run`, which is unique among clips of the same name in several files.
fn qualified(offer: &AvailableClip, sources: &[ClipFile<'_, '_>]) -> String {
    format!("{}#{}", sources[offer.source].path.value, offer.title)
}
