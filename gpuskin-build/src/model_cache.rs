//! Cache of baked models, keyed by a hash of everything that a model depends on: settings, all
//! files read, and the baker.
//!
//! The list of all files is only known from the files themselves. So a lookup has two steps, as in
//! compiler caches: the settings and the files that the manifest names give the list of all files;
//! the settings and these files give the model.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bake::models::{ModelOutput, ModelStore};
use crate::bake::{BakeOptions, BakedModel};
use crate::baker::BAKER;
use crate::cache::{Cache, EntryKind};
use crate::codegen;
use crate::diagnostic::{CachedDiagnostic, Diagnostic, DiagnosticCode, Diagnostics};
use crate::fs::fingerprint::FileFingerprint;
use crate::import::Inputs;
use crate::manifest::{Manifest, ModelEntry};
use crate::output::FileContent;
use crate::stamp::FingerprintIndex;

/// Maximum sizes in bytes of a list of files, and of a model without its files.
const MAX_INPUT_LIST_BYTES: u64 = 16 << 20;
const MAX_MODEL_BYTES: u64 = 64 << 20;

/// Stores the models of a manifest in a cache.
pub(crate) struct ModelCache<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) manifest: &'a Manifest,
    pub(crate) options: &'a BakeOptions<'a>,
    /// Fingerprints of files.
    pub(crate) index: &'a FingerprintIndex<'a>,
    /// Names of models to bake again, because their files were removed from the cache.
    pub(crate) lost: &'a BTreeSet<String>,
    /// Whether a model that is not in the cache is an error.
    pub(crate) require_cached: bool,
}

/// A model as stored in the cache.
#[derive(Serialize, Deserialize)]
struct CachedModel {
    /// The model, then its variants for other classes of devices.
    models: Vec<BakedModel>,
    part: codegen::ModelCode,
    files: Vec<(String, [u8; 32], u64)>,
    /// Their spans are indices into the spans of the manifest entry.
    warnings: Vec<CachedDiagnostic>,
}

impl ModelStore for ModelCache<'_> {
    fn load(&self, entry: &ModelEntry) -> Option<ModelOutput> {
        if self.lost.contains(&entry.name.value) {
            return None;
        }
        let (settings_key, spans) = self.settings_key(entry)?;
        let named =
            named_files(entry).map(|path| Some(self.index.fingerprint(&self.manifest.folder.join(path))?.digest));
        let list = inputs_key(&settings_key, named.collect::<Option<Vec<_>>>()?);
        let list = self.cache.get(EntryKind::Inputs, &list, MAX_INPUT_LIST_BYTES)?;
        let list: Vec<String> = postcard::from_bytes(&list).ok()?;
        let paths = list.iter().map(|path| self.manifest.folder.join(path));
        let fingerprints =
            paths.map(|path| Some((self.index.fingerprint(&path)?, path))).collect::<Option<Vec<_>>>()?;
        let key = model_key(
            &settings_key,
            list.iter().map(String::as_str).zip(fingerprints.iter().map(|(fingerprint, _)| fingerprint)),
        );
        let kept: CachedModel = postcard::from_bytes(&self.cache.get(EntryKind::Model, &key, MAX_MODEL_BYTES)?).ok()?;

        let mut models = kept.models;
        if models.first().is_none_or(|model| model.meta.name != entry.name.value) {
            return None;
        }
        let others = models.split_off(1);
        let model = BakedModel { others, ..models.pop()? };
        let files = kept.files.into_iter().map(|(name, digest, len)| {
            let ours = belongs_to_model(&name, &entry.name.value);
            if self.cache.stores_files() {
                self.cache.depends_on(EntryKind::File, &digest.into());
            }
            ours.then_some((name, FileContent::Cached { digest: digest.into(), len }))
        });
        let files = files.collect::<Option<_>>()?;
        let mut warnings = Diagnostics::default();
        for warning in kept.warnings {
            let warning = warning.with_spans_mapped(|number| spans.get(number.start).cloned())?;
            warnings.push(warning.diagnostic(&self.manifest.source)?);
        }
        let mut inputs = Inputs::with_digests();
        fingerprints.into_iter().for_each(|(fingerprint, path)| inputs.known(path, fingerprint));
        Some(ModelOutput { model, part: kept.part, files, warnings, inputs, fresh: false })
    }

    fn rejection(&self, entry: &ModelEntry) -> Option<Diagnostic> {
        let name = &entry.name.value;
        let message =
            format!("the current version of model `{name}` is not in the cache {}", self.cache.folder().display());
        let help = "run the shard of the model again, or run `bake` without --merge to bake it here";
        self.require_cached.then(|| {
            Diagnostic::error(DiagnosticCode::CacheMissing, message)
                .help(help)
                .at(&self.manifest.source, entry.name.span.clone())
        })
    }

    fn store(&self, entry: &ModelEntry, made: &mut ModelOutput) {
        // A model that cannot be stored is baked again next time.
        let _ = self.try_store(entry, made);
    }
}

impl ModelCache<'_> {
    fn try_store(&self, entry: &ModelEntry, made: &mut ModelOutput) -> Option<()> {
        let (settings_key, spans) = self.settings_key(entry)?;
        let number = |span: &Range<usize>| spans.iter().position(|s| s == span).map(|number| number..number);
        let warnings = made.warnings.iter().map(|warning| CachedDiagnostic::of(warning).with_spans_mapped(number));
        let warnings = warnings.collect::<Option<Vec<_>>>()?;

        // Fails if a file changed while it was read.
        let fingerprints = made.inputs.fingerprints()?;
        let path = |path: &Path| path.strip_prefix(&self.manifest.folder).unwrap_or(path).to_str().map(str::to_owned);
        let list = fingerprints.iter().map(|(p, _)| path(p)).collect::<Option<Vec<_>>>()?;
        let digest = |wanted: &str| {
            let path = self.manifest.folder.join(wanted);
            fingerprints.iter().find(|(p, _)| *p == path).map(|(_, fingerprint)| fingerprint.digest)
        };
        let named = named_files(entry).map(digest).collect::<Option<Vec<_>>>()?;
        let key = model_key(
            &settings_key,
            list.iter().map(String::as_str).zip(fingerprints.iter().map(|(_, fingerprint)| fingerprint)),
        );
        fingerprints.iter().for_each(|(path, fingerprint)| self.index.record(path, *fingerprint));

        let mut files = Vec::new();
        for (name, content) in &mut made.files {
            let (digest, len) = (content.digest(), content.len());
            files.push((name.clone(), *digest.as_bytes(), len));
            if let (true, FileContent::Bytes(bytes)) = (self.cache.shares_files(), &*content)
                && self.cache.put(EntryKind::File, &digest, bytes)
            {
                *content = FileContent::Cached { digest, len };
            }
        }
        let BakedModel { others, .. } = &made.model;
        let models = std::iter::once(&made.model).chain(others).cloned().collect();
        let part = made.part.clone();
        let kept = postcard::to_stdvec(&CachedModel { models, part, files, warnings }).ok()?;
        self.cache.put(EntryKind::Model, &key, &kept);
        self.cache.put(EntryKind::Inputs, &inputs_key(&settings_key, named), &postcard::to_stdvec(&list).ok()?);
        Some(())
    }

    /// Returns a hash of the baker and the settings of a model, and the spans of the values of its
    /// manifest entry.
    fn settings_key(&self, entry: &ModelEntry) -> Option<(blake3::Hash, Vec<Range<usize>>)> {
        let mut spans = Vec::new();
        let mut settings = serde_json::to_value(entry).ok()?;
        without_spans(&mut settings, &mut spans);
        // Settings that all models share.
        let mut common = serde_json::to_value(self.manifest).ok()?;
        without_spans(&mut common, &mut Vec::new());
        let BakeOptions { model: _, encoding, explain, skip_errors, textures, cache: _, progress: _ } = self.options;
        let options = serde_json::to_string(&(encoding, explain, skip_errors, textures)).ok()?;
        let textures = cfg!(feature = "textures");
        let settings_key = format!("{BAKER} {textures}\n{options}\n{common}\n{settings}");
        Some((blake3::hash(settings_key.as_bytes()), spans))
    }
}

/// Removes the spans of all values, because a model does not change when the text above it changes.
/// Appends them to `spans`.
fn without_spans(value: &mut Value, spans: &mut Vec<Range<usize>>) {
    match value {
        Value::Object(fields) => {
            if let (2, Some(span), true) = (fields.len(), fields.get("span"), fields.contains_key("value")) {
                spans.extend(serde_json::from_value::<Range<usize>>(span.clone()));
                let inner = fields.remove("value").unwrap_or_default();
                *value = inner;
                without_spans(value, spans);
            } else {
                fields.values_mut().for_each(|field| without_spans(field, spans));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without_spans(item, spans)),
        _ => {}
    }
}

/// Returns the files that a manifest entry names.
fn named_files(entry: &ModelEntry) -> impl Iterator<Item = &str> {
    let animations = entry.animations.iter().map(|animation| &animation.path);
    std::iter::once(&entry.path).chain(animations).map(|path| path.value.as_str())
}

fn inputs_key(settings_key: &blake3::Hash, digests: impl IntoIterator<Item = [u8; 32]>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(settings_key.as_bytes());
    for digest in digests {
        hasher.update(&digest);
    }
    hasher.finalize()
}

fn model_key<'a>(
    settings_key: &blake3::Hash,
    files: impl Iterator<Item = (&'a str, &'a FileFingerprint)>,
) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(settings_key.as_bytes());
    for (path, fingerprint) in files {
        hasher.update(&(path.len() as u64).to_le_bytes()).update(path.as_bytes()).update(&fingerprint.digest);
    }
    hasher.finalize()
}

/// Whether `name` is a path of a file of this model, and leads nowhere else.
fn belongs_to_model(name: &str, model: &str) -> bool {
    let plain = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    let parts: Vec<&str> = name.split('/').collect();
    matches!(parts[..], ["gpuskin", of, content, file] if of == model && plain(content) && plain(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_spans_removes_all_spans() {
        let text = "[[model]]\nname = \"a\"\npath = \"a.glb\"\n";
        let settings = |text: String| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("a.glb"), "").unwrap();
            let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).unwrap();
            let (mut value, mut spans) = (serde_json::to_value(&manifest.models[0]).unwrap(), Vec::new());
            without_spans(&mut value, &mut spans);
            (value, spans, manifest)
        };
        let (a, a_spans, manifest) = settings(text.to_owned());
        let (b, b_spans, _) = settings(format!("# a comment\n{text}"));
        assert!(!a.to_string().contains("span") && a.to_string().contains("a.glb"), "{a}");
        assert!(a == b && a_spans.len() == b_spans.len() && a_spans != b_spans);
        assert!(a_spans.contains(&manifest.models[0].name.span));
        assert_ne!(a, settings(format!("{text}fps = 3\n")).0);
    }

    #[test]
    fn is_of_rejects_paths_outside_the_model() {
        assert!(belongs_to_model("gpuskin/a/0f/mesh.bin", "a"));
        assert!(belongs_to_model("gpuskin/a-b/0f/color-0-bc7.ktx2", "a-b"));
        for name in [
            "gpuskin/b/0f/mesh.bin",
            "gpuskin/a/mesh.bin",
            "gpuskin/a/../x",
            "gpuskin/a/0f/.x",
            "/gpuskin/a/0f/x",
            "gpuskin/a/0f/b/c",
            "gpuskin/a/0f/b\\c",
        ] {
            assert!(!belongs_to_model(name, "a"), "{name}");
        }
    }
}
