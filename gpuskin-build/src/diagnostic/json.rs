//! Diagnostics as JSON for tools: one object per line.

use std::ops::Range;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Diagnostic, DiagnosticSubject, Diagnostics, OtherPlaces};

#[derive(Serialize)]
struct JsonDiagnostic<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    help: &'a str,
    #[serde(flatten)]
    about: &'a DiagnosticSubject,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<JsonSpan<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<JsonSpan<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<&'a OtherPlaces>,
}

/// A span of the manifest.
#[derive(Serialize)]
struct JsonSpan<'a> {
    file: &'a str,
    /// Counted from 1.
    line: usize,
    /// In characters, counted from 1.
    column: usize,
    /// In bytes from the start of the text, as is `end`.
    start: usize,
    end: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
}

impl Diagnostic {
    /// Returns a JSON object on one line.
    ///
    /// Always has `code`, `severity`, `message` and `help`. Where known, also has `file` (the glTF
    /// file), `model`, `clip`, `node`, `accessor`, `span` and `related` (spans of the
    /// manifest), and `others` (`count` and the first `places` of which the same holds).
    pub fn to_json(&self) -> String {
        let spans = self.spans.iter().map(|place| self.span(&place.span, place.label.as_deref()));
        let mut spans = spans.flatten();
        let object = JsonDiagnostic {
            code: self.code.name(),
            severity: if self.is_error() { "error" } else { "warning" },
            message: &self.message,
            help: self.help_text(),
            about: &self.about,
            span: spans.next(),
            related: spans.collect(),
            others: self.others(),
        };
        serde_json::to_string(&object).expect("plain data always serialises")
    }

    /// Returns the object of [`Self::to_json`] as part of a larger JSON value.
    pub(crate) fn to_raw_json(&self) -> Box<RawValue> {
        RawValue::from_string(self.to_json()).expect("to_json() returns JSON")
    }

    fn span<'a>(&'a self, span: &Range<usize>, label: Option<&'a str>) -> Option<JsonSpan<'a>> {
        let source = self.source.as_deref()?;
        let before = source.inner().get(..span.start).unwrap_or(source.inner());
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Some(JsonSpan { file: source.name(), line, column, start: span.start, end: span.end, label })
    }
}

impl Diagnostics {
    /// Returns all diagnostics, one JSON object per line.
    pub fn to_json_lines(&self) -> String {
        self.0.iter().flat_map(|diagnostic| [diagnostic.to_json(), "\n".to_owned()]).collect()
    }
}
