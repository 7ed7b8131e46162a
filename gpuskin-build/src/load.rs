//! A manifest for those who run a bake: where it is wrong, the models that are not are looked at nevertheless, so that
//! everything that is wrong comes out in one run.

use std::path::Path;

use crate::bake::{BakeOptions, check};
use crate::finding::Findings;
use crate::manifest::Manifest;

/// Reads a manifest. What is wrong with it comes together with what is wrong with the files that it names.
///
/// # Errors
/// All of that, in the order of the manifest.
pub(crate) fn load(path: &Path) -> Result<Manifest, Findings> {
    let (manifest, mut findings) = Manifest::recover(path);
    match manifest {
        Some(manifest) if !findings.has_errors() => Ok(manifest),
        Some(rest) => {
            if let Err(failed) = check(&rest, &BakeOptions::default()) {
                findings.extend(failed.findings);
                findings.sort();
            }
            Err(findings)
        }
        None => Err(findings),
    }
}
