//! Tests of the baker's input: manifests, glTF files, diagnostics. All are one program, because
//! each further program takes seconds to link, and compiles the shared helpers again.
#![allow(unreachable_pub, reason = "a test crate has no users")]

mod common;

mod channels;
mod choices;
mod collected;
mod coordinates;
mod diagnostics;
mod file_variants;
mod give_way;
mod hostile;
mod influences;
mod loops;
mod manifest;
mod manifest_encodings;
mod manifest_play;
mod models;
mod morph_bones;
mod morphs;
mod mutations;
mod other_files;
mod play;
mod reference;
mod repairs;
mod retarget;
mod stored;
mod surfaces;
mod tint_masks;
mod tricks;
mod variants;
mod vertex_mode;
mod web_formats;
mod wild;
