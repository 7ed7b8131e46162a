//! Diagnostics: errors and warnings about the input, collected during a whole run and reported
//! together.

mod cached;
mod cause;
mod code;
mod collected;
mod json;
mod label;
mod render;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic as MietteDiagnostic, LabeledSpan, NamedSource, Severity, SourceCode};

pub(crate) use cached::CachedDiagnostic;
use cause::SharedCause;
pub(crate) use cause::{OtherPlaces, Place};
pub use code::DiagnosticCode;
pub use label::{DiagnosticSubject, Label, NodeRef};
pub use render::Style;

/// An error or a warning. Names the file, model, clip and node at fault, and says what to do.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    code: DiagnosticCode,
    severity: Severity,
    message: String,
    /// Overrides the remedy of the code.
    help: Option<String>,
    about: Box<DiagnosticSubject>,
    source: Option<Arc<NamedSource<String>>>,
    spans: Vec<SpanLabel>,
    cause: Option<Box<SharedCause>>,
}

/// A span of the source text. The first span of a diagnostic is its location; the others are
/// related.
#[derive(Clone, Debug)]
struct SpanLabel {
    span: Range<usize>,
    label: Option<String>,
}

impl Diagnostic {
    /// Creates an error, which stops the bake.
    #[doc(hidden)]
    pub fn error(code: DiagnosticCode, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: harmless(message.into()),
            help: None,
            about: Box::default(),
            source: None,
            spans: Vec::new(),
            cause: None,
        }
    }

    /// Creates a warning, which does not stop the bake.
    #[doc(hidden)]
    pub fn warning(code: DiagnosticCode, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Sets the help text: what to do, when that can be said more precisely than [`Code::remedy`]
    /// does.
    #[doc(hidden)]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(harmless(help.into()));
        self
    }

    /// Sets the location in the manifest. `span` is in bytes of the manifest's text.
    pub(crate) fn at(mut self, source: &Arc<NamedSource<String>>, span: Range<usize>) -> Self {
        self.source = Some(Arc::clone(source));
        self.spans = vec![SpanLabel { span, label: None }];
        self
    }

    /// Removes the locations in the manifest.
    #[cfg(feature = "cli")]
    pub(crate) fn without_location(mut self) -> Self {
        self.source = None;
        self.spans.clear();
        self
    }

    /// Sets the label of the span that was added last: one or two words.
    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        if let Some(place) = self.spans.last_mut() {
            place.label = Some(label.into());
        }
        self
    }

    /// Adds a related span of the same text.
    pub(crate) fn also(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        self.spans.push(SpanLabel { span, label: Some(label.into()) });
        self
    }

    /// Prefixes the message with a context such as ``model `soldier` ``. Parts of the subject that
    /// are already set are kept. Of a diagnostic with [`Self::caused_by`], only file and model are named: clips,
    /// meshes and accessors are merely the first that meet the cause.
    #[doc(hidden)]
    pub fn within(mut self, context: impl Into<Label>) -> Self {
        let mut context = context.into();
        match self.cause.as_deref_mut() {
            Some(SharedCause { place: Some(place), .. }) => place.add(&context),
            Some(SharedCause { place: None, .. }) => {
                let Some(file_or_model) = context.file_or_model() else { return self };
                context = file_or_model;
            }
            None => {}
        }
        let Label { text, about } = context;
        self.message = harmless(format!("{text}: {}", self.message));
        *self.about = std::mem::take(&mut *self.about).or(about);
        self
    }

    /// Sets the cause, unless one is set. Of several diagnostics of a model with the same cause, only the
    /// first is shown.
    pub(crate) fn caused_by(mut self, cause: impl Into<String>) -> Self {
        self.cause.get_or_insert_with(|| Box::new(SharedCause::new(cause, None)));
        self
    }

    /// Sets the clip at fault, for a message that already names the clip.
    pub(crate) fn clip(mut self, name: &str) -> Self {
        self.about.clip = Some(name.into());
        self
    }

    /// Sets the bone at fault, for a message that already names the bone.
    pub(crate) fn bone(mut self, name: &str) -> Self {
        self.about.node = Some(NodeRef { index: None, name: Some(name.into()) });
        self
    }

    /// Returns the kind of error or warning, as a stable code.
    pub fn code(&self) -> DiagnosticCode {
        self.code
    }

    /// Returns the help text: specific to this diagnostic, else the remedy of its code.
    pub fn help_text(&self) -> &str {
        self.help.as_deref().unwrap_or(self.code.remedy())
    }

    /// Returns the file, model, clip, node and accessor at fault, as far as they are known.
    pub fn subject(&self) -> &DiagnosticSubject {
        &self.about
    }

    /// Whether the diagnostic is an error, which stops the bake.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Returns the message, without location and help.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl MietteDiagnostic for Diagnostic {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.help_text()))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source.as_ref() as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let labels = self.spans.iter().enumerate().map(|(i, place)| {
            let span = place.span.clone();
            if i == 0 {
                LabeledSpan::new_primary_with_span(place.label.clone(), span)
            } else {
                LabeledSpan::new_with_span(place.label.clone(), span)
            }
        });
        (!self.spans.is_empty()).then(|| Box::new(labels) as _)
    }
}

/// Replaces control characters, which act on a terminal, by `?`. Names come from files, and TOML
/// strings can hold any character as `\u`.
fn harmless(text: String) -> String {
    let acts = |c: char| c.is_control() && c != '\n';
    if text.contains(acts) { text.replace(acts, "?") } else { text }
}

/// All diagnostics of a run, in the order of the manifest.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a diagnostic.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Appends all diagnostics of another list.
    pub(crate) fn extend(&mut self, other: Diagnostics) {
        self.0.extend(other.0);
    }

    /// Appends the diagnostics of another list whose messages this one does not have, such as those of names, which are
    /// checked with a manifest and with its models.
    pub(crate) fn extend_with_new(&mut self, other: Diagnostics) {
        let known = self.0.len();
        for diagnostic in other.0 {
            if self.0[..known].iter().all(|own| own.to_string() != diagnostic.to_string()) {
                self.0.push(diagnostic);
            }
        }
    }

    /// Returns a diagnostic that was added.
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut Diagnostic> {
        self.0.get_mut(index)
    }

    /// Sorts by location in the manifest. Diagnostics without a location come last, in their
    /// previous order.
    pub(crate) fn sort(&mut self) {
        self.0.sort_by_key(|diagnostic| diagnostic.spans.first().map_or(usize::MAX, |place| place.span.start));
    }

    /// Whether at least one diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Iterates over the diagnostics, in the order of the manifest.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Number of diagnostics.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl std::error::Error for Diagnostics {}
