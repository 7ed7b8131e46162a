//! Draws crowds of skinned characters from baked animation textures with wgpu.
//!
//! The motion of a model's bones stands in a texture. The vertex shader finds out which frames an instance shows from
//! one clock, reads its bones there and blends: ten thousand characters that keep running cost the CPU nothing, and
//! start-up is a create and an upload without parsing. What stands in the textures, and the constants below, come from
//! `gpuskin-build`.
//!
#![cfg_attr(feature = "wgpu", doc = "```no_run")]
#![cfg_attr(not(feature = "wgpu"), doc = "```ignore")]
//! # mod baked {
//! #     use gpuskin_rt::*;
//! #     pub mod models {
//! #         use super::*;
//! #         pub struct Soldier;
//! #         impl BakedModel for Soldier { const MODEL: &'static Model = panic!(); }
//! #     }
//! #     pub mod clips {
//! #         use super::*;
//! #         pub const SOLDIER_RUN: Clip<models::Soldier> = Clip::new(0);
//! #         pub const SOLDIER_DIE: Clip<models::Soldier> = Clip::new(1);
//! #     }
//! # }
//! # use baked::*;
//! use gpuskin_rt::{Camera, Crowd, CrowdDescriptor, CrowdRenderer, Instance, RendererDescriptor, Transition, wgpu};
//!
//! # #[cfg(any())]
//! gpuskin_rt::include_baked!();       // models::Soldier, clips::SOLDIER_RUN, ...
//!
//! # fn game(device: wgpu::Device, queue: wgpu::Queue, color: wgpu::TextureView, depth: wgpu::TextureView)
//! # -> Result<(), gpuskin_rt::Error> {
//! let mut renderer = CrowdRenderer::new(&device, &queue, RendererDescriptor::default())?;
//! let crowd =
//!     Crowd::<models::Soldier>::new(&mut renderer, CrowdDescriptor { capacity: 10_000, ..Default::default() })?;
//! let id = crowd.spawn(Instance::at([4.0, 0.0, -2.0]).play(clips::SOLDIER_RUN).phase(0.25));
//!
//! // Every frame:
//! # let (seconds, mut encoder) = (0.0, device.create_command_encoder(&Default::default()));
//! # let descriptor = wgpu::RenderPassDescriptor::default();
//! let camera = Camera::perspective_look_at([0.0, 6.0, 14.0], [0.0, 1.0, 0.0], 0.9, 16.0 / 9.0, 0.1, 500.0);
//! renderer.prepare(&queue, &mut encoder, &camera, seconds)?;
//! renderer.draw(&mut encoder.begin_render_pass(&descriptor));
//!
//! // And when something happens:
//! crowd.play(id, clips::SOLDIER_DIE, Transition::crossfade(0.2));
//! # Ok(())
//! # }
//! ```
//!
//! | | |
//! |---|---|
//! | [`CrowdRenderer`], [`Crowd`], [`Instance`], [`Time`] | what a game uses |
//! | [`Model`], [`Metadata`], [`Clip`], [`Bone`], [`files`] | what the bake left, and where it is |
//! | [`shader`], [`render::vertex_buffers`], [`Crowd::draw_geometry`] | for a game's own pipelines |
//! | [`playback`], [`Texels`], [`local`], [`vertex`], [`skin`](mod@skin), [`cull`] | each WGSL function on the CPU: for servers and tests |
//! | [`render::Capture`] | what the GPU makes of a model, read back: for tools and tests |
//!
//! | feature | |
//! |---|---|
//! | `wgpu` (default) | the renderer; without it the crate is data layout and CPU functions, and builds in a second |
//! | `dynamic` | [`Metadata`] to and from the KTX2 files |
//!
//! The limits of WebGL2 are enough: no storage buffers, no compute. Models in [`Encoding::LocalPacked`] need both.
#![cfg_attr(not(feature = "wgpu"), allow(rustdoc::broken_intra_doc_links))]

pub mod cull;
pub mod encoding;
pub mod files;
mod handle;
mod instance;
pub mod local;
mod material;
mod model;
pub mod playback;
mod record;
#[cfg(feature = "wgpu")]
pub mod render;
pub mod shader;
pub mod skin;
mod skin_matrix;
mod time;
mod transition;
pub mod vertex;

pub use encoding::{Encoding, TexelFormat, Texels};
pub use handle::{BakedModel, Bone, Clip, Dynamic};
pub use instance::Instance;
pub use material::{ColorFormat, ColorTexture, Material, MaterialTexture, Wrap};
pub use model::*;
pub use playback::{ClipRecord, FramePair, Playback, Repeat};
pub use record::{InstanceRecord, Shown};
#[cfg(feature = "wgpu")]
pub use render::{Camera, Crowd, CrowdDescriptor, CrowdRenderer, Error, InstanceId, Light, RendererDescriptor, View};
pub use skin_matrix::SkinMatrix;
pub use time::Time;
pub use transition::{Curve, Transition};
pub use vertex::{Packing, VertexFormat, VertexRange};
#[cfg(feature = "wgpu")]
pub use wgpu;

/// Takes in what was baked: `models`, `clips` and `bones`.
///
/// | | |
/// |---|---|
/// | `include_baked!();` | what the package's build script baked |
/// | `include_baked!("assets/baked");` | what `cargo xtask bake` wrote to that folder of the package |
#[macro_export]
macro_rules! include_baked {
    () => {
        #[doc(hidden)]
        #[allow(dead_code)]
        const GPUSKIN_BAKED: &str = ::core::env!("OUT_DIR");
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/gpuskin.rs"));
    };
    ($path:literal) => {
        #[doc(hidden)]
        #[allow(dead_code)]
        const GPUSKIN_BAKED: &str = ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", $path);
        ::core::include!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", $path, "/gpuskin.rs"));
    };
}
