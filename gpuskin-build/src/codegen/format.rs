//! Formatting of generated items, and identifiers of models.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::bake::baked_model::BakedModel;
use crate::identifier_case::{constant, type_name};

/// Formats items with the indentation of a module.
pub(super) fn items(tokens: TokenStream) -> String {
    if tokens.is_empty() {
        return String::new();
    }
    let text = formatted(quote!(mod m { #tokens }));
    let inner = text.strip_prefix("mod m {\n").and_then(|text| text.strip_suffix("}\n"));
    inner.expect("the formatter writes a module with braces").to_owned()
}

/// Returns a module with further items at its end.
pub(super) fn filled<'a>(module: TokenStream, items: impl Iterator<Item = &'a str>) -> String {
    let text = formatted(module);
    let open = text.strip_suffix("}\n").expect("a formatted module ends with a brace");
    let mut text = open.to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.extend(items);
    text + "}\n"
}

fn formatted(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).expect("generated tokens are valid Rust"))
}

pub(super) fn type_ident(model: &BakedModel) -> Ident {
    format_ident!("{}", type_name(&model.meta.name))
}

pub(super) fn value_ident(model: &BakedModel) -> Ident {
    format_ident!("{}", constant(&model.meta.name))
}
