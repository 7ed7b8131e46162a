//! Crowd renderer: draws baked models with wgpu.
//!
//! | bind group | contents | changes |
//! |---|---|---|
//! | 0 | view, time and light | per pass |
//! | 1 | animation texture or palette, value ranges and clips of a model | per model |
//! | 2 | colour and texture of a material | per part |
//!
//! Vertex buffer 0 holds vertices, buffer 1 the [`InstanceRecord`](crate::InstanceRecord)s, buffer
//! 2 the [`Appearance`](crate::Appearance)s. WebGL2's limits are enough: no storage buffers, no
//! compute. Only models in [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) need compute:
//! one pass finds the instances that a view sees, another writes their bones into a palette, and
//! the vertex shader reads both from storage buffers. Draws are indirect, and their number does not
//! depend on the number of instances. [Layers](crate::layers) and live bones are applied when poses
//! are evaluated. [Poses shared by several instances](crate::cache) are skinned once.

mod attach;
mod cache;
#[cfg(feature = "testing")]
mod capture;
mod commands;
mod compute;
mod cpu_model;
mod crowd;
mod cull;
mod custom_draw;
mod descriptor;
mod error;
mod explain;
mod field;
mod geometry;
mod gpu;
mod instances;
mod layers;
mod layouts;
mod live;
mod material;
mod occlusion;
mod palette;
mod pipelines;
mod renderer;
mod scatter;
mod staging;
mod stale;
mod textures;
mod view;

pub use attach::AttachmentId;
#[cfg(feature = "testing")]
pub use cache::time_grid_errors;
pub use cache::{CacheState, PoseSharing};
#[cfg(feature = "testing")]
pub use capture::{Capture, CaptureFrame, CapturedVertex};
#[cfg(feature = "testing")]
pub use cpu_model::CpuModel;
#[cfg(feature = "testing")]
pub use crowd::DrawCounts;
pub use crowd::{Crowd, CrowdDescriptor};
pub use custom_draw::{CustomDraw, CustomPart};
pub use descriptor::{DepthPass, RendererDescriptor};
pub use error::Error;
pub use explain::{CullingState, DrawPath, Explanation};
pub use field::Field;
pub use instances::InstanceId;
pub use layouts::{VertexBuffers, field_vertex_buffers, vertex_buffers};
pub use renderer::CrowdRenderer;
pub use stale::StaleId;
pub use textures::{MaterialTextures, SampledTexture};
pub use view::{Camera, Light, View};

#[cfg(all(test, feature = "testing"))]
pub(crate) use capture::CaptureUniform;
#[cfg(test)]
pub(crate) use material::MaterialUniform;
#[cfg(test)]
pub(crate) use view::SceneUniform;
