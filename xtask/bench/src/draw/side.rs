//! A crowd, and how this benchmark draws it.

use std::cell::RefCell;

use gpuskin_rt::internals::render::{CustomDraw, CustomPart, PoseSharing, vertex_buffers};
use gpuskin_rt::internals::{
    Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Encoding, Instance, Mask, Model, RendererDescriptor,
    Repeat, Transition, View, shader, wgpu,
};

use super::gpu::pipeline;
use super::placed::{Placed, SHADING, SUNS};
use crate::context::Context;

/// Duration of a fade, and the time in it at which frames are drawn, in seconds.
const FADE: f32 = 60.0;
const MIDDLE: f64 = 30.0;
/// Step of the time grid of shared poses, in seconds.
const GRID: f32 = 1.0 / 30.0;

const SKINNED: &str = r"
@vertex
fn vertex(input: GpuskinInput) -> Varyings {
    let skinned = gpuskin_skin_vertex(input, view.clock.xy);
    return Varyings(view.view_proj * vec4<f32>(skinned.position, 1.0), skinned.uv, skinned.normal);
}
";

/// How the crowd is drawn.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shows {
    /// Draws with the plain shading of all methods.
    Plain,
    /// Draws with the renderer's material.
    Textured,
    /// Culls and evaluates poses, and draws an empty pass.
    Nothing,
}

/// Settings of a crowd.
#[derive(Clone, Copy, Default)]
pub(super) struct Asks {
    /// Whether the crowd is drawn to shadow maps too.
    pub(super) shadows: bool,
    /// Whether a fifth of the instances are in the middle of a fade, and a tenth have a layer on a
    /// mask.
    pub(super) behaves: bool,
    /// Whether instances share poses on a time grid, in a cache of skinned vertices.
    pub(super) shared: bool,
    /// [`RendererDescriptor::lod_error`]. 0 where all triangles are drawn, as the static baseline does.
    pub(super) lod_error: f32,
}

/// Crowd in its own renderer.
pub(super) struct Side {
    renderer: RefCell<CrowdRenderer>,
    crowd: Crowd<Dynamic>,
    pipeline: wgpu::RenderPipeline,
    /// Pipeline for vertices of the pose cache, if there is one.
    cached: Option<wgpu::RenderPipeline>,
    /// Pipeline for vertices whose morph targets a compute pass has added, if there are any.
    added: Option<wgpu::RenderPipeline>,
    /// Views of the shadow passes; empty without them.
    pub(super) suns: Vec<View>,
    pub(super) asks: Asks,
}

impl Side {
    pub(super) fn new(
        context: &Context,
        model: &Model,
        view: &wgpu::BindGroupLayout,
        places: &[Placed],
        asks: Asks,
    ) -> Result<Self, String> {
        let Asks { shadows, behaves, shared, lod_error } = asks;
        let failed = |e: gpuskin_rt::internals::Error| e.to_string();
        let descriptor = RendererDescriptor { lod_error, morph_bytes: 1 << 30, ..Default::default() };
        let mut renderer = CrowdRenderer::new(&context.device, &context.queue, descriptor).map_err(failed)?;
        let descriptor = CrowdDescriptor {
            capacity: places.len() as u32,
            time_grid: shared.then_some(GRID),
            sharing: PoseSharing::Always,
            cache_bytes: 1 << 30,
            ..Default::default()
        };
        let crowd = Crowd::with_model(&mut renderer, model, descriptor).map_err(failed)?;
        let clips = model.meta.clips.len() as u16;
        for (i, placed) in places.iter().enumerate() {
            let [x, y, z, scale] = placed.place;
            let instance = Instance::at([x, y, z]).rotated(placed.rotation).scaled(scale);
            let id = crowd.spawn(instance.play(Clip::new(placed.clip)).phase(placed.phase).repeat(Repeat::Loop));
            if behaves && i % 5 == 0 {
                crowd
                    .play(id, Clip::new((placed.clip + 1) % clips), Transition::crossfade(FADE).repeat(Repeat::Loop))
                    .unwrap();
            }
            if behaves && i % 10 == 1 {
                let mask = (!model.meta.masks.is_empty()).then(|| Mask::new(0));
                let clip = Clip::new((placed.clip + 1) % clips);
                crowd
                    .play_layer(id, 0, clip, mask, Transition::crossfade(0.2).repeat(Repeat::Loop), 1.0)
                    .map_err(failed)?;
            }
        }
        let suns = (0..if shadows { SUNS } else { 0 }).map(|_| renderer.add_view()).collect();
        let variant = crowd.variant();
        let buffers = vertex_buffers(variant);
        let groups = [Some(view), Some(renderer.model_layout(variant))];
        let of =
            |text: String| pipeline(&context.device, &(text + SHADING + SKINNED), &groups, &buffers.layouts(), false);
        let cached = shared.then(|| of(shader::cached_source(variant, 1)));
        let added = (variant.morphs == shader::MorphUse::Applied && variant.encoding.needs_compute())
            .then(|| of(shader::added_morphs_source(variant, 1)));
        let pipeline = of(shader::source(variant, 1));
        Ok(Self { pipeline, renderer: renderer.into(), crowd, cached, added, suns, asks })
    }

    /// Name of the draw path and of the encoding.
    pub(super) fn path(&self) -> String {
        let explained = self.crowd.explain(&self.renderer.borrow());
        format!("{}, {}", explained.path, explained.encoding.name())
    }

    pub(super) fn encoding(&self) -> Encoding {
        self.crowd.variant().encoding
    }

    /// Whether this is the crowd that other methods are compared with.
    pub(super) fn is_first(&self) -> bool {
        self.encoding() == Encoding::LocalPacked && !self.asks.behaves && !self.asks.shared && self.suns.is_empty()
    }

    /// Time on the crowd's clock for a frame at `seconds`.
    pub(super) fn clock(seconds: f64) -> f64 {
        MIDDLE + seconds
    }

    pub(super) fn prepare(
        &self,
        context: &Context,
        encoder: &mut wgpu::CommandEncoder,
        [eye, suns @ ..]: &[Camera; SUNS + 1],
        seconds: f64,
    ) -> Result<(), String> {
        let failed = |e: gpuskin_rt::internals::Error| e.to_string();
        let mut renderer = self.renderer.borrow_mut();
        renderer.prepare(&context.queue, encoder, eye, Self::clock(seconds)).map_err(failed)?;
        for (view, camera) in self.suns.iter().zip(suns) {
            renderer.prepare_view(&context.queue, *view, camera).map_err(failed)?;
        }
        Ok(())
    }

    /// Draws the main view; bind group 0 is the view.
    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, shows: Shows) {
        match shows {
            Shows::Plain => {
                let draw = CustomDraw::new(1).with_pose_cache().with_added_morphs();
                self.crowd.draw_with(pass, draw, |pass, CustomPart { cached, morphs_added, .. }| {
                    let added = self.added.as_ref().filter(|_| morphs_added);
                    pass.set_pipeline(self.cached.as_ref().filter(|_| cached).or(added).unwrap_or(&self.pipeline));
                })
            }
            Shows::Textured => self.renderer.borrow().draw(pass),
            Shows::Nothing => {}
        }
    }

    pub(super) fn draw_depth(&self, pass: &mut wgpu::RenderPass<'_>, sun: usize) {
        self.renderer.borrow().draw_depth(pass, self.suns[sun]);
    }
}
