//! What models have, as typed numbers for Rust and as plain ones for WGSL.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;

use gpuskin_rt::{ClipInfo, MaskInfo, Metadata};
use proc_macro2::Literal;
use quote::{format_ident, quote};
use serde::{Deserialize, Serialize};

use super::{filled, items, type_ident, value_ident};
use crate::bake::BakedModel;
use crate::name_collisions::{BONES, CLIPS, EVENTS, NameKind, MASKS, PARTS};
use crate::identifier_case::{constant, member, wgsl_member};
use crate::units::length;

/// A kind, and how it is written.
struct Module {
    kind: &'static NameKind,
    /// Of the handle.
    ty: &'static str,
    /// Documentation of the module.
    doc: &'static str,
    /// Whether the module stands there without anything in it.
    always: bool,
    /// Names and documentation, by index.
    of: fn(&Metadata) -> Vec<(&str, String)>,
}

const MODULES: [Module; 5] = [
    Module { kind: &CLIPS, ty: "Clip", doc: " Clips of the models.", always: true, of: clips },
    Module { kind: &BONES, ty: "Bone", doc: " Bones of the models.", always: true, of: bones },
    Module { kind: &EVENTS, ty: "Event", doc: " What happens in clips.", always: false, of: events },
    Module { kind: &MASKS, ty: "Mask", doc: " Bones that layers act on.", always: false, of: masks },
    Module { kind: &PARTS, ty: "Part", doc: " Meshes that an instance may leave off.", always: false, of: parts },
];

/// What one model adds to each of these modules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ModelConstants {
    modules: [String; MODULES.len()],
    wgsl: String,
}

/// Names that cannot be given again.
#[derive(Default)]
pub(super) struct UsedNames {
    modules: [BTreeSet<String>; MODULES.len()],
    wgsl: BTreeSet<String>,
}

impl UsedNames {
    /// Those in WGSL that the manifest names are checked, and bones are numbered around them.
    pub(super) fn of<'a>(models: impl IntoIterator<Item = &'a BakedModel>) -> Self {
        let mut taken = Self::default();
        for model in models {
            for (of, between) in in_wgsl().filter(|(of, _)| *of.kind != BONES) {
                let names = (of.of)(&model.meta);
                taken.wgsl.extend(names.iter().map(|(name, _)| wgsl_member(&model.meta.name, between, name)));
            }
        }
        taken
    }
}

/// Kinds that WGSL has, and the word between a model and what it has.
fn in_wgsl() -> impl Iterator<Item = (&'static Module, &'static str)> {
    MODULES.iter().filter_map(|of| Some((of, of.kind.wgsl?)))
}

/// What a model adds, with names that are not taken.
pub(super) fn part(model: &BakedModel, taken: &mut UsedNames) -> ModelConstants {
    let marker = type_ident(model);
    let mut part = ModelConstants::default();
    for ((of, text), taken) in MODULES.iter().zip(&mut part.modules).zip(&mut taken.modules) {
        let ty = format_ident!("{}", of.ty);
        let consts = (of.of)(&model.meta).into_iter().enumerate().map(|(index, (name, doc))| {
            let name = format_ident!("{}", numbered(member(&model.meta.name, name), taken));
            let index = Literal::usize_unsuffixed(index);
            quote!(#[doc = #doc] pub const #name: #ty<models::#marker> = #ty::new(#index);)
        });
        *text = items(consts.collect());
    }
    part.wgsl = wgsl(model, &mut taken.wgsl);
    part
}

fn wgsl(model: &BakedModel, taken: &mut BTreeSet<String>) -> String {
    let mut text = String::new();
    for (of, between) in in_wgsl() {
        for (index, (name, _)) in (of.of)(&model.meta).into_iter().enumerate() {
            let mut name = wgsl_member(&model.meta.name, between, name);
            if *of.kind == BONES {
                name = numbered(name, taken);
            }
            let _ = writeln!(text, "const {name}: u32 = {index}u;");
        }
    }
    let name = value_ident(model);
    let doc = format!(" Clips, bones, masks and parts of [`{}`](super::models::{0}).", type_ident(model));
    // A raw string keeps its lines; identifiers have no quotes.
    let text: Literal = format!("r\"{text}\"").parse().expect("a raw string is a literal");
    items(quote!(#[doc = #doc] pub const #name: &str = #text;))
}

/// A module a kind, and `wgsl`.
pub(super) fn modules(models: &[&BakedModel], parts: &[&super::ModelCode]) -> String {
    // `red` and its `coat_l` could be `red_coat` and its `l`: these find their names together.
    let starts: Vec<String> = models.iter().map(|model| constant(&model.meta.name) + "_").collect();
    let meets = meets(&starts);
    let mut taken = UsedNames::of(models.iter().zip(&meets).filter(|(_, meets)| **meets).map(|(model, _)| *model));
    let ids = models.iter().zip(parts).zip(meets);
    let ids = ids.map(|((model, kept), meets)| match meets {
        true => Cow::Owned(part(model, &mut taken)),
        false => Cow::Borrowed(&kept.ids),
    });
    let ids: Vec<Cow<'_, ModelConstants>> = ids.collect();
    let mut text = String::new();
    for (at, of) in MODULES.iter().enumerate() {
        if !of.always && ids.iter().all(|part| part.modules[at].is_empty()) {
            continue;
        }
        let (module, ty, doc) = (format_ident!("{}", of.kind.module), format_ident!("{}", of.ty), of.doc);
        let head = quote! {
            #[doc = #doc]
            #[allow(dead_code, clippy::all, clippy::pedantic)]
            pub mod #module {
                use super::models;
                use ::gpuskin_rt::#ty;
            }
        };
        text += &filled(head, ids.iter().map(|part| part.modules[at].as_str()));
    }
    let head = quote! {
        #[doc = " The same numbers as WGSL constants, for a game's own shaders."]
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        pub mod wgsl {}
    };
    text + &filled(head, ids.iter().map(|part| part.wgsl.as_str()))
}

/// Whether names that start so can be those of another model: where one start starts with the other.
fn meets(starts: &[String]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..starts.len()).collect();
    order.sort_by_key(|&at| &starts[at]);
    let mut meets = vec![false; starts.len()];
    // What starts with another stands behind it, with nothing else between them.
    let mut open: Vec<usize> = Vec::new();
    for at in order {
        while open.pop_if(|last| !starts[at].starts_with(&starts[*last])).is_some() {}
        if let Some(&last) = open.last() {
            (meets[last], meets[at]) = (true, true);
        }
        open.push(at);
    }
    meets
}

/// The name, or with a number what nobody has taken. Names of the manifest are checked before and never numbered;
/// those of bones are as artists left them.
fn numbered(base: String, taken: &mut BTreeSet<String>) -> String {
    let numbers = (2..).map(|n| format!("{base}_{n}"));
    let free = std::iter::once(base.clone()).chain(numbers).find(|name| !taken.contains(name));
    let name = free.expect("numbers do not end");
    taken.insert(name.clone());
    name
}

fn clips(meta: &Metadata) -> Vec<(&str, String)> {
    meta.clips.iter().map(|clip| (&*clip.name, clip_doc(clip))).collect()
}

fn bones(meta: &Metadata) -> Vec<(&str, String)> {
    meta.bones.iter().map(|bone| (&*bone.name, format!(" `{}`.", bone.name))).collect()
}

fn events(meta: &Metadata) -> Vec<(&str, String)> {
    let doc = |index: usize| {
        let clips = meta.clips.iter().filter(|c| c.events.iter().any(|e| usize::from(e.event) == index));
        let names: Vec<String> = clips.map(|c| format!("`{}`", c.name)).collect();
        format!(" In {}.", names.join(", "))
    };
    meta.events.iter().enumerate().map(|(index, name)| (&**name, doc(index))).collect()
}

fn masks(meta: &Metadata) -> Vec<(&str, String)> {
    let doc = |mask: &MaskInfo| {
        let bones = mask.bones.iter().map(|word| word.count_ones()).sum::<u32>();
        format!(" {bones} of {} bones.", meta.bones.len())
    };
    meta.masks.iter().map(|mask| (&*mask.name, doc(mask))).collect()
}

fn parts(meta: &Metadata) -> Vec<(&str, String)> {
    let doc = |index: usize| {
        let parts = meta.mesh.parts.iter().filter(|p| p.part.is_some_and(|p| usize::from(p) == index));
        format!(" {} triangles.", parts.map(|p| p.index_count / 3).sum::<u32>())
    };
    meta.parts.iter().enumerate().map(|(index, name)| (&**name, doc(index))).collect()
}

fn clip_doc(clip: &ClipInfo) -> String {
    format!(
        " `{}`: {:.3} s at {:.4} frames/s, {}; error {} at frames, {} between.",
        clip.source,
        clip.duration,
        clip.frame_rate,
        if clip.looped { "loops" } else { "plays once" },
        length(clip.encoding_error.max),
        length(clip.motion_error.max),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_may_meet() {
        let of = |starts: &[&str]| meets(&starts.iter().map(|&start| start.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["RED_", "BLUE_", "RED_COAT_", "REDDER_"]), [true, false, true, false]);
        assert_eq!(of(&["A_B_C_", "A_B_", "A_", "B_"]), [true, true, true, false]);
        assert_eq!(of(&["A_", "A_B_", "A_C_"]), [true; 3]);
    }
}
