//! Tests that need neither a device nor wgpu.
#![allow(unreachable_pub, reason = "a test program exports nothing")]

#[path = "../gpu/common/random.rs"]
mod random;

mod event_queue;
mod events;
mod local_words;
mod root_blend;
