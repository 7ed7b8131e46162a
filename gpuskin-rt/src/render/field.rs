//! A field: a model many times over, of which nothing is kept but what they have in common.

use core::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glam::Vec3;

use super::crowd::{DrawnPart, GpuModel};
use super::{Camera, CrowdRenderer, Error};
use crate::cull::in_view;
use crate::field::{FieldDescriptor, FieldUniform};
use crate::shader::Variant;
use crate::{Aabb, BakedModel, Dynamic, Metadata, Model};

/// Many instances of one model that a formula makes: grass that sways. A handle into the [`CrowdRenderer`] that draws them
/// with its crowds.
///
/// Clones are handles to the same field; it is gone when the last is dropped. Instances have no ids and take no commands,
/// and cost neither memory nor work on the CPU. A view that sees nothing of a field does not draw it, else all of it is
/// drawn: several fields that [continue each other](crate::field) leave out more.
///
/// Bones or vertices are read from an animation texture: the model must have been baked to one, in vertex mode, for
/// `devices = ["webgl2"]`, or in any encoding but `local-packed`.
///
/// ```no_run
/// # use gpuskin_rt::*;
/// # use gpuskin_rt::field::FieldDescriptor;
/// # fn example<Grass: BakedModel>(renderer: &mut CrowdRenderer, sway: Clip<Grass>) -> Result<(), Error> {
/// let descriptor = FieldDescriptor { size: [300, 300], spacing: [0.4, 0.4], clips: vec![sway], ..Default::default() };
/// let meadow = Field::<Grass>::new(renderer, descriptor)?;
/// # Ok(())
/// # }
/// ```
pub struct Field<M> {
    core: Arc<FieldCore>,
    model: PhantomData<fn() -> M>,
}

// Not derived: these hold whatever M is.
impl<M> Clone for Field<M> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), model: PhantomData }
    }
}
impl<M> core::fmt::Debug for Field<M> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Field").field("core", &self.core).finish()
    }
}

/// What the renderer and the handles of a field share.
#[derive(Debug)]
pub(crate) struct FieldCore {
    model: Arc<GpuModel>,
    /// As the device plays it.
    meta: Metadata,
    pub(crate) parts: Vec<DrawnPart>,
    uniform: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    uniform: FieldUniform,
    count: u32,
    bounds: Option<Aabb>,
    changed: bool,
}

impl State {
    fn new<M>(descriptor: &FieldDescriptor<M>, meta: &Metadata) -> Result<Self, Error> {
        let (count, [x, z]) = (descriptor.count(), descriptor.size);
        let count = u32::try_from(count).map_err(|_| {
            let reason = format!("size: a field of {x} x {z} has {count} instances, and 4,294,967,295 are the most");
            Error::Argument { model: meta.name.to_string(), reason }
        })?;
        let (uniform, bounds) = (FieldUniform::new(descriptor, meta), descriptor.bounds(meta));
        Ok(Self { uniform, count, bounds, changed: true })
    }
}

impl FieldCore {
    pub(crate) fn new(
        device: &wgpu::Device,
        (model, parts): (Arc<GpuModel>, Vec<DrawnPart>),
        meta: &Metadata,
        bind_group: impl FnOnce(&wgpu::Buffer) -> Option<wgpu::BindGroup>,
        descriptor: &FieldDescriptor<impl Sized>,
    ) -> Result<Self, Error> {
        let state = Mutex::new(State::new(descriptor, meta)?);
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin field"),
            size: size_of::<FieldUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bind_group = bind_group(&uniform).ok_or_else(|| not_textured(meta))?;
        Ok(Self { model, meta: meta.clone(), parts, uniform, bind_group, state })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half-done where a panic could be: the state is good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the device up to date.
    pub(crate) fn upload(&self, queue: &wgpu::Queue) {
        let state = &mut *self.state();
        if core::mem::take(&mut state.changed) {
            queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&state.uniform));
        }
    }

    /// Whether a camera may see any of it.
    pub(crate) fn is_in_view(&self, camera: &Camera) -> bool {
        let Some(Aabb { min, max }) = self.state().bounds else { return true };
        let half = 0.5 * (Vec3::from(max) - Vec3::from(min));
        let edges = [Vec3::X * half.x, Vec3::Y * half.y, Vec3::Z * half.z];
        in_view(&camera.view_proj, Vec3::from(min) + half, edges)
    }

    /// Draws all instances; `part` before each part.
    pub(crate) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        group: u32,
        mut part: impl FnMut(&mut wgpu::RenderPass<'_>, &GpuModel, &DrawnPart),
    ) {
        let count = self.state().count;
        pass.set_bind_group(group, &self.bind_group, &[]);
        self.model.geometry.bind_mesh(pass);
        for drawn in &self.parts {
            part(pass, &self.model, drawn);
            let first = drawn.mesh.first_index;
            pass.draw_indexed(first..first + drawn.mesh.index_count, 0, 0..count);
        }
    }
}

/// Why a model has no fields.
pub(crate) fn not_textured(meta: &Metadata) -> Error {
    let reason = format!(
        "fields read poses from an animation texture, and it is baked to {} alone; add \"webgl2\" to `devices` for it in \
         gpuskin.toml, or name another encoding",
        meta.encoding.name()
    );
    Error::Argument { model: meta.name.to_string(), reason }
}

impl<M: BakedModel> Field<M> {
    /// A field of a model that was baked into the program. It shows after the next [`CrowdRenderer::prepare`].
    ///
    /// # Errors
    /// When a file of the model is missing or of another bake, the device cannot hold the model, it has no animation
    /// texture, or there are more than 2^32 - 1 instances.
    pub fn new(renderer: &mut CrowdRenderer, descriptor: FieldDescriptor<M>) -> Result<Self, Error> {
        Ok(Self { core: renderer.field(M::MODEL, &descriptor)?, model: PhantomData })
    }
}

impl Field<Dynamic> {
    /// A field of a model that is known at run time only.
    ///
    /// # Errors
    /// As [`Field::new`].
    pub fn with_model(
        renderer: &mut CrowdRenderer,
        model: &Model,
        descriptor: FieldDescriptor<Dynamic>,
    ) -> Result<Self, Error> {
        Ok(Self { core: renderer.field(model, &descriptor)?, model: PhantomData })
    }
}

impl<M> Field<M> {
    /// Makes it another: the wind turns, or it grows elsewhere. It costs one small upload at the next
    /// [`CrowdRenderer::prepare`]. What wind has come so far counts from the clock's epoch: one of another pace or size
    /// begins anywhere.
    ///
    /// # Errors
    /// When there are more than 2^32 - 1 instances.
    pub fn set(&self, descriptor: &FieldDescriptor<M>) -> Result<(), Error> {
        let state = State::new(descriptor, &self.core.meta)?;
        *self.core.state() = state;
        Ok(())
    }

    /// What the shaders know of it: [`FieldUniform::instance`] says where each instance is, and what it plays.
    pub fn uniform(&self) -> FieldUniform {
        self.core.state().uniform
    }

    /// Number of its instances.
    pub fn len(&self) -> u32 {
        self.core.state().count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shader variant of the model, for a game's own pipelines: of [`crate::shader::field_source`].
    pub fn variant(&self) -> Variant {
        self.core.model.geometry.variant
    }

    /// Draws all instances with the pipeline that is set: one made from [`crate::shader::field_source`] with this `group`,
    /// [`super::field_vertex_buffers`] and [`CrowdRenderer::field_layout`]. `part` is called before each part is drawn,
    /// with the index of its material.
    pub fn draw_geometry(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        group: u32,
        mut part: impl FnMut(&mut wgpu::RenderPass<'_>, u32),
    ) {
        self.core.draw(pass, group, |pass, _, drawn| part(pass, drawn.mesh.material));
    }
}
