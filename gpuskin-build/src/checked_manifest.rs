//! A manifest for those who run a bake: where it is wrong, the models that are not are looked at nevertheless, so that
//! everything that is wrong comes out in one run.

use std::path::Path;

use crate::bake::{BakeOptions, check};
use crate::diagnostic::Diagnostics;
use crate::manifest::Manifest;

/// Reads a manifest. What is wrong with it comes together with what is wrong with the files that it names.
///
/// # Errors
/// All of that, in the order of the manifest.
pub(crate) fn load(path: &Path) -> Result<Manifest, Diagnostics> {
    let (manifest, mut diagnostics) = Manifest::recover(path);
    match manifest {
        Some(manifest) if !diagnostics.has_errors() => Ok(manifest),
        Some(rest) => {
            if let Err(failed) = check(&rest, &BakeOptions::default()) {
                diagnostics.extend(failed.diagnostics);
                diagnostics.sort();
            }
            Err(diagnostics)
        }
        None => Err(diagnostics),
    }
}
