//! Reports as Markdown, for pull requests.

use std::fmt::Write;

use super::compare::{Change, ChangeKind, Comparison};
use super::data::{ClipReport, ModelReport, Report};
use super::unseen::is_unseen;
use crate::units::{bytes, length};

/// Maximum number of rows per table: forges limit the length of a comment.
const MAX_ROWS: usize = 50;
/// Maximum number of characters per cell.
const MAX_CELL: usize = 120;

impl Comparison {
    /// Returns the comparison as Markdown: a table per kind of change.
    pub(crate) fn to_markdown(&self) -> String {
        let mut text = format!("### Bake: {}\n", self.summary);
        for kind in ChangeKind::ALL {
            let changes: Vec<&Change> = self.changes.iter().filter(|change| change.kind == kind).collect();
            if changes.is_empty() {
                continue;
            }
            let name = kind.name();
            let (first, rest) = name.split_at(1);
            let _ = write!(text, "\n**{}{rest}** ({})\n\n", first.to_uppercase(), changes.len());
            text.push_str("| model | what | before | after | change |\n|---|---|---:|---:|---:|\n");
            for change in changes.iter().take(MAX_ROWS) {
                let Change { model, what, before, after, change, .. } = change;
                let [model, what, before, after] = [model, what, before, after].map(|cell| code(cell));
                let _ = writeln!(text, "| {model} | {what} | {before} | {after} | {change} |");
            }
            more(&mut text, changes.len());
        }
        text
    }
}

impl Report {
    /// Returns the report as Markdown: a table of models, and the diagnostics.
    pub(crate) fn to_markdown(&self) -> String {
        let mut text = String::from(if self.failed { "### Bake: failed\n" } else { "### Bake\n" });
        if !self.models.is_empty() {
            text.push_str("\n| model | encoding | clips | animation | mesh | encoding error | motion error |\n");
            text.push_str("|---|---|---:|---:|---:|---:|---:|\n");
        }
        for model in self.models.iter().take(MAX_ROWS) {
            let size = |kind: &str| bytes(model.files.iter().filter(|f| f.kind == kind).map(|f| f.bytes).sum());
            let (name, encoding, clips) = (code(&model.name), &model.encoding, model.clips.len());
            let (encoding_error, motion_error) = (worst(model, |c| c.encoding.max.0), worst(model, |c| c.motion.max.0));
            let (animation, mesh) = (size("animation"), size("mesh"));
            let _ = writeln!(
                text,
                "| {name} | {encoding} | {clips} | {animation} | {mesh} | {encoding_error} | {motion_error} |"
            );
        }
        more(&mut text, self.models.len());
        let messages = self.diagnostic_texts();
        if !messages.is_empty() {
            let _ = write!(text, "\n**Diagnostics** ({})\n\n", messages.len());
        }
        for (severity, message) in messages.iter().take(MAX_ROWS) {
            let _ = writeln!(text, "- {severity}: {}", code(message));
        }
        more(&mut text, messages.len());
        text
    }
}

fn worst(model: &ModelReport, error: impl Fn(&ClipReport) -> f32) -> String {
    model.clips.iter().map(error).reduce(f32::max).map_or("-".to_owned(), length)
}

fn more(text: &mut String, count: usize) {
    if count > MAX_ROWS {
        let _ = writeln!(text, "\nand {} more", count - MAX_ROWS);
    }
}

/// Returns text from a file as a code span in a table, where nothing in it has a meaning in
/// Markdown. Characters that are not seen are replaced by their number.
fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut shown = String::new();
    for (index, c) in text.chars().enumerate() {
        match c {
            _ if index == MAX_CELL => {
                shown.push('\u{2026}');
                break;
            }
            '|' => shown.push_str("\\|"),
            '\n' => shown.push(' '),
            c if is_unseen(c) => {
                let _ = write!(shown, "U+{:04X}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // A space keeps a backtick at the edge apart from the fence; it is not shown.
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{shown}{gap}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_meaning_in_markdown() {
        assert_eq!(code("run"), "`run`");
        assert_eq!(code("a|b\n<script>@you"), "`a\\|b <script>@you`");
        assert_eq!(code("clip `run`"), "`` clip `run` ``");
        assert_eq!(code("```"), "```` ``` ````");
        assert_eq!(code("ab\u{202e}cd\u{7}"), "`abU+202EcdU+0007`");
        assert_eq!(code(&"x".repeat(10_000)).chars().count(), MAX_CELL + 3);
        assert_eq!(code(""), "");
    }
}
