//! What an import finds, collected for one model.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::finding::{Code, Finding, Findings, Label};
use crate::manifest::{Manifest, ModelEntry};

/// One broken exporter can be wrong ten thousand times; the first findings of each kind say enough.
const SHOWN: usize = 20;

/// Findings about one model, with its name before each message and its place in the manifest.
pub(super) struct Report<'a> {
    manifest: &'a Manifest,
    entry: &'a ModelEntry,
    findings: &'a mut Findings,
    said: BTreeSet<String>,
    errors: usize,
    warnings: usize,
}

impl<'a> Report<'a> {
    pub(super) fn new(manifest: &'a Manifest, entry: &'a ModelEntry, findings: &'a mut Findings) -> Self {
        Self { manifest, entry, findings, said: BTreeSet::new(), errors: 0, warnings: 0 }
    }

    /// Adds what is wrong with the model's file.
    pub(super) fn error(&mut self, finding: Finding) {
        self.error_at(&self.entry.path.span, finding);
    }

    /// Adds what is wrong, and which part of the manifest asked for it.
    pub(super) fn error_at(&mut self, span: &Range<usize>, finding: Finding) {
        if !self.is_new(self.errors, &finding) {
            return;
        }
        self.errors += 1;
        if self.errors <= SHOWN {
            let context = Label::model(&self.entry.name.value);
            self.findings.push(finding.within(context).at(&self.manifest.source, span.clone()));
        }
    }

    /// Adds what is odd.
    pub(super) fn warn(&mut self, finding: Finding) {
        if !self.is_new(self.warnings, &finding) {
            return;
        }
        self.warnings += 1;
        if self.warnings <= SHOWN {
            self.findings.push(finding.within(Label::model(&self.entry.name.value)));
        }
    }

    /// Whether it was not said before. What would not be shown is not remembered, either.
    fn is_new(&mut self, said: usize, finding: &Finding) -> bool {
        said >= SHOWN || self.said.insert(finding.message().to_owned())
    }

    /// Takes a value, or reports why there is none.
    pub(super) fn take<T>(&mut self, result: Result<T, Finding>) -> Option<T> {
        result.map_err(|finding| self.error(finding)).ok()
    }

    /// How many errors there are so far.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// Whether anything stops the bake of this model.
    pub(super) fn failed(&self) -> bool {
        self.errors > 0
    }
}

impl Drop for Report<'_> {
    /// Says how much was left out.
    fn drop(&mut self) {
        let name = &self.entry.name.value;
        if let Some(more @ 1..) = self.warnings.checked_sub(SHOWN) {
            self.findings
                .push(Finding::warning(Code::More, format!("{more} more warnings")).within(Label::model(name)));
        }
        if let Some(more @ 1..) = self.errors.checked_sub(SHOWN) {
            self.findings.push(Finding::error(Code::More, format!("{more} more errors")).within(Label::model(name)));
        }
    }
}
