//! Diagnostics as text: for a terminal, for a pipe, and for Cargo.

use std::fmt;
use std::ops::Range;

use miette::{
    Diagnostic as MietteDiagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, NamedSource, Severity, SourceCode, SourceSpan, SpanContents,
};

use super::{Diagnostic, Diagnostics};

/// Style of rendered diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// With colours.
    Terminal,
    /// Without colours.
    Plain,
}

impl Style {
    /// Returns the style for standard error: colours on a terminal, unless `NO_COLOR` is set or
    /// `TERM` is `dumb`.
    pub fn for_stderr() -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
        if terminal && !dumb && !set("NO_COLOR") { Self::Terminal } else { Self::Plain }
    }
}

/// Column at which messages are wrapped. Snippets of the manifest are not wrapped.
const WIDTH: usize = 100;
/// Maximum number of diagnostics rendered in full. The rest is only counted.
const MAX_RENDERED: usize = 50;
/// Maximum length of a manifest line in a snippet, in bytes. A longer line would fill the screen.
const MAX_LINE: usize = 400;

impl Diagnostic {
    /// Renders the diagnostic with a snippet of the manifest. Lines end in `\n`.
    pub fn render(&self, style: Style) -> String {
        let theme = match style {
            Style::Terminal => GraphicalTheme::unicode(),
            Style::Plain => GraphicalTheme::unicode_nocolor(),
        };
        let handler =
            GraphicalReportHandler::new_themed(theme).with_links(false).with_width(WIDTH).without_syntax_highlighting();
        let mut text = String::new();
        let drawn = RenderedDiagnostic { diagnostic: self, lines: self.source.as_deref().map(WholeLines) };
        let result = match self.location_without_snippet() {
            Some(place) => {
                let message = format!("{place}: {}", self.message);
                let placeless = Self { source: None, spans: Vec::new(), message, ..self.clone() };
                handler.render_report(&mut text, &placeless)
            }
            None => handler.render_report(&mut text, &drawn),
        };
        result.expect("writing to a string does not fail");
        // Trailing spaces would show when a log is copied.
        text.lines().map(str::trim_end).filter(|line| !line.is_empty()).flat_map(|line| [line, "\n"]).collect()
    }

    /// Returns the location as text (`gpuskin.toml:1:30000`) if its snippet cannot be rendered.
    fn location_without_snippet(&self) -> Option<String> {
        let source = self.source.as_deref()?;
        let text = source.inner().as_str();
        let drawable = !text.is_empty()
            && self.spans.iter().all(|place| {
                text.get(place.span.clone()).is_some()
                    && text[lines_around(text, &place.span)].lines().all(|line| line.len() <= MAX_LINE)
            });
        if drawable {
            return None;
        }
        let before = text.get(..self.spans.first()?.span.start).unwrap_or(text);
        let (line, column) = (before.matches('\n').count(), before.chars().rev().take_while(|&c| c != '\n').count());
        Some(format!("{}:{}:{}", source.name(), line + 1, column + 1))
    }
}

/// A diagnostic whose snippet shows only the lines that its spans touch. Neighbouring lines add no
/// information, and Cargo already prefixes each line with a long text.
#[derive(Debug)]
struct RenderedDiagnostic<'a> {
    diagnostic: &'a Diagnostic,
    lines: Option<WholeLines<'a>>,
}

impl std::error::Error for RenderedDiagnostic<'_> {}

impl fmt::Display for RenderedDiagnostic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostic.fmt(f)
    }
}

impl MietteDiagnostic for RenderedDiagnostic<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        MietteDiagnostic::code(self.diagnostic)
    }
    fn severity(&self) -> Option<Severity> {
        self.diagnostic.severity()
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        MietteDiagnostic::help(self.diagnostic)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.diagnostic.labels()
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
        // With no context lines, miette asks for the span alone, to compute its line and column.
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

/// Returns the byte range of the lines that a span touches, with their line ends. For a span behind
/// the last line, returns the last line.
fn lines_around(text: &str, span: &Range<usize>) -> Range<usize> {
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |at| at + 1);
    let start = line_start(span.start);
    let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
    if start == end && start > 0 { line_start(start - 1)..end } else { start..end }
}

impl Diagnostics {
    /// Renders the diagnostics one after the other, up to a maximum number, and then says how many
    /// more there are.
    pub fn render(&self, style: Style) -> String {
        let drawn: Vec<_> = self.0.iter().take(MAX_RENDERED).map(|diagnostic| diagnostic.render(style)).collect();
        let mut text = drawn.join("\n");
        if let Some(more @ 1..) = self.len().checked_sub(MAX_RENDERED) {
            text.push_str(&format!("\n  and {more} more\n"));
        }
        text
    }

    /// Returns the lines that a build script prints to standard output for Cargo: `cargo::error=`
    /// and `cargo::warning=`.
    ///
    /// A build script that prints an error and exits with status 0 fails, and Cargo shows only
    /// these lines.
    pub fn cargo_directives(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for diagnostic in self.0.iter().take(MAX_RENDERED) {
            let kind = if diagnostic.is_error() { "error" } else { "warning" };
            // Cargo prefixes every line with `error: name@version: `, so only the cross shows where
            // a diagnostic begins.
            let text = diagnostic.render(Style::Plain);
            lines.extend(text.trim_start().lines().map(|line| format!("cargo::{kind}={line}")));
        }
        if let Some(more @ 1..) = self.len().checked_sub(MAX_RENDERED) {
            let kind = if self.has_errors() { "error" } else { "warning" };
            lines.push(format!("cargo::{kind}=  and {more} more"));
        }
        lines
    }
}

impl fmt::Display for Diagnostics {
    /// Renders in [`Style::Plain`], for a file or a pipe.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Plain))
    }
}
