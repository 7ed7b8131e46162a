//! Poses of crowds that a pass draws into textures: one texture per view, for the instances that it sees,
//! and one for crowds that no view culls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::draw_run::DrawnPoses;
use super::error::{Error, at_most};
use super::geometry::Geometry;
use super::gpu::Gpu;
use super::layouts::Layouts;
use super::pose_pass::{PLACES_BYTES, PosePipelines, PoseTexture, PosedList};
use crate::Time;
use crate::pose_texture::{PosePlaces, PoseTextureSize};

/// Textures of a renderer, which its crowds share.
#[derive(Debug)]
pub(crate) struct Poses {
    layouts: Arc<Layouts>,
    pipelines: PosePipelines,
    /// Whether instances have previous poses too.
    keeps_previous: bool,
    state: Mutex<PosesState>,
}

#[derive(Debug, Default)]
struct PosesState {
    /// Current time, and that of the previous poses.
    times: [Time; 2],
    /// Number of the current frame.
    frame: u64,
    /// Number of the last buffers created.
    generation: u64,
    pools: Vec<Pool>,
}

/// Texture of a view.
#[derive(Debug, Default)]
struct Pool {
    bound: Option<BoundPool>,
    /// Frame for which poses were drawn, and the rows and places in use.
    frame: u64,
    rows: u32,
    places: u64,
}

#[derive(Debug)]
struct BoundPool {
    generation: u64,
    texture: PoseTexture,
    places: wgpu::Buffer,
    /// Number of places that the buffer can hold.
    capacity: u64,
    bind_group: wgpu::BindGroup,
}

/// Instances that need poses.
pub(crate) struct Unposed<'a> {
    pub(crate) name: &'a str,
    pub(crate) geometry: &'a Geometry,
    pub(crate) playbacks: &'a wgpu::Buffer,
    pub(crate) instances: u32,
    /// Poses of an earlier frame, whose bind group may still be valid.
    pub(crate) before: Option<DrawnPoses>,
}

/// Poses of a crowd that a pass has drawn.
#[derive(Debug, Default)]
pub(super) struct PosedLists {
    /// By the number of their texture.
    lists: Vec<Option<DrawnPoses>>,
    /// Frame in which poses of all instances were last asked for.
    pub(super) all_used: u64,
}

impl PosedLists {
    pub(super) fn get(&self, texture: usize) -> Option<DrawnPoses> {
        self.lists.get(texture).cloned().flatten()
    }

    pub(super) fn set(&mut self, texture: usize, poses: Option<DrawnPoses>) {
        if self.lists.len() <= texture {
            self.lists.resize_with(texture + 1, || None);
        }
        self.lists[texture] = poses;
    }
}

/// Texture of crowds that are drawn without a list of visible instances.
pub(crate) const ALL: usize = 0;

/// Texture for the instances that a view sees.
pub(crate) const fn of_view(index: usize) -> usize {
    index + 1
}

/// Largest size of a texture of poses, bytes.
const MAX_BYTES: u64 = 1 << 30;
const FEWER: &str =
    "make several crowds and draw fewer instances, or bake the model to local-packed for devices with compute";

impl Poses {
    pub(crate) fn new(device: &wgpu::Device, layouts: Arc<Layouts>, keeps_previous: bool) -> Self {
        Self { layouts, pipelines: PosePipelines::new(device), keeps_previous, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, PosesState> {
        // No panic can occur while the state is half changed, so a poisoned lock is safe to use.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a frame: poses drawn before are outdated. `times`: current and previous time.
    pub(crate) fn begin(&self, times: [Time; 2]) {
        let mut state = self.state();
        state.times = times;
        state.frame += 1;
    }

    /// Number of the current frame.
    pub(crate) fn frame(&self) -> u64 {
        self.state().frame
    }

    /// Draws the poses of lists of instances, behind those that were drawn before in this frame for the same
    /// texture. Returns them in the same order.
    ///
    /// # Errors
    /// If the poses of a list do not fit into the texture; these are `None`.
    pub(crate) fn draw(
        &self,
        Gpu { device, queue }: Gpu<'_>,
        encoder: &mut wgpu::CommandEncoder,
        pool: usize,
        lists: &[Unposed<'_>],
    ) -> (Vec<Option<DrawnPoses>>, Result<(), Error>) {
        let state = &mut *self.state();
        let (times, frame) = (state.times, state.frame);
        if state.pools.len() <= pool {
            state.pools.resize_with(pool + 1, Pool::default);
        }
        let pool = &mut state.pools[pool];
        if pool.frame != frame {
            (pool.frame, pool.rows, pool.places) = (frame, 0, 0);
        }
        let limits = device.limits();
        let most =
            u64::from(limits.max_texture_array_layers).min(MAX_BYTES / PoseTextureSize::of_rows(1 << 20).layer_bytes());
        let mut result = Ok(());
        let (mut rows, mut all) = (0, Vec::with_capacity(lists.len()));
        for list in lists {
            let places = PosePlaces::new(list.geometry.constants.rows, self.keeps_previous, times);
            let needed = places.rows(list.instances);
            let size = PoseTextureSize::of_rows(pool.rows.saturating_add(rows).saturating_add(needed));
            let fits = at_most(size.layers.into(), most, FEWER, || {
                format!("{}: layers of a texture for the poses of {} instances", list.name, list.instances)
            });
            all.push(fits.is_ok().then_some(PosePlaces { first_row: rows, ..places }));
            rows += if fits.is_ok() { needed } else { 0 };
            result = result.and(fits);
        }
        let count = lists.len() as u64;
        let stride = PLACES_BYTES.next_multiple_of(limits.min_uniform_buffer_offset_alignment.into());
        let fits =
            |bound: &BoundPool| pool.rows + rows <= bound.texture.size.rows() && pool.places + count <= bound.capacity;
        if !pool.bound.as_ref().is_some_and(fits) {
            // Poses drawn before in this frame stay in the old texture, which their bind groups keep. Room for the sum, so that
            // lists that come one after the other soon find room for all.
            (pool.rows, pool.places) = (0, 0);
            state.generation += 1;
            let old = pool.bound.take().map_or((0, 0), |old| (old.texture.size.rows(), old.capacity));
            let new_rows = (old.0 + rows).min((most as u32) << PoseTextureSize::MAX_LAYER_SHIFT).max(rows);
            let capacity = (old.1 + count).next_power_of_two().max(4);
            let places = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gpuskin pose places"),
                size: capacity * stride,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            pool.bound = Some(BoundPool {
                generation: state.generation,
                texture: PoseTexture::new(device, PoseTextureSize::of_rows(new_rows)),
                bind_group: self.pipelines.bind(&places),
                places,
                capacity,
            });
        }
        let Some(bound) = &pool.bound else { return (vec![None; lists.len()], result) };
        let keeps = pool.rows > 0;
        let mut bytes = vec![0_u8; (count * stride) as usize];
        let (mut posed, mut drawn) = (Vec::with_capacity(lists.len()), Vec::with_capacity(lists.len()));
        for (i, (list, places)) in lists.iter().zip(all).enumerate() {
            let Some(places) = places else {
                drawn.push(None);
                continue;
            };
            let (first_row, layer_shift) = (pool.rows + places.first_row, bound.texture.size.layer_shift);
            let places = PosePlaces { first_row, layer_shift, ..places };
            let at = i * stride as usize;
            bytes[at..at + PLACES_BYTES as usize].copy_from_slice(bytemuck::bytes_of(&places));
            let offset = ((pool.places + i as u64) * stride) as u32;
            let (variant, frames) = (list.geometry.variant, list.geometry.texture());
            let (playbacks, instances) = (list.playbacks, 0..list.instances);
            posed.push(PosedList { variant, frames, playbacks, instances, places, offset });
            let generation = bound.generation;
            let known = list.before.as_ref().filter(|before| before.generation == generation);
            let bind = || list.geometry.with_poses(device, &self.layouts, &bound.texture.view, &bound.places);
            let bind_group = known.map_or_else(bind, |known| known.bind_group.clone());
            drawn.push(Some(DrawnPoses { bind_group, offset, generation, frame }));
        }
        queue.write_buffer(&bound.places, pool.places * stride, &bytes);
        self.pipelines.record(encoder, &self.layouts, (&bound.texture, keeps), &bound.bind_group, &posed);
        pool.rows += rows;
        pool.places += count;
        (drawn, result)
    }
}
