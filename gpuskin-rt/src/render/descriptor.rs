//! Descriptors of a renderer, its depth passes and its crowds.

use core::fmt;

use super::shading::Shading;
use super::{Error, Light};

/// Render targets, light and options of a renderer.
#[derive(Clone, Debug)]
pub struct RendererDescriptor {
    /// Format of the colour attachment. The shaders write linear light: choose an sRGB or a float
    /// format.
    pub color_format: wgpu::TextureFormat,
    /// Format of the depth attachment; `None` without one.
    pub depth_format: Option<wgpu::TextureFormat>,
    /// Depth comparison of colour and depth passes: `Greater` for reversed depth.
    pub depth_compare: wgpu::CompareFunction,
    /// Samples per pixel.
    pub sample_count: u32,
    /// Render target of [`CrowdRenderer::draw_depth`](super::CrowdRenderer::draw_depth).
    pub depth_pass: DepthPass,
    /// Initial light.
    pub light: Light,
    /// Shading of the built-in material.
    pub shading: Shading,
    /// Whether instances outside all views are culled, so that they cost neither a pose nor a draw.
    /// Works for models in [`crate::Encoding::LocalPacked`] on devices with compute, and for up to
    /// [`View::MAX_CULLED`](super::View::MAX_CULLED) views. Instances are tested by the bounds of their clips:
    /// [`crate::ClipInfo::bounds`].
    pub culling: bool,
    /// Allowed LOD error in pixels, where an instance is nearest to the camera, in a picture of
    /// [`Camera::height`](super::Camera::height). 0 draws everything in the finest LOD. LODs are
    /// chosen where instances are culled; elsewhere, instances are drawn in the finest LOD. In the renderer's shadow maps, 1.5
    /// times as many texels are allowed. Of vertices with more than four influences, the greatest four are used where their
    /// error, which the bake measures, and that of the LOD together are within it, on draw paths with a palette.
    pub lod_error: f32,
    /// Whether occluded instances are left out of the main view, so that they cost it neither a
    /// pose nor a draw. Other instances and the game's own geometry occlude. Needs culling, and a
    /// call of [`CrowdRenderer::reveal`] in every frame. Costs a second instance list for the main
    /// view and 4 bytes per instance. `depth_compare` gives the direction of depth. On OpenGL, all
    /// instances in view are drawn in the first pass.
    ///
    /// [`CrowdRenderer::reveal`]: super::CrowdRenderer::reveal
    pub occlusion: bool,
    /// Whether the previous frame is kept for motion vectors, which [`pipeline`](crate::pipeline) computes:
    /// transforms of instances, 32 bytes each, and poses of bones, which then take twice the memory and twice the time
    /// to evaluate. Without it, these poses and instances that commands move have no motion; poses in vertex mode and
    /// fields have.
    ///
    /// Moved instances of [`crate::Encoding::LocalPacked`] have no motion where shaders can bind fewer than
    /// five storage buffers; the default limit of wgpu is eight.
    pub motion_vectors: bool,
    /// Memory limit in bytes for sums of morph targets, where a compute pass evaluates poses: of each palette of a crowd,
    /// which has several only where one binding of the device cannot hold all bones. A visible instance takes 24 bytes per
    /// vertex that targets move, 36 if vertices have tangents, and twice that with
    /// [`motion_vectors`](Self::motion_vectors); its deltas are then added once per frame. Where memory is short,
    /// vertices of further instances add their deltas in each pass, with the same result. 0: all of them do.
    pub morph_bytes: u64,
}

/// Default of [`RendererDescriptor::morph_bytes`].
pub(crate) const MORPH_BYTES: u64 = 256 << 20;

impl Default for RendererDescriptor {
    fn default() -> Self {
        Self {
            color_format: wgpu::TextureFormat::Rgba8UnormSrgb,
            depth_format: Some(wgpu::TextureFormat::Depth32Float),
            depth_compare: wgpu::CompareFunction::Less,
            sample_count: 1,
            depth_pass: DepthPass::default(),
            light: Light::default(),
            shading: Shading::default(),
            culling: true,
            lod_error: 1.0,
            occlusion: false,
            motion_vectors: false,
            morph_bytes: MORPH_BYTES,
        }
    }
}

/// Render target of a pass without colour: a shadow map or a depth pre-pass.
#[derive(Clone, Debug)]
pub struct DepthPass {
    /// Format of the depth attachment.
    pub format: wgpu::TextureFormat,
    /// Samples per pixel.
    pub sample_count: u32,
    /// Depth bias, against self-shadowing.
    pub bias: wgpu::DepthBiasState,
}

impl Default for DepthPass {
    fn default() -> Self {
        Self { format: wgpu::TextureFormat::Depth32Float, sample_count: 1, bias: wgpu::DepthBiasState::default() }
    }
}

impl RendererDescriptor {
    /// Whether depth is 1 at the near plane and 0 far away; `None` if `depth_compare` does not
    /// order surfaces by depth.
    pub(super) fn reversed_depth(&self) -> Option<bool> {
        match self.depth_compare {
            wgpu::CompareFunction::Less | wgpu::CompareFunction::LessEqual => Some(false),
            wgpu::CompareFunction::Greater | wgpu::CompareFunction::GreaterEqual => Some(true),
            _ => None,
        }
    }

    /// Checks that the device can draw to the formats.
    pub(super) fn check(&self, device: &wgpu::Device) -> Result<(), Error> {
        let wrong = |reason: String| Err(Error::Descriptor { reason });
        let color = self.color_format;
        let filterable = matches!(color.sample_type(None, None), Some(wgpu::TextureSampleType::Float { .. }));
        if !filterable || color.is_compressed() {
            return wrong(format!(
                "color_format: {color:?} is not a float or normalised colour format; use Rgba8UnormSrgb, for example"
            ));
        }
        if self.occlusion && self.reversed_depth().is_none() {
            let compare = self.depth_compare;
            return wrong(format!(
                "occlusion: depth_compare must be Less, LessEqual, Greater or GreaterEqual, not {compare:?}"
            ));
        }
        if let Some(features) = self.shading.features() {
            features.check_lights(device)?;
            features.check_shadows(device, self.depth_compare, self.reversed_depth())?;
        }
        let depth = self.depth_format.map(|format| ("depth_format", format));
        for (field, format) in depth.into_iter().chain([("depth_pass.format", self.depth_pass.format)]) {
            if !format.has_depth_aspect() {
                return wrong(format!("{field}: {format:?} is not a depth format; use Depth32Float, for example"));
            }
        }
        let depth = self.depth_format.map(|format| ("sample_count", format, self.sample_count));
        let passes = [
            ("sample_count", color, self.sample_count),
            ("depth_pass.sample_count", self.depth_pass.format, self.depth_pass.sample_count),
        ];
        for (field, format, count) in passes.into_iter().chain(depth) {
            if !device.features().contains(format.required_features()) {
                return wrong(format!(
                    "{format:?} needs the device feature {:?}; request the device with it",
                    format.required_features()
                ));
            }
            let features = format.guaranteed_format_features(device.features());
            if !features.allowed_usages.contains(wgpu::TextureUsages::RENDER_ATTACHMENT) {
                return wrong(format!("this device cannot draw to {format:?}; use Rgba8UnormSrgb, for example"));
            }
            // With this feature, only the adapter knows the supported sample counts.
            let adapter_knows = wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES;
            if !device.features().contains(adapter_knows) && !features.flags.sample_count_supported(count) {
                return wrong(format!("{field}: {count} samples of {format:?} are not supported; 1 always is"));
            }
        }
        Ok(())
    }
}

/// Options of a new crowd.
#[derive(Clone, Debug)]
pub struct CrowdDescriptor {
    /// Number of instances to reserve memory for. A crowd that outgrows its capacity doubles it,
    /// and uploads all instances once.
    pub capacity: u32,
    /// Largest number of instances that all views together show at once, where instances are
    /// culled. Palettes reserve memory for that many poses, 48 bytes per bone each. If more
    /// instances are visible, vertices evaluate the poses of those beyond, which takes several times as long. Where shaders
    /// cannot ([`CrowdDescriptor::pose_bytes`] names the cases), those beyond use the poses of other instances, at their own
    /// positions. `None`: [`CrowdDescriptor::pose_bytes`] decides.
    pub visible: Option<u32>,
    /// Bytes of poses for which a palette always has room, where [`CrowdDescriptor::visible`] is `None`; a pose takes 48
    /// bytes per bone, twice that with [`motion_vectors`](super::RendererDescriptor::motion_vectors). Beyond it, memory follows
    /// the number of instances that views show, and shrinks some frames after it. If the room is short nevertheless, vertices
    /// evaluate the other poses: the picture is the same, and takes longer to draw.
    ///
    /// There is always room for all instances where vertices cannot evaluate poses: once the crowd has layers, live bones or
    /// attachments, for models with morph targets, with a [`CrowdDescriptor::time_grid`], without culling, without the device
    /// feature `INDIRECT_FIRST_INSTANCE` and on D3D12; also once the game has asked for the
    /// [`instance_buffers`](super::Crowd::instance_buffers), and from the frame after the first one in which
    /// [`draw_with`](super::Crowd::draw_with) draws the crowd. That first frame lacks the instances without room: for a crowd
    /// that a game's own pipelines draw, `u64::MAX` makes room for all from the start. With it, vertices evaluate no poses.
    pub pose_bytes: u64,
    /// Step of the time grid in seconds of a clip, such as 1.0 / 30.0; applies where instances are
    /// culled. Instances without a fade or a layer snap to the nearest sample of their clip, at
    /// most half a step away. The error is the movement of a vertex in that time at the clip's own
    /// speed, whatever the speed of the instance; `tools::time_grid_errors` measures it. Instances snap only if the error cannot be seen, as set by
    /// [`CrowdDescriptor::sharing`]. Shared poses are composed and skinned once, and cached: all
    /// views draw them like static meshes. `None`: every instance plays its exact time.
    pub time_grid: Option<f32>,
    /// Condition under which instances share poses on the time grid.
    pub sharing: PoseSharing,
    /// Memory limit of the pose cache in bytes; a pose takes 16 bytes per vertex and 48 bytes per
    /// bone. If the samples of all clips do not fit, nothing is cached, unless
    /// [`CrowdDescriptor::path`] asks for it. In that case, the cache is emptied after a frame in
    /// which it was full, and an instance that finds no cached pose gets one of its own.
    pub cache_bytes: u64,
    /// Source of poses for the vertex shader. `None` chooses: the palette if the device can compose
    /// poses, the cache if there is also a [`CrowdDescriptor::time_grid`] and memory for all its
    /// samples, else the animation texture.
    #[doc(hidden)]
    pub path: Option<DrawPath>,
}

impl Default for CrowdDescriptor {
    fn default() -> Self {
        Self {
            capacity: 256,
            visible: None,
            pose_bytes: 32 << 20,
            time_grid: None,
            sharing: PoseSharing::WithinLodError,
            cache_bytes: 128 << 20,
            path: None,
        }
    }
}

/// Condition under which instances share poses; needs a [`CrowdDescriptor::time_grid`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoseSharing {
    /// An instance shares a pose if no view shows the difference. Its vertices then are at most
    /// [`RendererDescriptor::lod_error`](super::RendererDescriptor::lod_error) pixels from their
    /// exact position, estimated from the movement of the clip's bones in half a grid step. Nearer
    /// instances play their exact time. No instance shares a pose if `lod_error` is 0.
    #[default]
    WithinLodError,
    /// All instances share poses, however near.
    Always,
}

/// Source from which the vertex shader reads bones.
///
/// The path follows from the encoding that the device plays, and from whether instances share
/// poses. A render pass can draw poses from an animation texture. Poses of [`Encoding::LocalPacked`](crate::Encoding::LocalPacked)
/// must be composed first, and a pose that many instances share is worth caching.
/// [`CrowdDescriptor::path`](super::CrowdDescriptor::path) asks for a given path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrawPath {
    /// A render pass draws the bones of each visible instance into a texture once per view and frame, and vertices read
    /// them there: 48 bytes per bone. In vertex mode, each vertex reads the animation texture. No compute, no storage
    /// buffers.
    Direct,
    /// A compute pass writes the bones of each visible instance once per frame; vertices of all
    /// passes read them.
    Palette,
    /// [`DrawPath::Palette`] with a pose cache: poses at the samples of a time grid are composed
    /// and skinned once, cached, and drawn like static meshes. See
    /// [`CrowdDescriptor::time_grid`](super::CrowdDescriptor::time_grid).
    Cache,
}

impl fmt::Display for DrawPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Direct => "direct",
            Self::Palette => "palette",
            Self::Cache => "cache",
        })
    }
}
