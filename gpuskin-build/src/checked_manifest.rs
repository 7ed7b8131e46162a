//! Loading of a manifest for a bake. If the manifest has errors, its valid models are checked
//! anyway, so that all errors are reported in one run.

use std::path::Path;

use crate::bake::{BakeOptions, check};
use crate::diagnostic::Diagnostics;
use crate::manifest::Manifest;

/// Reads a manifest. If it has errors, the models without errors are checked, too.
///
/// # Errors
/// Returns all errors of the manifest and of the files that it names, in the order of the manifest.
pub(crate) fn load(path: &Path) -> Result<Manifest, Diagnostics> {
    let (manifest, mut diagnostics) = Manifest::recover(path);
    match manifest {
        Some(manifest) if !diagnostics.has_errors() => Ok(manifest),
        Some(rest) => {
            if let Err(failed) = check(&rest, &BakeOptions::default()) {
                diagnostics.extend_with_new(failed.diagnostics);
                diagnostics.sort();
            }
            Err(diagnostics)
        }
        None => Err(diagnostics),
    }
}
