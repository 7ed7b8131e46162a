//! Rust and WGSL identifiers from the names of models and what they have, and a check that they stay distinct.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use miette::NamedSource;

use crate::diagnostic::{DiagnosticCode, Diagnostic, Diagnostics};
use crate::manifest::At;
use crate::identifier_case::{constant, has_words, member, type_name, wgsl_member};

/// A kind of things that models have, each with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameKind {
    /// The module of its constants.
    pub module: &'static str,
    /// What messages call one.
    pub noun: &'static str,
    /// What stands between the model's name and its own in WGSL; `None`: it has no constant there.
    pub wgsl: Option<&'static str>,
}

/// Clips.
pub const CLIPS: NameKind = NameKind { module: "clips", noun: "clip", wgsl: Some("") };
/// Bones: their constants are numbered where they would collide, and not checked.
pub const BONES: NameKind = NameKind { module: "bones", noun: "bone", wgsl: Some("bone") };
/// What happens in clips.
pub const EVENTS: NameKind = NameKind { module: "events", noun: "event", wgsl: None };
/// Masks.
pub const MASKS: NameKind = NameKind { module: "masks", noun: "mask", wgsl: Some("mask") };
/// Parts of the mesh.
pub const PARTS: NameKind = NameKind { module: "parts", noun: "part", wgsl: Some("part") };

/// A model's name and those of what it has, and where they stand in the manifest.
#[derive(Clone, Debug)]
pub struct ModelNames<'a> {
    /// The model's name.
    pub name: &'a str,
    /// Where it stands.
    pub span: Range<usize>,
    /// What it has; names that come from a file stand nowhere. Each kind and name once.
    pub members: Vec<(&'static NameKind, &'a str, Option<Range<usize>>)>,
}

impl<'a> ModelNames<'a> {
    /// Adds names of the manifest; of those that are there already, the first counts.
    pub fn add(&mut self, kind: &'static NameKind, names: impl Iterator<Item = &'a At<String>>) {
        for At { value, span } in names {
            if !self.members.iter().any(|(k, name, _)| *k == kind && name == value) {
                self.members.push((kind, value, Some(span.clone())));
            }
        }
    }
}

/// Finds names that make no identifier, and names that make the same one: over the whole manifest, because
/// `soldier` with `a_run` and `soldier_a` with `run` are both `clips::SOLDIER_A_RUN`.
pub fn check_identifiers(source: &Arc<NamedSource<String>>, models: &[ModelNames<'_>]) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let mut model_names: BTreeMap<String, &ModelNames<'_>> = BTreeMap::new();
    let mut members = Members { source, taken: BTreeMap::new() };
    for model in models {
        if !has_words(model.name) {
            let message = format!("the name `{}` makes no Rust identifier", model.name);
            diagnostics.push(
                Diagnostic::error(DiagnosticCode::NameInvalid, message)
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
            diagnostics.push(if first.name == model.name {
                Diagnostic::error(DiagnosticCode::NameCollision, format!("two models have the name `{}`", model.name))
                    .help("give one of them another name")
                    .at(source, model.span.clone())
                    .label("again here")
                    .also(first.span.clone(), "first here")
            } else {
                let message =
                    format!("the models `{}` and `{}` would both be `models::{identifier}`", first.name, model.name);
                Diagnostic::error(DiagnosticCode::NameCollision, message)
                    .help("give one of them another name")
                    .at(source, model.span.clone())
                    .also(first.span.clone(), "the other one")
            });
            // What it has would all be found double, too.
            continue;
        }
        for (kind, name, span) in &model.members {
            let member = Member { kind, model: model.name, name, span: span.clone().unwrap_or(model.span.clone()) };
            if let Some(diagnostic) = members.add(member) {
                diagnostics.push(diagnostic);
            }
        }
    }
    diagnostics
}

#[derive(Clone)]
struct Member<'a> {
    kind: &'static NameKind,
    model: &'a str,
    name: &'a str,
    span: Range<usize>,
}

/// What models have, by the paths of their constants.
struct Members<'a> {
    source: &'a Arc<NamedSource<String>>,
    taken: BTreeMap<String, Member<'a>>,
}

impl<'a> Members<'a> {
    fn add(&mut self, member: Member<'a>) -> Option<Diagnostic> {
        let Member { kind, model, name, span } = &member;
        let error = |code, message: String| {
            Diagnostic::error(code, message).help(rename_help(&member)).at(self.source, span.clone())
        };
        if !has_words(name) {
            let noun = kind.noun;
            return Some(error(
                DiagnosticCode::NameInvalid,
                format!("model `{model}`: the name of the {noun} `{name}` makes no Rust identifier"),
            ));
        }
        let rust = format!("{}::{}", kind.module, self::member(model, name));
        let wgsl = kind.wgsl.map(|between| format!("{} in WGSL", wgsl_member(model, between, name)));
        let mut found = None;
        for path in std::iter::once(rust).chain(wgsl) {
            let Some(other) = self.taken.insert(path.clone(), member.clone()) else { continue };
            let (path, place) =
                path.split_once(' ').map_or((&*path, String::new()), |(p, rest)| (p, format!(" {rest}")));
            let both = format!("would both be `{path}`{place}");
            let message = match (other.kind == *kind, other.model == *model) {
                (true, true) => format!("model `{model}`: the {}s `{}` and `{name}` {both}", kind.noun, other.name),
                (true, false) => {
                    format!("the {}s `{}` of `{}` and `{name}` of `{model}` {both}", kind.noun, other.name, other.model)
                }
                (false, _) => format!(
                    "the {} `{}` of `{}` and the {} `{name}` of `{model}` {both}",
                    other.kind.noun, other.name, other.model, kind.noun
                ),
            };
            let diagnostic = error(DiagnosticCode::NameCollision, message);
            let diagnostic = if other.span == *span { diagnostic } else { diagnostic.also(other.span, "the other one") };
            found.get_or_insert(diagnostic);
        }
        found
    }
}

fn rename_help(member: &Member<'_>) -> String {
    match *member.kind == CLIPS {
        true => {
            let source = toml::Value::from(member.name);
            format!("give it a name of its own:\n[model.clips.other_name]\nsource = {source}")
        }
        false => "give one of them another name".to_owned(),
    }
}
