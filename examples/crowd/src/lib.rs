//! Demo game: ten thousand soldiers and hounds on a field, in a window or in a picture.
//!
//! | module | contents |
//! |---|---|
//! | [`scene`] | positions and clips of all instances: `Crowd::spawn`, and `move_to` for moving instances |
//! | [`hero`] | one soldier with the game's own animator: `Crowd::set_live_bones`, `update_live_bones` |
//! | [`frame`] | passes of a frame: `CrowdRenderer::draw_shadows`, `CrowdRenderer::draw` |
//! | [`land`] | ground and sky: the game's own pipelines, in the light, shadows and fog of the crowds |
//! | [`headless`], [`window`] | output into a picture or a window |
//! | [`reload`] | models that change while the game runs |
//!
//! In a web program, only the scene, the ground and the passes of a frame exist: `examples/web` is the
//! page around them.

pub mod frame;
#[cfg(not(target_family = "wasm"))]
pub mod gpu;
#[cfg(not(target_family = "wasm"))]
pub mod headless;
pub mod hero;
pub mod land;
#[cfg(not(target_family = "wasm"))]
mod pilot;
pub mod reload;
pub mod scene;
#[cfg(not(target_family = "wasm"))]
pub mod window;

/// Constants of the models that `build.rs` baked.
#[allow(missing_docs, reason = "generated")]
pub mod baked {
    gpuskin_rt::include_baked!();
}

/// Any error, with a message for people.
pub type Error = Box<dyn std::error::Error>;
