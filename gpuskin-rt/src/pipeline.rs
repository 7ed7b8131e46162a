//! API for a game's own pipelines: shader source, vertex buffers, draws and materials.
//!
//! [`source`] returns WGSL that skins a model. Append your own shader to it and call `gpuskin_skin_vertex`. Every name in it
//! starts with `gpuskin_` or `Gpuskin`.
//!
//! ```
//! use gpuskin_rt::pipeline::{self, Variant};
//!
//! fn outline(variant: Variant) -> String {
//!     pipeline::source(variant, 1) + r"
//!         @group(0) @binding(0) var<uniform> view_proj: mat4x4<f32>;
//!         @group(0) @binding(1) var<uniform> time: vec4<u32>;          // Time::words(), then padding
//!
//!         @vertex
//!         fn vertex(input: GpuskinInput) -> @builtin(position) vec4<f32> {
//!             let skinned = gpuskin_skin_vertex(input, time.xy);       // position, normal, tangent, uv, color; world space
//!             return view_proj * vec4<f32>(skinned.position + 0.02 * skinned.normal, 1.0);
//!         }
//!
//!         @fragment
//!         fn fragment() -> @location(0) vec4<f32> { return vec4<f32>(0.0, 0.0, 0.0, 1.0); }
//!     "
//! }
//! ```
//!
//! | step | for crowds | for fields |
//! |---|---|---|
//! | shader | [`source`] with [`Crowd::variant`](crate::Crowd::variant) | [`field_source`] with [`Field::variant`](crate::Field::variant) |
//! | vertex buffers | `vertex_buffers` | `field_vertex_buffers` |
//! | bind group layout of the model | `CrowdRenderer::model_layout`, [`model_layout_entries`] | `CrowdRenderer::field_layout`, [`field_layout_entries`] |
//! | draw | `Crowd::draw_with` | `Field::draw_with` |
//!
//! The vertex shader of a crowd in [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) reads four storage buffers. If the limit
//! of the device is higher, it reads one more with motion vectors, and one more if vertices have more than four influences.
//! The default limit of wgpu is eight. [`Variant::has_vertex_index`] tells in which cases `GpuskinInput` has the index of the vertex.
//!
//! # Functions of the shader
//!
//! Times are `vec2<u32>`: [`Time::words`](crate::Time::words). Only vertex mode and fields evaluate poses at them: poses of
//! bones are those of the last `prepare`.
//!
//! | function | result |
//! |---|---|
//! | `gpuskin_skin_vertex(GpuskinInput, time) -> GpuskinSkinned` | skinned vertex of an instance, world space |
//! | `gpuskin_skin_previous_vertex(GpuskinInput, previous_time) -> GpuskinSkinned` | the vertex at the previous time, for motion vectors |
//! | `gpuskin_unpack(GpuskinInput) -> GpuskinVertex` | vertex of the mesh before skinning: texture coordinates, colour |
//! | `gpuskin_instance_of(GpuskinInput, time) -> GpuskinInstance` | transform of the instance; without a palette also what it plays |
//! | `gpuskin_appearance_of(GpuskinInput) -> GpuskinAppearance` | tint, hidden parts and custom data of the instance |
//! | `gpuskin_appearance_words(GpuskinInput) -> vec4<u32>` | the same, packed: to pass it on to fragments as few numbers; `gpuskin_appearance(words)` unpacks all, `gpuskin_unorm4x8(words.x)` the tint |
//! | `gpuskin_second_uv(GpuskinInput) -> vec2<f32>` | texture coordinates of textures whose coordinates differ from those of the base colour; only with [`Variant::has_second_uv`] |
//! | `gpuskin_variant_of(GpuskinInput) -> u32` | number of the instance's variant: [`ModelVariant::index`](crate::ModelVariant::index); only with [`Variant::has_variants`] |
//! | `gpuskin_instance_number(GpuskinInput) -> u32` | number of the instance within its draw, for picking |
//! | `gpuskin_point(GpuskinInstance, p)`, `gpuskin_direction` | model space to world space |
//! | `gpuskin_pose_source(GpuskinInput, GpuskinInstance, time) -> GpuskinPoseSource` | where the pose is: frames of a texture, a place in a texture of poses, or a palette slot |
//! | `gpuskin_bone(GpuskinPoseSource, bone) -> mat3x4<f32>` | skinning matrix of a bone; use as `vec4(p, 1.0) * matrix` |
//! | `gpuskin_blend_bones(GpuskinPoseSource, GpuskinVertex) -> mat3x4<f32>` | skinning matrix of a vertex |
//! | `gpuskin_skin(mat3x4<f32>, GpuskinVertex) -> GpuskinSkinned` | skinned vertex, model space |
//! | `gpuskin_in_model(GpuskinPoseSource, GpuskinVertex) -> GpuskinSkinned` | skinned vertex, model space, in any encoding |
//! | `gpuskin_field_instance(number, time)`, `gpuskin_field_appearance(number)` | instance of a field, in [`field_source`] only |
//!
//! Vertices of hidden parts and instances are at the origin of the instance, with a normal of zero: nothing of them is drawn, not even
//! by a shader that moves vertices along normals.
//!
//! Models in vertex mode have no `gpuskin_bone`, `gpuskin_blend_bones` and `gpuskin_skin`.
//!
//! # Motion vectors
//!
//! Skin the vertex twice: at the current time, and at
//! [`CrowdRenderer::previous_time`](crate::CrowdRenderer::previous_time). `RendererDescriptor::motion_vectors` keeps what that
//! needs: without it, instances that commands move and poses of bones have no motion. A clip that has just started stands still in the
//! frame before.
//!
//! ```wgsl
//! struct Motion {
//!     view_proj: mat4x4<f32>,
//!     previous_view_proj: mat4x4<f32>,
//!     time: vec2<u32>,
//!     previous_time: vec2<u32>,
//! }
//! @group(0) @binding(0) var<uniform> motion: Motion;
//!
//! struct Varyings {
//!     @builtin(position) position: vec4<f32>,
//!     @location(0) current: vec4<f32>,
//!     @location(1) previous: vec4<f32>,
//! }
//!
//! @vertex
//! fn vertex(input: GpuskinInput) -> Varyings {
//!     let current = motion.view_proj * vec4<f32>(gpuskin_skin_vertex(input, motion.time).position, 1.0);
//!     let previous = gpuskin_skin_previous_vertex(input, motion.previous_time).position;
//!     return Varyings(current, current, motion.previous_view_proj * vec4<f32>(previous, 1.0));
//! }
//!
//! @fragment
//! fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
//!     // In units of half the width and half the height of the picture.
//!     let current = varyings.current.xy / varyings.current.w;
//!     return vec4<f32>(current - varyings.previous.xy / varyings.previous.w, 0.0, 1.0);
//! }
//! ```

//! # Instances written by the device
//!
//! A compute pass of the game may write the instances of a crowd: spawn them once, then write
//! [`Crowd::instance_buffers`](crate::Crowd::instance_buffers) in the encoder that is passed to `prepare`, before that call.
//! [`instance_writer_source`] has the structures and functions:
//!
//! | function | result |
//! |---|---|
//! | `gpuskin_play(record, clip, rate, phase, seconds, time)` | the record with another clip from `time` on, after a crossfade of some seconds |
//! | `gpuskin_set_rate(record, rate, time)` | the record with another rate of its clip, without a jump |
//! | `gpuskin_cycles_per_second(speed, seconds)` | rate of a clip of this length |
//! | `gpuskin_current_clip(record)` | index of the clip |
//! | `gpuskin_pack_rotation(quaternion)` | rotation of a place record |
//!
//! ```wgsl
//! @group(0) @binding(0) var<uniform> time: vec4<u32>;                 // Time::words(), then padding
//! @group(0) @binding(1) var<storage, read_write> places: array<GpuskinPlaceRecord>;
//! @group(0) @binding(2) var<storage, read_write> playbacks: array<GpuskinPlaybackRecord>;
//!
//! @compute @workgroup_size(64)
//! fn steer(@builtin(global_invocation_id) id: vec3<u32>) {
//!     if (id.x >= arrayLength(&places)) {
//!         return;
//!     }
//!     places[id.x].translation.z += 0.02;
//!     if (gpuskin_current_clip(playbacks[id.x]) != 1u) {
//!         // Clip 1 lasts 0.7 s; it starts at its first frame, after a crossfade of 0.2 s.
//!         let rate = gpuskin_cycles_per_second(1.0, 0.7);
//!         playbacks[id.x] = gpuskin_play(playbacks[id.x], 1u, rate, 0u, 0.2, time.xy);
//!     }
//! }
//! ```

pub use crate::material::Material;
#[cfg(feature = "wgpu")]
pub use crate::render::{
    CustomDraw, CustomPart, InstanceBuffers, MaterialTextures, SampledTexture, VertexBuffers, field_layout_entries,
    field_vertex_buffers, model_layout_entries, vertex_buffers,
};
pub use crate::shader::{
    FREE_LOCATION, Variant, added_morphs_source, cached_source, field_source, instance_writer_source, source,
};
