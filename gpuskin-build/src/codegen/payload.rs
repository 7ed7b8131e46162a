//! Files as Rust expressions, for a module beside the constant `GPUSKIN_BAKED`.

use gpuskin_rt::internals::{Data, Payload};
use proc_macro2::TokenStream;
use quote::quote;

use super::literals::Literal;

/// Returns the expression. `fetched`: whether a web program does not contain the file.
pub(super) fn payload_literal(name: &str, payload: &Payload, fetched: bool) -> TokenStream {
    let Payload { data, size, hash_at, levels } = payload;
    let side_file = quote!(Data::File { name: Borrowed(#name), baked: Borrowed(super::GPUSKIN_BAKED) });
    let data = match data {
        Data::File { .. } => side_file,
        Data::Bytes(_) => {
            let path = format!("gpuskin/{name}");
            let embedded = quote!(Data::Bytes(Borrowed(include_bytes!(#path))));
            match fetched {
                true => quote!(if cfg!(target_family = "wasm") { #side_file } else { #embedded }),
                false => embedded,
            }
        }
    };
    let (size, hash_at, levels) = (size.literal(), hash_at.literal(), levels.literal());
    quote!(Payload { data: #data, size: #size, hash_at: #hash_at, levels: #levels })
}
