//! What the baker reads, and says of it: manifests, glTF files, findings. One program, because each more takes seconds to
//! link and compiles what they share again.
#![allow(unreachable_pub, reason = "tests have no outside")]

mod common;

mod choices;
mod diagnostics;
mod hostile;
mod manifest;
mod manifest_play;
mod models;
mod morphs;
mod mutations;
mod play;
mod repairs;
mod stored;
mod surfaces;
mod tricks;
mod vertex_mode;
mod wild;
