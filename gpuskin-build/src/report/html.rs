//! Report as one HTML file, which opens without a server and without a network.
//!
//! Names from files are untrusted. They reach the page as compressed JSON and become text nodes, never HTML;
//! the Content Security Policy allows the page's own scripts only, by their nonce, and WebAssembly,
//! which has no access but through them. The nonce is a hash of scripts and data, so that a report is
//! the same byte for byte, and no data can contain it.

use std::collections::BTreeMap;

use flate2::Compression;
use serde::Serialize;
use serde_json::value::RawValue;

use super::compare::Comparison;
use super::data::Report;
use super::drawn::{self, DrawnModels};
use super::packed::{base64, gzip};
use crate::diagnostic::DiagnosticCode;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPTS: [&str; 7] = [
    include_str!("page/packed.js"),
    include_str!("page/format.js"),
    include_str!("page/tables.js"),
    include_str!("page/treemap.js"),
    include_str!("page/plots.js"),
    include_str!("page/viewer.js"),
    include_str!("page/page.js"),
];

/// Data of the page.
pub(crate) struct PageData<'a> {
    /// Report that is shown.
    pub(crate) report: &'a Report,
    /// Changes since an earlier report.
    pub(crate) comparison: Option<&'a Comparison>,
    /// Report of a later bake that failed.
    pub(crate) failure: Option<&'a Report>,
    /// Models that the page draws.
    pub(crate) drawn: &'a DrawnModels,
}

#[derive(Serialize)]
struct CodeText {
    meaning: &'static str,
    remedy: &'static str,
}

#[derive(Serialize)]
struct JsonData<'a> {
    live: bool,
    codes: BTreeMap<&'static str, CodeText>,
    failure: Option<Box<RawValue>>,
    report: Box<RawValue>,
    /// A hash for each model of the report that is drawn.
    drawn: Vec<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
}

impl PageData<'_> {
    /// Returns the data as JSON on one line. `live`: whether a server sends the data of further bakes, and the models.
    pub(crate) fn to_json(&self, live: bool) -> String {
        let raw = |report: &Report| {
            RawValue::from_string(report.to_json().replace('\n', "")).expect("to_json() returns JSON")
        };
        let reports = [Some(self.report), self.failure];
        let all = || reports.iter().flatten().flat_map(|report| report.diagnostic_codes());
        let used: Vec<String> = all().collect();
        let codes = DiagnosticCode::ALL.iter().filter(|code| used.iter().any(|used| used == code.name()));
        let text = |code: &DiagnosticCode| CodeText { meaning: code.meaning(), remedy: code.remedy() };
        let data = JsonData {
            live,
            codes: codes.map(|code| (code.name(), text(code))).collect(),
            failure: self.failure.map(raw),
            report: raw(self.report),
            drawn: self.drawn.hashes(),
            comparison: self.comparison,
        };
        serde_json::to_string(&data).expect("plain data always serialises")
    }

    /// Returns the page with all models.
    pub(crate) fn to_html(&self) -> String {
        let models = self
            .drawn
            .texts()
            .map(|(index, text)| format!("<script type=\"text/plain\" id=\"model-data-{index}\">{text}</script>\n"));
        page(&self.to_json(false), &models.collect::<String>(), !self.drawn.is_empty(), false)
    }
}

/// Returns the page of a server, which sends the data of further bakes, and the models. `json`: [`PageData::to_json`].
#[cfg(feature = "cli")]
pub(crate) fn live_page(json: &str) -> String {
    page(json, "", true, true)
}

/// Returns a page with models, and with the program that draws them.
fn page(json: &str, models: &str, drawn: bool, live: bool) -> String {
    let (data, script) = (base64(&gzip(json.as_bytes(), Compression::default())), SCRIPTS.concat());
    let (viewer, program) = if drawn { (drawn::SCRIPT, drawn::program()) } else { ("", String::new()) };
    let mut hasher = blake3::Hasher::new();
    for part in [viewer, &program, models, &script, &data] {
        hasher.update(part.as_bytes());
    }
    let nonce = hasher.finalize().to_hex()[..32].to_owned();
    let policy = policy(&nonce, live);
    let parts = [("policy", policy.as_str()), ("nonce", &nonce), ("style", STYLE), ("data", &data)];
    let parts =
        parts.into_iter().chain([("viewer", viewer), ("program", &program), ("models", models), ("script", &script)]);
    let parts: BTreeMap<&str, &str> = parts.collect();
    let mut page = String::with_capacity(PAGE.len() + parts.values().map(|part| part.len()).sum::<usize>() + 1024);
    // One pass, so that no value can contain a placeholder.
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (key, after) = after.split_once("}}").expect("placeholders are closed");
        page.push_str(before);
        page.push_str(parts.get(key).expect("a part for each placeholder"));
        rest = after;
    }
    page + rest
}

/// Content Security Policy of the page.
fn policy(nonce: &str, live: bool) -> String {
    let connect = if live { "'self'" } else { "'none'" };
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'nonce-{nonce}'; connect-src {connect}; \
         base-uri 'none'; form-action 'none'"
    )
}
