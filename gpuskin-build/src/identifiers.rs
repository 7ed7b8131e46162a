//! Rust identifiers from the names of models and clips, and a check that they stay distinct.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use miette::NamedSource;

use crate::finding::{Code, Finding, Findings};
use crate::names::{constant, has_words, member, type_name};

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
        if !has_words(model.name) {
            let message = format!("the name `{}` makes no Rust identifier", model.name);
            findings.push(
                Finding::error(Code::NameInvalid, message)
                    .help("use letters, digits and `_`")
                    .at(source, model.span.clone()),
            );
            continue;
        }
        let (type_name, prefix) = (type_name(model.name), constant(model.name));
        // The type and the constant of one model may be the same, `A`: they live in different namespaces.
        let taken = [&type_name, &prefix].into_iter().find_map(|i| Some((i.clone(), *model_names.get(i)?)));
        model_names.entry(type_name).or_insert(model);
        model_names.entry(prefix).or_insert(model);
        if let Some((identifier, first)) = taken {
            findings.push(if first.name == model.name {
                Finding::error(Code::NameCollision, format!("two models have the name `{}`", model.name))
                    .help("give one of them another name")
                    .at(source, model.span.clone())
                    .label("again here")
                    .also(first.span.clone(), "first here")
            } else {
                let message =
                    format!("the models `{}` and `{}` would both be `models::{identifier}`", first.name, model.name);
                Finding::error(Code::NameCollision, message)
                    .help("give one of them another name")
                    .at(source, model.span.clone())
                    .also(first.span.clone(), "the other one")
            });
            // Its clips would all be found double, too.
            continue;
        }
        for (clip, span) in &model.clips {
            let span = span.clone().unwrap_or(model.span.clone());
            if !has_words(clip) {
                let message = format!("model `{}`: the name of the clip `{clip}` makes no Rust identifier", model.name);
                let help = rename_help(clip);
                findings.push(Finding::error(Code::NameInvalid, message).help(help).at(source, span));
                continue;
            }
            let identifier = member(model.name, clip);
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
                let finding =
                    Finding::error(Code::NameCollision, message).help(rename_help(clip)).at(source, span.clone());
                findings.push(if other_span == span { finding } else { finding.also(other_span, "the other one") });
            }
        }
    }
    findings
}

fn rename_help(clip: &str) -> String {
    format!("give it a name of its own:\n[model.clips.other_name]\nsource = {}", toml::Value::from(clip))
}
