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
//! | [`Transition`], [`Crowd::play_layer`], [`Crowd::set_live`], [`layers`] | fades, clips over clips, and bones of the game's own |
//! | [`Crowd::attach`], [`Attachment`] | what instances carry |
//! | [`Field`], [`field`] | grass and the like: instances of a formula, of which nothing is kept |
//! | [`Model`], [`Metadata`], [`Clip`], [`Bone`], [`files`] | what the bake left, and where it is |
//! | [`ClipInfo::events_between`], [`EventQueue`], [`Playback::finishes_at`] | what clips come to: of one instance, of all |
//! | [`Sockets`], [`Metadata::world_bounds`], [`ClipInfo::root_displacement`] | where bones and instances are, on the CPU |
//! | [`Crowd::explain`] | which path draws a crowd, and why |
//! | [`shader`], [`render::vertex_buffers`], [`Crowd::draw_geometry`] | for a game's own pipelines |
//! | [`playback`], [`Texels`], [`local`], [`vertex`], [`skin`](mod@skin), [`cull`], [`cache`] | each WGSL function on the CPU: for servers and tests |
//! | [`render::Capture`] | what the GPU makes of a model, read back: for tools and tests |
//!
//! | feature | |
//! |---|---|
//! | `wgpu` (default) | the renderer; without it the crate is for servers: all of the above but drawing, and builds in seconds |
//! | `dynamic` | models that are read at run time: `Model::load`, `Model::from_ktx2` |
//!
//! The limits of WebGL2 are enough: no storage buffers, no compute. Models in [`Encoding::LocalPacked`] need both.
#![cfg_attr(not(feature = "wgpu"), allow(rustdoc::broken_intra_doc_links))]

#[cfg(not(target_endian = "little"))]
compile_error!("what gpuskin bakes is little-endian, and big-endian targets are not supported");

mod attachment;
mod bounds;
pub mod cache;
mod course;
pub mod cull;
#[cfg(feature = "dynamic")]
mod dynamic;
pub mod encoding;
mod event_queue;
pub mod events;
pub mod field;
pub mod files;
mod handle;
mod instance;
pub mod layers;
pub mod local;
mod look;
mod material;
mod model;
pub mod playback;
mod record;
#[cfg(feature = "wgpu")]
pub mod render;
pub mod root_motion;
pub mod shader;
pub mod skin;
mod skin_matrix;
mod socket;
mod time;
mod transition;
pub mod vertex;

pub use attachment::Attachment;
#[cfg(feature = "dynamic")]
pub use dynamic::LoadError;
pub use encoding::{Encoding, TexelFormat, Texels};
pub use event_queue::{EventQueue, MOST_NOTICES, Notice, NoticeKind};
pub use handle::{BakedModel, Bone, Clip, Dynamic, Event, Mask, Part};
pub use instance::Instance;
pub use layers::{LayerSet, LiveBones};
pub use look::InstanceLook;
pub use material::{ColorFormat, ColorTexture, Material, MaterialTexture, Wrap};
pub use model::*;
pub use playback::{ClipRecord, FramePair, HeldFrames, Playback, Repeat};
pub use record::{InstanceRecord, Shown};
#[cfg(feature = "wgpu")]
pub use render::{
    AttachmentId, Camera, Crowd, CrowdDescriptor, CrowdRenderer, Error, Explanation, Field, InstanceId, Light,
    RendererDescriptor, View,
};
pub use skin_matrix::SkinMatrix;
pub use socket::{SocketError, Sockets};
pub use time::Time;
pub use transition::{Curve, Transition};
pub use vertex::{Packing, VertexFormat, VertexRange};
#[cfg(feature = "wgpu")]
pub use wgpu;

/// Takes in what was baked: `models`, `clips` and `bones`; `events`, `masks` and `parts` where there are some; and `wgsl`,
/// the same numbers as WGSL constants.
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
