//! Indices of clips, bones, events, masks and parts: typed constants for Rust, and numbers for
//! WGSL.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;

use gpuskin_rt::internals::{ClipInfo, MaskInfo, Metadata};
use proc_macro2::Literal;
use quote::{format_ident, quote};
use serde::{Deserialize, Serialize};

use super::format::{filled, items, type_ident, value_ident};
use crate::bake::baked_model::BakedModel;
use crate::identifier_case::{constant, member, wgsl_member};
use crate::name_collisions::{BONES, CLIPS, EVENTS, MASKS, MORPHS, NameKind, PARTS, VARIANTS};
use crate::units::length;

/// A generated module of constants.
struct Module {
    kind: &'static NameKind,
    /// Type of the handles.
    ty: &'static str,
    /// Documentation of the module.
    doc: &'static str,
    /// Whether the module is generated even if it is empty.
    always: bool,
    /// Returns names and documentation, by index.
    of: fn(&Metadata) -> Vec<(&str, String)>,
}

const MODULES: [Module; 7] = [
    Module { kind: &CLIPS, ty: "Clip", doc: " Clips of the models.", always: true, of: clips },
    Module { kind: &BONES, ty: "Bone", doc: " Bones of the models.", always: true, of: bones },
    Module { kind: &EVENTS, ty: "Event", doc: " Events of the clips.", always: false, of: events },
    Module { kind: &MASKS, ty: "Mask", doc: " Masks: sets of bones for layers.", always: false, of: masks },
    Module { kind: &MORPHS, ty: "Morph", doc: " Morph targets of the models.", always: false, of: morphs },
    Module {
        kind: &PARTS,
        ty: "Part",
        doc: " Parts: meshes that can be hidden per instance.",
        always: false,
        of: parts,
    },
    Module { kind: &VARIANTS, ty: "ModelVariant", doc: " Variants of the textures.", always: false, of: variants },
];

/// Constants of one model, one text per module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ModelConstants {
    modules: [String; MODULES.len()],
    wgsl: String,
}

/// Names that are already used.
#[derive(Default)]
pub(super) struct UsedNames {
    modules: [BTreeSet<String>; MODULES.len()],
    wgsl: BTreeSet<String>,
}

impl UsedNames {
    /// Collects the WGSL names that come from the manifest. Those are checked for collisions; bones
    /// are numbered to avoid them.
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

/// Returns the modules that have WGSL constants, with the word between the model's name and the
/// item's name.
fn in_wgsl() -> impl Iterator<Item = (&'static Module, &'static str)> {
    MODULES.iter().filter_map(|of| Some((of, of.kind.wgsl?)))
}

/// Generates the constants of a model with unused names.
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
    let doc = format!(" WGSL constants of [`{}`](super::models::{0}).", type_ident(model));
    // A raw string keeps line breaks. Identifiers contain no quotes.
    let text: Literal = format!("r\"{text}\"").parse().expect("a raw string is a valid literal");
    items(quote!(#[doc = #doc] pub const #name: &str = #text;))
}

/// Returns one module per kind, and the module `wgsl`.
pub(super) fn modules(models: &[&BakedModel], parts: &[&ModelConstants]) -> String {
    // `coat_l` of model `red` could collide with `l` of model `red_coat`. Models with such names
    // are generated together.
    let starts: Vec<String> = models.iter().map(|model| constant(&model.meta.name) + "_").collect();
    let meets = can_collide(&starts);
    let mut taken = UsedNames::of(models.iter().zip(&meets).filter(|(_, meets)| **meets).map(|(model, _)| *model));
    let ids = models.iter().zip(parts).zip(meets);
    let ids = ids.map(|((model, kept), meets)| match meets {
        true => Cow::Owned(part(model, &mut taken)),
        false => Cow::Borrowed(*kept),
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
        #[doc = " Indices of clips, bones, masks, parts and variants as WGSL constants, for a game's own shaders."]
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        pub mod wgsl {}
    };
    text + &filled(head, ids.iter().map(|part| part.wgsl.as_str()))
}

/// Returns for each prefix whether it is a prefix of another one, or has another one as its prefix.
fn can_collide(starts: &[String]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..starts.len()).collect();
    order.sort_by_key(|&at| &starts[at]);
    let mut meets = vec![false; starts.len()];
    // In sorted order, all strings that start with a prefix follow it directly.
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

/// Returns the name, with a number appended if it is used already. Only bones are numbered, because
/// their names come from the file; names from the manifest are checked before.
fn numbered(base: String, taken: &mut BTreeSet<String>) -> String {
    let numbers = (2..).map(|n| format!("{base}_{n}"));
    let free = std::iter::once(base.clone()).chain(numbers).find(|name| !taken.contains(name));
    let name = free.expect("there is always a free number");
    taken.insert(name.clone());
    name
}

fn clips(meta: &Metadata) -> Vec<(&str, String)> {
    meta.clips.iter().map(|clip| (&*clip.name, clip_doc(clip))).collect()
}

fn bones(meta: &Metadata) -> Vec<(&str, String)> {
    meta.bones.iter().take(meta.placed_bones()).map(|bone| (&*bone.name, format!(" `{}`.", bone.name))).collect()
}

fn events(meta: &Metadata) -> Vec<(&str, String)> {
    let doc = |index: usize| {
        let clips = meta.clips.iter().filter(|c| c.events.iter().any(|e| usize::from(e.event) == index));
        let names: Vec<String> = clips.map(|c| format!("`{}`", c.name)).collect();
        format!(" Fires in {}.", names.join(", "))
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

fn variants(meta: &Metadata) -> Vec<(&str, String)> {
    let doc = |(index, name): (usize, &str)| match index {
        0 => " The model's own textures.".to_owned(),
        _ => format!(" `{name}`."),
    };
    meta.variants().enumerate().map(|(index, name)| (name, doc((index, name)))).collect()
}

fn morphs(meta: &Metadata) -> Vec<(&str, String)> {
    meta.morphs.iter().map(|morph| (&*morph.name, format!(" `{}`.", morph.name))).collect()
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
        " `{}`: {:.3} s at {:.4} frames per second, {}; error {} at frames, {} between frames.",
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
    fn prefixes_of_other_names_are_detected() {
        let of = |starts: &[&str]| can_collide(&starts.iter().map(|&start| start.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["RED_", "BLUE_", "RED_COAT_", "REDDER_"]), [true, false, true, false]);
        assert_eq!(of(&["A_B_C_", "A_B_", "A_", "B_"]), [true, true, true, false]);
        assert_eq!(of(&["A_", "A_B_", "A_C_"]), [true; 3]);
    }
}
