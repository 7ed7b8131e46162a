//! The renderer: crowds of baked models on wgpu.
//!
//! | group | holds | changes |
//! |---|---|---|
//! | 0 | the view, the clock and the light | a pass |
//! | 1 | animation texture or palette, ranges and clips of a model | a model |
//! | 2 | colour and texture of a material | a part |
//!
//! Vertex buffer 0 holds vertices, 1 the [`InstanceRecord`](crate::InstanceRecord)s, 2 the
//! [`InstanceLook`](crate::InstanceLook)s. No storage buffers,
//! no compute: WebGL2's limits are enough. Only for models in [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) a
//! compute pass finds the instances that a view sees, another writes their bones into a palette, and the vertex shader
//! reads both from storage buffers; draws are indirect, as many whatever the number of instances. [Layers](crate::layers)
//! and live bones enter with the poses. [Poses that instances share](crate::cache) are skinned once.

mod attach;
mod cache;
mod capture;
mod commands;
mod compute;
mod crowd;
mod cull;
mod descriptor;
mod error;
mod explain;
mod field;
mod geometry;
mod instances;
mod layers;
mod layouts;
mod live;
mod material;
mod occlusion;
mod palette;
mod pipelines;
mod posed;
mod renderer;
mod scatter;
mod staging;
mod textures;
mod view;

pub use attach::AttachmentId;
pub use cache::{CacheState, Share, time_errors};
pub use capture::{Capture, CaptureFrame, CapturedVertex, capture};
pub use crowd::{Crowd, CrowdDescriptor};
pub use descriptor::{DepthPass, RendererDescriptor};
pub use error::Error;
pub use explain::{CullingState, DrawPath, Explanation};
pub use field::Field;
pub use instances::InstanceId;
pub use layouts::{VertexBuffers, field_vertex_buffers, vertex_buffers};
pub use renderer::CrowdRenderer;
pub use textures::{MaterialTextures, SampledTexture};
pub use view::{Camera, Light, View};

#[cfg(test)]
pub(crate) use capture::CaptureUniform;
#[cfg(test)]
pub(crate) use material::MaterialUniform;
#[cfg(test)]
pub(crate) use view::SceneUniform;
