//! What is wrong, or odd, with the input: collected over a whole run and reported together.

mod code;
mod json;
mod label;
mod render;
mod stored;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};

pub use code::Code;
pub use label::{About, Label, Node};
pub use render::Style;
pub(crate) use stored::Stored;

/// One finding. It names the file, model, clip and node that it is about, and what to do.
#[derive(Clone, Debug)]
pub struct Finding {
    code: Code,
    severity: Severity,
    message: String,
    /// Instead of the code's own remedy.
    help: Option<String>,
    about: Box<About>,
    source: Option<Arc<NamedSource<String>>>,
    places: Vec<Place>,
}

/// A place in the source; the first of a finding is where it points.
#[derive(Clone, Debug)]
struct Place {
    span: Range<usize>,
    label: Option<String>,
}

impl Finding {
    /// Something that stops the bake.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            help: None,
            about: Box::default(),
            source: None,
            places: Vec::new(),
        }
    }

    /// Something that the bake can live with, and its user may not want.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// What to do about it, where more can be said than [`Code::remedy`] does.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Where in the manifest it comes from, in bytes of its text.
    pub fn at(mut self, source: &Arc<NamedSource<String>>, span: Range<usize>) -> Self {
        self.source = Some(Arc::clone(source));
        self.places = vec![Place { span, label: None }];
        self
    }

    /// A word or two under the place last given.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        if let Some(place) = self.places.last_mut() {
            place.label = Some(label.into());
        }
        self
    }

    /// Another place in the same text that has to do with it.
    pub fn also(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        self.places.push(Place { span, label: Some(label.into()) });
        self
    }

    /// Puts a context before the message: ``model `soldier` ``. What is known already is not overwritten by it.
    pub fn within(mut self, context: impl Into<Label>) -> Self {
        let Label { text, about } = context.into();
        self.message = format!("{text}: {}", self.message);
        *self.about = std::mem::take(&mut *self.about).or(about);
        self
    }

    /// Says which clip it is about, where the message names it.
    pub fn clip(mut self, name: &str) -> Self {
        self.about.clip = Some(name.into());
        self
    }

    /// Says which bone it is about, where the message names it.
    pub fn bone(mut self, name: &str) -> Self {
        self.about.node = Some(Node { index: None, name: Some(name.into()) });
        self
    }

    /// Says which glTF file it is about, where the message names it.
    pub fn file(mut self, shown: &str) -> Self {
        self.about.file = Some(shown.into());
        self
    }

    /// Says which accessor it is about, where the message names it.
    pub fn accessor(mut self, index: usize) -> Self {
        self.about.accessor = Some(index);
        self
    }

    /// What kind of finding it is.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What to do about it.
    pub fn advice(&self) -> &str {
        self.help.as_deref().unwrap_or(self.code.remedy())
    }

    /// What it is about.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Whether it stops the bake.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The message, without place and help.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Finding {}

impl Diagnostic for Finding {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.advice()))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source.as_ref() as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let labels = self.places.iter().enumerate().map(|(i, place)| {
            let span = place.span.clone();
            if i == 0 {
                LabeledSpan::new_primary_with_span(place.label.clone(), span)
            } else {
                LabeledSpan::new_with_span(place.label.clone(), span)
            }
        });
        (!self.places.is_empty()).then(|| Box::new(labels) as _)
    }
}

/// All findings of a run, in the order of the manifest.
#[derive(Clone, Debug, Default)]
pub struct Findings(Vec<Finding>);

impl Findings {
    /// Adds one.
    pub fn push(&mut self, finding: Finding) {
        self.0.push(finding);
    }

    /// Adds all of another list.
    pub fn extend(&mut self, other: Findings) {
        self.0.extend(other.0);
    }

    /// Puts them into the order of the manifest; those without a place come last, in the order that they came in.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|finding| finding.places.first().map_or(usize::MAX, |place| place.span.start));
    }

    /// Whether one of them stops the bake.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Finding::is_error)
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Finding> for Findings {
    fn from(finding: Finding) -> Self {
        Self(vec![finding])
    }
}

impl IntoIterator for Findings {
    type Item = Finding;
    type IntoIter = std::vec::IntoIter<Finding>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Findings {
    /// Rendered plainly, as in a file or a pipe.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Plain))
    }
}

impl std::error::Error for Findings {}
