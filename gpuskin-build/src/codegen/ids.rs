//! What models have, as typed numbers for Rust and as plain ones for WGSL.

use std::collections::BTreeSet;
use std::fmt::Write;

use gpuskin_rt::{ClipInfo, MaskInfo, Metadata};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{type_ident, value_ident};
use crate::bake::BakedModel;
use crate::identifiers::{BONES, CLIPS, EVENTS, Kind, MASKS, PARTS};
use crate::names::{member, wgsl_member};
use crate::units::length;

/// A kind, and how it is written.
struct Module {
    kind: &'static Kind,
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

/// A module a kind, and `wgsl`.
pub(super) fn modules(models: &[BakedModel]) -> TokenStream {
    let kinds = MODULES.iter().map(|of| module(of, models));
    let wgsl = wgsl(models);
    quote!(#(#kinds)* #wgsl)
}

fn module(of: &Module, models: &[BakedModel]) -> TokenStream {
    let (module, ty, doc) = (format_ident!("{}", of.kind.module), format_ident!("{}", of.ty), of.doc);
    let mut taken = BTreeSet::new();
    let mut consts = TokenStream::new();
    for model in models {
        let marker = type_ident(model);
        for (index, (name, doc)) in (of.of)(&model.meta).into_iter().enumerate() {
            let name = format_ident!("{}", numbered(member(&model.meta.name, name), &mut taken));
            let index = Literal::usize_unsuffixed(index);
            consts.extend(quote!(#[doc = #doc] pub const #name: #ty<models::#marker> = #ty::new(#index);));
        }
    }
    if consts.is_empty() && !of.always {
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
    let modules = || MODULES.iter().filter_map(|of| Some((of, of.kind.wgsl?)));
    // What the manifest names is checked; bones are numbered around it.
    for model in models {
        for (of, between) in modules().filter(|(of, _)| *of.kind != BONES) {
            taken.extend((of.of)(&model.meta).iter().map(|(name, _)| wgsl_member(&model.meta.name, between, name)));
        }
    }
    let consts = models.iter().map(|model| {
        let mut text = String::new();
        for (of, between) in modules() {
            for (index, (name, _)) in (of.of)(&model.meta).into_iter().enumerate() {
                let mut name = wgsl_member(&model.meta.name, between, name);
                if *of.kind == BONES {
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
