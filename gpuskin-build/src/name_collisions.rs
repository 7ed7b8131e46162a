//! Rust and WGSL identifiers for the names of models and their members, and a check for collisions.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use miette::NamedSource;

use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
use crate::identifier_case::{constant, has_words, member, type_name, wgsl_member};
use crate::manifest::entry::{At, BASE};

/// A kind of model members that have constants in generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameKind {
    /// Module of the constants.
    pub module: &'static str,
    /// Noun for one member in messages.
    pub noun: &'static str,
    /// Infix between model name and member name in WGSL; `None` if the kind has no WGSL constants.
    pub wgsl: Option<&'static str>,
}

/// Clips.
pub const CLIPS: NameKind = NameKind { module: "clips", noun: "clip", wgsl: Some("") };
/// Bones. Their constants get a number if they collide, and are not checked.
pub const BONES: NameKind = NameKind { module: "bones", noun: "bone", wgsl: Some("bone") };
/// Events of clips.
pub const EVENTS: NameKind = NameKind { module: "events", noun: "event", wgsl: None };
/// Masks.
pub const MASKS: NameKind = NameKind { module: "masks", noun: "mask", wgsl: Some("mask") };
/// Morph targets. Their names come from the file; constants get a number if they collide, and are not checked.
pub const MORPHS: NameKind = NameKind { module: "morphs", noun: "morph target", wgsl: None };
/// Parts of the mesh.
pub const PARTS: NameKind = NameKind { module: "parts", noun: "part", wgsl: Some("part") };

/// Variants of the textures.
pub const VARIANTS: NameKind = NameKind { module: "variants", noun: "variant", wgsl: Some("variant") };

/// Names of a model and its members, with their locations in the manifest.
#[derive(Clone, Debug)]
pub struct ModelNames<'a> {
    /// Name of the model.
    pub name: &'a str,
    /// Location of the name.
    pub span: Range<usize>,
    /// Members, without repetition; names that come from a glTF file have no location.
    pub members: Vec<(&'static NameKind, &'a str, Option<Range<usize>>)>,
}

impl<'a> ModelNames<'a> {
    /// Adds names of the manifest; repeated names are added once.
    pub fn add(&mut self, kind: &'static NameKind, names: impl Iterator<Item = &'a At<String>>) {
        for At { value, span } in names {
            if !self.members.iter().any(|(k, name, _)| *k == kind && name == value) {
                self.members.push((kind, value, Some(span.clone())));
            }
        }
    }
}

impl<'a> ModelNames<'a> {
    /// Adds the variants of the manifest and, if there are any, the look of the model itself.
    pub fn add_variants(&mut self, mut names: impl Iterator<Item = &'a At<String>>) {
        if let Some(first) = names.next() {
            self.members.push((&VARIANTS, BASE, None));
            self.add(&VARIANTS, std::iter::once(first).chain(names));
        }
    }
}

/// Reports names that cannot become an identifier, and names that would become the same identifier.
/// All models are checked together, because `soldier` with `a_run` and `soldier_a` with `run` both
/// become `clips::SOLDIER_A_RUN`.
pub fn check_identifiers(source: &Arc<NamedSource<String>>, models: &[ModelNames<'_>]) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let mut model_names: BTreeMap<String, &ModelNames<'_>> = BTreeMap::new();
    let mut members = Members { source, taken: BTreeMap::new() };
    for model in models {
        if !has_words(model.name) {
            let message = format!("name `{}` cannot become a Rust identifier", model.name);
            diagnostics.push(
                Diagnostic::error(DiagnosticCode::NameInvalid, message)
                    .help("use letters, digits and `_`")
                    .at(source, model.span.clone()),
            );
            continue;
        }
        let (type_name, prefix) = (type_name(model.name), constant(model.name));
        // The type and the constant of one model may be equal, such as `A`: types and constants
        // have separate namespaces.
        let taken = [&type_name, &prefix].into_iter().find_map(|i| Some((i.clone(), *model_names.get(i)?)));
        model_names.entry(type_name).or_insert(model);
        model_names.entry(prefix).or_insert(model);
        if let Some((identifier, first)) = taken {
            diagnostics.push(if first.name == model.name {
                Diagnostic::error(DiagnosticCode::NameCollision, format!("two models are named `{}`", model.name))
                    .help("rename one of them")
                    .at(source, model.span.clone())
                    .label("again here")
                    .also(first.span.clone(), "first here")
            } else {
                let message =
                    format!("models `{}` and `{}` would both become `models::{identifier}`", first.name, model.name);
                Diagnostic::error(DiagnosticCode::NameCollision, message)
                    .help("rename one of them")
                    .at(source, model.span.clone())
                    .also(first.span.clone(), "the other one")
            });
            // All members of the model would collide, too.
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

/// Members of all models, by the paths of their constants.
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
                format!("model `{model}`: the name of {noun} `{name}` cannot become a Rust identifier"),
            ));
        }
        let rust = format!("{}::{}", kind.module, self::member(model, name));
        let wgsl = kind.wgsl.map(|between| format!("{} in WGSL", wgsl_member(model, between, name)));
        let mut found = None;
        for path in std::iter::once(rust).chain(wgsl) {
            let Some(other) = self.taken.insert(path.clone(), member.clone()) else { continue };
            let (path, place) =
                path.split_once(' ').map_or((&*path, String::new()), |(p, rest)| (p, format!(" {rest}")));
            let both = format!("would both become `{path}`{place}");
            let message = match (other.kind == *kind, other.model == *model) {
                (true, true) => format!("model `{model}`: {}s `{}` and `{name}` {both}", kind.noun, other.name),
                (true, false) => {
                    format!("{}s `{}` of `{}` and `{name}` of `{model}` {both}", kind.noun, other.name, other.model)
                }
                (false, _) => format!(
                    "{} `{}` of `{}` and {} `{name}` of `{model}` {both}",
                    other.kind.noun, other.name, other.model, kind.noun
                ),
            };
            let diagnostic = error(DiagnosticCode::NameCollision, message);
            let diagnostic =
                if other.span == *span { diagnostic } else { diagnostic.also(other.span, "the other one") };
            found.get_or_insert(diagnostic);
        }
        found
    }
}

fn rename_help(member: &Member<'_>) -> String {
    match *member.kind {
        CLIPS => {
            let source = toml::Value::from(member.name);
            format!("give the clip another name:\n[model.clips.other_name]\nsource = {source}")
        }
        VARIANTS => "choose another name; for variants of the file, rename them there, or leave them out with \
                     `file_variants = false`"
            .to_owned(),
        _ => "choose another name".to_owned(),
    }
}
