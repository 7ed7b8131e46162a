//! What a renderer is asked for.

use super::{Error, Light};

/// What a renderer draws to, and in what light.
#[derive(Clone, Debug)]
pub struct RendererDescriptor {
    /// Format of the colour attachment. Linear light is written: choose an sRGB or a float format.
    pub color_format: wgpu::TextureFormat,
    /// Format of the depth attachment, if there is one.
    pub depth_format: Option<wgpu::TextureFormat>,
    /// Which depth wins, here and in depth passes: `Greater` for reversed depth.
    pub depth_compare: wgpu::CompareFunction,
    /// Samples of a pixel.
    pub sample_count: u32,
    /// What [`CrowdRenderer::draw_depth`](super::CrowdRenderer::draw_depth) draws to.
    pub depth_pass: DepthPass,
    /// The light to start with.
    pub light: Light,
    /// Instances that no view sees cost neither a pose nor a draw, where the device and the model have it: models in
    /// [`crate::Encoding::LocalPacked`], up to 15 views. By what clips reach: [`crate::ClipInfo::bounds`].
    pub culling: bool,
    /// Pixels that a level of detail may be off where an instance is nearest to the camera, in a picture of
    /// [`Camera::height`](super::Camera::height); 0 draws everything in its finest level. Levels are chosen where instances are culled; elsewhere
    /// they are drawn in the finest.
    pub lod_error: f32,
    /// Instances that others hide, or that the game's own things do, cost the main view neither a pose nor a draw, where
    /// instances are culled: see [`CrowdRenderer::reveal`], which must then be called in every frame. It takes a second list
    /// of instances for the main view, and 4 bytes an instance. `depth_compare` tells which way depth grows. Not on OpenGL,
    /// where all that is in sight is drawn at first.
    ///
    /// [`CrowdRenderer::reveal`]: super::CrowdRenderer::reveal
    pub occlusion: bool,
    /// Whether poses of the frame before are kept for motion vectors, which [`crate::shader`] makes, in models in
    /// [`crate::Encoding::LocalPacked`] too. Their poses then take twice the memory, and twice the time to evaluate. Models in other
    /// encodings, and fields, have them anyway.
    pub motion_vectors: bool,
}

impl Default for RendererDescriptor {
    fn default() -> Self {
        Self {
            color_format: wgpu::TextureFormat::Rgba8UnormSrgb,
            depth_format: Some(wgpu::TextureFormat::Depth32Float),
            depth_compare: wgpu::CompareFunction::Less,
            sample_count: 1,
            depth_pass: DepthPass::default(),
            light: Light::default(),
            culling: true,
            lod_error: 1.0,
            occlusion: false,
            motion_vectors: false,
        }
    }
}

/// A pass without colour: a shadow map, or depth before colour.
#[derive(Clone, Debug)]
pub struct DepthPass {
    /// Format of the depth attachment.
    pub format: wgpu::TextureFormat,
    /// Samples of a pixel.
    pub sample_count: u32,
    /// Added to depth, against shadows of a surface on itself.
    pub bias: wgpu::DepthBiasState,
}

impl Default for DepthPass {
    fn default() -> Self {
        Self { format: wgpu::TextureFormat::Depth32Float, sample_count: 1, bias: wgpu::DepthBiasState::default() }
    }
}

impl RendererDescriptor {
    /// Whether depth is 1 near and 0 far away; `None` where depth does not tell what hides what.
    pub(super) fn reversed_depth(&self) -> Option<bool> {
        match self.depth_compare {
            wgpu::CompareFunction::Less | wgpu::CompareFunction::LessEqual => Some(false),
            wgpu::CompareFunction::Greater | wgpu::CompareFunction::GreaterEqual => Some(true),
            _ => None,
        }
    }

    /// Whether a device can draw to these formats.
    pub(super) fn check(&self, device: &wgpu::Device) -> Result<(), Error> {
        let wrong = |reason: String| Err(Error::Descriptor { reason });
        let color = self.color_format;
        let filterable = matches!(color.sample_type(None, None), Some(wgpu::TextureSampleType::Float { .. }));
        if !filterable || color.is_compressed() {
            return wrong(format!("color_format: {color:?} is no colour of floating point; Rgba8UnormSrgb is one"));
        }
        if self.occlusion && self.reversed_depth().is_none() {
            let compare = self.depth_compare;
            return wrong(format!(
                "occlusion: depth_compare must be Less, LessEqual, Greater or GreaterEqual, not {compare:?}"
            ));
        }
        let depth = self.depth_format.map(|format| ("depth_format", format));
        for (field, format) in depth.into_iter().chain([("depth_pass.format", self.depth_pass.format)]) {
            if !format.has_depth_aspect() {
                return wrong(format!("{field}: {format:?} has no depth; Depth32Float has"));
            }
        }
        let depth = self.depth_format.map(|format| ("sample_count", format, self.sample_count));
        let passes = [
            ("sample_count", color, self.sample_count),
            ("depth_pass.sample_count", self.depth_pass.format, self.depth_pass.sample_count),
        ];
        for (field, format, count) in passes.into_iter().chain(depth) {
            if !device.features().contains(format.required_features()) {
                return wrong(format!("{format:?} needs the device feature {:?}", format.required_features()));
            }
            let features = format.guaranteed_format_features(device.features());
            if !features.allowed_usages.contains(wgpu::TextureUsages::RENDER_ATTACHMENT) {
                return wrong(format!("{format:?} cannot be drawn to on this device; Rgba8UnormSrgb can"));
            }
            // With this feature only the adapter knows.
            let adapter_knows = wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES;
            if !device.features().contains(adapter_knows) && !features.flags.sample_count_supported(count) {
                return wrong(format!("{field}: {count} samples of {format:?} are not supported; 1 always are"));
            }
        }
        Ok(())
    }
}
