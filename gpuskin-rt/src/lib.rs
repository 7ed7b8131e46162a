//! Draws crowds of skinned characters from baked animation textures.
//!
//! Without the default feature `wgpu` this crate is the data layout and the CPU twins of the shaders: what a build
//! script needs, and what a headless server uses to agree with the picture.

mod encoding;
pub mod files;
mod handle;
mod instance;
mod model;
pub mod playback;
pub mod skin;
mod skin_matrix;
mod time;
pub mod vertex;

pub use encoding::{Encoding, TexelFormat, Texels};
pub use handle::{BakedModel, Bone, Clip, Dynamic};
pub use instance::{Instance, InstanceRecord};
pub use model::*;
pub use playback::{ClipRecord, FramePair, Playback};
pub use skin_matrix::SkinMatrix;
pub use time::Time;
pub use vertex::{Packing, VertexFormat, VertexRange};
