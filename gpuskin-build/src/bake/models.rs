//! Makes all models of a manifest: loads cached ones and bakes the others.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use rayon::prelude::*;

use super::{BakeFailure, BakeOptions, BakedModel, ModelOutline, Stage, assemble};
use crate::codegen;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::import::{Inputs, Pixels, import_with_inputs};
use crate::manifest::{At, Manifest, ModelEntry};
use crate::name_collisions::{CLIPS, EVENTS, MASKS, ModelNames, PARTS, VARIANTS, check_identifiers};
use crate::output::FileContent;
use crate::pose_extent::rest_diagonal;

/// A model with its files.
#[derive(Debug)]
pub(crate) struct ModelOutput {
    pub(crate) model: BakedModel,
    /// Code of the model in the generated module.
    pub(crate) part: codegen::ModelCode,
    /// Files by path in the output folder.
    pub(crate) files: BTreeMap<String, FileContent<'static>>,
    /// Warnings.
    pub(crate) warnings: Diagnostics,
    /// Files that were read.
    pub(crate) inputs: Inputs,
    /// Whether the model was baked in this run rather than loaded from a cache.
    pub(crate) fresh: bool,
}

/// Storage of baked models across bakes.
pub(crate) trait ModelStore: Sync {
    /// Returns the stored model, if none of its inputs has changed.
    fn load(&self, entry: &ModelEntry) -> Option<ModelOutput>;
    /// Returns a reason why a model that was not found must not be baked.
    fn rejection(&self, entry: &ModelEntry) -> Option<Diagnostic>;
    /// Stores a model. May replace its file contents by paths of stored files, to free memory.
    fn store(&self, entry: &ModelEntry, made: &mut ModelOutput);
}

/// A cached model, or an imported one that is still to be baked.
enum PendingModel {
    Cached(Box<ModelOutput>),
    Imported(ModelOutline, Diagnostics, Inputs),
}

/// Makes the models of `entries`. Diagnostics are grouped per model, in the order of `entries`.
pub(crate) fn bake_models(
    manifest: &Manifest,
    entries: &[&ModelEntry],
    options: &BakeOptions<'_>,
    pixels: Pixels,
    store: Option<&dyn ModelStore>,
) -> Result<Vec<ModelOutput>, BakeFailure> {
    let pending_models: Vec<_> = entries
        .par_iter()
        .map(|entry| {
            if let Some(made) = store.and_then(|store| store.load(entry)) {
                options.report(entry, Stage::Done);
                return Ok(PendingModel::Cached(Box::new(made)));
            }
            if let Some(diagnostic) = store.and_then(|store| store.rejection(entry)) {
                return Err((diagnostic.into(), Inputs::default()));
            }
            let mut inputs = if store.is_some() { Inputs::with_digests() } else { Inputs::without_digests() };
            let (outline, diagnostics) = outline(manifest, entry, options, pixels, &mut inputs);
            match outline {
                Some(outline) => Ok(PendingModel::Imported(outline, diagnostics, inputs)),
                None => Err((diagnostics, inputs)),
            }
        })
        .collect();
    let mut diagnostics = Diagnostics::default();
    let mut read = BTreeSet::from([manifest.path.clone()]);
    for pending in &pending_models {
        let (found, inputs) = match pending {
            Ok(PendingModel::Cached(made)) => (&made.warnings, &made.inputs),
            Ok(PendingModel::Imported(_, found, inputs)) | Err((found, inputs)) => (found, inputs),
        };
        diagnostics.extend(found.clone());
        read.extend(inputs.paths().cloned());
    }
    let names = entries
        .iter()
        .zip(&pending_models)
        .filter_map(|(entry, pending)| pending.as_ref().ok().map(|d| d.names(entry)));
    let names = check_identifiers(&manifest.source, &names.collect::<Vec<_>>());
    diagnostics.extend(names.clone());
    if diagnostics.has_errors() {
        return Err(BakeFailure { diagnostics, inputs: read });
    }
    let results: Vec<_> = entries
        .par_iter()
        .zip(pending_models)
        .map(|(entry, pending)| {
            let (outline, mut warnings, inputs) = match pending {
                Ok(PendingModel::Cached(made)) => return Ok(*made),
                Ok(PendingModel::Imported(outline, diagnostics, inputs)) => (outline, diagnostics, inputs),
                // A model without an outline has errors, and those were handled above.
                Err((diagnostics, _)) => return Err(diagnostics),
            };
            match assemble::assemble(manifest, entry, &outline, options, &mut warnings) {
                Some((model, files)) if !warnings.has_errors() => {
                    let content = |(name, bytes)| (format!("gpuskin/{name}"), FileContent::Bytes(Cow::Owned(bytes)));
                    let files = files.into_iter().map(content).collect();
                    let part = codegen::part(&model);
                    let mut made = ModelOutput { model, part, files, warnings, inputs, fresh: true };
                    if let Some(store) = store {
                        store.store(entry, &mut made);
                    }
                    Ok(made)
                }
                _ => Err(warnings),
            }
        })
        .collect();
    if results.iter().all(Result::is_ok) {
        let mut all: Vec<ModelOutput> = results.into_iter().flatten().collect();
        if let Some(last) = all.last_mut() {
            last.warnings.extend(names);
        }
        return Ok(all);
    }
    let mut diagnostics = Diagnostics::default();
    results.into_iter().for_each(|result| diagnostics.extend(result.map_or_else(|found| found, |made| made.warnings)));
    diagnostics.extend(names);
    Err(BakeFailure { diagnostics, inputs: read })
}

/// Imports a model. Returns its outline, the state before its encoding is chosen, and its
/// diagnostics.
pub(super) fn outline(
    manifest: &Manifest,
    entry: &ModelEntry,
    options: &BakeOptions<'_>,
    pixels: Pixels,
    inputs: &mut Inputs,
) -> (Option<ModelOutline>, Diagnostics) {
    options.report(entry, Stage::Import);
    let mut diagnostics = Diagnostics::default();
    let named = options.encoding.map(|value| At { value, span: entry.name.span.clone() });
    let wanted = ModelEntry { encoding: named.or(entry.encoding.clone()), ..entry.clone() };
    let model = import_with_inputs(manifest, &wanted, pixels, &mut diagnostics, inputs);
    let outline = model.and_then(|mut model| {
        if pixels == Pixels::SizeOnly {
            model.drop_images();
        }
        let diagonal = rest_diagonal(&model);
        ModelOutline::new(model, diagonal, manifest, &wanted, &mut diagnostics)
    });
    (outline, diagnostics)
}

impl PendingModel {
    /// Returns the names in the model, some of which come from its files.
    fn names<'a>(&'a self, entry: &'a ModelEntry) -> ModelNames<'a> {
        match self {
            Self::Cached(made) => {
                let meta = &made.model.meta;
                let clips = meta.clips.iter().map(|clip| &*clip.name);
                names(entry, clips, meta.events.iter().map(|event| &**event), meta.variants())
            }
            Self::Imported(outline, ..) => names_of(entry, outline),
        }
    }
}

/// Returns the name of a model and the names in it, with their spans in the manifest.
pub(super) fn names_of<'a>(entry: &'a ModelEntry, outline: &'a ModelOutline) -> ModelNames<'a> {
    let model = &outline.model;
    let clips = model.clips.iter().map(|clip| clip.name.as_str());
    names(entry, clips, model.events.iter().map(String::as_str), model.variants.iter().map(String::as_str))
}

fn names<'a>(
    entry: &'a ModelEntry,
    clips: impl Iterator<Item = &'a str>,
    events: impl Iterator<Item = &'a str>,
    variants: impl Iterator<Item = &'a str>,
) -> ModelNames<'a> {
    let mut names = ModelNames { name: &entry.name.value, span: entry.name.span.clone(), members: Vec::new() };
    names.members.extend(clips.map(|name| (&CLIPS, name, entry.clip(name).map(|clip| clip.name.span.clone()))));
    let of_manifest = entry.clips.iter().flatten().flat_map(|clip| &clip.events);
    let mut spans: BTreeMap<&str, Range<usize>> = BTreeMap::new();
    for event in of_manifest {
        spans.entry(&event.name.value).or_insert(event.name.span.clone());
    }
    names.members.extend(events.map(|name| (&EVENTS, name, spans.get(name).cloned())));
    names.add(&MASKS, entry.masks.iter().map(|mask| &mask.name));
    names.add(&PARTS, entry.parts.iter().map(|part| &part.name));
    let spans: BTreeMap<&str, Range<usize>> =
        entry.variants.iter().map(|variant| (&*variant.name.value, variant.name.span.clone())).collect();
    names.members.extend(variants.map(|name| (&VARIANTS, name, spans.get(name).cloned())));
    names
}

/// Returns the files that were read, including the manifest.
pub(crate) fn input_files<'a>(manifest: &Manifest, inputs: impl Iterator<Item = &'a Inputs>) -> BTreeSet<PathBuf> {
    let read = inputs.flat_map(|inputs| inputs.paths().cloned());
    std::iter::once(manifest.path.clone()).chain(read).collect()
}
