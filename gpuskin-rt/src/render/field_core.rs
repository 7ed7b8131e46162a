//! Field as the renderer draws it: state that the renderer shares with the handles of a field.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glam::Vec3;

use super::gpu_model::GpuModel;
use super::pipelines::{DrawnPart, PassKind};
use super::{Camera, Error};
use crate::cull::in_view;
use crate::field::{FieldDescriptor, FieldUniform};
use crate::{Aabb, Metadata};

/// FieldState shared by the renderer and the handles of a field.
#[derive(Debug)]
pub(crate) struct FieldCore {
    pub(super) model: Arc<GpuModel>,
    /// Metadata of the model in the encoding that the device plays.
    pub(super) meta: Metadata,
    pub(crate) parts: Vec<DrawnPart>,
    uniform: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    state: Mutex<FieldState>,
}

#[derive(Debug)]
pub(super) struct FieldState {
    pub(super) uniform: FieldUniform,
    pub(super) count: u32,
    pub(super) bounds: Option<Aabb>,
    changed: bool,
}

impl FieldState {
    pub(super) fn new<M>(descriptor: &FieldDescriptor<M>, meta: &Metadata) -> Result<Self, Error> {
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

    pub(super) fn state(&self) -> MutexGuard<'_, FieldState> {
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

    /// Whether a part is drawn in a kind of pass.
    pub(crate) fn draws(&self, kind: PassKind) -> bool {
        self.parts.iter().any(|part| part.pipelines.draws(kind))
    }

    /// Draws the mesh parts of all instances for which `part` returns true.
    pub(crate) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        group: u32,
        mut part: impl FnMut(&mut wgpu::RenderPass<'_>, &GpuModel, &DrawnPart) -> bool,
    ) {
        let count = self.state().count;
        pass.set_bind_group(group, &self.bind_group, &[]);
        self.model.geometry.bind_mesh(pass);
        for drawn in &self.parts {
            if part(pass, &self.model, drawn) {
                let first = drawn.mesh.first_index;
                pass.draw_indexed(first..first + drawn.mesh.index_count, 0, 0..count);
            }
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
