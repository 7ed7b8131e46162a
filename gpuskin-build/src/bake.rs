//! `bake`: from a manifest to files in memory. Reads inputs, writes nothing.

mod assemble;
mod files;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gpuskin_rt::Encoding;
use rayon::prelude::*;

use crate::cache::Cache;
use crate::codegen;
use crate::finding::{Finding, Findings};
use crate::identifiers::{ModelNames, check_identifiers};
use crate::import::{self, Pixels};
use crate::manifest::{Manifest, ModelEntry, Textures};

pub use crate::frames::FrameGrid;
pub use crate::geometry::Dropped;
pub use crate::measure::ClipErrors;
pub use assemble::BakedModel;
pub use files::EMBED_LIMIT;
pub use plan::Plan;

/// What to bake, and who wants to know how far it is.
#[derive(Clone, Copy, Default)]
pub struct BakeOptions<'a> {
    /// Only the model of this name.
    pub model: Option<&'a str>,
    /// Instead of the manifest's encoding.
    pub encoding: Option<Encoding>,
    /// Does not measure errors: they are zero in the result. For looking at what is drawn, not for shipping it.
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
    pub warnings: Findings,
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
pub struct Failed {
    /// All errors, and the warnings among them, in the order of the manifest.
    pub findings: Findings,
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
pub fn bake(manifest: &Manifest, options: &BakeOptions<'_>) -> Result<Baked, Failed> {
    let (plans, mut findings, inputs) = plan_all(manifest, options, Pixels::Decode)?;
    let results: Vec<_> = plans
        .into_par_iter()
        .map(|(entry, plan)| {
            let mut found = Findings::default();
            (assemble::assemble(manifest, entry, plan, options, &mut found), found)
        })
        .collect();
    let mut models = Vec::new();
    let mut files = BTreeMap::new();
    for ((model, made), found) in results {
        findings.extend(found);
        files.extend(made.into_iter().map(|(name, bytes)| (format!("gpuskin/{name}"), bytes)));
        models.push(model);
    }
    if findings.has_errors() {
        return Err(Failed { findings, inputs });
    }
    files.insert("gpuskin.rs".to_owned(), codegen::module(&models).into_bytes());
    Ok(Baked { files, models, inputs, warnings: findings })
}

/// Imports and plans the one model that the options name; with what was odd about it.
pub(crate) fn import_one(
    manifest: &Manifest,
    options: &BakeOptions<'_>,
    pixels: Pixels,
) -> Result<(Plan, Findings), Findings> {
    let (plans, warnings, _) = plan_all(manifest, options, pixels).map_err(|failed| failed.findings)?;
    Ok((plans.into_iter().next().expect("a model of that name, or an error").1, warnings))
}

/// Bakes one planned model, as the runtime loads it.
pub(crate) fn bake_one(
    manifest: &Manifest,
    plan: Plan,
    options: &BakeOptions<'_>,
) -> Result<(BakedModel, gpuskin_rt::Model), Findings> {
    let entry = manifest.models.iter().find(|m| m.name.value == plan.model.name).expect("plans come from the manifest");
    let mut findings = Findings::default();
    let (baked, mut files) = assemble::assemble(manifest, entry, plan, options, &mut findings);
    if findings.has_errors() {
        return Err(findings);
    }
    let model = baked.runtime(|name| files.remove(name).expect("every payload has its file"));
    Ok((baked, model))
}

/// What a bake would make of every model, without images, texels and errors: frames and sizes.
///
/// # Errors
/// As [`bake`].
pub fn plan(manifest: &Manifest, options: &BakeOptions<'_>) -> Result<Vec<Plan>, Failed> {
    let (plans, ..) = plan_all(manifest, options, Pixels::SizeOnly)?;
    Ok(plans.into_iter().map(|(_, plan)| plan).collect())
}

type Planned<'a> = (Vec<(&'a ModelEntry, Plan)>, Findings, BTreeSet<PathBuf>);

fn plan_all<'a>(manifest: &'a Manifest, options: &BakeOptions<'_>, pixels: Pixels) -> Result<Planned<'a>, Failed> {
    let mut inputs = BTreeSet::from([manifest.path.clone()]);
    let entries: Vec<&ModelEntry> =
        manifest.models.iter().filter(|m| options.model.is_none_or(|name| m.name.value == name)).collect();
    if let (Some(name), true) = (options.model, entries.is_empty()) {
        let names: Vec<&str> = manifest.models.iter().map(|m| m.name.value.as_str()).collect();
        let finding = Finding::error(format!("{} has no model `{name}`", manifest.path.display()))
            .help(format!("its models are {}", names.join(", ")));
        return Err(Failed { findings: finding.into(), inputs });
    }
    let results: Vec<_> = entries
        .into_par_iter()
        .map(|entry| {
            options.report(entry, Stage::Import);
            let (mut findings, mut read) = (Findings::default(), BTreeSet::new());
            let model = import::import(manifest, entry, pixels, &mut findings, &mut read);
            let plan = model.and_then(|model| Plan::new(model, manifest, entry, options, &mut findings));
            (entry, plan, findings, read)
        })
        .collect();
    let mut findings = Findings::default();
    let mut plans = Vec::new();
    for (entry, plan, found, read) in results {
        findings.extend(found);
        inputs.extend(read);
        plans.extend(plan.map(|plan| (entry, plan)));
    }
    findings.extend(check_names(manifest, &plans));
    if findings.has_errors() { Err(Failed { findings, inputs }) } else { Ok((plans, findings, inputs)) }
}

/// Finds clips, named by their files, whose constants would collide.
fn check_names(manifest: &Manifest, plans: &[(&ModelEntry, Plan)]) -> Findings {
    let models: Vec<ModelNames<'_>> = plans
        .iter()
        .map(|(entry, plan)| {
            let settings = |name: &str| entry.clips.iter().flatten().find(|c| c.name.value == name);
            let clips = plan.model.clips.iter();
            ModelNames {
                name: &entry.name.value,
                span: entry.name.span.clone(),
                clips: clips.map(|c| (c.name.as_str(), settings(&c.name).map(|s| s.name.span.clone()))).collect(),
            }
        })
        .collect();
    check_identifiers(&manifest.source, &models)
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
