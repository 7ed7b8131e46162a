//! Draws crowds of skinned characters from baked animation textures with wgpu.
//!
//! A texture stores the animation of a model's bones. The vertex shader computes from the current
//! time which two frames an instance shows, reads the bones of both frames and interpolates. Ten
//! thousand characters that keep running cost no CPU time, and loading a model is an upload without
//! parsing. `gpuskin-build` bakes the textures and generates the constants used below.
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
//! crowd.play(id, clips::SOLDIER_DIE, Transition::crossfade(0.2))?;
//! # Ok(())
//! # }
//! ```
//!
//! # Groups of the API
//!
//! | group | where | contents |
//! |---|---|---|
//! | game | crate root | [`CrowdRenderer`], [`Crowd`], [`Instance`], [`Field`], [`Time`], [`Transition`], [`Sockets`], [`EventQueue`] |
//! | custom pipelines | [`pipeline`] | shader source, vertex buffers, [`Crowd::draw_with`](pipeline::CustomDraw), material textures |
//! | tools and servers | [`tools`] | CPU reference of the shaders: poses, skinning, playback, matrices |
//!
//! # Tasks
//!
//! | task | start at |
//! |---|---|
//! | fade between clips, play clips on parts of the body | [`Crowd::play`], [`Crowd::play_layer`], [`Transition`] |
//! | pose bones from the game: ragdolls, inverse kinematics | [`Crowd::set_live_bones`], [`LiveBones`] |
//! | attach props to bones | [`Crowd::attach`], [`Attachment`] |
//! | tint, hide, custom shader data, variants of textures | [`Appearance`], [`Crowd::set_tint`], [`ModelVariant`] |
//! | grass and other large fields | [`Field`], [`FieldDescriptor`] |
//! | footsteps and other events | [`Crowd::events`], [`ClipInfo::events_between`] |
//! | bone positions on the CPU | [`Sockets`] |
//! | move instances: at constant rates, by root motion | [`Crowd::set_motion`], [`Motion`], [`InstanceRecord::root_displacement`] |
//! | keep moving instances on the ground | [`Crowd::set_terrain`], [`Terrain`] |
//! | find out why a crowd is slow | [`Crowd::explain`] |
//!
//! # Numbers
//!
//! Public signatures pass vectors, quaternions and matrices as arrays. Parameters take
//! `impl Into<[f32; N]>`, so vectors of any version of glam can be passed; convert array results to
//! glam types with `from`. glam types in signatures would tie a game to the glam version of this
//! crate.
//!
//! # Features
//!
//! | feature | effect |
//! |---|---|
//! | `wgpu` (default) | The renderer. Without it, the crate serves game servers: playback, events and sockets, without a GPU. |
//! | `webgpu` (default), `webgl` | WebGPU and WebGL2 in web programs, as wgpu names them; no effect elsewhere. With both, the game chooses at run time. |
//! | `dynamic` | Loads models at run time: `Model::load`, `Model::from_files`, `Model::from_ktx2`. |
//! | `testing` | Tools for tests of models, shaders and scenes: `tools::Capture` and `Crowd::count_drawn` read results back from the GPU, `tools::CpuModel` computes what the GPU should draw. |
//!
//! The WebGL2 limits suffice: no storage buffers, no compute shaders. Only models in
//! [`Encoding::LocalPacked`] need both. For web pages, see the guide's page "In the browser".
#![cfg_attr(not(feature = "wgpu"), allow(rustdoc::broken_intra_doc_links))]
// On the web, wgpu's types are neither `Send` nor `Sync`; elsewhere the same code needs `Arc`.
#![cfg_attr(target_family = "wasm", allow(clippy::arc_with_non_send_sync))]

#[cfg(not(target_endian = "little"))]
compile_error!("gpuskin bakes little-endian data: big-endian targets are not supported");

mod aabb;
mod appearance;
mod attachment;
mod batch;
mod bit_fields;
mod bounds;
mod cache;
mod cull;
#[cfg(feature = "dynamic")]
mod dynamic;
mod encoding;
mod environment;
mod event_queue;
mod events;
mod field;
mod files;
mod handle;
mod instance;
#[doc(hidden)]
pub mod internals;
mod layers;
#[cfg(feature = "wgpu")]
mod light_grid;
#[cfg(feature = "wgpu")]
mod lighting;
mod list;
mod local;
mod material;
mod model;
mod morph;
mod motion;
pub mod pipeline;
mod playback;
#[cfg(any(feature = "wgpu", test))]
mod pose_texture;
mod record;
#[cfg(feature = "wgpu")]
mod render;
mod root_blend;
mod root_motion;
#[cfg(any(feature = "wgpu", test))]
mod root_table;
mod shader;
mod skin;
mod skin_matrix;
mod socket;
mod terrain;
mod time;
mod timeline;
pub mod tools;
mod transform;
mod transition;
mod vertex;

pub use aabb::Aabb;
pub use appearance::Appearance;
pub use attachment::Attachment;
#[cfg(feature = "dynamic")]
pub use dynamic::LoadError;
pub use encoding::Encoding;
pub use environment::Environment;
pub use event_queue::{EventQueue, FiredEvent, FiredEventKind};
pub use field::{FieldDescriptor, Wind};
pub use files::{FileError, provide_file, set_asset_folder};
pub use handle::{BakedModel, Bone, Clip, Dynamic, Event, Mask, ModelVariant, Morph, Part};
pub use instance::Instance;
pub use layers::{LayerSet, LiveBones};
#[cfg(feature = "wgpu")]
pub use lighting::{Ambient, Fog, FogDensity, LightCone, Lighting, PunctualLight, Sun, ToneMapping};
pub use local::LocalTransform;
#[cfg(feature = "dynamic")]
pub use model::MetadataError;
pub use model::{BoneInfo, ClipInfo, Metadata, Model, MorphInfo, MorphWeightError};
pub use motion::Motion;
pub use playback::{Playback, Repeat};
pub use record::InstanceRecord;
#[cfg(feature = "wgpu")]
pub use render::{
    AttachmentId, Camera, Crowd, CrowdDescriptor, CrowdRenderer, DepthPass, Error, Explanation, Field, InstanceId,
    Light, LightShadowDescriptor, LightingFeatures, PoseSharing, PosedInstance, Ray, RayCaster, RayHit,
    RendererDescriptor, Shading, ShadowDescriptor, StaleId, View,
};
pub use root_motion::Displacement;
pub use socket::{InstancePose, SocketError, Sockets};
pub use terrain::{Terrain, TerrainError};
pub use time::Time;
pub use transform::Transform;
pub use transition::{Curve, Transition};
#[cfg(feature = "wgpu")]
pub use wgpu;

// Short paths for modules of this crate.
use encoding::{TexelFormat, Texels};
#[cfg(feature = "wgpu")]
use material::Wrap;
#[cfg(any(feature = "wgpu", feature = "dynamic"))]
use material::{ColorFormat, MaterialTexture};
use material::{ColorTexture, Material};
#[cfg(any(feature = "wgpu", feature = "dynamic"))]
use model::MAX_CLIPS;
use model::{AnimationTexture, ByteRange, ClipEvent, Data, MAX_LODS, Normals, Payload, RestInfo, RootKey, ValueRange};
#[cfg(feature = "wgpu")]
use model::{IndexRange, MeshPart};
#[cfg(feature = "dynamic")]
use model::{MAX_EVENTS, MAX_LAYERS, MAX_MASKS, MAX_PARTS, MAX_VARIANTS, MeshInfo, RootMotion};
use playback::{ClipRecord, FramePair, HeldFrames};
use record::PoseBlend;
use skin_matrix::Affine3;
use vertex::{Packing, VertexFormat, VertexRange};

/// Includes the generated code of the baked models: modules `models`, `clips` and `bones`;
/// `events`, `masks`, `morphs`, `parts` and `variants` if there are any; and `wgsl`, which holds the same indices as WGSL
/// constants.
///
/// | call | includes |
/// |---|---|
/// | `include_baked!();` | output of the package's build script |
/// | `include_baked!("assets/baked");` | output of `cargo xtask bake` in that folder of the package |
#[macro_export]
macro_rules! include_baked {
    () => {
        #[doc(hidden)]
        #[allow(dead_code)]
        const GPUSKIN_BAKED: &str = {
            const PATH: &str = ::core::env!("OUT_DIR");
            const LEN: usize = $crate::internals::released_len(PATH, ::core::cfg!(debug_assertions));
            const FOLDER: [u8; LEN] = $crate::internals::released_folder(PATH);
            match ::core::str::from_utf8(&FOLDER) {
                Ok(folder) => folder,
                Err(_) => ::core::unreachable!(),
            }
        };
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/gpuskin.rs"));
    };
    ($path:literal) => {
        #[doc(hidden)]
        #[allow(dead_code)]
        const GPUSKIN_BAKED: &str = if ::core::cfg!(target_family = "wasm") {
            ""
        } else if ::core::cfg!(debug_assertions) {
            ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", $path)
        } else {
            $path
        };
        ::core::include!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", $path, "/gpuskin.rs"));
    };
}
