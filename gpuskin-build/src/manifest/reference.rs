//! Reference of the manifest, generated from the table of keys: a JSON schema for editors, and
//! Markdown tables for the guide.

use std::fmt::Write;

use serde_json::{Value, json};

use super::keys::{
    ANIMATION, BAKE, CLIP, DefaultValue, ENVIRONMENT, Key, LIMITS, MASK, MODEL, REST_FRAME, ROOT, Shape, TableKeys,
};

/// Returns the JSON schema of the manifest, draft 2020-12.
#[doc(hidden)]
pub fn json_schema() -> String {
    let mut schema = table_schema(&ROOT);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "gpuskin.toml".into();
    format!("{schema:#}\n")
}

fn table_schema(table: &TableKeys) -> Value {
    let required = table.keys.iter().filter(|key| matches!(key.default, DefaultValue::Required));
    json!({
        "type": "object",
        "properties": table.keys.iter().map(|key| (key.name.to_owned(), key_schema(key))).collect::<Value>(),
        "required": required.map(|key| key.name).collect::<Value>(),
        "additionalProperties": false,
    })
}

fn key_schema(key: &Key) -> Value {
    let mut schema = shape_schema(&key.value);
    schema["description"] = without_links(key.doc).into();
    if let Some(default) = default_value(key) {
        schema["default"] = default;
    }
    schema
}

/// Returns the default of a key, if it is a TOML value.
fn default_value(key: &Key) -> Option<Value> {
    let DefaultValue::Toml(value) = key.default else { return None };
    let table: Value = toml::from_str(&format!("value = {value}")).expect("defaults are TOML");
    Some(table["value"].clone())
}

fn shape_schema(shape: &Shape) -> Value {
    match shape {
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Text => json!({ "type": "string", "minLength": 1 }),
        Shape::Pattern(pattern, _) => json!({ "type": "string", "pattern": pattern }),
        Shape::Word(words) => json!({ "type": "string", "enum": words }),
        Shape::Positive { most: f64::MAX } => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Shape::Positive { most } => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": most }),
        Shape::Seconds => json!({ "type": "number", "minimum": 0 }),
        Shape::Whole { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Shape::Size { most } => json!({ "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": most },
            { "type": "string", "pattern": r"^\s*[0-9]+\s*(KiB|MiB|GiB)\s*$" },
        ] }),
        Shape::List(shape) => json!({ "type": "array", "items": shape_schema(shape) }),
        Shape::Named(shape) => json!({ "type": "object", "additionalProperties": shape_schema(shape) }),
        Shape::Table(table) => table_schema(table),
        Shape::AnyOf(shapes) => json!({ "anyOf": shapes.iter().map(shape_schema).collect::<Value>() }),
    }
}

/// Replaces Markdown links by their text.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, (label, (_, after)))) = rest.split_once('[').and_then(|(before, after)| {
        let (label, after) = after.split_once("](")?;
        Some((before, (label, after.split_once(')')?)))
    }) {
        plain.push_str(before);
        plain.push_str(label);
        rest = after;
    }
    plain + rest
}

/// Returns one Markdown table of keys per table of the manifest. Comments such as `ANCHOR: model`
/// mark each table, so that mdBook can include it alone.
#[doc(hidden)]
pub fn key_tables() -> String {
    let mut text = "<!-- Generated from gpuskin-build/src/manifest/keys.rs. Write it with: \
                    GPUSKIN_BLESS=1 cargo test -p gpuskin-build --test input reference -->\n"
        .to_owned();
    for (anchor, heading, table) in [
        ("model", "`[[model]]`", &MODEL),
        ("animations", "`animations`", &ANIMATION),
        ("rest_frame", "`rest_frame`", &REST_FRAME),
        ("masks", "`[model.masks]`", &MASK),
        ("clips", "`[model.clips.<name>]`", &CLIP),
        ("environment", "`[[environment]]`", &ENVIRONMENT),
        ("bake", "`[bake]`", &BAKE),
        ("limits", "`[limits]`", &LIMITS),
    ] {
        let _ =
            write!(text, "\n## {heading}\n\n<!-- ANCHOR: {anchor} -->\n{}<!-- ANCHOR_END: {anchor} -->\n", rows(table));
    }
    text
}

fn rows(table: &TableKeys) -> String {
    // Only the table of a model says which keys [bake] has, too, and the table of [bake] has the others.
    let (is_model, is_bake) = (table.table == MODEL.table, table.table == BAKE.table);
    let column = |shown: &str| if is_model { format!("{shown} | ") } else { String::new() };
    let mut text = format!(
        "| key | {}value | default | meaning |\n|---|{}---|---|---|\n",
        column("●"),
        column("---").replace(' ', "")
    );
    for key in table.keys.iter().filter(|key| !is_bake || MODEL.key(key.name).is_none()) {
        let default = match key.default {
            DefaultValue::Required => "required".to_owned(),
            DefaultValue::Toml(value) => format!("`{value}`"),
            DefaultValue::Described(text) => text.to_owned(),
        };
        let dot = column(if BAKE.key(key.name).is_some() { "●" } else { "" });
        let _ = writeln!(text, "| `{}` | {dot}{} | {default} | {} |", key.name, shape_text(&key.value), key.doc);
    }
    text
}

/// Describes the values of a shape in Markdown.
fn shape_text(shape: &Shape) -> String {
    /// Longer lists of words are shortened: they have a page of their own.
    const MAX_WORDS: usize = 5;
    match shape {
        Shape::Bool => "`true`, `false`".to_owned(),
        Shape::Text => "string".to_owned(),
        Shape::Pattern(_, example) => format!("string, such as `\"{example}\"`"),
        Shape::Word([first, second, rest @ ..]) if rest.len() > MAX_WORDS => {
            format!("`\"{first}\"`, `\"{second}\"`, ...")
        }
        Shape::Word(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", "),
        Shape::Positive { .. } => "number above 0".to_owned(),
        Shape::Seconds => "seconds".to_owned(),
        Shape::Whole { least, most } if *most <= 4096 => format!("{least} to {most}"),
        Shape::Whole { least, .. } => format!("whole number, at least {least}"),
        Shape::Size { .. } => "size, such as `\"512 MiB\"`, or bytes".to_owned(),
        Shape::List(Shape::Text) => "array of strings".to_owned(),
        Shape::List(shape) => format!("array of {}", shape_text(shape)),
        Shape::Named(shape) => format!("table; per name: {}", shape_text(shape)),
        Shape::Table(_) => "table".to_owned(),
        Shape::AnyOf(shapes) => shapes.iter().map(shape_text).collect::<Vec<_>>().join("; or "),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::manifest::section::READ_KEYS;
    use crate::manifest::{At, Manifest, ModelEntry, Tolerances};

    /// Returns a table and all tables that are values of its keys.
    fn with_nested(table: &'static TableKeys) -> Vec<&'static TableKeys> {
        fn nested(shape: &'static Shape) -> Vec<&'static TableKeys> {
            match shape {
                Shape::Table(table) => with_nested(table),
                Shape::List(shape) | Shape::Named(shape) => nested(shape),
                Shape::AnyOf(shapes) => shapes.iter().flat_map(nested).collect(),
                _ => Vec::new(),
            }
        }
        std::iter::once(table).chain(table.keys.iter().flat_map(|key| nested(&key.value))).collect()
    }

    fn parse(text: &str) -> Manifest {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("gpuskin.toml");
        Manifest::parse(&path, text).unwrap_or_else(|diagnostics| panic!("{text}\n{diagnostics}"))
    }

    #[test]
    fn every_declared_key_is_read() {
        parse(
            "[bake]\n[limits]\n[[model]]\nname = \"a\"\npath = \"Cargo.toml\"\nmode = \"auto\"\nrest_frame = { clip = \"b\" }\n\
             animations = [{ path = \"Cargo.toml\" }]\n\
             [model.masks]\nc = { root = \"d\" }\n[model.clips]\nb = {}\n\
             [[environment]]\nname = \"e\"\npath = \"Cargo.toml\"\n",
        );
        let read = READ_KEYS.take();
        let declared: BTreeSet<_> = with_nested(&ROOT)
            .iter()
            .flat_map(|table| table.names().map(|name| (table.table, name.to_owned())))
            .collect();
        let unread: Vec<_> = declared.difference(&read).collect();
        let undeclared: Vec<_> = read.difference(&declared).collect();
        assert!(unread.is_empty(), "keys.rs declares keys that the reader does not read: {unread:?}");
        assert!(undeclared.is_empty(), "the reader reads keys that keys.rs does not declare: {undeclared:?}");
    }

    #[test]
    fn keys_are_unique_and_documented() {
        for table in with_nested(&ROOT) {
            let names: BTreeSet<_> = table.names().collect();
            assert_eq!(names.len(), table.keys.len(), "{} declares a key twice", table.table);
            for key in table.keys {
                assert!(!key.doc.is_empty() && !key.doc.contains(['\n', '|']), "documentation of `{}`", key.name);
            }
        }
    }

    #[test]
    fn encodings_are_complete() {
        let named: BTreeSet<_> =
            crate::manifest::keys::ENCODINGS.iter().filter_map(|(_, encoding)| *encoding).collect();
        assert_eq!(named, gpuskin_rt::internals::Encoding::ALL.into_iter().collect());
    }

    /// Settings of a manifest as JSON, with missing tolerances replaced by their defaults.
    #[cfg(feature = "textures")]
    fn settings(manifest: &Manifest) -> Value {
        fn at<T>(value: T) -> Option<At<T>> {
            Some(At { value, span: 0..0 })
        }
        let mut model: ModelEntry = manifest.models[0].clone();
        model.tolerances = Tolerances {
            encoding: at(model.tolerances.encoding.map_or(Tolerances::ENCODING, |at| at.value)),
            motion: at(model.tolerances.motion.map_or(Tolerances::MOTION, |at| at.value)),
            normal: at(model.tolerances.normal.map_or(Tolerances::NORMAL, |at| at.value)),
        };
        json!([manifest, model])
    }

    #[test]
    #[cfg(feature = "textures")]
    fn declared_defaults_are_those_of_the_reader() {
        let model = "[[model]]\nname = \"a\"\npath = \"Cargo.toml\"\n";
        let plain = settings(&parse(model));
        for table in [&BAKE, &LIMITS, &MODEL] {
            for key in table.keys {
                let DefaultValue::Toml(value) = key.default else { continue };
                let line = format!("{} = {value}\n", key.name);
                let text = match table.table {
                    "[[model]]" => format!("{model}{line}"),
                    header => format!("{model}{header}\n{line}"),
                };
                assert_eq!(settings(&parse(&text)), plain, "default of `{}` in {}", key.name, table.table);
            }
        }
    }

    #[test]
    fn links_are_removed_from_descriptions() {
        assert_eq!(without_links("an [encoding](encodings.md) or [ b"), "an encoding or [ b");
        assert_eq!(without_links("`{ a = [1] }`"), "`{ a = [1] }`");
    }
}
