//! Medians and lines of a table. Printed lines are kept for `--json` and `--svg`.

use std::fmt::Display;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};

/// Runs `work`. Returns its duration in seconds, and its result.
pub(crate) fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

/// Median of the values; NaN if there are none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Lines that were printed under a heading.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) lines: Vec<Line>,
}

/// Line of a table.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Time in milliseconds, if the line is a time.
    pub(crate) milliseconds: Option<f64>,
    /// Comparison with another line, if there is one: its name, the ratio to its value, and the
    /// target.
    pub(crate) over: Option<(String, f64, Option<Asked>)>,
}

/// Target of a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asked {
    AtMost(f64),
    AtLeast(f64),
}

static TABLES: Mutex<Vec<Table>> = Mutex::new(Vec::new());

/// All tables printed so far.
pub(crate) fn tables() -> Vec<Table> {
    TABLES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Prints a heading, which starts a table.
pub(crate) fn heading(title: &str) {
    println!("\n{title}");
    let table = Table { title: title.to_owned(), lines: Vec::new() };
    TABLES.lock().unwrap_or_else(PoisonError::into_inner).push(table);
}

/// Prints a name and a value.
pub(crate) fn line(name: &str, value: impl Display) {
    add(Line { name: name.to_owned(), text: value.to_string(), milliseconds: None, over: None });
}

/// Prints a name and a time.
pub(crate) fn time(name: &str, seconds: f64) {
    let text = format!("{:9.3} ms", seconds * 1e3);
    add(Line { name: name.to_owned(), text, milliseconds: Some(seconds * 1e3), over: None });
}

/// Prints a name and a time, with its ratio to another time: `1.02 x static`.
pub(crate) fn compared(name: &str, seconds: f64, (other, other_seconds): (&str, f64), asked: Option<Asked>) {
    let ratio = seconds / other_seconds;
    let asked_text = asked.map(|asked| format!(" (target on an NVIDIA H200: {asked})")).unwrap_or_default();
    let text = format!("{:9.3} ms: {ratio:.2} x {other}{asked_text}", seconds * 1e3);
    let over = Some((other.to_owned(), ratio, asked));
    add(Line { name: name.to_owned(), text, milliseconds: Some(seconds * 1e3), over });
}

fn add(line: Line) {
    println!("  {:<58} {}", line.name, line.text);
    if let Some(table) = TABLES.lock().unwrap_or_else(PoisonError::into_inner).last_mut() {
        table.lines.push(line);
    }
}

impl Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtMost(bound) => write!(f, "at most {bound}"),
            Self::AtLeast(bound) => write!(f, "at least {bound}"),
        }
    }
}

/// Writes all printed tables as JSON.
pub(crate) fn write_json(path: &Path) -> Result<(), String> {
    let line = |line: &Line| {
        let mut value = json!({ "name": line.name, "text": line.text.trim() });
        if let Some(milliseconds) = line.milliseconds {
            value["milliseconds"] = json!(milliseconds);
        }
        if let Some((other, ratio, asked)) = &line.over {
            value["over"] = json!({ "name": other, "ratio": ratio });
            match asked {
                Some(Asked::AtMost(bound)) => value["over"]["at_most"] = json!(bound),
                Some(Asked::AtLeast(bound)) => value["over"]["at_least"] = json!(bound),
                None => {}
            }
        }
        value
    };
    let table =
        |table: &Table| json!({ "title": table.title, "lines": table.lines.iter().map(line).collect::<Vec<_>>() });
    let all: Vec<Value> = tables().iter().map(table).collect();
    std::fs::write(path, format!("{:#}\n", json!({ "tables": all }))).map_err(|e| format!("{}: {e}", path.display()))
}
