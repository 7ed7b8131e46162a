//! Findings as text: for a terminal, a pipe, and through cargo.

use std::fmt;
use std::ops::Range;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, NamedSource,
    Severity, SourceCode, SourceSpan, SpanContents,
};

use super::{Finding, Findings};

/// How findings are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// In colour.
    Terminal,
    /// Without.
    Plain,
}

impl Style {
    /// What suits standard error: colour on a terminal, unless `NO_COLOR` is set or the terminal is a dumb one.
    pub fn for_stderr() -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
        if terminal && !dumb && !set("NO_COLOR") { Self::Terminal } else { Self::Plain }
    }
}

/// Columns that messages are wrapped to. Snippets of the manifest are not wrapped.
const WIDTH: usize = 100;
/// Findings drawn in full: more than anybody reads.
const MOST: usize = 50;
/// A line of the manifest longer than this is not drawn: it would fill the screen.
const LONGEST_LINE: usize = 400;

impl Finding {
    /// The finding with its place in the manifest, lines ending in `\n`.
    pub fn render(&self, style: Style) -> String {
        let theme = match style {
            Style::Terminal => GraphicalTheme::unicode(),
            Style::Plain => GraphicalTheme::unicode_nocolor(),
        };
        let handler =
            GraphicalReportHandler::new_themed(theme).with_links(false).with_width(WIDTH).without_syntax_highlighting();
        let mut text = String::new();
        let drawn = Drawn { finding: self, lines: self.source.as_deref().map(WholeLines) };
        let result = match self.undrawable_place() {
            Some(place) => {
                let message = format!("{place}: {}", self.message);
                let placeless = Self { source: None, places: Vec::new(), message, ..self.clone() };
                handler.render_report(&mut text, &placeless)
            }
            None => handler.render_report(&mut text, &drawn),
        };
        result.expect("writing to a string does not fail");
        // Padding at the ends of lines shows where a log is copied.
        text.lines().map(str::trim_end).filter(|line| !line.is_empty()).flat_map(|line| [line, "\n"]).collect()
    }

    /// Where it points, when that cannot be drawn: `gpuskin.toml:1:30000`.
    fn undrawable_place(&self) -> Option<String> {
        let source = self.source.as_deref()?;
        let text = source.inner().as_str();
        let drawable = !text.is_empty()
            && self.places.iter().all(|place| {
                text.get(place.span.clone()).is_some()
                    && text[lines_around(text, &place.span)].lines().all(|line| line.len() <= LONGEST_LINE)
            });
        if drawable {
            return None;
        }
        let before = text.get(..self.places.first()?.span.start).unwrap_or(text);
        let (line, column) = (before.matches('\n').count(), before.chars().rev().take_while(|&c| c != '\n').count());
        Some(format!("{}:{}:{}", source.name(), line + 1, column + 1))
    }
}

/// A finding whose snippets are the lines that it points into: their neighbours say nothing more, and through cargo
/// every line is long already.
#[derive(Debug)]
struct Drawn<'a> {
    finding: &'a Finding,
    lines: Option<WholeLines<'a>>,
}

impl std::error::Error for Drawn<'_> {}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.finding.fmt(f)
    }
}

impl Diagnostic for Drawn<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Diagnostic::code(self.finding)
    }
    fn severity(&self) -> Option<Severity> {
        self.finding.severity()
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Diagnostic::help(self.finding)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.finding.labels()
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.lines.as_ref().map(|lines| lines as _)
    }
}

#[derive(Debug)]
struct WholeLines<'a>(&'a NamedSource<String>);

impl SourceCode for WholeLines<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        // Without neighbours miette means the span alone, to learn its line and column.
        if (lines_before, lines_after) == (0, 0) {
            return self.0.read_span(span, 0, 0);
        }
        let text = self.0.inner().as_str();
        let lines = lines_around(text, &(span.offset()..span.offset() + span.len()));
        let line = text[..lines.start].matches('\n').count();
        let data = &text[lines.clone()];
        let span = SourceSpan::from((lines.start, lines.len()));
        let name = self.0.name().to_owned();
        let contents = MietteSpanContents::new_named(name, data.as_bytes(), span, line, 0, data.lines().count());
        Ok(Box::new(contents))
    }
}

/// The lines that a span touches, with their ends; the last line of the text for a span behind it.
fn lines_around(text: &str, span: &Range<usize>) -> Range<usize> {
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |at| at + 1);
    let start = line_start(span.start);
    let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
    if start == end && start > 0 { line_start(start - 1)..end } else { start..end }
}

impl Findings {
    /// All findings, one after the other; very many are cut short.
    pub fn render(&self, style: Style) -> String {
        let drawn: Vec<_> = self.0.iter().take(MOST).map(|finding| finding.render(style)).collect();
        let mut text = drawn.join("\n");
        if let Some(more @ 1..) = self.len().checked_sub(MOST) {
            text.push_str(&format!("\n  and {more} more\n"));
        }
        text
    }

    /// Lines that a build script prints to standard output for cargo to show: `cargo::error=` and `cargo::warning=`.
    ///
    /// A build script that prints an error and exits with 0 fails with nothing but these lines on the screen.
    pub fn cargo_directives(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for finding in self.0.iter().take(MOST) {
            let kind = if finding.is_error() { "error" } else { "warning" };
            // Cargo's own `error: name@version: ` goes before every line; only the cross tells where a finding begins.
            let text = finding.render(Style::Plain);
            lines.extend(text.trim_start().lines().map(|line| format!("cargo::{kind}={line}")));
        }
        if let Some(more @ 1..) = self.len().checked_sub(MOST) {
            let kind = if self.has_errors() { "error" } else { "warning" };
            lines.push(format!("cargo::{kind}=  and {more} more"));
        }
        lines
    }
}
