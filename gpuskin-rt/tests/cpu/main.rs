//! What needs neither a device nor wgpu.
#![allow(unreachable_pub, reason = "tests have no outside")]

#[path = "../gpu/common/random.rs"]
mod random;

mod event_queue;
mod events;
mod local_words;
