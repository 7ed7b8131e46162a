//! Files generated from the table of manifest keys: the JSON schema and the key tables of the guide.
//! `GPUSKIN_BLESS=1` rewrites them; look at the difference before committing it.

use std::path::PathBuf;

use gpuskin_build::internals::manifest::{json_schema, key_tables};
use serde_json::Value;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Compares a checked-in file with its generated text, or writes it with `GPUSKIN_BLESS=1`.
#[track_caller]
fn is_current(path: &str, text: &str) {
    let file = repository().join(path);
    if std::env::var_os("GPUSKIN_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&file, text).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default().replace('\r', "");
    for (number, (found, expected)) in found.lines().zip(text.lines()).enumerate() {
        assert_eq!(found, expected, "line {} of {path} is out of date: run with GPUSKIN_BLESS=1", number + 1);
    }
    assert_eq!(found.len(), text.len(), "{path} is out of date: run with GPUSKIN_BLESS=1");
}

#[test]
fn json_schema_is_current() {
    is_current("docs/gpuskin.schema.json", &json_schema());
}

#[test]
fn key_tables_are_current() {
    is_current("docs/guide/src/manifest-keys.md", &key_tables());
}

/// Returns the first place where a value does not match a schema. Supports the keywords that the
/// schema of the manifest uses, except `pattern`, and panics at others.
fn mismatch(schema: &Value, value: &Value, at: &str) -> Option<String> {
    schema.as_object().expect("a schema is an object").iter().find_map(|(keyword, rule)| {
        let wrong = |wrong: bool| wrong.then(|| format!("{at}: {keyword} {rule} does not allow {value}"));
        let object = value.as_object();
        let inside = |key: &str| format!("{at}.{key}");
        match keyword.as_str() {
            "$schema" | "title" | "description" | "default" | "pattern" => None,
            "type" => wrong(match rule.as_str().expect("one type") {
                "object" => !value.is_object(),
                "array" => !value.is_array(),
                "string" => !value.is_string(),
                "boolean" => !value.is_boolean(),
                "number" => !value.is_number(),
                "integer" => value.as_f64().is_none_or(|number| number.fract() != 0.0),
                other => panic!("unsupported type {other}"),
            }),
            "enum" => wrong(!rule.as_array().expect("words").contains(value)),
            "minLength" => wrong(value.as_str().is_some_and(str::is_empty)),
            "minimum" => wrong(value.as_f64() < rule.as_f64()),
            "maximum" => wrong(value.as_f64() > rule.as_f64()),
            "exclusiveMinimum" => wrong(value.as_f64() <= rule.as_f64()),
            "required" => {
                let missing = |key: &Value| object.is_some_and(|object| !object.contains_key(key.as_str().unwrap()));
                wrong(rule.as_array().expect("keys").iter().any(missing))
            }
            "properties" => object?.iter().find_map(|(key, value)| mismatch(rule.get(key)?, value, &inside(key))),
            "additionalProperties" => object?.iter().find_map(|(key, value)| match rule {
                _ if schema.get("properties").is_some_and(|properties| properties.get(key).is_some()) => None,
                Value::Bool(false) => Some(inside(key)),
                rule => mismatch(rule, value, &inside(key)),
            }),
            "items" => value.as_array()?.iter().find_map(|value| mismatch(rule, value, &format!("{at}[]"))),
            "anyOf" => wrong(rule.as_array().expect("schemas").iter().all(|rule| mismatch(rule, value, at).is_some())),
            other => panic!("unsupported keyword {other}"),
        }
    })
}

fn check(manifest: &str) -> Option<String> {
    let schema = serde_json::from_str(&json_schema()).unwrap();
    mismatch(&schema, &toml::from_str(manifest).unwrap(), "")
}

#[test]
fn json_schema_accepts_valid_manifests() {
    for path in ["assets/gpuskin.toml", "tests/golden/gpuskin.toml"] {
        assert_eq!(check(&std::fs::read_to_string(repository().join(path)).unwrap()), None, "{path}");
    }
    let model = "[[model]]\nname = \"a\"\npath = \"a.glb\"\n";
    for line in [
        "fps = 24",
        "fps = \"50 %\"",
        "lods = false",
        "lods = 7",
        "textures = [\"rgba8\", \"universal\"]",
        "rest_frame = { clip = \"idle\", time = 0.5 }",
        "masks.upper = { root = \"Spine\", exclude = [\"Head\"] }",
        "parts = { sword = [\"Sword\"] }",
        "clips.walk = { additive = true, events = { step = 0.5, hit = [0, 1.5] } }",
        "[limits]\nfile = \"1 GiB\"\nmemory = 1000\nbones = 64",
    ] {
        assert_eq!(check(&format!("{model}{line}\n")), None, "{line}");
    }
}

#[test]
fn json_schema_rejects_mistakes() {
    let assets = std::fs::read_to_string(repository().join("assets/gpuskin.toml")).unwrap();
    assert_eq!(check(&assets.replace("sockets", "socket")), Some(".model[].socket".into()));
    let model = "[[model]]\nname = \"a\"\npath = \"a.glb\"\n";
    for (line, place) in [
        ("encoding = \"matrix-16\"", ".model[].encoding: enum"),
        ("influences = 9", ".model[].influences: anyOf"),
        ("scale = 0", ".model[].scale: exclusiveMinimum"),
        ("devices = \"compute\"", ".model[].devices: type"),
        ("sockets = [\"\"]", ".model[].sockets[]: minLength"),
        ("lods = 8", ".model[].lods: anyOf"),
        ("masks.upper = { rot = \"Spine\" }", ".model[].masks.upper.rot"),
        ("clips.walk = { loop = 1 }", ".model[].clips.walk.loop: anyOf"),
        ("[bake]\nname = \"a\"", ".bake.name"),
        ("[[model]]\nname = \"b\"", ".model[]: required"),
    ] {
        let found = check(&format!("{model}{line}\n")).unwrap_or_default();
        assert!(found.starts_with(place), "{line}: {found}");
    }
}
