//! Rust identifiers from the names of models and clips, and a check that they stay distinct.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use miette::NamedSource;

use crate::finding::{Finding, Findings};

/// `HumanArmature|Run_swordRight` to `HUMAN_ARMATURE_RUN_SWORD_RIGHT`; `None` where nothing of the name can stand in
/// an identifier.
pub(crate) fn constant(name: &str) -> Option<String> {
    let words = words(name);
    let joined = words.join("_").to_uppercase();
    let led = if joined.starts_with(|c: char| c.is_numeric()) { format!("_{joined}") } else { joined };
    (!words.is_empty() && is_identifier(&led)).then_some(led)
}

/// Constant of a clip or bone: `soldier` and `1H_Chop` to `SOLDIER_1H_CHOP`; `None` where nothing of a name can stand in
/// an identifier.
pub(crate) fn member(model: &str, name: &str) -> Option<String> {
    Some(format!("{}_{}", constant(model)?, constant(name)?.trim_start_matches('_')))
}

/// `soldier_a` to `SoldierA`; `None` where nothing of the name can stand in an identifier.
pub(crate) fn type_name(name: &str) -> Option<String> {
    let mut joined = String::new();
    for word in words(name) {
        let mut letters = word.chars();
        joined.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        joined.extend(letters.flat_map(char::to_lowercase));
    }
    if joined.starts_with(|c: char| c.is_numeric()) {
        joined.insert(0, '_');
    }
    is_identifier(&joined).then_some(joined)
}

/// Splits at everything that is not a letter or digit, and where a word begins inside: `runFast`, `HTTPServer`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, &c) in letters.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| letters[i]);
        let after_is_lower = letters.get(i + 1).is_some_and(|c| c.is_lowercase());
        let starts = c.is_uppercase()
            && before.is_some_and(|b| b.is_lowercase() || b.is_numeric() || b.is_uppercase() && after_is_lower);
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("starts with one").push(c);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_identifier(text: &str) -> bool {
    syn::parse_str::<syn::Ident>(text).is_ok()
}

/// A model's name and those of its clips, and where they stand in the manifest.
#[derive(Clone, Debug)]
pub struct ModelNames<'a> {
    /// The model's name.
    pub name: &'a str,
    /// Where it stands.
    pub span: Range<usize>,
    /// Names of clips; those that come from a file under their own names stand nowhere.
    pub clips: Vec<(&'a str, Option<Range<usize>>)>,
}

/// Finds names that make no Rust identifier, and names that make the same one: over the whole manifest, because
/// `soldier` with `a_run` and `soldier_a` with `run` are both `clips::SOLDIER_A_RUN`.
pub fn check_identifiers(source: &Arc<NamedSource<String>>, models: &[ModelNames<'_>]) -> Findings {
    let mut findings = Findings::default();
    let mut model_names: BTreeMap<String, &ModelNames<'_>> = BTreeMap::new();
    let mut clip_names = BTreeMap::new();
    for model in models {
        let (Some(type_name), Some(prefix)) = (type_name(model.name), constant(model.name)) else {
            let message = format!("the name `{}` makes no Rust identifier", model.name);
            findings.push(Finding::error(message).help("use letters, digits and `_`").at(source, model.span.clone()));
            continue;
        };
        // The type and the constant of one model may be the same, `A`: they live in different namespaces.
        let taken = [&type_name, &prefix].into_iter().find_map(|i| Some((i.clone(), *model_names.get(i)?)));
        model_names.entry(type_name).or_insert(model);
        model_names.entry(prefix.clone()).or_insert(model);
        if let Some((identifier, first)) = taken {
            findings.push(if first.name == model.name {
                Finding::error(format!("two models have the name `{}`", model.name))
                    .help("give one of them another name")
                    .at(source, model.span.clone())
                    .label("again here")
                    .also(first.span.clone(), "first here")
            } else {
                let message =
                    format!("the models `{}` and `{}` would both be `models::{identifier}`", first.name, model.name);
                Finding::error(message)
                    .help("give one of them another name")
                    .at(source, model.span.clone())
                    .also(first.span.clone(), "the other one")
            });
            // Its clips would all be found double, too.
            continue;
        }
        for (clip, span) in &model.clips {
            let span = span.clone().unwrap_or(model.span.clone());
            let Some(identifier) = member(model.name, clip) else {
                let message = format!("model `{}`: the name of the clip `{clip}` makes no Rust identifier", model.name);
                let help = rename_help(clip);
                findings.push(Finding::error(message).help(help).at(source, span));
                continue;
            };
            let entry = (model.name, *clip, span.clone());
            if let Some((other_model, other_clip, other_span)) = clip_names.insert(identifier.clone(), entry) {
                let message = if other_model == model.name {
                    format!(
                        "model `{}`: the clips `{other_clip}` and `{clip}` would both be `clips::{identifier}`",
                        model.name
                    )
                } else {
                    format!(
                        "the clips `{other_clip}` of `{other_model}` and `{clip}` of `{}` would both be `clips::{identifier}`",
                        model.name
                    )
                };
                let finding = Finding::error(message).help(rename_help(clip)).at(source, span.clone());
                findings.push(if other_span == span { finding } else { finding.also(other_span, "the other one") });
            }
        }
    }
    findings
}

fn rename_help(clip: &str) -> String {
    format!("give it a name of its own:\n[model.clips.other_name]\nsource = {}", toml::Value::from(clip))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants() {
        for (name, expected) in [
            ("run", "RUN"),
            ("runFast", "RUN_FAST"),
            ("HumanArmature|Run_swordRight", "HUMAN_ARMATURE_RUN_SWORD_RIGHT"),
            ("HTTPServer", "HTTP_SERVER"),
            ("Spine1", "SPINE1"),
            ("2hand", "_2HAND"),
            ("  a--b  ", "A_B"),
            ("走る", "走る"),
            ("größe", "GRÖSSE"),
        ] {
            assert_eq!(constant(name).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(constant("|-|"), None);
        assert_eq!(constant(""), None);
        assert_eq!(constant("x²"), None);
    }

    #[test]
    fn types() {
        assert_eq!(type_name("soldier_a").as_deref(), Some("SoldierA"));
        assert_eq!(type_name("soldierA").as_deref(), Some("SoldierA"));
        assert_eq!(type_name("3d").as_deref(), Some("_3d"));
        assert_eq!(type_name("self"), None, "`Self` is a keyword");
    }
}
