//! Bakes a manifest into files in memory. Reads the input files and writes nothing.

mod assemble;
mod attempt;
pub(crate) mod baked_model;
mod budgets;
mod choose;
pub(crate) mod environments;
mod files;
mod loops;
pub(crate) mod models;
mod options;
mod plan;
mod unencoded;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use crate::codegen;
use crate::diagnostic::Diagnostics;
use crate::import::{Inputs, Pixels};
use crate::manifest::{Fps, Manifest, ModelEntry};
use crate::model::Model;
use crate::name_collisions::check_identifiers;
use plan::ModelOutline;

pub use crate::frames::FrameGrid;
pub use crate::geometry::Dropped;
pub use crate::measure::{ClipErrors, CurvePoint, ErrorCurve};
pub use baked_model::{BakedModel, Trace};
pub use budgets::{ErrorBudget, ErrorBudgets};
pub use choose::Candidate;
pub use environments::BakedEnvironment;
pub use files::EMBED_LIMIT;
pub use loops::{ClipLoop, LoopChange};
pub(crate) use options::entries;
pub use options::{BakeFailure, BakeOptions, Progress, Stage};
pub use plan::BakePlan;
pub use unencoded::{UnencodedModel, unencoded_models};

/// Path of the generated module in the output folder.
pub(crate) const MODULE: &str = "gpuskin.rs";

/// Result of [`bake`](fn@crate::bake): output files in memory, models, inputs and warnings.
#[derive(Clone, Debug)]
pub struct Baked {
    /// Contents of each output file, by path. Paths are relative to the output folder and use `/`.
    /// The generated module is `gpuskin.rs`.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Metadata and errors of each model, in the order of the manifest.
    pub models: Vec<BakedModel>,
    /// Environments, in the order of the manifest.
    pub environments: Vec<BakedEnvironment>,
    /// All files that were read, including the manifest.
    pub inputs: BTreeSet<PathBuf>,
    /// Warnings about the models and their files; empty if there are none.
    pub warnings: Diagnostics,
}

impl Baked {
    /// Returns the models in the form that the runtime loads, with copies of their files in memory.
    /// For tools that draw the models that they bake.
    pub fn runtime_models(&self) -> Vec<gpuskin_rt::internals::Model> {
        let file = |name: &str| self.files[&format!("gpuskin/{name}")].clone();
        self.models.iter().map(|model| model.runtime(file)).collect()
    }

    /// Returns the environments in the form that the runtime loads, with copies of their files in memory.
    pub fn runtime_environments(&self) -> Vec<gpuskin_rt::internals::Environment> {
        let file = |baked: &BakedEnvironment| self.files[&format!("gpuskin/{}", baked.file)].clone();
        self.environments.iter().map(|baked| baked.runtime(file(baked))).collect()
    }
}

/// Bakes all models of a manifest into files in memory. Reads the input files and writes nothing.
///
/// # Errors
/// If a model has an error. Contains the diagnostics of all models.
///
/// # Example
/// ```no_run
/// # use gpuskin_build::{BakeOptions, Manifest, bake};
/// let manifest = Manifest::load("gpuskin.toml".as_ref()).expect("a manifest");
/// let baked = bake(&manifest, &BakeOptions::default()).expect("models that can be baked");
/// for model in &baked.models {
///     println!("{}: {} clips", model.meta.name, model.meta.clips.len());
/// }
/// ```
pub fn bake(manifest: &Manifest, options: &BakeOptions<'_>) -> Result<Baked, BakeFailure> {
    bake_with(manifest, options, Pixels::Decode)
}

/// Plans a bake: returns the models with encodings, frames and sizes, but without colour textures, and the warnings.
///
/// # Errors
/// If a model has an error, as with [`bake`].
pub fn plan(manifest: &Manifest, options: &BakeOptions<'_>) -> Result<(Vec<BakedModel>, Diagnostics), BakeFailure> {
    bake_with(manifest, options, Pixels::SizeOnly).map(|baked| (baked.models, baked.warnings))
}

fn bake_with(manifest: &Manifest, options: &BakeOptions<'_>, pixels: Pixels) -> Result<Baked, BakeFailure> {
    let entries = entries(manifest, options)?;
    // Environments belong to no model.
    let all = pixels == Pixels::Decode && options.model.is_none();
    let environments = if all { environments::bake_environments(manifest, options.cache) } else { Ok(Vec::new()) };
    let made = models::bake_models(manifest, &entries, options, pixels, None);
    let (made, lights) = BakeFailure::join(made, environments)?;
    let read = made.iter().map(|made| &made.inputs).chain(lights.iter().map(|light| &light.inputs));
    let inputs = models::input_files(manifest, read);
    let module =
        codegen::module(made.iter().map(|made| (&made.model, &made.part)), lights.iter().map(|light| &light.baked));
    let (mut models, mut files, mut warnings) = (Vec::new(), BTreeMap::new(), Diagnostics::default());
    for made in made {
        models.push(made.model);
        files.extend(made.files.into_iter().filter_map(|(name, content)| Some((name, content.into_bytes()?))));
        warnings.extend(made.warnings);
    }
    files.insert(MODULE.to_owned(), module.into_bytes());
    let mut environments = Vec::new();
    for light in lights {
        let path = light.path();
        files.insert(path, light.bytes);
        environments.push(light.baked);
    }
    Ok(Baked { files, models, environments, inputs, warnings })
}

/// Imports the model that the options name. Also returns its warnings.
pub(crate) fn import_one<'m>(
    manifest: &'m Manifest,
    options: &BakeOptions<'_>,
    pixels: Pixels,
) -> Result<(Imported<'m>, Diagnostics), Diagnostics> {
    let (outlines, warnings, _) = import_all(manifest, options, pixels).map_err(|failed| failed.diagnostics)?;
    let (entry, outline) = outlines.into_iter().next().expect("import_all() returns a model or an error");
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

    /// Returns the frames of each clip, if the manifest determines them independently of the
    /// encoding.
    pub(crate) fn grids(&self, options: &BakeOptions<'_>) -> Option<Vec<FrameGrid>> {
        let encoding = options.encoding.or(self.entry.encoding.as_ref().map(|at| at.value))?;
        let searches = self.outline.clips.iter().any(|clip| clip.fps == Fps::Auto);
        let plan = BakePlan::new(&self.outline, encoding, &self.outline.rates()).ok().filter(|_| !searches)?;
        Some(plan.grids)
    }

    /// Bakes the model and returns it also in the form that the runtime loads. Appends its warnings
    /// to `warnings`.
    pub(crate) fn bake(
        &self,
        options: &BakeOptions<'_>,
        warnings: &mut Diagnostics,
    ) -> Result<(BakedModel, gpuskin_rt::internals::Model), Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let made = assemble::assemble(self.manifest, self.entry, &self.outline, options, &mut diagnostics);
        match made {
            Some((baked, mut files)) if !diagnostics.has_errors() => {
                let model = baked.runtime(|name| files.remove(name).expect("every payload has a file"));
                warnings.extend(diagnostics);
                Ok((baked, model))
            }
            _ => Err(diagnostics),
        }
    }
}

/// Checks the inputs without decoding images, encoding clips or measuring errors. Returns the
/// warnings.
///
/// # Errors
/// If a model has an error, as with [`bake`].
pub fn check(manifest: &Manifest, options: &BakeOptions<'_>) -> Result<Diagnostics, BakeFailure> {
    import_all(manifest, options, Pixels::SizeOnly).map(|(_, diagnostics, _)| diagnostics)
}

type ModelOutlines<'a> = (Vec<(&'a ModelEntry, ModelOutline)>, Diagnostics, BTreeSet<PathBuf>);

fn import_all<'a>(
    manifest: &'a Manifest,
    options: &BakeOptions<'_>,
    pixels: Pixels,
) -> Result<ModelOutlines<'a>, BakeFailure> {
    let mut inputs = BTreeSet::from([manifest.path.clone()]);
    let entries = entries(manifest, options)?;
    let results: Vec<_> = entries
        .into_par_iter()
        .map(|entry| {
            let mut read = Inputs::without_digests();
            let (outline, diagnostics) = models::outline(manifest, entry, options, pixels, &mut read);
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
    if diagnostics.has_errors() {
        Err(BakeFailure { diagnostics, inputs })
    } else {
        Ok((outlines, diagnostics, inputs))
    }
}

/// Reports clips and events, named by their files, whose constants would collide.
fn check_names(manifest: &Manifest, outlines: &[(&ModelEntry, ModelOutline)]) -> Diagnostics {
    let models: Vec<_> = outlines.iter().map(|(entry, outline)| models::names_of(entry, outline)).collect();
    check_identifiers(&manifest.source, &models)
}
