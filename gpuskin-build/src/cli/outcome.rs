//! Result of a command: output or failure, and how both are printed.

use std::io::Write;
use std::path::Path;

use crate::bake::BakeFailure;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::manifest::Manifest;

/// Output of a successful command.
#[derive(Debug, Default)]
pub(super) struct CommandOutput {
    /// Written to standard output.
    pub(super) text: String,
    /// Written to standard error.
    pub(super) warnings: Diagnostics,
}

impl From<String> for CommandOutput {
    fn from(text: String) -> Self {
        Self { text, warnings: Diagnostics::default() }
    }
}

/// Reason why a command failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// An error in the command line.
    Usage(String),
    /// Errors in the input.
    Diagnostics(Diagnostics),
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Diagnostics(diagnostics)
    }
}

impl From<BakeFailure> for Failure {
    fn from(failed: BakeFailure) -> Self {
        Self::Diagnostics(failed.diagnostics)
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Diagnostics(diagnostic.into())
    }
}

/// Loads a manifest.
pub(super) fn load(path: &Path) -> Result<Manifest, Failure> {
    Ok(crate::checked_manifest::load(path)?)
}

// Write errors are ignored: a reader that closes the pipe early (`| head`) is not an error.
pub(super) fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

pub(super) fn print_error(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
