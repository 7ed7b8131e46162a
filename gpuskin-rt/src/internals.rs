//! Internals for `gpuskin-build`, its generated code, and the tests of this workspace. Not part of
//! the public API: anything here changes without notice.

#[cfg(feature = "dynamic")]
pub use crate::LoadError;
pub use crate::aabb::Aabb;
pub use crate::encoding::{TexelFormat, Texels};
pub use crate::files::{released_folder, released_len};
pub use crate::handle::*;
pub use crate::list::{List, Str};
pub use crate::material::{ColorFormat, ColorTexture, Material, MaterialTexture, Wrap};
pub use crate::model::*;
pub use crate::playback::{ClipRecord, FramePair, HeldFrames};
pub use crate::record::PoseBlend;
pub use crate::skin_matrix::{Affine3, compose};
pub use crate::vertex::{Packing, VertexFormat, VertexRange};
#[cfg(feature = "wgpu")]
pub use crate::{
    Ambient, AttachmentId, Camera, Crowd, CrowdDescriptor, CrowdRenderer, DepthPass, Error, Explanation, Field, Fog,
    FogDensity, InstanceId, Light, LightCone, LightShadowDescriptor, Lighting, LightingFeatures, PoseSharing,
    PunctualLight, RendererDescriptor, Shading, ShadowDescriptor, StaleId, Sun, ToneMapping, View, wgpu,
};
pub use crate::{
    Appearance, Attachment, Curve, Encoding, Environment, EventQueue, FieldDescriptor, FiredEvent, FiredEventKind,
    Instance, InstancePose, InstanceRecord, LayerSet, LiveBones, Motion, Playback, Repeat, SocketError, Sockets,
    Terrain, Time, Transform, Transition, Wind,
};

macro_rules! modules {
    ($($(#[$attribute:meta])* $module:ident),* $(,)?) => {$(
        $(#[$attribute])*
        pub mod $module {
            #![allow(missing_docs)]
            pub use crate::$module::*;
        }
    )*};
}

modules!(
    batch,
    cache,
    cull,
    encoding,
    event_queue,
    field,
    files,
    layers,
    local,
    morph,
    motion,
    playback,
    #[cfg(feature = "wgpu")]
    render,
    root_motion,
    shader,
    skin,
    vertex,
);
