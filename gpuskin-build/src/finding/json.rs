//! Findings for tools: an object a line.

use std::ops::Range;

use serde::Serialize;

use super::{About, Finding, Findings};

#[derive(Serialize)]
struct Object<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    help: &'a str,
    #[serde(flatten)]
    about: &'a About,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<Span<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<Span<'a>>,
}

/// A place in the manifest.
#[derive(Serialize)]
struct Span<'a> {
    file: &'a str,
    /// From 1.
    line: usize,
    /// From 1, in characters.
    column: usize,
    /// Bytes of the text.
    start: usize,
    end: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
}

impl Finding {
    /// As a JSON object in one line: `code`, `severity`, `message` and `help`; where they are known also `file` (the glTF
    /// file), `model`, `clip`, `node`, `accessor`, and `span` and `related`, places in the manifest.
    pub fn to_json(&self) -> String {
        let spans = self.places.iter().map(|place| self.span(&place.span, place.label.as_deref()));
        let mut spans = spans.flatten();
        let object = Object {
            code: self.code.name(),
            severity: if self.is_error() { "error" } else { "warning" },
            message: &self.message,
            help: self.advice(),
            about: &self.about,
            span: spans.next(),
            related: spans.collect(),
        };
        serde_json::to_string(&object).expect("plain data always serialises")
    }

    fn span<'a>(&'a self, span: &Range<usize>, label: Option<&'a str>) -> Option<Span<'a>> {
        let source = self.source.as_deref()?;
        let before = source.inner().get(..span.start).unwrap_or(source.inner());
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Some(Span { file: source.name(), line, column, start: span.start, end: span.end, label })
    }
}

impl Findings {
    /// All of them, a JSON object a line.
    pub fn to_json_lines(&self) -> String {
        self.0.iter().flat_map(|finding| [finding.to_json(), "\n".to_owned()]).collect()
    }
}
