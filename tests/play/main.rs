//! The sample models as a game has them: constants, crowds, sockets, props. One program, because each more takes seconds to
//! link and compiles what they share again.
#![allow(unreachable_pub, reason = "tests have no outside")]

#[path = "../../gpuskin-rt/tests/gpu/common/own.rs"]
mod own;

use gpuskin_tests::gpu::Gpu;

mod attachments;
mod baked_module;
mod crowd;
mod dynamic;
mod lods;
mod occlusion;
mod sockets;
mod textures;
