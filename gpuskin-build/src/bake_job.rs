//! A complete bake from a manifest to files in a folder. Does only the necessary work, and excludes
//! concurrent bakes by a lock.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use miette::NamedSource;

use crate::bake::environments::{EnvironmentOutput, bake_environments};
use crate::bake::models::{ModelOutput, ModelStore, bake_models, input_files};
use crate::bake::{BakeFailure, BakeOptions, BakedModel, MODULE, Progress, entries};
use crate::cache::{Cache, EntryKind};
use crate::checked_manifest::load;
use crate::codegen;
use crate::diagnostic::{CachedDiagnostic, Diagnostic, DiagnosticCode, Diagnostics};
use crate::fs::fingerprint::{FileFingerprint, FileStat};
use crate::import::{Inputs, Pixels};
use crate::limits::format_bytes;
use crate::manifest::{Manifest, named_source};
use crate::model_cache::ModelCache;
use crate::output::{self, FileContent, WriteError, WritePlan};
use crate::shard::Shard;
use crate::stamp::{BuildStamp, FingerprintIndex};

/// Maximum number of bakes while files disappear from the cache.
const MAX_ROUNDS: usize = 3;
/// Maximum size of a manifest in bytes.
const MAX_MANIFEST_BYTES: u64 = 16 << 20;

/// Part of a bake to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "build scripts always bake all models"))]
pub(crate) enum BakeScope {
    /// All models.
    Whole,
    /// The models of one shard. Writes them to the cache and their files to the folder, where files
    /// of other models stay. Does not write the generated module, because it names all models.
    Shard(Shard),
    /// All models, from the cache. A model that is not in the cache is an error.
    Merge,
}

/// A bake: its inputs, its output folder and its callbacks.
pub(crate) struct BakeJob<'a> {
    pub(crate) manifest: &'a Path,
    pub(crate) out: &'a Path,
    /// Bakes only this model.
    pub(crate) model: Option<&'a str>,
    pub(crate) explain: bool,
    pub(crate) scope: BakeScope,
    pub(crate) cache: Option<&'a Cache>,
    pub(crate) progress: Option<&'a Progress<'a>>,
    /// Returns the report about a model.
    pub(crate) describe: &'a (dyn Fn(&BakedModel) -> String + Sync),
    /// Called before the first file is written.
    pub(crate) may_write: &'a (dyn Fn() -> Result<(), Diagnostic> + Sync),
    /// Called if another bake holds the lock.
    pub(crate) waiting: &'a (dyn Fn() + Sync),
}

/// Result of a bake.
#[derive(Debug, Default)]
pub(crate) struct BakeSummary {
    /// Models; empty if there was nothing to do.
    pub(crate) models: Vec<BakedModel>,
    /// Report about the models.
    pub(crate) text: String,
    pub(crate) warnings: Diagnostics,
    pub(crate) inputs: BTreeSet<PathBuf>,
    /// Number of all models, and number of models baked in this run.
    pub(crate) count: usize,
    pub(crate) baked: usize,
    /// Number of all files, and their bytes.
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    /// Fingerprints of the files that were read; `None` if one is missing.
    fingerprints: Option<BTreeMap<PathBuf, FileFingerprint>>,
}

impl BakeJob<'_> {
    fn options(&self) -> BakeOptions<'_> {
        let Self { model, explain, cache, progress, .. } = *self;
        BakeOptions { model, explain, cache, progress, ..BakeOptions::default() }
    }

    /// Returns the key of the build stamp. It identifies bakes of the same inputs to the same
    /// folder.
    fn key(&self) -> blake3::Hash {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (manifest, out) = (absolute(self.manifest), absolute(self.out));
        let key = (crate::baker::BAKER, manifest, out, self.model, self.explain, self.scope);
        blake3::hash(format!("{key:?}").as_bytes())
    }

    /// Returns the key of the lock. Bakes of the same manifest, or of the same shard of it, exclude
    /// each other.
    fn lock_key(&self) -> blake3::Hash {
        let manifest = std::fs::canonicalize(self.manifest).unwrap_or_else(|_| self.manifest.to_owned());
        let shard = if let BakeScope::Shard(shard) = self.scope { Some(shard) } else { None };
        blake3::hash(format!("{manifest:?} {shard:?}").as_bytes())
    }

    /// Bakes the models that have changed, and updates the folder. With `fast`, does nothing if all
    /// inputs and outputs are unchanged according to their metadata.
    pub(crate) fn run(&self, fast: bool) -> Result<BakeSummary, BakeFailure> {
        let key = self.key();
        let _alone = self.cache.map(|cache| cache.lock(&self.lock_key(), self.waiting));
        let before = self.cache.and_then(|cache| BuildStamp::load(cache, &key)).unwrap_or_default();
        if let (true, Some(done)) = (fast, self.up_to_date(&before)) {
            if let Some(cache) = self.cache {
                cache.mark_used(EntryKind::Uses, &key);
            }
            return Ok(done);
        }
        let manifest = self.load()?;
        let index = FingerprintIndex::new(&before.inputs, &manifest.folder);
        let lights = self.bake_environments(&manifest);
        let (mut lost, lights) = (BTreeSet::new(), lights.as_deref().map_err(Clone::clone));
        let mut baked = BTreeSet::new();
        for _ in 0..MAX_ROUNDS {
            let (made, lights) = BakeFailure::join(self.bake_models(&manifest, &index, &lost), lights.clone())?;
            baked.extend(made.iter().filter(|made| made.fresh).map(|made| made.model.meta.name.to_string()));
            let (mut done, files) = self.collect(&manifest, made, lights);
            done.baked = baked.len();
            match self.write(&files, &before) {
                Ok(()) => {
                    if let Some(cache) = self.cache {
                        cache.remember_traffic();
                        // The build stamp must be written last: a bake that finds it does not look
                        // for unfinished files.
                        self.stamp(&manifest, &done, &files).save(cache, &key);
                        cache.tidy();
                        cache.notes().into_iter().for_each(|note| done.warnings.push(note));
                    }
                    return Ok(done);
                }
                Err(WriteError::Failed(diagnostic)) => {
                    return Err(BakeFailure { diagnostics: diagnostic.into(), inputs: done.inputs });
                }
                Err(WriteError::Lost(names)) => {
                    lost.extend(names.iter().filter_map(|name| Some(name.split('/').nth(1)?.to_owned())));
                }
            }
        }
        let diagnostic =
            Diagnostic::error(DiagnosticCode::CacheFilesRemoved, "files disappear from the cache during the bake")
                .help("do not clean the cache during a bake, or set GPUSKIN_CACHE to another folder");
        Err(BakeFailure { diagnostics: diagnostic.into(), inputs: BTreeSet::from([self.manifest.to_owned()]) })
    }

    /// Returns the changes that [`run`](Self::run) would make. Compares contents, not metadata.
    #[cfg(any(test, feature = "cli"))]
    pub(crate) fn check(&self) -> Result<(BakeSummary, Vec<output::Difference>), BakeFailure> {
        let manifest = self.load()?;
        let nothing = BTreeMap::new();
        let index = FingerprintIndex::new(&nothing, &manifest.folder);
        let lights = self.bake_environments(&manifest);
        let (made, lights) = BakeFailure::join(self.bake_models(&manifest, &index, &BTreeSet::new()), lights)?;
        if let Some(cache) = self.cache {
            cache.remember_traffic();
        }
        let baked = made.iter().filter(|made| made.fresh).count();
        let (mut done, files) = self.collect(&manifest, made, &lights);
        done.baked = baked;
        self.cache.iter().flat_map(|cache| cache.notes()).for_each(|note| done.warnings.push(note));
        match output::differences(&files, self.out) {
            Ok(differences) => Ok((done, differences)),
            Err(diagnostic) => Err(BakeFailure { diagnostics: diagnostic.into(), inputs: done.inputs }),
        }
    }

    fn load(&self) -> Result<Manifest, BakeFailure> {
        let inputs = BTreeSet::from([self.manifest.to_owned()]);
        load(self.manifest).map_err(|diagnostics| BakeFailure { diagnostics, inputs })
    }

    fn bake_models(
        &self,
        manifest: &Manifest,
        index: &FingerprintIndex<'_>,
        lost: &BTreeSet<String>,
    ) -> Result<Vec<ModelOutput>, BakeFailure> {
        let options = self.options();
        let mut entries = entries(manifest, &options)?;
        if let BakeScope::Shard(shard) = self.scope {
            entries = shard.select(&manifest.folder, entries);
        }
        let require_cached = self.scope == BakeScope::Merge;
        let store =
            self.cache.map(|cache| ModelCache { cache, manifest, options: &options, index, lost, require_cached });
        bake_models(manifest, &entries, &options, Pixels::Decode, store.as_ref().map(|store| store as &dyn ModelStore))
    }

    /// Bakes the environments. A shard and a single model have none.
    fn bake_environments(&self, manifest: &Manifest) -> Result<Vec<EnvironmentOutput>, BakeFailure> {
        match (self.scope, self.model) {
            (BakeScope::Shard(_), _) | (_, Some(_)) => Ok(Vec::new()),
            _ => bake_environments(manifest, self.cache),
        }
    }

    /// Combines the models and environments into one result, and collects their files.
    fn collect(
        &self,
        manifest: &Manifest,
        made: Vec<ModelOutput>,
        lights: &[EnvironmentOutput],
    ) -> (BakeSummary, BTreeMap<String, FileContent<'static>>) {
        let inputs = || made.iter().map(|made| &made.inputs).chain(lights.iter().map(|light| &light.inputs));
        let fingerprints = fingerprints(inputs());
        let mut done = BakeSummary {
            inputs: input_files(manifest, inputs()),
            count: made.len(),
            fingerprints,
            ..BakeSummary::default()
        };
        let mut files = BTreeMap::new();
        if !matches!(self.scope, BakeScope::Shard(_)) {
            let module = codegen::module(
                made.iter().map(|made| (&made.model, &made.part)),
                lights.iter().map(|light| &light.baked),
            );
            files.insert(MODULE.to_owned(), FileContent::Bytes(Cow::Owned(module.into_bytes())));
        }
        for made in made {
            done.text.push_str(&(self.describe)(&made.model));
            done.warnings.extend(made.warnings);
            files.extend(made.files);
            done.models.push(made.model);
        }
        for light in lights {
            let EnvironmentOutput { baked, bytes, .. } = light;
            let (name, size) = (&baked.environment.name, baked.environment.size);
            let _ = writeln!(
                done.text,
                "{name}  environment, {size} x {size} texels per face, {} mip levels\n  files           {}\n",
                baked.environment.map.levels.len(),
                format_bytes(bytes.len() as u64)
            );
            files.insert(light.path(), FileContent::Bytes(Cow::Owned(bytes.clone())));
        }
        (done.files, done.bytes) = (files.len(), files.values().map(FileContent::len).sum());
        (done, files)
    }

    fn write(&self, files: &BTreeMap<String, FileContent<'static>>, before: &BuildStamp) -> Result<(), WriteError> {
        (self.may_write)().map_err(WriteError::Failed)?;
        let lock = output::lock_folder(self.out, self.waiting).map_err(WriteError::Failed)?;
        let in_place = |name: &str| {
            let fingerprint = before.outputs.get(name)?;
            fingerprint.is_unchanged(FileStat::at(&self.out.join(name))).then(|| fingerprint.digest.into())
        };
        let load = |digest: &blake3::Hash, len: u64| {
            // A valid entry of a shared cache can contain data that does not match the digest in
            // its name.
            let right = |bytes: &Vec<u8>| bytes.len() as u64 == len && blake3::hash(bytes) == *digest;
            self.cache?.get(EntryKind::File, digest, len).filter(right)
        };
        output::apply(
            files,
            &WritePlan {
                folder: self.out,
                whole: !matches!(self.scope, BakeScope::Shard(_)),
                in_place: &in_place,
                load: &load,
            },
            &lock,
        )?;
        Ok(())
    }

    fn stamp(
        &self,
        manifest: &Manifest,
        done: &BakeSummary,
        files: &BTreeMap<String, FileContent<'static>>,
    ) -> BuildStamp {
        let relative = |path: &PathBuf| path.strip_prefix(&manifest.folder).unwrap_or(path).to_owned();
        let mut stamp = BuildStamp {
            // A stamp without the manifest's digest still provides fingerprints, but never reports
            // that there is nothing to do.
            manifest: done.fingerprints.as_ref().map_or([0; 32], |_| text_digest(&manifest.source)),
            inputs: done
                .fingerprints
                .iter()
                .flatten()
                .map(|(path, fingerprint)| (relative(path), *fingerprint))
                .collect(),
            text: done.text.clone(),
            warnings: done.warnings.iter().map(CachedDiagnostic::of).collect(),
            models: done.count,
            files: done.files,
            bytes: done.bytes,
            ..BuildStamp::default()
        };
        let digests = files.iter().map(|(name, content)| (name.clone(), content.digest())).collect();
        stamp.record_outputs(&manifest.folder, self.out, &digests);
        stamp
    }

    /// Returns the result of the last bake if there is nothing to do.
    fn up_to_date(&self, before: &BuildStamp) -> Option<BakeSummary> {
        let text = crate::fs::read(self.manifest, MAX_MANIFEST_BYTES).ok()?;
        let folder = self.manifest.parent().unwrap_or(Path::new(""));
        let source = named_source(self.manifest, &String::from_utf8(text).ok()?);
        if text_digest(&source) != before.manifest || !before.is_unchanged(folder, self.out) {
            return None;
        }
        let mut warnings = Diagnostics::default();
        for warning in &before.warnings {
            warnings.push(warning.clone().diagnostic(&source)?);
        }
        Some(BakeSummary {
            text: before.text.clone(),
            warnings,
            inputs: before.inputs.keys().map(|path| folder.join(path)).chain([self.manifest.to_owned()]).collect(),
            count: before.models,
            files: before.files,
            bytes: before.bytes,
            ..BakeSummary::default()
        })
    }
}

fn text_digest(source: &NamedSource<String>) -> [u8; 32] {
    *blake3::hash(source.inner().as_bytes()).as_bytes()
}

/// Merges the fingerprints of all inputs. Returns `None` if one is missing or two of them differ.
fn fingerprints<'a>(inputs: impl Iterator<Item = &'a Inputs>) -> Option<BTreeMap<PathBuf, FileFingerprint>> {
    let mut all: BTreeMap<PathBuf, FileFingerprint> = BTreeMap::new();
    for inputs in inputs {
        for (path, fingerprint) in inputs.fingerprints()? {
            let known = all.entry(path.to_owned()).or_insert(fingerprint);
            if known.digest != fingerprint.digest {
                return None;
            }
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests;
