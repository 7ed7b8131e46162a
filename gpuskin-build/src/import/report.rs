//! Collects the diagnostics of one model during import.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Label};
use crate::manifest::{Manifest, ModelEntry};
use crate::suggest::list;

/// Maximum number of errors, and of warnings, that are shown per model. A faulty exporter can cause
/// ten thousand; the first ones are enough.
const SHOWN: usize = 20;

/// Diagnostics of one model. Adds the name of the model to each message, and to errors the location
/// in the manifest.
pub(super) struct Report<'a> {
    manifest: &'a Manifest,
    entry: &'a ModelEntry,
    diagnostics: &'a mut Diagnostics,
    said: BTreeSet<String>,
    errors: usize,
    warnings: usize,
}

impl<'a> Report<'a> {
    pub(super) fn new(manifest: &'a Manifest, entry: &'a ModelEntry, diagnostics: &'a mut Diagnostics) -> Self {
        Self { manifest, entry, diagnostics, said: BTreeSet::new(), errors: 0, warnings: 0 }
    }

    /// Adds an error in the model's file.
    pub(super) fn error(&mut self, diagnostic: Diagnostic) {
        self.error_at(&self.entry.path.span, diagnostic);
    }

    /// Adds an error at a location in the manifest.
    pub(super) fn error_at(&mut self, span: &Range<usize>, diagnostic: Diagnostic) {
        if !self.is_new(self.errors, &diagnostic) {
            return;
        }
        self.errors += 1;
        if self.errors <= SHOWN {
            let context = Label::model(&self.entry.name.value);
            self.diagnostics.push(diagnostic.within(context).at(&self.manifest.source, span.clone()));
        }
    }

    /// Adds a warning.
    pub(super) fn warn(&mut self, diagnostic: Diagnostic) {
        if !self.is_new(self.warnings, &diagnostic) {
            return;
        }
        self.warnings += 1;
        if self.warnings <= SHOWN {
            self.diagnostics.push(diagnostic.within(Label::model(&self.entry.name.value)));
        }
    }

    /// Adds a warning about files of `animations`, as shown. Without files, adds none.
    pub(super) fn warn_of_files(&mut self, files: &[String], diagnostic: Diagnostic) {
        let label = match files {
            [] => return,
            [file] => Label::file(file),
            _ => {
                let names = list(files.iter().map(String::as_str), 2);
                Label::from(format_args!("{} files of `animations`, {names}", files.len()))
            }
        };
        self.warn(diagnostic.within(label));
    }

    /// Whether the message is new. Messages above the limit are not stored.
    fn is_new(&mut self, said: usize, diagnostic: &Diagnostic) -> bool {
        let key = match diagnostic.cause() {
            Some(cause) => cause,
            None if said >= SHOWN => return true,
            None => diagnostic.message(),
        };
        self.said.insert(key.to_owned())
    }

    /// Returns the value, or reports the error and returns `None`.
    pub(super) fn take<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|diagnostic| self.error(diagnostic)).ok()
    }

    /// Number of errors so far.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// Whether an error stops the bake of this model.
    pub(super) fn failed(&self) -> bool {
        self.errors > 0
    }
}

impl Drop for Report<'_> {
    /// Reports the number of diagnostics that were not shown.
    fn drop(&mut self) {
        let name = &self.entry.name.value;
        if let Some(more @ 1..) = self.warnings.checked_sub(SHOWN) {
            self.diagnostics.push(
                Diagnostic::warning(DiagnosticCode::More, format!("{more} more warnings")).within(Label::model(name)),
            );
        }
        if let Some(more @ 1..) = self.errors.checked_sub(SHOWN) {
            self.diagnostics.push(
                Diagnostic::error(DiagnosticCode::More, format!("{more} more errors")).within(Label::model(name)),
            );
        }
    }
}
