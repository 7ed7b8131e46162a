//! Diagnostics as stored in the cache, to be shown again with a later bake.

use std::ops::Range;
use std::sync::Arc;

use miette::{NamedSource, Severity};
use serde::{Deserialize, Serialize};

use super::{Diagnostic, DiagnosticCode, DiagnosticSubject, NodeRef, OtherPlaces, SharedCause, SpanLabel};

/// A serialisable diagnostic, without the text of the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CachedDiagnostic {
    code: String,
    error: bool,
    message: String,
    help: Option<String>,
    file: Option<String>,
    model: Option<String>,
    clip: Option<String>,
    node: Option<(Option<usize>, Option<String>)>,
    accessor: Option<usize>,
    located: bool,
    spans: Vec<(Range<usize>, Option<String>)>,
    others: Option<OtherPlaces>,
}

impl CachedDiagnostic {
    /// Copies a diagnostic without the manifest's text.
    pub(crate) fn of(diagnostic: &Diagnostic) -> Self {
        let Diagnostic { code, severity, message, help, about, source, spans, cause: _ } = diagnostic;
        let DiagnosticSubject { file, model, clip, node, accessor } = (**about).clone();
        Self {
            code: code.name().to_owned(),
            error: *severity == Severity::Error,
            message: message.clone(),
            help: help.clone(),
            file,
            model,
            clip,
            node: node.map(|NodeRef { index, name }| (index, name)),
            accessor,
            located: source.is_some(),
            spans: spans.iter().map(|place| (place.span.clone(), place.label.clone())).collect(),
            others: diagnostic.others().cloned(),
        }
    }

    /// Moves all spans with `to`. Returns `None` if a span has no counterpart.
    pub(crate) fn with_spans_mapped(mut self, to: impl Fn(&Range<usize>) -> Option<Range<usize>>) -> Option<Self> {
        for (span, _) in &mut self.spans {
            *span = to(span)?;
        }
        Some(self)
    }

    /// Restores the diagnostic with `source` as its text. Returns `None` if its code is unknown,
    /// because another version stored it.
    pub(crate) fn diagnostic(self, source: &Arc<NamedSource<String>>) -> Option<Diagnostic> {
        let node = self.node.map(|(index, name)| NodeRef { index, name });
        let about =
            DiagnosticSubject { file: self.file, model: self.model, clip: self.clip, node, accessor: self.accessor };
        Some(Diagnostic {
            code: *DiagnosticCode::ALL.iter().find(|code| code.name() == self.code)?,
            about: Box::new(about),
            severity: if self.error { Severity::Error } else { Severity::Warning },
            message: self.message,
            help: self.help,
            source: self.located.then(|| Arc::clone(source)),
            spans: self.spans.into_iter().map(|(span, label)| SpanLabel { span, label }).collect(),
            cause: self.others.map(|others| Box::new(SharedCause::restored(others))),
        })
    }
}
