//! All tests that need a device. One program: each further one would take seconds to link, and
//! compile the shared modules again.
#![allow(unreachable_pub, reason = "a test program exports nothing")]

mod common;

mod behaviour;
mod blends;
mod bones;
mod cache;
mod crowd;
mod cull;
mod explain;
mod extremes;
mod field;
mod layers;
mod limits;
mod lods;
mod motion;
mod occlusion;
mod own_pipeline;
mod palette;
mod paths;
mod picking;
mod surface;
mod textures;
mod twins;
