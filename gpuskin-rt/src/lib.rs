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
#[cfg(feature = "wgpu")]
pub mod render;
pub mod shader;
pub mod skin;
mod skin_matrix;
mod time;
pub mod vertex;

pub use encoding::{Encoding, TexelFormat, Texels};
pub use handle::{BakedModel, Bone, Clip, Dynamic};
pub use instance::{Instance, InstanceRecord};
pub use model::*;
pub use playback::{ClipRecord, FramePair, Playback};
#[cfg(feature = "wgpu")]
pub use render::{Camera, Crowd, CrowdDescriptor, CrowdRenderer, Error, InstanceId, Light, RendererDescriptor, View};
pub use skin_matrix::SkinMatrix;
pub use time::Time;
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
