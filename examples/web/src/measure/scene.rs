//! Contents of pictures.

use std::pin::Pin;

use gpuskin_rt::internals::render::DrawPath;
use gpuskin_rt::tools::DrawCounts;
use gpuskin_rt::{BakedModel, Camera, Crowd, CrowdDescriptor, CrowdRenderer, Error, wgpu};

/// Time of the first frame of a picture, seconds.
pub(super) const TIME: f64 = 1.7;

/// Device, renderer and path that a scene is made with.
pub(super) struct Stage<'a> {
    pub(super) device: &'a wgpu::Device,
    pub(super) queue: &'a wgpu::Queue,
    pub(super) renderer: &'a mut CrowdRenderer,
    /// Path of all crowds; `None`: that of the device.
    pub(super) path: Option<DrawPath>,
}

/// Number of instances that were drawn, which the device is asked for.
pub(super) type Count = Pin<Box<dyn Future<Output = Result<DrawCounts, Error>>>>;

/// Contents of a picture. Crowds and fields are drawn as long as their handles exist.
pub(super) trait Scene {
    fn camera(&self) -> Camera;

    /// Changes the scene before its second frame.
    fn change(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Draws with pipelines of the game, after the renderer.
    fn draw(&self, _: &mut wgpu::RenderPass<'_>) {}

    /// Returns what the runtime says of the scene after it was drawn.
    fn facts(&self, _: &CrowdRenderer) -> Vec<String> {
        Vec::new()
    }

    /// Counts instances that the last frame drew, and says what each number is.
    fn counts(&self, _: &CrowdRenderer) -> Vec<(&'static str, Count)> {
        Vec::new()
    }
}

impl Stage<'_> {
    /// Makes an empty crowd.
    pub(super) fn crowd<M: BakedModel>(&mut self, capacity: u32) -> Result<Crowd<M>, Error> {
        Crowd::new(self.renderer, CrowdDescriptor { capacity, path: self.path, ..Default::default() })
    }
}
