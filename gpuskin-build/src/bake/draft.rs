//! Models up to the point where their clips are sampled and encoded: for tools that look at that stage by itself.

use gpuskin_rt::internals::Encoding;

use super::attempt;
use super::choose::limits;
use super::plan::Outline;
use super::{BakeOptions, Failed, Plan, import_all};
use crate::finding::Finding;
use crate::import::Pixels;
use crate::manifest::Manifest;

/// A model whose frames are known and of which nothing is encoded yet.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The model, its frames and where each will stand.
    pub plan: Plan,
    /// Metres that encodings with a choice of precision may be off at frames.
    pub tolerance: f64,
    outline: Outline,
}

/// Drafts of every model of a manifest in an encoding, whichever the manifest names. Where frame rates are searched, they are
/// those that the search starts at.
///
/// # Errors
/// As [`bake`](super::bake).
pub fn drafts(manifest: &Manifest, options: &BakeOptions<'_>, encoding: Encoding) -> Result<Vec<Draft>, Failed> {
    let (outlines, mut findings, inputs) = import_all(manifest, options, Pixels::SizeOnly)?;
    let mut drafts = Vec::new();
    for (entry, outline) in outlines {
        match Plan::new(&outline, encoding, &outline.rates()) {
            Ok(plan) => {
                let tolerance = limits(&entry.tolerances, outline.diagonal).encoding;
                drafts.push(Draft { plan, tolerance, outline });
            }
            Err(finding) => findings.push(finding.within(format!("model `{}`", outline.model.name))),
        }
    }
    if findings.has_errors() { Err(Failed { findings, inputs }) } else { Ok(drafts) }
}

impl Draft {
    /// Samples and encodes all clips, as a bake does: the bytes of the animation texture, or of the tracks.
    ///
    /// # Errors
    /// When the encoding cannot hold the model.
    pub fn encode(&self) -> Result<Vec<u8>, Finding> {
        Ok(attempt::texels(&self.outline, &self.plan, self.tolerance)?.0.bytes)
    }
}
