//! Environments of a manifest: light and files.

use std::collections::BTreeSet;

use gpuskin_rt::internals::{Data, Environment, Payload};
use rayon::prelude::*;

use super::BakeFailure;
use super::files::{CONTENT_DIGITS, place};
use crate::baker::BAKER;
use crate::cache::{Cache, EntryKind};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::environment::EnvironmentLight;
use crate::import::Inputs;
use crate::manifest::{EnvironmentEntry, Manifest, Storage};

/// Maximum size in bytes of an environment in the cache.
const MAX_CACHED: u64 = 64 << 20;

/// A baked environment.
#[derive(Clone, Debug)]
pub struct BakedEnvironment {
    /// Light of the environment; the bytes of an embedded file are not stored here.
    pub environment: Environment,
    /// Path of the cube map under `gpuskin/`.
    #[doc(hidden)]
    pub file: String,
    /// Whether web programs do not contain the file: [`Storage::Fetch`].
    #[doc(hidden)]
    pub fetched: bool,
}

impl BakedEnvironment {
    /// Returns the environment in the form that the runtime loads, with its file in memory.
    pub(super) fn runtime(&self, file: Vec<u8>) -> Environment {
        let map = Payload { data: Data::Bytes(file.into()), ..self.environment.map.clone() };
        Environment { map, ..self.environment.clone() }
    }
}

/// An environment with its file.
#[derive(Debug)]
pub(crate) struct EnvironmentOutput {
    pub(crate) baked: BakedEnvironment,
    /// Bytes of the cube map.
    pub(crate) bytes: Vec<u8>,
    /// Files that were read.
    pub(crate) inputs: Inputs,
}

impl EnvironmentOutput {
    /// Returns the path of the cube map in the output folder.
    pub(crate) fn path(&self) -> String {
        format!("gpuskin/{}", self.baked.file)
    }
}

/// Bakes all environments of a manifest. Reads their files' digests too, if there is a cache.
pub(crate) fn bake_environments(
    manifest: &Manifest,
    cache: Option<&Cache>,
) -> Result<Vec<EnvironmentOutput>, BakeFailure> {
    let made: Vec<_> = manifest
        .environments
        .par_iter()
        .map(|entry| {
            let mut inputs = if cache.is_some() { Inputs::with_digests() } else { Inputs::without_digests() };
            (bake_one(manifest, entry, cache, &mut inputs), entry, inputs)
        })
        .collect();
    let mut diagnostics = Diagnostics::default();
    let mut read = BTreeSet::from([manifest.path.clone()]);
    let mut outputs = Vec::new();
    for (result, entry, inputs) in made {
        read.extend(inputs.paths().cloned());
        match result {
            Ok((baked, bytes)) => outputs.push(EnvironmentOutput { baked, bytes, inputs }),
            Err(error) => {
                let within = error.within(&entry.path.value).within(format!("environment `{}`", entry.name.value));
                diagnostics.push(within.at(&manifest.source, entry.path.span.clone()));
            }
        }
    }
    if diagnostics.has_errors() { Err(BakeFailure { diagnostics, inputs: read }) } else { Ok(outputs) }
}

fn bake_one(
    manifest: &Manifest,
    entry: &EnvironmentEntry,
    cache: Option<&Cache>,
    inputs: &mut Inputs,
) -> Result<(BakedEnvironment, Vec<u8>), Diagnostic> {
    let EnvironmentEntry { name, path, size, intensity } = entry;
    let panorama = inputs.read(&manifest.folder.join(&path.value), manifest.limits.file)?;
    let settings = format!("{BAKER} environment {size} {intensity} {}\n", manifest.limits.image);
    let key = *blake3::Hasher::new().update(settings.as_bytes()).update(&panorama).finalize().as_bytes();
    let key = blake3::Hash::from_bytes(key);
    let kept = cache.and_then(|cache| cache.get(EntryKind::Color, &key, MAX_CACHED));
    let light = match kept.and_then(|bytes| EnvironmentLight::from_cache(&bytes, *size)) {
        Some(light) => light,
        None => {
            let light = EnvironmentLight::bake(&panorama, &manifest.limits, *size, *intensity)?;
            if let (Some(cache), Some(bytes)) = (cache, light.to_cache()) {
                cache.put(EntryKind::Color, &key, &bytes);
            }
            light
        }
    };
    let (file, content_hash) = light.file();
    let content = &blake3::hash(&file.bytes).to_hex()[..CONTENT_DIGITS];
    let file_name = format!("{}/{content}/environment.ktx2", name.value);
    let bytes = file.bytes.len() as u64;
    let map = Payload {
        data: place(manifest.storage, &file_name, bytes),
        size: bytes,
        hash_at: file.value_at,
        levels: file.levels.into(),
    };
    let environment =
        Environment { name: name.value.clone().into(), content_hash, size: *size, radiance: light.radiance, map };
    let fetched = manifest.storage == Storage::Fetch;
    Ok((BakedEnvironment { environment, file: file_name, fetched }, file.bytes))
}
