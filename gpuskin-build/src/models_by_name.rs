//! Models of a manifest that may have errors: their names and files, as far as it is TOML.

use std::path::Path;

use toml::Value;

/// Maximum size of a manifest in bytes.
const MAX_MANIFEST_BYTES: u64 = 16 << 20;

/// A model as the manifest names it.
#[derive(Debug, PartialEq)]
pub(crate) struct NamedModel {
    pub(crate) name: String,
    /// Paths relative to the folder of the manifest. The files may not exist.
    #[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "only `watch` reads it"))]
    pub(crate) files: Vec<String>,
}

/// Returns the models that a manifest names, without checking anything.
pub(crate) fn models_by_name(manifest: &Path) -> Vec<NamedModel> {
    let text = crate::fs::read(manifest, MAX_MANIFEST_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.map(|text| parse(&text)).unwrap_or_default()
}

fn parse(text: &str) -> Vec<NamedModel> {
    let table: toml::Table = text.parse().unwrap_or_default();
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let model = |model: &Value| {
        let name = model.get("name")?.as_str()?.to_owned();
        let animations = list(model.get("animations"));
        let animations = animations.iter().map(|file| file.get("path").unwrap_or(file));
        let files = model.get("path").into_iter().chain(animations).filter_map(Value::as_str);
        Some(NamedModel { name, files: files.map(str::to_owned).collect() })
    };
    list(table.get("model")).iter().filter_map(model).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_in_manifests_with_errors() {
        let text = "[[model]]\nname = \"a\"\npath = \"a.glb\"\nanimations = [\"b.glb\", 3, {path = \"e.glb\"}]\nfpps = 1\n[[model]]\npath = \"c\"\n\
                    [[model]]\nname = \"d\"\n";
        let named = |name: &str, files: &[&str]| NamedModel {
            name: name.to_owned(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
        };
        assert_eq!(parse(text), [named("a", &["a.glb", "b.glb", "e.glb"]), named("d", &[])]);
        assert_eq!(parse("[[model]"), []);
        assert_eq!(parse("model = 3"), []);
    }
}
