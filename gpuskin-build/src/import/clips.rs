//! Clips and their channels, resolved to nodes of the model.

use std::collections::{BTreeMap, BTreeSet};

use gltf::json::{self, Index};

use super::curve::{self, KeyTimesCache};
use super::document;
use super::file::File;
use super::hierarchy::{Hierarchy, node_label};
use super::morph;
use super::node_names::{NodeMatch, NodeNames, common_rename};
use super::report::Report;
use super::retarget::{self, BoneTable, Lacks};
use super::select::{ClipFile, ClipNodes, SelectedClip};
use super::target_match::{TargetMatch, TargetMatcher};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::manifest::{ModelEntry, Rename};
use crate::model::{Channel, Clip, MorphChannel, Property};
use crate::suggest::{list, quoted};

/// Maximum number of unmatched nodes that a warning lists.
const LISTED: usize = 5;

/// Reads the chosen clips. An error in one clip is reported, and reading continues with the next.
pub(super) fn read(
    choices: &[SelectedClip],
    sources: &[ClipFile<'_, '_>],
    hierarchy: &Hierarchy,
    entry: &ModelEntry,
    report: &mut Report<'_>,
) -> Vec<Clip> {
    let mut readers: Vec<ClipReader<'_, '_>> =
        sources.iter().map(|source| ClipReader::new(source, &sources[0], hierarchy, &entry.rename)).collect();
    let mut clips = Vec::with_capacity(choices.len());
    for choice in choices {
        clips.push(readers[choice.source].clip(choice, report));
    }
    let mut of_files = OfFiles::default();
    for (i, reader) in readers.iter().enumerate() {
        reader.warn_of_strangers(choices.iter().any(|choice| choice.source == i), &mut of_files, report);
    }
    of_files.0.into_iter().for_each(|(warning, files)| report.warn_of_files(&files, warning));
    retarget(choices, sources, hierarchy, entry, &mut clips, report);
    clips
}

/// Warnings, each with the files that it is about, as shown: files of one library have the same.
#[derive(Default)]
struct OfFiles(Vec<(Diagnostic, Vec<String>)>);

impl OfFiles {
    fn add(&mut self, file: &File<'_>, warning: Diagnostic) {
        let shown = file.shown.to_string();
        match self.0.iter_mut().find(|(other, _)| other.message() == warning.message()) {
            Some((_, files)) => files.push(shown),
            None => self.0.push((warning, vec![shown])),
        }
    }
}

/// Retargets the clips of files with other skeletons to the model.
fn retarget(
    choices: &[SelectedClip],
    sources: &[ClipFile<'_, '_>],
    hierarchy: &Hierarchy,
    entry: &ModelEntry,
    clips: &mut [Clip],
    report: &mut Report<'_>,
) {
    let mut rigs = Vec::with_capacity(sources.len());
    for source in sources {
        let ClipNodes::Retargeted(own, bones) = &source.nodes else {
            rigs.push(None);
            continue;
        };
        let table = BoneTable { path: source.path, bones, key: "`bones`" };
        rigs.push(Some((table, retarget::rig(source.file, own, table, report))));
    }
    let any = rigs.iter().any(Option::is_some);
    let target = any.then(|| {
        let table = BoneTable { path: &entry.path, bones: &entry.humanoid, key: "[model.humanoid]" };
        retarget::rig(sources[0].file, hierarchy, table, report)
    });
    let mut lacks = Lacks::default();
    for (i, source) in sources.iter().enumerate() {
        let Some((table, rig)) = &rigs[i] else { continue };
        let of_source = clips.iter_mut().zip(choices).filter(|(_, choice)| choice.source == i);
        let clips: Vec<&mut Clip> = of_source.map(|(clip, _)| clip).collect();
        match (rig, target.as_ref().and_then(Option::as_ref)) {
            (Some(rig), Some(target)) => {
                let others = rigs.iter().flatten().filter_map(|(_, rig)| rig.as_ref()).chain([target]);
                let rig = retarget::standing(rig, others, source.file, &clips, &mut lacks);
                retarget::clips(source.file, (&rig, target), *table, clips, (report, &mut lacks));
            }
            // Curves of nodes that the model does not have. The errors are reported.
            _ => clips.into_iter().for_each(Clip::clear),
        }
    }
    lacks.report(report);
    if !any && !entry.humanoid.is_empty() {
        let message = "[model.humanoid] has no effect, because no file of `animations` is retargeted";
        report.warn(Diagnostic::warning(DiagnosticCode::ManifestNoEffect, message));
    }
}

/// Curve of a channel: transform property or morph weights.
enum AnyChannel {
    Transform(Channel),
    Morph(MorphChannel),
}

struct ClipReader<'a, 'f> {
    source: &'a ClipFile<'a, 'f>,
    /// File whose nodes the clips move.
    model: &'a File<'f>,
    /// Morph weights of each node of the model in the rest pose.
    weights: Vec<&'a [f64]>,
    /// Number of morph targets of each mesh of an animation file, and how they match; read on first use.
    morphs: Option<(Vec<usize>, TargetMatcher)>,
    names: NodeNames<'a>,
    keys: KeyTimesCache,
    /// Nodes of an animation file without a node of the same name in the model.
    strangers: BTreeSet<usize>,
    known: BTreeSet<usize>,
    /// Nodes of an animation file, each with the node of the model whose name differs in a prefix or in
    /// separators.
    alike: BTreeMap<usize, usize>,
    /// Pointers of the current clip to properties that are not animated (`KHR_animation_pointer`).
    pointers: BTreeSet<String>,
    /// Nodes with a matrix that channels of the current clip move, which is of the same file.
    matrices: BTreeSet<usize>,
}

impl<'a, 'f> ClipReader<'a, 'f> {
    fn new(
        source: &'a ClipFile<'a, 'f>,
        model: &'a ClipFile<'a, 'f>,
        hierarchy: &'a Hierarchy,
        rename: &'a [Rename],
    ) -> Self {
        // Clips that are retargeted are read as clips of a model of their own.
        let (moved, hierarchy, names) = match &source.nodes {
            ClipNodes::OfModel => (model.file, hierarchy, NodeNames::none()),
            ClipNodes::ByName => (model.file, hierarchy, NodeNames::new(model.file, hierarchy, rename)),
            ClipNodes::Retargeted(own, _) => (source.file, &**own, NodeNames::none()),
        };
        let (strangers, known, alike) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        let weights = hierarchy.nodes.iter().map(|node| &*node.weights).collect();
        let (keys, pointers, matrices) = Default::default();
        let (model, morphs) = (moved, None);
        Self { source, model, weights, morphs, names, keys, strangers, known, alike, pointers, matrices }
    }

    fn clip(&mut self, choice: &SelectedClip, report: &mut Report<'_>) -> Clip {
        let file = self.source.file;
        let animation = &file.document.animations[choice.animation];
        let label = Label::file(&file.shown).clip(&choice.title);
        let mut clip = Clip {
            name: choice.name.clone(),
            source: choice.title.clone(),
            index: choice.animation,
            file: self.source.is_other().then(|| self.source.path.value.clone()),
            channels: Vec::with_capacity(animation.channels.len()),
            ..Clip::default()
        };
        self.span(&mut clip, animation, &label, report);
        for (i, channel) in animation.channels.iter().enumerate() {
            match self.channel(channel, choice.animation, &label, report) {
                Ok(None) => {}
                Ok(Some(AnyChannel::Transform(channel))) => clip.channels.push(channel),
                Ok(Some(AnyChannel::Morph(channel))) => clip.morphs.push(channel),
                Err(diagnostic) => {
                    let sampler = channel.sampler;
                    report.error(diagnostic.within(label.clone().and(format_args!("channel {i} (sampler {sampler})"))));
                }
            }
        }
        let pointers = core::mem::take(&mut self.pointers);
        if !pointers.is_empty() {
            let message = format!("the animation of {} is ignored", list(pointers.iter().map(String::as_str), LISTED));
            let help = "pointers to `translation`, `rotation`, `scale` and `weights` of nodes are read";
            report
                .warn(Diagnostic::warning(DiagnosticCode::ClipChannel, message).collected().help(help).within(&label));
        }
        let matrices = core::mem::take(&mut self.matrices);
        for node in matrices {
            let message = "a channel moves a node that has a matrix, which the channels of the node replace";
            let diagnostic = Diagnostic::warning(DiagnosticCode::NodeTransform, message).collected();
            report.warn(diagnostic.within(self.at(node)).within(&label));
        }
        let mut warn = |node: usize, what: &str| {
            let name = self.model.document.nodes[node].name.as_deref();
            let label = label.clone().node(node, name);
            let message = format!("{what} has two channels; the last one is used");
            report.warn(Diagnostic::warning(DiagnosticCode::ClipChannel, message).collected().within(label));
        };
        for (node, property) in keep_last(&mut clip.channels, |c| (c.node, c.property)) {
            warn(node, &format!("{property:?}"));
        }
        for node in keep_last(&mut clip.morphs, |c| c.node) {
            warn(node, "weights");
        }
        clip
    }

    /// Sets start and end of a clip: the first and last key of all samplers, whether or not a
    /// channel uses them.
    fn span(&mut self, clip: &mut Clip, animation: &document::GltfAnimation, label: &Label, report: &mut Report<'_>) {
        let (mut start, mut end) = (f64::MAX, f64::MIN);
        let (mut doubled, mut first) = (0, None);
        for (i, sampler) in animation.samplers.iter().enumerate() {
            match self.keys.of(self.source.file, sampler) {
                Ok(keys) => {
                    start = start.min(keys.times[0]);
                    end = end.max(keys.times[keys.times.len() - 1]);
                    if keys.doubled {
                        doubled += 1;
                        first = first.or(Some((i, sampler.input)));
                    }
                }
                Err(diagnostic) => report.error(diagnostic.within(label.clone().and(format_args!("sampler {i}")))),
            }
        }
        if let Some((sampler, accessor)) = first {
            let which = format!("sampler {sampler} (accessor {accessor})");
            let message = match doubled {
                1 => format!("{which} has several keys at one time: the curve jumps there"),
                _ => format!(
                    "{doubled} samplers have several keys at one time, the first of them {which}: the curve jumps there"
                ),
            };
            let diagnostic = Diagnostic::warning(DiagnosticCode::ClipKeys, message);
            report.warn(diagnostic.collected_as("several keys at one time").within(label));
        }
        if start <= end {
            if start < 0.0 {
                let message = format!("the first key is at {start} s; the part before 0 s is not played");
                let diagnostic = Diagnostic::warning(DiagnosticCode::ClipKeys, message);
                report.warn(diagnostic.collected_as("keys before 0 s").within(label));
            }
            (clip.start, clip.end) = (start, end.max(0.0));
        }
    }

    fn channel(
        &mut self,
        channel: &document::GltfChannel,
        animation: usize,
        label: &Label,
        report: &mut Report<'_>,
    ) -> Result<Option<AnyChannel>, Diagnostic> {
        let file = self.source.file;
        let (target, path) = channel.target.animated();
        let property = match path {
            "translation" => Some(Property::Translation),
            "rotation" => Some(Property::Rotation),
            "scale" => Some(Property::Scale),
            "weights" => None,
            other => {
                if let Some(pointer) = channel.target.pointer() {
                    self.pointers.insert(pointer.to_owned());
                    return Ok(None);
                }
                let message = format!("channels with path {} are not supported and are ignored", quoted(other));
                report.warn(Diagnostic::warning(DiagnosticCode::ClipChannel, message).collected().within(label));
                return Ok(None);
            }
        };
        let Some(target) = target else {
            let message = "a channel without a target node is ignored";
            report.warn(Diagnostic::warning(DiagnosticCode::ClipChannel, message).collected().within(label));
            return Ok(None);
        };
        file.get(&file.document.nodes, target, "node")?;
        let sampler = file.get(&file.document.animations[animation].samplers, channel.sampler, "sampler")?;
        let Some(node) = self.node(target)? else { return Ok(None) };
        // Invalid key times are reported once per sampler, not per channel.
        let Ok(keys) = self.keys.of(file, sampler) else { return Ok(None) };
        let place = format!("/animations/{animation}/samplers/{}", channel.sampler);
        if let Some(property) = property {
            if self.model.document.nodes[node].matrix.is_some() && !self.source.is_other() {
                self.matrices.insert(node);
            }
            let at = || self.at(node);
            let mut warn = |fact: &str, message: String| {
                let diagnostic = Diagnostic::warning(DiagnosticCode::NodeTransform, message);
                report.warn(diagnostic.collected_as(fact).within(at()).within(label));
            };
            let curve = curve::curve(file, sampler, property, &keys, &place, &mut warn).map_err(|e| e.within(at()))?;
            return Ok(Some(AnyChannel::Transform(Channel { node, property, curve })));
        }
        if self.weights[node].is_empty() {
            let node = self.at(node);
            let message = format!("a channel for morph weights of {node} is ignored: its mesh has no morph targets");
            let diagnostic = Diagnostic::warning(DiagnosticCode::ClipChannel, message);
            report.warn(diagnostic.collected_as("weights without morph targets").placed(node).within(label));
            return Ok(None);
        }
        self.morph_weights([target.value(), node], (sampler, &keys, &place), label, report)
    }

    /// Reads the weights of the morph targets of a node. `nodes`: of the file, and of the model.
    fn morph_weights(
        &mut self,
        nodes: [usize; 2],
        (sampler, keys, place): (&json::animation::Sampler, &curve::KeyTimes, &str),
        label: &Label,
        report: &mut Report<'_>,
    ) -> Result<Option<AnyChannel>, Diagnostic> {
        let (file, [own, node]) = (self.source.file, nodes);
        let weights = self.weights[node];
        let at = self.at(node);
        let meshes = [(file, own), (self.model, node)].map(|(file, node)| file.document.nodes[node].mesh);
        let ([Some(of_file), Some(of_model)], ClipNodes::ByName) = (meshes, &self.source.nodes) else {
            let curve = curve::weights(file, sampler, weights.len(), keys, place).map_err(|e| e.within(at))?;
            return Ok(Some(AnyChannel::Morph(MorphChannel { node, curve })));
        };
        let meshes = [of_file.value(), of_model.value()];
        let new = || (morph::counts(file), TargetMatcher::new(file, self.model));
        let (counts, matcher) = self.morphs.get_or_insert_with(new);
        let count = counts.get(meshes[0]).copied().unwrap_or(0);
        let places = match matcher.matched(meshes, [count, weights.len()]) {
            TargetMatch::InOrder => None,
            TargetMatch::ByName(places) => Some(places),
            TargetMatch::None => {
                let message = format!(
                    "a channel for morph weights of {at} is ignored: the mesh of the file has {count} morph targets, that of \
                     the model {}, and their names do not tell which is which",
                    weights.len()
                );
                report.warn(Diagnostic::warning(DiagnosticCode::ClipChannel, message).within(label));
                return Ok(None);
            }
        };
        let mut curve = curve::weights(file, sampler, count, keys, place).map_err(|e| e.within(at))?;
        if let Some(places) = places {
            file.claim((curve.values.len() / count) as u64 * places.len() as u64)?;
            curve = matcher.arrange(curve, meshes[0], &places, weights);
        }
        Ok(Some(AnyChannel::Morph(MorphChannel { node, curve })))
    }

    /// Returns the label of a node of the model, with the model's file if the clip is from another
    /// file.
    fn at(&self, node: usize) -> Label {
        let name = self.model.document.nodes[node].name.as_deref();
        match self.source.nodes {
            ClipNodes::ByName => node_label(self.model, node),
            ClipNodes::OfModel | ClipNodes::Retargeted(..) => Label::default().node(node, name),
        }
    }

    /// Returns the node of the model that a channel moves.
    fn node(&mut self, target: Index<json::Node>) -> Result<Option<usize>, Diagnostic> {
        if !matches!(self.source.nodes, ClipNodes::ByName) {
            return Ok(Some(target.value()));
        }
        let name = self.source.file.document.nodes[target.value()].name.as_deref();
        match name.map_or(NodeMatch::None, |name| self.names.find(name)) {
            NodeMatch::None => {
                self.strangers.insert(target.value());
                Ok(None)
            }
            NodeMatch::Same(node) => {
                self.known.insert(target.value());
                Ok(Some(node))
            }
            NodeMatch::Alike(node) => {
                self.known.insert(target.value());
                self.alike.insert(target.value(), node);
                Ok(Some(node))
            }
            NodeMatch::Ambiguous([a, b]) => {
                let name = quoted(name.unwrap_or_default());
                let message = format!("{} has two nodes named {name}: {a} and {b}", self.model.shown);
                Err(Diagnostic::error(DiagnosticCode::ClipAmbiguous, message).help("rename one of the two nodes"))
            }
        }
    }

    fn warn_of_strangers(&self, chosen: bool, of_files: &mut OfFiles, report: &mut Report<'_>) {
        let (file, model) = (self.source.file, &self.model.shown);
        if !self.source.is_other() {
            return;
        }
        // Without clips, a retargeted file may be there for its pose.
        let for_pose = matches!(self.source.nodes, ClipNodes::Retargeted(..)) && file.document.animations.is_empty();
        if !chosen && !for_pose {
            report.warn(
                Diagnostic::warning(DiagnosticCode::ClipUnused, "no clip of this file is baked")
                    .collected()
                    .within(Label::file(&file.shown)),
            );
        }
        let of_targets = self.morphs.as_ref().and_then(|(_, matcher)| matcher.warning());
        self.alike_nodes().into_iter().chain(of_targets).for_each(|warning| of_files.add(file, warning));
        if self.strangers.is_empty() {
            return;
        }
        let labels: Vec<String> = self.strangers.iter().map(|i| self.label(*i)).collect();
        let names = list(labels.iter().map(String::as_str), LISTED);
        let mut help =
            format!("nodes of animation files are matched by name: {model} must have nodes of the same names");
        let moved = self.moved_names();
        let closest = |name: &String| self.names.closest(name).filter(|of_model| !moved.contains(of_model));
        let nearly: Vec<String> = labels
            .iter()
            .filter_map(|name| Some(format!("{} = {}", quoted(name), quoted(closest(name)?))))
            .take(LISTED)
            .collect();
        let near =
            if nearly.is_empty() { String::new() } else { format!("; these nearly match: {}", nearly.join(", ")) };
        help += "; `rename = { \"prefix:*\" = \"*\" }` renames the nodes of animation files";
        help += "; `retarget = \"humanoid\"` takes clips of another humanoid skeleton";
        if self.known.is_empty() {
            let message = format!("the clips of this file move only nodes that {model} does not have: {names}{near}");
            let diagnostic = Diagnostic::error(DiagnosticCode::ClipUnknownNodes, message)
                .help(help)
                .within(Label::file(&file.shown));
            report.error_at(&self.source.path.span, diagnostic);
        } else {
            let (count, all) = (labels.len(), labels.len() + self.known.len());
            let message = format!("{count} of {all} nodes that the clips move do not exist in {model}: {names}{near}");
            of_files.add(file, Diagnostic::warning(DiagnosticCode::ClipUnknownNodes, message).help(help));
        }
    }

    /// Returns the names of the model's nodes that the file moves.
    fn moved_names(&self) -> BTreeSet<&'a str> {
        let name = |file: &'a File<'f>, node: usize| file.document.nodes[node].name.as_deref();
        let of_model = |node: &usize| match self.names.find(name(self.source.file, *node)?) {
            NodeMatch::Same(node) | NodeMatch::Alike(node) => name(self.model, node),
            NodeMatch::None | NodeMatch::Ambiguous(_) => None,
        };
        self.known.iter().filter_map(of_model).collect()
    }

    /// Returns a warning about the nodes that were matched although their names differ.
    fn alike_nodes(&self) -> Option<Diagnostic> {
        let file = self.source.file;
        let pairs = || {
            self.alike.iter().filter_map(|(node, of_model)| {
                let name = |file: &'a File<'f>, node: usize| file.document.nodes[node].name.as_deref();
                Some((name(file, *node)?, name(self.model, *of_model)?))
            })
        };
        let (from, to) = pairs().next()?;
        let message = format!(
            "{} nodes are matched with nodes whose names differ in a prefix or in separators, such as {} with {}",
            self.alike.len(),
            quoted(from),
            quoted(to)
        );
        let help = match common_rename(pairs()) {
            Some(rename) => format!("if the match is right, write `rename = {{ {rename} }}`"),
            None => "if the match is right, rename the nodes in one of the files, or with `rename`".to_owned(),
        };
        Some(Diagnostic::warning(DiagnosticCode::ClipAlikeNodes, message).help(help))
    }

    fn label(&self, node: usize) -> String {
        self.source.file.document.nodes[node].name.clone().unwrap_or_else(|| format!("node {node}"))
    }
}

/// Sorts by a key, keeps the last item per key, and returns the keys of the dropped items.
fn keep_last<T, K: Ord>(list: &mut Vec<T>, key: impl Fn(&T) -> K) -> Vec<K> {
    list.reverse();
    list.sort_by_key(&key);
    let mut dropped = Vec::new();
    list.dedup_by(|earlier, kept| {
        let same = key(earlier) == key(kept);
        if same {
            dropped.push(key(earlier));
        }
        same
    });
    dropped
}

/// For each node, whether a clip moves it directly, not only one of its ancestors.
pub(super) fn moved(clips: &[Clip], nodes: usize) -> Vec<bool> {
    let mut moved = vec![false; nodes];
    for channel in clips.iter().flat_map(|clip| &clip.channels) {
        moved[channel.node] = true;
    }
    moved
}

/// Warns about clips that move nothing that is drawn. Skipped after errors, because data is then
/// incomplete.
pub(super) fn warn_of_idle(clips: &[Clip], moves: &[bool], report: &mut Report<'_>) {
    if report.failed() {
        return;
    }
    for clip in clips {
        let mut nodes = clip.channels.iter().map(|c| c.node).chain(clip.morphs.iter().map(|c| c.node));
        if !nodes.any(|node| moves[node]) {
            let message = format!("clip {} moves nothing that is drawn", quoted(&clip.source));
            let diagnostic = Diagnostic::warning(DiagnosticCode::ClipWithoutEffect, message).clip(&clip.source);
            let place = Label::default().clip(&clip.source);
            report.warn(diagnostic.collected_as("clips move nothing that is drawn").placed(place));
        }
    }
}
