//! Models on the device, and the choice of the encoding that a device plays.

use std::sync::{Arc, OnceLock};

use super::Error;
use super::geometry::Geometry;
use super::materials::Materials;
use super::palette::computes;
use super::pipelines::Pipelines;
use super::roots::RootClips;
use super::surface::Surface;
use super::textures::Textures;
use crate::Model;

/// Model on the device, ready to draw; crowds of the same model share it.
#[derive(Debug)]
pub(crate) struct GpuModel {
    pub(crate) geometry: Geometry,
    /// Surface of each part of the geometry.
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) materials: Materials,
    pub(crate) textures: Textures,
    /// Root motion of the clips, if any has some.
    pub(crate) roots: Option<Arc<RootClips>>,
    /// Pipelines of each part in a batch, once they are compiled.
    pub(crate) batched: OnceLock<Vec<Arc<Pipelines>>>,
}

/// Returns the first encoding of a model that a device can play: the model itself, or one of its
/// alternatives.
pub(crate) fn playable<'m>(device: &wgpu::Device, model: &'m Model) -> Result<&'m Model, Error> {
    let limits = device.limits();
    let plays =
        |model: &Model| if model.meta.encoding.needs_compute() { computes(&limits, &model.meta) } else { Ok(()) };
    match plays(model) {
        Ok(()) => Ok(model),
        Err(error) => model.others.iter().find(|other| plays(other).is_ok()).ok_or(error),
    }
}

/// Returns the first encoding of a model that has an animation texture: the model itself, or one of
/// its alternatives.
pub(crate) fn textured(model: &Model) -> Option<&Model> {
    std::iter::once(model).chain(model.others.iter()).find(|model| !model.meta.encoding.needs_compute())
}
