//! Models up to the point where their clips are sampled and encoded: for tools that look at that stage by itself.

use gpuskin_rt::Encoding;

use super::attempt;
use super::choose::limits;
use super::plan::ModelOutline;
use super::{BakeOptions, BakeFailure, BakePlan, import_all};
use crate::diagnostic::Diagnostic;
use crate::import::Pixels;
use crate::manifest::Manifest;

/// A model whose frames are known and of which nothing is encoded yet.
#[derive(Clone, Debug)]
pub struct UnencodedModel {
    /// The model, its frames and where each will stand.
    pub plan: BakePlan,
    /// Metres that encodings with a choice of precision may be off at frames.
    pub tolerance: f64,
    outline: ModelOutline,
}

/// Drafts of every model of a manifest in an encoding, whichever the manifest names. Where frame rates are searched, they are
/// those that the search starts at.
///
/// # Errors
/// As [`bake`](super::bake).
pub fn unencoded_models(manifest: &Manifest, options: &BakeOptions<'_>, encoding: Encoding) -> Result<Vec<UnencodedModel>, BakeFailure> {
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
    /// Samples and encodes all clips, as a bake does: the bytes of the animation texture, or of the tracks.
    ///
    /// # Errors
    /// When the encoding cannot hold the model.
    pub fn encode(&self) -> Result<Vec<u8>, Diagnostic> {
        Ok(attempt::texels(&self.outline, &self.plan, self.tolerance)?.0.bytes)
    }
}
