//! Fields: many copies of a model without per-instance data.

use core::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glam::Vec3;

use super::crowd::{DrawnPart, GpuModel};
use super::{Camera, CrowdRenderer, Error};
use crate::cull::in_view;
use crate::field::{FieldDescriptor, FieldUniform};
use crate::shader::Variant;
use crate::{Aabb, BakedModel, Dynamic, Metadata, Model};

/// Many instances of one model, derived from a formula: swaying grass, for example. A handle into
/// the [`CrowdRenderer`], which draws fields together with its crowds.
///
/// Clones are handles to the same field, which is removed when the last handle is dropped.
/// Instances have no ids, take no commands, and cost neither memory nor CPU time. A view draws
/// either all of a field or, if the field is outside the view, nothing. Several fields that
/// continue each other are therefore culled more finely than a single large one.
///
/// The vertex shader reads bones or vertices from an animation texture. Bake the model in vertex
/// mode, for `devices = ["webgl2"]`, or in any encoding but `local-packed`.
///
/// ```no_run
/// # use gpuskin_rt::*;
/// # fn example<Grass: BakedModel>(renderer: &mut CrowdRenderer, sway: Clip<Grass>) -> Result<(), Error> {
/// let descriptor = FieldDescriptor { size: [300, 300], spacing: [0.4, 0.4], clips: vec![sway], ..Default::default() };
/// let meadow = Field::<Grass>::new(renderer, descriptor)?;
/// # Ok(())
/// # }
/// ```
pub struct Field<M> {
    pub(super) core: Arc<FieldCore>,
    model: PhantomData<fn() -> M>,
}

// Not derived: deriving would require `M: Clone` and `M: Debug`.
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

/// State shared by the renderer and the handles of a field.
#[derive(Debug)]
pub(crate) struct FieldCore {
    model: Arc<GpuModel>,
    /// Metadata of the model in the encoding that the device plays.
    meta: Metadata,
    pub(crate) parts: Vec<DrawnPart>,
    uniform: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    state: Mutex<FieldState>,
}

#[derive(Debug)]
struct FieldState {
    uniform: FieldUniform,
    count: u32,
    bounds: Option<Aabb>,
    changed: bool,
}

impl FieldState {
    fn new<M>(descriptor: &FieldDescriptor<M>, meta: &Metadata) -> Result<Self, Error> {
        let (count, [x, z]) = (descriptor.count(), descriptor.size);
        let count = u32::try_from(count).map_err(|_| {
            let reason = format!("size: a field of {x} x {z} has {count} instances; the maximum is 4,294,967,295");
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
        let state = Mutex::new(FieldState::new(descriptor, meta)?);
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin field"),
            size: size_of::<FieldUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bind_group = bind_group(&uniform).ok_or_else(|| not_textured(meta))?;
        Ok(Self { model, meta: meta.clone(), parts, uniform, bind_group, state })
    }

    fn state(&self) -> MutexGuard<'_, FieldState> {
        // No panic can occur while the state is half changed, so a poisoned lock is safe to use.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uploads the field's uniform if it has changed.
    pub(crate) fn upload(&self, queue: &wgpu::Queue) {
        let state = &mut *self.state();
        if core::mem::take(&mut state.changed) {
            queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&state.uniform));
        }
    }

    /// Whether any part of the field may be inside the view of a camera.
    pub(crate) fn is_in_view(&self, camera: &Camera) -> bool {
        let Some(Aabb { min, max }) = self.state().bounds else { return true };
        let half = 0.5 * (Vec3::from(max) - Vec3::from(min));
        let edges = [Vec3::X * half.x, Vec3::Y * half.y, Vec3::Z * half.z];
        in_view(&camera.view_proj, Vec3::from(min) + half, edges)
    }

    /// Draws all instances; calls `part` before each mesh part.
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

/// Error for a model without an animation texture.
pub(crate) fn not_textured(meta: &Metadata) -> Error {
    let reason = format!(
        "fields need an animation texture, but the model is baked to {} alone; add \"webgl2\" to `devices` for it in \
         gpuskin.toml, or choose another encoding",
        meta.encoding.name()
    );
    Error::Argument { model: meta.name.to_string(), reason }
}

impl<M: BakedModel> Field<M> {
    /// Creates a field of a model that was baked into the program. It shows after the next
    /// [`CrowdRenderer::prepare`].
    ///
    /// # Errors
    /// If a file of the model is missing or from another bake, if the device cannot hold the model,
    /// if the model has no animation texture, or if the field has more than 2^32 - 1 instances.
    pub fn new(renderer: &mut CrowdRenderer, descriptor: FieldDescriptor<M>) -> Result<Self, Error> {
        Ok(Self { core: renderer.field(M::MODEL, &descriptor)?, model: PhantomData })
    }
}

impl Field<Dynamic> {
    /// Creates a field of a model that was loaded at run time.
    ///
    /// # Errors
    /// See [`Field::new`].
    pub fn with_model(
        renderer: &mut CrowdRenderer,
        model: &Model,
        descriptor: FieldDescriptor<Dynamic>,
    ) -> Result<Self, Error> {
        Ok(Self { core: renderer.field(model, &descriptor)?, model: PhantomData })
    }
}

impl<M> Field<M> {
    /// Replaces the field's description: the wind turns, or the field moves. The cost is one small
    /// upload at the next [`CrowdRenderer::prepare`]. The distance that waves have travelled is
    /// derived from the time alone, so a change of wind speed or wave size makes the waves jump.
    ///
    /// # Errors
    /// If the field has more than 2^32 - 1 instances.
    pub fn set(&self, descriptor: &FieldDescriptor<M>) -> Result<(), Error> {
        let state = FieldState::new(descriptor, &self.core.meta)?;
        *self.core.state() = state;
        Ok(())
    }

    /// Returns the uniform that the shaders read: [`FieldUniform::instance`] gives the transform
    /// and playback of each instance.
    #[doc(hidden)]
    pub fn uniform(&self) -> FieldUniform {
        self.core.state().uniform
    }

    /// Number of instances.
    #[doc(hidden)]
    pub fn len(&self) -> u32 {
        self.core.state().count
    }

    /// Whether the field has no instances.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shader variant of the model, for a game's own pipelines made from
    /// [`pipeline::field_source`](crate::pipeline::field_source).
    pub fn variant(&self) -> Variant {
        self.core.model.geometry.variant
    }
}
