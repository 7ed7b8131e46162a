//! API for a game's own pipelines: WGSL source, vertex buffers and textures.
//!
//! [`source`] returns the WGSL that skins a model. Put it before your own shader code and call
//! `gpuskin_skin_vertex`. All its names start with `gpuskin_` or `Gpuskin`.
//!
//! ```
//! use gpuskin_rt::shader::{self, Variant};
//! # let variant = Variant::all().next().unwrap();
//! let outline = shader::source(variant, 1) + r"
//!     @group(0) @binding(0) var<uniform> view_proj: mat4x4<f32>;
//!     @group(0) @binding(1) var<uniform> clock: vec4<u32>;          // Time::words(), then padding
//!
//!     @vertex
//!     fn vertex(input: GpuskinInput) -> @builtin(position) vec4<f32> {
//!         let skinned = gpuskin_skin_vertex(input, clock.xy);       // position, normal, tangent, uv, color in the world
//!         return view_proj * vec4<f32>(skinned.position + 0.02 * skinned.normal, 1.0);
//!     }
//!
//!     @fragment
//!     fn fragment() -> @location(0) vec4<f32> { return vec4<f32>(0.0, 0.0, 0.0, 1.0); }
//! ";
//! # assert!(outline.contains("var gpuskin_animation"));
//! ```
//!
//! | name | result |
//! |---|---|
//! | `gpuskin_skin_vertex(GpuskinInput, now: vec2<u32>) -> GpuskinSkinned` | vertex of an instance at time `now`, world space |
//! | `gpuskin_skin_previous_vertex(GpuskinInput, before: vec2<u32>) -> GpuskinSkinned` | vertex of an instance in the previous frame, for motion vectors |
//! | `gpuskin_unpack(GpuskinInput) -> GpuskinVertex` | vertex in the bind pose; in vertex mode, its static attributes |
//! | `gpuskin_instance_of(GpuskinInput, now) -> GpuskinInstance` | transform and playback of an instance |
//! | `gpuskin_appearance_of(GpuskinInput) -> GpuskinAppearance` | appearance of an instance: tint, hidden parts, custom data |
//! | `gpuskin_instance_number(GpuskinInput) -> u32` | number of the instance within its draw, for picking: [`CustomPart::first_instance`] |
//! | `gpuskin_point(GpuskinInstance, p)`, `gpuskin_direction` | transform from model space to world space |
//! | `gpuskin_frame_pair(GpuskinPlayback, GpuskinClip, now) -> GpuskinFramePair` | the two frames that a playback shows |
//! | `gpuskin_shown(GpuskinInput, GpuskinInstance, now) -> GpuskinPoseSource` | source of the pose: frames in the texture, or a palette slot |
//! | `gpuskin_bone(GpuskinPoseSource, bone) -> mat3x4<f32>` | skinning matrix of a bone; use it as `vec4(p, 1.0) * matrix` |
//! | `gpuskin_blend_bones(GpuskinPoseSource, GpuskinVertex) -> mat3x4<f32>` | weighted sum of the skinning matrices of a vertex |
//! | `gpuskin_skin(mat3x4<f32>, GpuskinVertex) -> GpuskinSkinned` | skinned vertex, model space |
//! | `gpuskin_baked(GpuskinFramePair, row) -> GpuskinBaked` | vertex of a model in vertex mode; replaces the last three functions |
//! | `gpuskin_in_model(GpuskinPoseSource, GpuskinVertex) -> GpuskinSkinned` | skinned vertex in both modes, model space |
//!
//! Triangles of a part that is [`flat`](crate::MeshPart::flat) share vertices with smooth normals.
//! Their face normal is `normalize(cross(dpdy(p), dpdx(p)))`, where the varying p is the fragment's
//! position relative to the camera; it points towards the camera.
//!
//! Motion vectors: skin the same vertex again at the previous time,
//! [`CrowdRenderer::previous_time`](crate::CrowdRenderer::previous_time). Motion by a command, such
//! as a new position, is not included. A clip or live bones that have just started have no motion
//! before their start. Poses of `local-packed` are kept from one `prepare` to the next if
//! [`RendererDescriptor::motion_vectors`](crate::RendererDescriptor::motion_vectors) is set;
//! otherwise they have no motion. Animation textures and fields can be evaluated at any time.
//!
//! ```wgsl
//! struct Motion {
//!     view_proj: mat4x4<f32>,
//!     view_proj_before: mat4x4<f32>,
//!     clock: vec2<u32>,
//!     clock_before: vec2<u32>,
//! }
//! @group(0) @binding(0) var<uniform> motion: Motion;
//!
//! struct Varyings {
//!     @builtin(position) position: vec4<f32>,
//!     @location(0) now: vec4<f32>,
//!     @location(1) before: vec4<f32>,
//! }
//!
//! @vertex
//! fn vertex(input: GpuskinInput) -> Varyings {
//!     let now = motion.view_proj * vec4<f32>(gpuskin_skin_vertex(input, motion.clock).position, 1.0);
//!     let before = gpuskin_skin_previous_vertex(input, motion.clock_before).position;
//!     return Varyings(now, now, motion.view_proj_before * vec4<f32>(before, 1.0));
//! }
//!
//! @fragment
//! fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
//!     // In units of half the width and half the height of the picture.
//!     return vec4<f32>(varyings.now.xy / varyings.now.w - varyings.before.xy / varyings.before.w, 0.0, 1.0);
//! }
//! ```
//!
//! The renderer provides the vertex buffers and the bind group: [`vertex_buffers`],
//! [`CrowdRenderer::model_layout`](crate::CrowdRenderer::model_layout) and
//! [`Crowd::draw_with`](crate::Crowd::draw_with).
//!
//! [`field_source`] returns the same functions for the instances of a [`Field`](crate::Field), and
//! in addition `gpuskin_field_instance(number, now)`, `gpuskin_field_appearance(number)`,
//! `gpuskin_noise` and `gpuskin_hash`. Use it with [`field_vertex_buffers`],
//! [`CrowdRenderer::field_layout`](crate::CrowdRenderer::field_layout) and
//! [`Field::draw_with`](crate::Field::draw_with).

pub use crate::material::Material;
#[cfg(feature = "wgpu")]
pub use crate::render::{
    CustomDraw, CustomPart, MaterialTextures, SampledTexture, VertexBuffers, field_vertex_buffers, vertex_buffers,
};
pub use crate::shader::{FREE_LOCATION, Variant, cached_source, field_source, source};
