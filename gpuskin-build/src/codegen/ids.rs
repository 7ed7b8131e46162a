//! What models have, as typed numbers for Rust and as plain ones for WGSL.

use std::collections::BTreeSet;
use std::fmt::Write;

use gpuskin_rt::{ClipInfo, MaskInfo, Metadata};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{type_ident, value_ident};
use crate::bake::BakedModel;
use crate::names::{member, wgsl_member};
use crate::units::length;

/// A kind of things that models have.
struct Kind {
    /// Of the module.
    name: &'static str,
    /// Of the handle.
    ty: &'static str,
    /// Documentation of the module.
    doc: &'static str,
    /// Whether the module stands there without anything in it.
    always: bool,
    /// What stands between the model's name and its own in WGSL; `None`: it is not there.
    wgsl: Option<&'static str>,
    /// Names and documentation, by index.
    of: fn(&Metadata) -> Vec<(&str, String)>,
}

const KINDS: [Kind; 5] = [
    Kind { name: "clips", ty: "Clip", doc: " Clips of the models.", always: true, wgsl: Some(""), of: clips },
    Kind { name: "bones", ty: "Bone", doc: " Bones of the models.", always: true, wgsl: Some("bone"), of: bones },
    Kind { name: "events", ty: "Event", doc: " What happens in clips.", always: false, wgsl: None, of: events },
    Kind { name: "masks", ty: "Mask", doc: " Bones that layers act on.", always: false, wgsl: Some("mask"), of: masks },
    Kind {
        name: "parts",
        ty: "Part",
        doc: " Meshes that an instance may leave off.",
        always: false,
        wgsl: Some("part"),
        of: parts,
    },
];

/// A module a kind, and `wgsl`.
pub(super) fn modules(models: &[BakedModel]) -> TokenStream {
    let kinds = KINDS.iter().map(|kind| module(kind, models));
    let wgsl = wgsl(models);
    quote!(#(#kinds)* #wgsl)
}

fn module(kind: &Kind, models: &[BakedModel]) -> TokenStream {
    let (module, ty, doc) = (format_ident!("{}", kind.name), format_ident!("{}", kind.ty), kind.doc);
    let mut taken = BTreeSet::new();
    let mut consts = TokenStream::new();
    for model in models {
        let of = type_ident(model);
        for (index, (name, doc)) in (kind.of)(&model.meta).into_iter().enumerate() {
            let name = format_ident!("{}", numbered(member(&model.meta.name, name), &mut taken));
            let index = Literal::usize_unsuffixed(index);
            consts.extend(quote!(#[doc = #doc] pub const #name: #ty<models::#of> = #ty::new(#index);));
        }
    }
    if consts.is_empty() && !kind.always {
        return consts;
    }
    quote! {
        #[doc = #doc]
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        pub mod #module {
            use super::models;
            use ::gpuskin_rt::#ty;
            #consts
        }
    }
}

fn wgsl(models: &[BakedModel]) -> TokenStream {
    let mut taken = BTreeSet::new();
    // What cannot be numbered before what can.
    let kinds = || KINDS.iter().filter_map(|kind| Some((kind, kind.wgsl?)));
    for model in models {
        for (kind, between) in kinds().filter(|(kind, _)| kind.name != "bones") {
            taken.extend((kind.of)(&model.meta).iter().map(|(name, _)| wgsl_member(&model.meta.name, between, name)));
        }
    }
    let consts = models.iter().map(|model| {
        let mut text = String::new();
        for (kind, between) in kinds() {
            for (index, (name, _)) in (kind.of)(&model.meta).into_iter().enumerate() {
                let mut name = wgsl_member(&model.meta.name, between, name);
                if kind.name == "bones" {
                    name = numbered(name, &mut taken);
                }
                let _ = writeln!(text, "const {name}: u32 = {index}u;");
            }
        }
        let name = value_ident(model);
        let doc = format!(" Clips, bones, masks and parts of [`{}`](super::models::{0}).", type_ident(model));
        // A raw string keeps its lines; identifiers have no quotes.
        let text: Literal = format!("r\"{text}\"").parse().expect("a raw string is a literal");
        quote!(#[doc = #doc] pub const #name: &str = #text;)
    });
    quote! {
        #[doc = " The same numbers as WGSL constants, for a game's own shaders."]
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        pub mod wgsl {
            #(#consts)*
        }
    }
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
