//! Everything that needs a device: one program, because each more takes seconds to link and compiles what they share again.
#![allow(unreachable_pub, reason = "tests have no outside")]

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
