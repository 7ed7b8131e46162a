//! Collects the diagnostics of one model during import.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Label, OtherPlaces, Place};
use crate::manifest::{Manifest, ModelEntry};
use crate::suggest::list;

/// Maximum number of errors, and of warnings, that are shown per model. A faulty exporter can cause
/// ten thousand; the first ones are enough.
const SHOWN: usize = 20;
/// Maximum number of diagnostics that are compared with later ones, which bounds the memory for a hostile file.
const COMPARED: usize = 1 << 16;

/// Digest of what a diagnostic says.
type Digest = [u8; 32];

/// Diagnostics of one model. Adds the name of the model to each message, and to errors the location
/// in the manifest. Diagnostics with the same cause are shown once.
pub(super) struct Report<'a> {
    manifest: &'a Manifest,
    entry: &'a ModelEntry,
    diagnostics: &'a mut Diagnostics,
    said: BTreeSet<Digest>,
    collected: BTreeMap<Digest, CollectedPlaces>,
    errors: usize,
    warnings: usize,
}

/// Places of diagnostics that say the same.
struct CollectedPlaces {
    /// Index of the diagnostic that is shown; `None` if it is above the limit.
    shown: Option<usize>,
    first: Place,
    others: OtherPlaces,
}

impl<'a> Report<'a> {
    pub(super) fn new(manifest: &'a Manifest, entry: &'a ModelEntry, diagnostics: &'a mut Diagnostics) -> Self {
        let (said, collected) = Default::default();
        Self { manifest, entry, diagnostics, said, collected, errors: 0, warnings: 0 }
    }

    /// Adds an error in the model's file.
    pub(super) fn error(&mut self, diagnostic: Diagnostic) {
        self.error_at(&self.entry.path.span, diagnostic);
    }

    /// Adds an error at a location in the manifest.
    pub(super) fn error_at(&mut self, span: &Range<usize>, diagnostic: Diagnostic) {
        self.add(diagnostic, |diagnostic, manifest| diagnostic.at(&manifest.source, span.clone()));
    }

    /// Adds a warning.
    pub(super) fn warn(&mut self, diagnostic: Diagnostic) {
        self.add(diagnostic, |diagnostic, _| diagnostic);
    }

    /// Adds an error or a warning at a location in the manifest, with a related location and its label.
    pub(super) fn add_at(&mut self, span: &Range<usize>, related: (&Range<usize>, &str), diagnostic: Diagnostic) {
        let (other, label) = related;
        self.add(diagnostic, |diagnostic, manifest| {
            diagnostic.at(&manifest.source, span.clone()).also(other.clone(), label)
        });
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

    fn add(&mut self, diagnostic: Diagnostic, locate: impl FnOnce(Diagnostic, &Manifest) -> Diagnostic) {
        if !self.is_new(&diagnostic) {
            return;
        }
        let count = if diagnostic.is_error() { &mut self.errors } else { &mut self.warnings };
        *count += 1;
        if *count <= SHOWN {
            let context = Label::model(&self.entry.name.value);
            self.diagnostics.push(locate(diagnostic.within(context), self.manifest));
        }
    }

    /// Whether no diagnostic has the same message or the same cause. Counts the place of a diagnostic that is collected.
    fn is_new(&mut self, diagnostic: &Diagnostic) -> bool {
        let (message, place) = (diagnostic.message(), diagnostic.place());
        let said = if place.is_none() { diagnostic.cause().unwrap_or(message) } else { message };
        let digest = *blake3::hash(said.as_bytes()).as_bytes();
        if self.said.len() < COMPARED && !self.said.insert(digest) {
            return false;
        }
        let (Some(place), Some(fact)) = (place, diagnostic.cause()) else { return true };
        let key = format!("{}\n{}\n{fact}\n{}", diagnostic.is_error(), diagnostic.code(), diagnostic.help_text());
        let digest = *blake3::hash(key.as_bytes()).as_bytes();
        if let Some(CollectedPlaces { first, others, .. }) = self.collected.get_mut(&digest) {
            others.add(place, first);
            return false;
        }
        if self.collected.len() < COMPARED {
            let count = if diagnostic.is_error() { self.errors } else { self.warnings };
            let shown = (count < SHOWN).then_some(self.diagnostics.len());
            let collected = CollectedPlaces { shown, first: place.clone(), others: OtherPlaces::default() };
            self.collected.insert(digest, collected);
        }
        true
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
    /// Adds the places that were counted, and the number of diagnostics that were not shown.
    fn drop(&mut self) {
        for CollectedPlaces { shown, others, .. } in std::mem::take(&mut self.collected).into_values() {
            if let Some(diagnostic) = shown.and_then(|index| self.diagnostics.get_mut(index)) {
                diagnostic.add_others(others);
            }
        }
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
