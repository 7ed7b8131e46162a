//! Models before sampling and encoding, for tools that run or measure that stage alone.

use gpuskin_rt::internals::Encoding;

use super::attempt;
use super::choose::limits;
use super::plan::ModelOutline;
use super::{BakeFailure, BakeOptions, BakePlan, import_all};
use crate::diagnostic::Diagnostic;
use crate::import::Pixels;
use crate::manifest::Manifest;

/// A model with planned frames that is not encoded yet.
#[derive(Clone, Debug)]
pub struct UnencodedModel {
    /// Model, its frames, and the planned location of each frame.
    pub plan: BakePlan,
    /// Allowed position error at frames, in metres, for encodings with variable precision.
    pub tolerance: f64,
    outline: ModelOutline,
}

/// Plans every model of a manifest in the given encoding instead of the manifest's. Searched frame
/// rates have the value at which the search starts.
///
/// # Errors
/// If a model has an error, as with [`bake`](super::bake()).
pub fn unencoded_models(
    manifest: &Manifest,
    options: &BakeOptions<'_>,
    encoding: Encoding,
) -> Result<Vec<UnencodedModel>, BakeFailure> {
    let (outlines, mut diagnostics, inputs) = import_all(manifest, options, Pixels::SizeOnly)?;
    let mut unencoded_models = Vec::new();
    for (entry, outline) in outlines {
        match BakePlan::new(&outline, encoding, &outline.rates()) {
            Ok(plan) => {
                let tolerance = limits(&entry.tolerances, outline.diagonal).encoding;
                unencoded_models.push(UnencodedModel { plan, tolerance, outline });
            }
            Err(diagnostic) => diagnostics.push(diagnostic.within(format!("model `{}`", outline.model.name))),
        }
    }
    if diagnostics.has_errors() { Err(BakeFailure { diagnostics, inputs }) } else { Ok(unencoded_models) }
}

impl UnencodedModel {
    /// Samples and encodes all clips. Returns the bytes of the animation texture, or of the tracks.
    ///
    /// # Errors
    /// If the encoding cannot store the model.
    pub fn encode(&self) -> Result<Vec<u8>, Diagnostic> {
        Ok(attempt::texels(&self.outline, &self.plan, self.tolerance)?.0.bytes)
    }
}
