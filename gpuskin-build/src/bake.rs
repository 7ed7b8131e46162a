//! `bake`: from a manifest to files in memory. Reads inputs, writes nothing.

mod assemble;
mod attempt;
mod choose;
mod unencoded;
mod files;
pub(crate) mod make;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use gpuskin_rt::Encoding;
use rayon::prelude::*;

use crate::cache::Cache;
use crate::codegen;
use crate::diagnostic::{DiagnosticCode, Diagnostic, Diagnostics};
use crate::name_collisions::check_identifiers;
use crate::import::{Inputs, Pixels};
use crate::manifest::{Fps, Manifest, ModelEntry, Textures};
use crate::model::Model;
use crate::suggest::{instead, quoted};
use plan::ModelOutline;

pub use crate::frames::FrameGrid;
pub use crate::geometry::Dropped;
pub use crate::measure::ClipErrors;
pub use assemble::{BakedModel, Trace};
pub use choose::Candidate;
pub use unencoded::{UnencodedModel, unencoded_models};
pub use files::EMBED_LIMIT;
pub use plan::BakePlan;

/// The generated module, under the output folder.
pub(crate) const MODULE: &str = "gpuskin.rs";

/// What to bake, and who wants to know how far it is.
#[derive(Clone, Copy, Default)]
pub struct BakeOptions<'a> {
    /// Only the model of this name.
    pub model: Option<&'a str>,
    /// Instead of the manifest's encoding.
    pub encoding: Option<Encoding>,
    /// Looks at every encoding that the devices can play, and keeps what was found in [`BakedModel::candidates`].
    pub explain: bool,
    /// Does not measure errors where the encoding is named: they are zero in the result. For looking at what is drawn, not for shipping it.
    pub skip_errors: bool,
    /// Instead of what the manifest says for textures.
    pub textures: Option<&'a Textures>,
    /// Where encoded textures are kept from bake to bake.
    pub cache: Option<&'a Cache>,
    /// Called from any thread whenever a model enters a stage.
    pub progress: Option<&'a Progress<'a>>,
}

/// Told the name of a model and the stage that it enters.
pub type Progress<'a> = dyn Fn(&str, Stage) + Sync + 'a;

/// How far a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stage {
    /// Its files are being read.
    Import,
    /// Its clips are being sampled and encoded.
    Encode,
    /// The error is being measured.
    Measure,
    /// It is finished.
    Done,
}

/// All that a bake makes.
#[derive(Clone, Debug)]
pub struct Baked {
    /// Paths under the output folder, with `/`, and what stands in them. The generated module is `gpuskin.rs`.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Models, in the order of the manifest.
    pub models: Vec<BakedModel>,
    /// Every file that was read, the manifest included.
    pub inputs: BTreeSet<PathBuf>,
    /// What was odd.
    pub warnings: Diagnostics,
}

impl Baked {
    /// The models as the runtime takes them, with copies of their files in memory: for tools that draw what they bake.
    pub fn runtime_models(&self) -> Vec<gpuskin_rt::Model> {
        let file = |name: &str| self.files[&format!("gpuskin/{name}")].clone();
        self.models.iter().map(|model| model.runtime(file)).collect()
    }
}

/// Why nothing was baked.
#[derive(Clone, Debug)]
pub struct BakeFailure {
    /// All errors, and the warnings among them, in the order of the manifest.
    pub diagnostics: Diagnostics,
    /// Every file that was read until then: a change to one of them is worth another try.
    pub inputs: BTreeSet<PathBuf>,
}

/// Bakes every model of a manifest.
///
/// # Errors
/// All findings of all models, when one of them is an error.
///
/// # Example
/// ```no_run
/// # use gpuskin_build::{bake::{bake, BakeOptions}, manifest::Manifest};
/// let manifest = Manifest::load("gpuskin.toml".as_ref()).expect("a manifest");
/// let baked = bake(&manifest, &BakeOptions::default()).expect("models that can be baked");
/// for model in &baked.models {
///     println!("{}: {} clips", model.meta.name, model.meta.clips.len());
/// }
/// ```
pub fn bake(manifest: &Manifest, options: &BakeOptions<'_>) -> Result<Baked, BakeFailure> {
    bake_with(manifest, options, Pixels::Decode)
}

/// What a bake would make of every model, without colour textures: encodings, frames and sizes.
///
/// # Errors
/// As [`bake`].
pub fn plan(manifest: &Manifest, options: &BakeOptions<'_>) -> Result<Vec<BakedModel>, BakeFailure> {
    Ok(bake_with(manifest, options, Pixels::SizeOnly)?.models)
}

fn bake_with(manifest: &Manifest, options: &BakeOptions<'_>, pixels: Pixels) -> Result<Baked, BakeFailure> {
    let entries = entries(manifest, options)?;
    let made = make::make(manifest, &entries, options, pixels, None)?;
    let inputs = make::inputs(manifest, &made);
    let module = codegen::module(made.iter().map(|made| (&made.model, &made.part)));
    let (mut models, mut files, mut warnings) = (Vec::new(), BTreeMap::new(), Diagnostics::default());
    for made in made {
        models.push(made.model);
        files.extend(made.files.into_iter().filter_map(|(name, content)| Some((name, content.into_bytes()?))));
        warnings.extend(made.warnings);
    }
    files.insert(MODULE.to_owned(), module.into_bytes());
    Ok(Baked { files, models, inputs, warnings })
}

/// Imports the one model that the options name; with what was odd about it.
pub(crate) fn import_one<'m>(
    manifest: &'m Manifest,
    options: &BakeOptions<'_>,
    pixels: Pixels,
) -> Result<(Imported<'m>, Diagnostics), Diagnostics> {
    let (outlines, warnings, _) = import_all(manifest, options, pixels).map_err(|failed| failed.diagnostics)?;
    let (entry, outline) = outlines.into_iter().next().expect("a model of that name, or an error");
    Ok((Imported { manifest, entry, outline }, warnings))
}

/// A model before its encoding is chosen.
pub(crate) struct Imported<'m> {
    manifest: &'m Manifest,
    entry: &'m ModelEntry,
    outline: ModelOutline,
}

impl Imported<'_> {
    pub(crate) fn model(&self) -> &Arc<Model> {
        &self.outline.model
    }

    /// The frames of each clip, where the manifest says them without looking at an encoding.
    pub(crate) fn grids(&self, options: &BakeOptions<'_>) -> Option<Vec<FrameGrid>> {
        let encoding = options.encoding.or(self.entry.encoding.as_ref().map(|at| at.value))?;
        let searches = self.outline.clips.iter().any(|clip| clip.fps == Fps::Auto);
        let plan = BakePlan::new(&self.outline, encoding, &self.outline.rates()).ok().filter(|_| !searches)?;
        Some(plan.grids)
    }

    /// Bakes it, as the runtime loads it. What was odd is added to the findings.
    pub(crate) fn bake(
        &self,
        options: &BakeOptions<'_>,
        warnings: &mut Diagnostics,
    ) -> Result<(BakedModel, gpuskin_rt::Model), Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let made = assemble::assemble(self.manifest, self.entry, &self.outline, options, &mut diagnostics);
        match made {
            Some((baked, mut files)) if !diagnostics.has_errors() => {
                let model = baked.runtime(|name| files.remove(name).expect("every payload has its file"));
                warnings.extend(diagnostics);
                Ok((baked, model))
            }
            _ => Err(diagnostics),
        }
    }
}

/// What a bake would find wrong with its inputs, without images, texels and errors.
///
/// # Errors
/// As [`bake`].
pub fn check(manifest: &Manifest, options: &BakeOptions<'_>) -> Result<Diagnostics, BakeFailure> {
    import_all(manifest, options, Pixels::SizeOnly).map(|(_, diagnostics, _)| diagnostics)
}

type ModelOutlines<'a> = (Vec<(&'a ModelEntry, ModelOutline)>, Diagnostics, BTreeSet<PathBuf>);

fn import_all<'a>(manifest: &'a Manifest, options: &BakeOptions<'_>, pixels: Pixels) -> Result<ModelOutlines<'a>, BakeFailure> {
    let mut inputs = BTreeSet::from([manifest.path.clone()]);
    let entries = entries(manifest, options)?;
    let results: Vec<_> = entries
        .into_par_iter()
        .map(|entry| {
            let mut read = Inputs::without_digests();
            let (outline, diagnostics) = make::outline(manifest, entry, options, pixels, &mut read);
            (entry, outline, diagnostics, read)
        })
        .collect();
    let mut diagnostics = Diagnostics::default();
    let mut outlines = Vec::new();
    for (entry, outline, found, read) in results {
        diagnostics.extend(found);
        inputs.extend(read.paths().cloned());
        outlines.extend(outline.map(|outline| (entry, outline)));
    }
    diagnostics.extend(check_names(manifest, &outlines));
    if diagnostics.has_errors() { Err(BakeFailure { diagnostics, inputs }) } else { Ok((outlines, diagnostics, inputs)) }
}

/// Finds clips and events, named by their files, whose constants would collide.
fn check_names(manifest: &Manifest, outlines: &[(&ModelEntry, ModelOutline)]) -> Diagnostics {
    let models: Vec<_> = outlines.iter().map(|(entry, outline)| make::names_of(entry, outline)).collect();
    check_identifiers(&manifest.source, &models)
}

/// The models that the options name.
pub(crate) fn entries<'m>(manifest: &'m Manifest, options: &BakeOptions<'_>) -> Result<Vec<&'m ModelEntry>, BakeFailure> {
    let entries: Vec<&ModelEntry> =
        manifest.models.iter().filter(|m| options.model.is_none_or(|name| m.name.value == name)).collect();
    if let (Some(name), true) = (options.model, entries.is_empty()) {
        let names = manifest.models.iter().map(|m| m.name.value.as_str());
        let message = format!("{} has no model {}", manifest.path.display(), quoted(name));
        let diagnostic = Diagnostic::error(DiagnosticCode::ModelNotFound, message).help(instead(name, names));
        return Err(BakeFailure { diagnostics: diagnostic.into(), inputs: BTreeSet::from([manifest.path.clone()]) });
    }
    Ok(entries)
}

impl BakeOptions<'_> {
    fn report(&self, entry: &ModelEntry, stage: Stage) {
        if let Some(progress) = self.progress {
            progress(&entry.name.value, stage);
        }
    }
}

impl std::fmt::Debug for BakeOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BakeOptions")
            .field("model", &self.model)
            .field("encoding", &self.encoding)
            .finish_non_exhaustive()
    }
}
