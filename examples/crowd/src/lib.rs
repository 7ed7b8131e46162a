//! The demo game: ten thousand soldiers and hounds on a field, in a window or in a picture.
//!
//! | | |
//! |---|---|
//! | [`scene`] | who stands where and plays what: `Crowd::spawn`, and `move_to` for those who go somewhere |
//! | [`frame`] | the passes of a frame: `CrowdRenderer::draw_depth` for shadows, `CrowdRenderer::draw` |
//! | [`land`], `air` | ground, shadows, haze and sky: pipelines of the game's own, with no knowledge of crowds |
//! | [`headless`], [`window`] | where the frames go |
//! | [`reload`] | models that change while it runs |

mod air;
pub mod frame;
pub mod gpu;
pub mod headless;
pub mod land;
mod pilot;
pub mod reload;
pub mod scene;
pub mod window;

/// The constants of the models that `build.rs` baked.
#[allow(missing_docs, reason = "generated")]
pub mod baked {
    gpuskin_rt::include_baked!();
}

/// Whatever went wrong, for a person to read.
pub type Error = Box<dyn std::error::Error>;
