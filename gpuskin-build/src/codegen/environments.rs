//! Module of the environments: one static each.

use quote::{format_ident, quote};

use super::format::{filled, items};
use super::literals::Literal;
use super::payload::payload_literal;
use crate::bake::environments::BakedEnvironment;
use crate::identifier_case::constant;

/// Returns the module, or nothing without environments.
pub(super) fn module(environments: &[&BakedEnvironment]) -> String {
    if environments.is_empty() {
        return String::new();
    }
    let head = quote! {
        #[doc = " Environments: light from all directions."]
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        pub mod environments {
            use ::gpuskin_rt::internals::*;
            use ::std::borrow::Cow::Borrowed;
        }
    };
    let texts: Vec<String> = environments.iter().map(|baked| item(baked)).collect();
    filled(head, texts.iter().map(String::as_str))
}

fn item(BakedEnvironment { environment, file, fetched }: &BakedEnvironment) -> String {
    let ident = format_ident!("{}", constant(&environment.name));
    let size = environment.size;
    let doc = format!(
        " `{}`: {size} x {size} texels per face, {} mip levels.",
        environment.name,
        environment.map.levels.len()
    );
    let (name, content_hash) = (environment.name.literal(), environment.content_hash.literal());
    let (size, radiance) = (size.literal(), environment.radiance.literal());
    let map = payload_literal(file, &environment.map, *fetched);
    items(quote! {
        #[doc = #doc]
        pub static #ident: Environment = Environment {
            name: #name,
            content_hash: #content_hash,
            size: #size,
            radiance: #radiance,
            map: #map,
        };
    })
}
