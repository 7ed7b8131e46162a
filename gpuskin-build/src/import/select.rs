//! Selection of the clips to bake, and their names.

use std::collections::{BTreeMap, BTreeSet};

use super::file::File;
use super::hierarchy::Hierarchy;
use super::repeated_clips::ClipComparison;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::identifier_case::{constant_end, snake};
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

/// Maximum number of clips that a message names.
const LISTED: usize = 5;
/// Maximum number of names of several clips with a warning each.
const MOST_COLLISIONS: usize = 2;
/// Maximum number of different clips of one name with which a clip is compared.
const MOST_COMPARED: usize = 8;
/// Maximum number of clips in all files of a model, including clips that are not baked.
const MAX_OFFERS: usize = 1 << 14;

/// A clip that is available in a source file.
struct AvailableClip {
    source: usize,
    animation: usize,
    title: String,
    /// Length of the prefix of the title that all clips of the file share.
    prefix: usize,
    /// Title as a Rust identifier, which several clips may have.
    identifier: String,
    /// Name in Rust, which only this clip has: the identifier, with a number if another clip has it.
    name: String,
    /// Whether an earlier file has the same clip of this name.
    is_repeated: bool,
}

impl AvailableClip {
    /// Whether a pattern of the manifest matches one of the clip's names.
    fn matches(&self, pattern: &str) -> bool {
        let names = [&self.title, &self.title[self.prefix..], &self.identifier];
        names.into_iter().any(|name| matched(pattern, name).is_some())
    }

    /// Whether the name has a number because another clip has the identifier.
    fn is_renamed(&self) -> bool {
        self.name != self.identifier
    }

    fn chosen(&self, name: &str) -> SelectedClip {
        let AvailableClip { source, animation, title, .. } = self;
        SelectedClip { source: *source, animation: *animation, name: name.to_owned(), title: title.clone() }
    }
}

/// Selects the clips that the manifest lists, in its order, or all clips under their own names.
///
/// Returns nothing for a model without clips. `complete`: whether all files could be read; if not, missing
/// clips are not reported.
pub(super) fn choose(
    sources: &[ClipFile<'_, '_>],
    entry: &ModelEntry,
    complete: bool,
    report: &mut Report<'_>,
) -> Vec<SelectedClip> {
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
    mark_repeated(&mut offers, sources);
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
            number_same_names(&mut offers);
            let find = |clip| find(clip, clips, &offers, (sources, complete), report);
            clips.iter().filter_map(find).collect()
        }
        _ => {
            let offers = without_excluded(offers, entry, complete, report);
            warn_of_renamed(&offers, sources, report);
            offers.iter().map(|offer| offer.chosen(&offer.name)).collect()
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
        AvailableClip { source, animation, title, prefix: cut, identifier, name: String::new(), is_repeated: false }
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

/// Marks clips that an earlier file has: of the same names and the same curves. Only one of them is baked, unless the
/// manifest lists another one.
fn mark_repeated(offers: &mut [AvailableClip], sources: &[ClipFile<'_, '_>]) {
    // Events in `extras` may differ.
    let comparable = |of: &AvailableClip| {
        let source = &sources[of.source];
        !matches!(source.nodes, ClipNodes::Retargeted(..)) && !source.file.may_have_events()
    };
    let mut comparison = ClipComparison::new();
    let mut different: BTreeMap<(&str, &str), Vec<&AvailableClip>> = BTreeMap::new();
    let clip = |offer: &AvailableClip| (sources[offer.source].file, offer.animation);
    let repeated = |offer| {
        let AvailableClip { source, title, identifier, .. }: &AvailableClip = offer;
        let different = different.entry((title, identifier)).or_default();
        let mut of_others = different.iter().filter(|of| of.source != *source);
        let repeated =
            of_others.any(|of| comparable(of) && comparable(offer) && comparison.same(clip(of), clip(offer)));
        if !repeated && different.len() < MOST_COMPARED {
            different.push(offer);
        }
        repeated
    };
    let repeated: Vec<bool> = offers.iter().map(repeated).collect();
    offers.iter_mut().zip(repeated).for_each(|(offer, repeated)| offer.is_repeated = repeated);
}

/// Gives every clip a name that no other clip has. Of clips with the same identifier, one keeps it: the first whose
/// title is the identifier, else the first. The others get a number, from 2 on, in their order.
fn number_same_names(offers: &mut [AvailableClip]) {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for (i, offer) in offers.iter().enumerate() {
        let keeps = first.entry(constant_end(&offer.identifier)).or_insert(i);
        let exact = |i: usize| offers[i].title[offers[i].prefix..] == offers[i].identifier;
        if exact(i) && !exact(*keeps) {
            *keeps = i;
        }
    }
    // A number must not make the title of another clip, by which a table finds that clip, which may be named after its file.
    let titles = offers.iter().map(|offer| constant_end(&snake(&offer.title[offer.prefix..])));
    let mut taken: BTreeSet<String> = titles.chain(first.keys().cloned()).collect();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for (i, offer) in offers.iter_mut().enumerate() {
        let identifier = constant_end(&offer.identifier);
        offer.name.clone_from(&offer.identifier);
        if first[&identifier] == i {
            continue;
        }
        let number = numbers.entry(identifier).or_insert(1);
        while !taken.insert(constant_end(&offer.name)) {
            *number += 1;
            offer.name = format!("{}_{number}", offer.identifier);
        }
    }
}

/// Finds the clip of a table of the manifest, `listed` being all of them. `complete`: whether all files could be
/// read.
fn find(
    clip: &ClipEntry,
    listed: &[ClipEntry],
    offers: &[AvailableClip],
    (sources, complete): (&[ClipFile<'_, '_>], bool),
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
    // A clip with a number is found by its name in Rust.
    if found.is_empty() {
        found = offers.iter().filter(|o| o.is_renamed() && o.name == wanted.value).collect();
    }
    // A table without `source` is named like the Rust identifier: `run` matches
    // `HumanArmature|Run`.
    if found.is_empty() && clip.source.is_none() {
        let identifier = snake(&wanted.value);
        found = offers.iter().filter(|o| o.identifier == identifier || snake(&o.title) == identifier).collect();
    }
    if found.is_empty() {
        if !complete {
            return None;
        }
        let message = format!("clip {} not found", quoted(&wanted.value));
        let names = offers.iter().map(|o| if clip.source.is_some() { &*o.title } else { &*o.name });
        report.error_at(
            &wanted.span,
            Diagnostic::error(DiagnosticCode::ClipNotFound, message)
                .clip(&wanted.value)
                .help(instead(&wanted.value, names)),
        );
        return None;
    }
    if found.len() > 1 {
        found.retain(|offer| !offer.is_repeated);
    }
    // The clip that keeps the name comes first.
    found.sort_by_key(|offer| offer.is_renamed());
    let first = found[0];
    let is_listed = |offer: &&AvailableClip| {
        listed.iter().any(|clip| clip.source.as_ref().unwrap_or(&clip.name).value == offer.name)
    };
    // If the manifest lists the other clips by the numbers in their names, the name is that of the first.
    if found[1..].iter().all(is_listed) {
        return Some(first.chosen(&clip.name.value));
    }
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
    let message = format!("{} clips are named {}; the first one is used", found.len(), quoted(&wanted.value));
    let others = list(found[1..].iter().map(|offer| &*offer.name), LISTED);
    let help = format!("if another one is meant, write its name with a number as `source`: {others}");
    report.warn(
        Diagnostic::warning(DiagnosticCode::ClipAmbiguous, message)
            .help(help)
            .within(Label::file(&sources[first.source].file.shown)),
    );
    Some(first.chosen(&clip.name.value))
}

/// Leaves out the clips that the manifest excludes, and names the others. `complete`: whether all files could be read.
///
/// A pattern is first compared with the names of all clips, so that a clip keeps its name if the others that have it are
/// excluded, and then with the names that have a number.
fn without_excluded(
    mut offers: Vec<AvailableClip>,
    entry: &ModelEntry,
    complete: bool,
    report: &mut Report<'_>,
) -> Vec<AvailableClip> {
    offers.retain(|offer| !offer.is_repeated);
    let excluded = &entry.exclude_clips;
    let unmatched: Vec<&At<String>> =
        excluded.iter().filter(|pattern| !offers.iter().any(|offer| offer.matches(&pattern.value))).collect();
    let titles: Vec<String> = if unmatched.is_empty() {
        Vec::new()
    } else {
        offers.iter().map(|offer| offer.title[offer.prefix..].to_owned()).collect()
    };
    offers.retain(|offer| !excluded.iter().any(|pattern| offer.matches(&pattern.value)));
    number_same_names(&mut offers);
    let is_name = |pattern: &str, offer: &AvailableClip| offer.is_renamed() && matched(pattern, &offer.name).is_some();
    for pattern in unmatched.into_iter().filter(|_| complete) {
        if !offers.iter().any(|offer| is_name(&pattern.value, offer)) {
            let message = format!("`exclude_clips`: no clip is named {}", quoted(&pattern.value));
            let diagnostic = Diagnostic::warning(DiagnosticCode::ManifestNoEffect, message);
            report.warn(diagnostic.help(instead(&pattern.value, titles.iter().map(String::as_str))));
        }
    }
    offers.retain(|offer| !excluded.iter().any(|pattern| is_name(&pattern.value, offer)));
    offers
}

/// Warns about clips that have a number in their name because another clip has the name.
fn warn_of_renamed(offers: &[AvailableClip], sources: &[ClipFile<'_, '_>], report: &mut Report<'_>) {
    let mut same: BTreeMap<String, Vec<&AvailableClip>> = BTreeMap::new();
    for offer in offers {
        same.entry(constant_end(&offer.identifier)).or_default().push(offer);
    }
    let shared: Vec<Vec<&AvailableClip>> =
        same.into_values().filter(|clips| clips.iter().any(|clip| clip.is_renamed())).collect();
    if shared.len() > MOST_COLLISIONS {
        let renamed: Vec<&AvailableClip> = shared.iter().flatten().copied().filter(|clip| clip.is_renamed()).collect();
        let message = format!(
            "{} names in Rust are those of several clips each: one clip keeps the name, the others are baked as {}",
            shared.len(),
            list(renamed.iter().map(|clip| &*clip.name), LISTED)
        );
        report.warn(renamed_warning(message, &renamed[0].name));
    } else {
        shared.iter().for_each(|clips| report.warn(renamed_of_one_name(clips, sources)));
    }
}

/// Warns about the renamed ones of clips with one name.
fn renamed_of_one_name(clips: &[&AvailableClip], sources: &[ClipFile<'_, '_>]) -> Diagnostic {
    let renamed: Vec<&AvailableClip> = clips.iter().copied().filter(|clip| clip.is_renamed()).collect();
    let first = renamed[0];
    let one_file = clips.iter().all(|clip| clip.source == first.source);
    let one_title = one_file && clips.iter().all(|clip| clip.title == first.title);
    let place = |clip: &AvailableClip| if one_file { quoted(&clip.title) } else { place(clip, sources) };
    let message = if one_title {
        let names = list(renamed.iter().map(|clip| &*clip.name), LISTED);
        let (count, title, name) = (clips.len(), place(first), &first.identifier);
        format!("{count} clips are named {title}: the first is baked as `{name}`, the others as {names}")
    } else {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(clips.iter().find(|clip| !clip.is_renamed()).map(|clip| format!("{} keeps it", place(clip))));
        parts.extend(renamed.iter().take(LISTED).map(|clip| format!("{} becomes `{}`", place(clip), clip.name)));
        if let Some(more @ 1..) = renamed.len().checked_sub(LISTED) {
            parts.push(format!("and {more} more"));
        }
        format!("{} clips have the name `{}` in Rust: {}", clips.len(), first.identifier, parts.join(", "))
    };
    let diagnostic = renamed_warning(message, &first.name);
    if one_file { diagnostic.within(Label::file(&sources[first.source].file.shown)) } else { diagnostic }
}

/// Creates a warning about clips with numbers in their names; `name` is an example of them.
fn renamed_warning(message: String, name: &str) -> Diagnostic {
    Diagnostic::warning(DiagnosticCode::NameCollision, message).help(format!(
        "rename clips in the file; or leave a clip out: `exclude_clips = [{name:?}]`; or list all clips to bake, as \
         `gpuskin inspect` prints them, with names of your own:\n[model.clips.other_name]\nsource = {name:?}"
    ))
}

/// Returns the clip and its file for messages, such as `` `Run` of run.glb ``.
fn place(offer: &AvailableClip, sources: &[ClipFile<'_, '_>]) -> String {
    format!("{} of {}", quoted(&offer.title), sources[offer.source].file.shown)
}

/// Returns `art/run.glb#Run`, which is unique among clips of the same name in several files.
fn qualified(offer: &AvailableClip, sources: &[ClipFile<'_, '_>]) -> String {
    format!("{}#{}", sources[offer.source].path.value, offer.title)
}
