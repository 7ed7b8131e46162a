//! Options, progress and failure of a bake.

use std::collections::BTreeSet;
use std::path::PathBuf;

use gpuskin_rt::internals::Encoding;

use crate::cache::Cache;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
use crate::manifest::{Manifest, ModelEntry, Textures};
use crate::suggest::{instead, quoted};

/// Options of [`bake`](fn@crate::bake): one model only, another encoding, a cache, a progress callback.
#[derive(Clone, Copy, Default)]
pub struct BakeOptions<'a> {
    /// Bakes only the model of this name.
    pub model: Option<&'a str>,
    /// Overrides the manifest's encoding.
    pub encoding: Option<Encoding>,
    /// Whether to evaluate every encoding that the devices support, and to report all of them in
    /// [`BakedModel::candidates`](super::BakedModel::candidates).
    #[doc(hidden)]
    pub explain: bool,
    /// Whether to leave out the error measurement for models with a named encoding; their errors
    /// are zero in the result. Meant for previews, not for shipped models.
    #[doc(hidden)]
    pub skip_errors: bool,
    /// Overrides the manifest's `textures`.
    #[doc(hidden)]
    pub textures: Option<&'a Textures>,
    /// Cache of encoded textures.
    pub cache: Option<&'a Cache>,
    /// Called from any thread when a model enters a stage.
    pub progress: Option<&'a Progress<'a>>,
}

/// Callback that receives the name of a model and the stage that it enters.
pub type Progress<'a> = dyn Fn(&str, Stage) + Sync + 'a;

/// Stage of a model's bake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stage {
    /// The source files are read.
    Import,
    /// The clips are sampled and encoded.
    Encode,
    /// The errors are measured.
    Measure,
    /// The model is finished.
    Done,
}

/// Errors of [`bake`](fn@crate::bake), and the files that it read until then.
#[derive(Clone, Debug)]
pub struct BakeFailure {
    /// All errors and warnings, in the order of the manifest.
    pub diagnostics: Diagnostics,
    /// All files that were read before the bake failed. A build script watches them: a change to
    /// one of them can repair the error.
    pub inputs: BTreeSet<PathBuf>,
}

impl BakeFailure {
    /// Returns both results, or the errors of both.
    pub(crate) fn join<A, B>(a: Result<A, Self>, b: Result<B, Self>) -> Result<(A, B), Self> {
        match (a, b) {
            (Ok(a), Ok(b)) => Ok((a, b)),
            (Err(mut failed), Err(also)) => {
                failed.diagnostics.extend(also.diagnostics);
                failed.inputs.extend(also.inputs);
                Err(failed)
            }
            (Err(failed), Ok(_)) | (Ok(_), Err(failed)) => Err(failed),
        }
    }
}

/// Returns the models that the options select.
pub(crate) fn entries<'m>(
    manifest: &'m Manifest,
    options: &BakeOptions<'_>,
) -> Result<Vec<&'m ModelEntry>, BakeFailure> {
    let entries: Vec<&ModelEntry> =
        manifest.models.iter().filter(|m| options.model.is_none_or(|name| m.name.value == name)).collect();
    if let (Some(name), true) = (options.model, entries.is_empty()) {
        let names = manifest.models.iter().map(|m| m.name.value.as_str());
        let message = format!("{}: model {} not found", manifest.path.display(), quoted(name));
        let diagnostic = Diagnostic::error(DiagnosticCode::ModelNotFound, message).help(instead(name, names));
        return Err(BakeFailure { diagnostics: diagnostic.into(), inputs: BTreeSet::from([manifest.path.clone()]) });
    }
    Ok(entries)
}

impl BakeOptions<'_> {
    pub(super) fn report(&self, entry: &ModelEntry, stage: Stage) {
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
