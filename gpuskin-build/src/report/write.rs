//! Report files: their kinds and how they are written.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::compare::Comparison;
use super::data::{FORMAT, Report, VERSION};
use super::drawn::DrawnModels;
use super::html::PageData;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::output::replace_file;

/// Maximum size in bytes of a report to compare with.
const MAX_REPORT_BYTES: u64 = 1 << 30;

/// Kind of a report file, by the ending of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportKind {
    Html,
    Json,
    Markdown,
}

/// File that a report is written to.
#[derive(Clone, Debug)]
pub(crate) struct ReportFile {
    path: PathBuf,
    kind: ReportKind,
}

impl ReportKind {
    /// Endings of file names, for messages.
    pub(crate) const ENDINGS: &str = ".html, .json or .md";

    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            ending if ending.eq_ignore_ascii_case("html") => Some(Self::Html),
            ending if ending.eq_ignore_ascii_case("json") => Some(Self::Json),
            ending if ending.eq_ignore_ascii_case("md") => Some(Self::Markdown),
            _ => None,
        }
    }
}

impl ReportFile {
    /// Returns `None` if the ending of the name is of no kind of report.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Option<Self> {
        let path = path.into();
        let kind = ReportKind::of(&path)?;
        Some(Self { path, kind })
    }

    /// Replaces the file by a report, with the changes since an earlier one. `drawn` returns the
    /// models that a page draws.
    pub(crate) fn write(
        &self,
        report: &Report,
        comparison: Option<&Comparison>,
        drawn: impl FnOnce() -> DrawnModels,
    ) -> Result<(), Diagnostic> {
        let text = match self.kind {
            ReportKind::Html => PageData { report, comparison, failure: None, drawn: &drawn() }.to_html(),
            ReportKind::Json => report.to_json_with(comparison),
            ReportKind::Markdown => comparison.map_or_else(|| report.to_markdown(), Comparison::to_markdown),
        };
        replace_file(&self.path, text.as_bytes()).map_err(|error| {
            let message = format!("cannot write the report {}: {error}", self.path.display());
            Diagnostic::error(DiagnosticCode::OutputFailed, message)
        })
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data always serialises")
}

impl Report {
    /// Reads a JSON report, to compare another one with it.
    pub(crate) fn read(path: &Path) -> Result<Self, Diagnostic> {
        let invalid = |problem: String| {
            Diagnostic::error(DiagnosticCode::ReportInvalid, format!("the report {} {problem}", path.display()))
        };
        let bytes = crate::fs::read(path, MAX_REPORT_BYTES).map_err(|e| invalid(format!("cannot be read: {e}")))?;
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        match serde_json::from_slice::<Head>(&bytes) {
            Ok(head) if head.format != FORMAT => return Err(invalid("is another kind of file".to_owned())),
            Ok(Head { version: VERSION, .. }) => {}
            Ok(head) => return Err(invalid(format!("has version {}, expected version {VERSION}", head.version))),
            Err(_) => return Err(invalid("is not a JSON report of gpuskin".to_owned())),
        }
        serde_json::from_slice(&bytes).map_err(|e| invalid(format!("is damaged: {e}")))
    }

    /// Returns the code of each diagnostic.
    pub(super) fn diagnostic_codes(&self) -> impl Iterator<Item = String> {
        #[derive(Deserialize)]
        struct Coded {
            code: String,
        }
        self.diagnostics.iter().filter_map(|json| Some(serde_json::from_str::<Coded>(json.get()).ok()?.code))
    }

    /// Returns severity and message of each diagnostic.
    pub(super) fn diagnostic_texts(&self) -> Vec<(String, String)> {
        #[derive(Deserialize)]
        struct Told {
            severity: String,
            message: String,
        }
        let told = self.diagnostics.iter().filter_map(|json| serde_json::from_str::<Told>(json.get()).ok());
        told.map(|told| (told.severity, told.message)).collect()
    }

    /// Returns the report as JSON, with one line per model and per diagnostic.
    pub(crate) fn to_json(&self) -> String {
        self.to_json_with(None)
    }

    fn to_json_with(&self, comparison: Option<&Comparison>) -> String {
        let list = |lines: Vec<String>| match lines.is_empty() {
            true => "[]".to_owned(),
            false => format!("[\n{}\n]", lines.join(",\n")),
        };
        let Self { format, version, baker, failed, not_baked, models, diagnostics } = self;
        let models = list(models.iter().map(json).collect());
        let diagnostics = list(diagnostics.iter().map(json).collect());
        let comparison = comparison.map_or_else(String::new, |changes| format!(",\n\"comparison\":{}", json(changes)));
        format!(
            "{{\"format\":{},\"version\":{version},\"baker\":{},\"failed\":{failed},\"not_baked\":{},\n\"models\":{models},\n\
             \"diagnostics\":{diagnostics}{comparison}}}\n",
            json(format),
            json(baker),
            json(not_baked),
        )
    }
}
