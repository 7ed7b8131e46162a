//! Reader of one table of the manifest. Errors are recorded, and reading continues.

use std::ops::Range;
use std::sync::Arc;

use miette::NamedSource;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::At;
use super::keys::{DefaultValue, Key, Shape, TABLES, TableKeys};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
use crate::suggest::closest;

/// A value of the document with its location.
pub(super) type Value<'d> = &'d Spanned<DeValue<'d>>;

/// Collected diagnostics, and the source text that they refer to.
pub(super) struct Notes {
    pub(super) source: Arc<NamedSource<String>>,
    pub(super) diagnostics: Diagnostics,
}

impl Notes {
    pub(super) fn error(
        &mut self,
        code: DiagnosticCode,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let help = help.into();
        let diagnostic = Diagnostic::error(code, message);
        let diagnostic = if help.is_empty() { diagnostic } else { diagnostic.help(help) };
        self.diagnostics.push(diagnostic.at(&self.source, span));
    }

    /// Reports a value of the wrong type.
    pub(super) fn expected(&mut self, key: &str, expected: &str, value: Value<'_>) {
        let found = describe(value.get_ref());
        let help = match value.get_ref() {
            DeValue::String(text) if expected == "a number" && text.parse::<f64>().is_ok() => "remove the quotes",
            DeValue::Integer(_) | DeValue::Float(_) if key == "normal_tolerance" => "write it with its unit: \"1 deg\"",
            DeValue::Integer(_) | DeValue::Float(_) if key.ends_with("tolerance") => {
                "write it with its unit: \"0.1 mm\""
            }
            _ => "",
        };
        self.error(
            DiagnosticCode::ManifestType,
            value.span(),
            format!("`{key}` must be {expected}, not {found}"),
            help,
        );
    }
}

#[cfg(test)]
thread_local! {
    /// All keys that [`Section::get`] was called with, and their tables.
    pub(super) static READ_KEYS: std::cell::RefCell<std::collections::BTreeSet<(&'static str, String)>> =
        const { std::cell::RefCell::new(std::collections::BTreeSet::new()) };
}

/// A table of the manifest.
#[derive(Clone, Copy)]
pub(super) struct Section<'d> {
    table: &'d DeTable<'d>,
    keys: &'static TableKeys,
}

impl<'d> Section<'d> {
    /// Reports every key that the table does not support.
    pub(super) fn new(table: &'d DeTable<'d>, keys: &'static TableKeys, notes: &mut Notes) -> Self {
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if keys.key(name).is_some() {
                continue;
            }
            if let Some((_, instead)) = keys.later.iter().find(|(later, _)| *later == name) {
                notes.error(
                    DiagnosticCode::ManifestNotYetSupported,
                    key.span(),
                    format!("`{name}` is not supported yet"),
                    *instead,
                );
                continue;
            }
            let near = closest(name, keys.names());
            let home = TABLES.iter().find(|table| table.key(name).is_some());
            let help = match (near, home) {
                (_, Some(home)) => format!("`{name}` is a key of {}", home.table),
                (Some(near), None) => format!("did you mean `{near}`?"),
                (None, None) => format!("supported keys: {}", list(keys)),
            };
            notes.error(
                DiagnosticCode::ManifestKey,
                key.span(),
                format!("{} has no key `{}`", keys.table, shorten(name)),
                help,
            );
        }
        Self { table, keys }
    }

    pub(super) fn get(&self, key: &str) -> Option<Value<'d>> {
        debug_assert!(self.keys.key(key).is_some(), "{key} is read, but missing in the table of keys");
        #[cfg(test)]
        READ_KEYS.with_borrow_mut(|read| read.insert((self.keys.table, key.to_owned())));
        self.table.get(key)
    }

    /// Whether an unknown key of the table was probably meant to be this one.
    pub(super) fn is_misspelt(&self, key: &str) -> bool {
        let unknown =
            self.table.keys().map(|other| other.get_ref().as_ref()).filter(|name| self.keys.key(name).is_none());
        unknown.into_iter().any(|name| closest(name, self.keys.names()) == Some(key))
    }

    pub(super) fn string(&self, key: &str, notes: &mut Notes) -> Option<At<String>> {
        let text = text(self.get(key)?, key, "a string", notes)?;
        non_empty(text, key, || self.meaning(key), notes)
    }

    pub(super) fn strings(&self, key: &str, notes: &mut Notes) -> Vec<At<String>> {
        let Some(value) = self.get(key) else { return Vec::new() };
        strings(value, key, notes)
    }

    /// Returns the accepted values of a key.
    pub(super) fn shape(&self, key: &str) -> &'static Shape {
        &self.keys.key(key).expect("declared in the table of keys").value
    }

    /// Reads a string that stands for one of several values.
    pub(super) fn choice<T: Copy>(&self, key: &str, choices: &[(&'static str, T)], notes: &mut Notes) -> Option<At<T>> {
        let text = text(self.get(key)?, key, &one_of(words(choices)), notes)?;
        choice(&text, key, choices, "", notes).map(|value| At { value, span: text.span })
    }

    /// Reads a finite number greater than 0 and at most `most`.
    pub(super) fn positive(&self, key: &str, most: f64, notes: &mut Notes) -> Option<f64> {
        let value = self.get(key)?;
        let Some(number) = number(value.get_ref()) else {
            notes.expected(key, "a number", value);
            return None;
        };
        self.check_positive(number, value, key, most, notes)
    }

    /// Returns a number if it is finite, greater than 0 and at most `most`.
    pub(super) fn check_positive(
        &self,
        number: f64,
        value: Value<'_>,
        key: &str,
        most: f64,
        notes: &mut Notes,
    ) -> Option<f64> {
        let problem = if !number.is_finite() {
            "must be finite".to_owned()
        } else if number <= 0.0 {
            "must be greater than 0".to_owned()
        } else if number > most {
            format!("must be at most {most}")
        } else {
            return Some(number);
        };
        notes.error(DiagnosticCode::ManifestValue, value.span(), format!("`{key}` {problem}"), self.meaning(key));
        None
    }

    /// Returns advice for a key with a wrong value: what it means, and its default.
    pub(super) fn meaning(&self, key: &str) -> String {
        let Some(Key { doc, default, .. }) = self.keys.key(key) else { return String::new() };
        match default {
            DefaultValue::Required => format!("`{key}`: {doc}"),
            DefaultValue::Toml(value) => format!("`{key}`: {doc}; without the key, {value}"),
            DefaultValue::Described(value) => format!("`{key}`: {doc}; without the key, {value}"),
        }
    }
}

/// Reads an array of non-empty strings.
pub(super) fn strings(value: Value<'_>, key: &str, notes: &mut Notes) -> Vec<At<String>> {
    let expected = "an array of strings";
    match value.get_ref() {
        DeValue::Array(array) => {
            array.iter().filter_map(|value| string(value, key, "an array of non-empty strings", notes)).collect()
        }
        DeValue::String(text) => {
            let help = format!("write [{}]", toml::Value::from(shorten(text)));
            notes.error(
                DiagnosticCode::ManifestType,
                value.span(),
                format!("`{key}` must be {expected}, not a string"),
                help,
            );
            Vec::new()
        }
        _ => {
            notes.expected(key, expected, value);
            Vec::new()
        }
    }
}

/// Reads a non-empty string.
pub(super) fn string(value: Value<'_>, key: &str, expected: &str, notes: &mut Notes) -> Option<At<String>> {
    let text = text(value, key, expected, notes)?;
    non_empty(text, key, || format!("write {expected}"), notes)
}

/// Reads a string.
fn text(value: Value<'_>, key: &str, expected: &str, notes: &mut Notes) -> Option<At<String>> {
    match value.get_ref() {
        DeValue::String(text) => Some(At { value: text.to_string(), span: value.span() }),
        _ => {
            notes.expected(key, expected, value);
            None
        }
    }
}

/// Reports a string that is empty.
fn non_empty(text: At<String>, key: &str, help: impl FnOnce() -> String, notes: &mut Notes) -> Option<At<String>> {
    if text.value.is_empty() {
        notes.error(DiagnosticCode::ManifestValue, text.span, format!("`{key}` is empty"), help());
        return None;
    }
    Some(text)
}

/// Returns the value that `text` stands for, or reports an error if it is none of the choices. `or`
/// is added to the help text and names other allowed values.
pub(super) fn choice<T: Copy>(
    text: &At<String>,
    key: &str,
    choices: &[(&'static str, T)],
    or: &str,
    notes: &mut Notes,
) -> Option<T> {
    let given = text.value.as_str();
    if let Some((_, value)) = choices.iter().find(|(word, _)| *word == given) {
        return Some(*value);
    }
    let help = match closest(given, words(choices)) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("expected {}{or}", one_of(words(choices))),
    };
    notes.error(
        DiagnosticCode::ManifestValue,
        text.span.clone(),
        format!("`{key}` cannot be \"{}\"", shorten(given)),
        help,
    );
    None
}

fn words<T>(choices: &[(&'static str, T)]) -> impl Iterator<Item = &'static str> {
    choices.iter().map(|(word, _)| *word)
}

pub(super) fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(float) => float.as_str().parse().ok(),
        // An integer beyond 64 bits is still a number, and out of any range.
        DeValue::Integer(integer) => Some(match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(integer) => integer as f64,
            Err(_) if integer.as_str().starts_with('-') => f64::MIN,
            Err(_) => f64::MAX,
        }),
        _ => None,
    }
}

fn describe(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(true) => "`true`",
        DeValue::Boolean(false) => "`false`",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

fn one_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<_> = words.map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

fn list(keys: &TableKeys) -> String {
    keys.names().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Shortens a long name for messages.
pub(super) fn shorten(text: &str) -> String {
    const MAX_SHOWN: usize = 60;
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
