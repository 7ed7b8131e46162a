//! Culling on the CPU, for crowds whose vertices read an animation texture: devices that need those may
//! lack compute shaders. Selects the instances that a view sees and their levels of detail, and uploads
//! their records one level after the other.
//!
//! The work is proportional to the number of instances, but is done only for a view whose camera has
//! moved, or when instances have changed or fade.

use std::sync::Arc;

use super::gpu::Gpu;
use super::instances::Instances;
use super::layouts::{PLACE_BYTES, PLAYBACK_BYTES};
use crate::cull::{self, CullView, Frustum};
use crate::{Appearance, IndexRange, Time};

/// Instances of a crowd by view.
#[derive(Debug, Default)]
pub(crate) struct CpuCulling {
    /// `None`: the view draws all instances.
    views: Vec<Option<Arc<VisibleInstances>>>,
    /// Number of uploads that changed instances.
    revision: u64,
    /// Bounds of the clips, and the distance by which attachments extend them, metres.
    bounds: Option<(f32, Vec<u32>)>,
    /// Visible instances per level of detail, kept for their memory.
    lists: Vec<Vec<u32>>,
}

/// Model, as culling needs it.
pub(crate) struct CulledModel<'a> {
    /// Index ranges `[level][part]`, finest LOD first.
    pub(crate) lods: &'a [Vec<IndexRange>],
    /// LOD error per level, metres.
    pub(crate) errors: &'a [f32],
    /// Bounds of the clips: [`cull::pack_bounds`].
    pub(crate) bounds: &'a [u32],
    /// Distance by which attachments extend the bounds, metres.
    pub(crate) reach: f32,
}

/// Instances that a view sees, on the device.
#[derive(Debug)]
pub(crate) struct VisibleInstances {
    places: wgpu::Buffer,
    playbacks: wgpu::Buffer,
    previous: Option<wgpu::Buffer>,
    capacity: usize,
    /// Levels of detail in use: number of instances, and index range per part.
    levels: Vec<(u32, Vec<IndexRange>)>,
    /// Camera and revision for which the instances were selected; `None` if time alone changes them.
    selected_for: Option<(CullView, u64)>,
}

/// Visible instances of one level of detail.
pub(crate) struct VisibleLevel<'a> {
    pub(crate) places: &'a wgpu::Buffer,
    pub(crate) playbacks: &'a wgpu::Buffer,
    pub(crate) previous: Option<&'a wgpu::Buffer>,
    /// Number of the first instance in the buffers.
    pub(crate) start: u32,
    pub(crate) instances: u32,
    pub(crate) lod: u32,
    /// Index range per part.
    pub(crate) parts: &'a [IndexRange],
}

impl CpuCulling {
    /// Notes that instances have changed.
    pub(crate) fn instances_changed(&mut self) {
        self.revision += 1;
    }

    /// Lets a view draw all instances.
    pub(crate) fn forget(&mut self, view: usize) {
        if let Some(known) = self.views.get_mut(view) {
            *known = None;
        }
    }

    /// Instances that a view sees; `None` if it draws all.
    pub(crate) fn view(&self, view: usize) -> Option<&Arc<VisibleInstances>> {
        self.views.get(view)?.as_ref()
    }

    /// Selects the instances that a view sees at a time, and uploads them.
    pub(crate) fn select(
        &mut self,
        gpu: Gpu<'_>,
        (index, view): (usize, &CullView),
        model: &CulledModel<'_>,
        instances: &Instances,
        time: Time,
    ) {
        if self.views.len() <= index {
            self.views.resize_with(index + 1, || None);
        }
        let known = self.views[index].take();
        if self.bounds.as_ref().is_none_or(|(reach, _)| *reach != model.reach) {
            self.bounds = Some((model.reach, cull::expand_bounds(model.bounds, model.reach)));
            self.revision += 1;
        }
        let wanted = (*view, self.revision);
        if known.as_ref().is_some_and(|known| known.selected_for == Some(wanted)) {
            self.views[index] = known;
            return;
        }
        let bounds = self.bounds.as_ref().map_or(&[][..], |(_, bounds)| bounds);
        let levels = if view.lod_scale > 0.0 { model.lods.len() } else { 1 };
        self.lists.resize_with(levels, Vec::new);
        self.lists.iter_mut().for_each(Vec::clear);
        let frustum = Frustum::new(&view.view_proj);
        let mut fading = false;
        for ((i, record), appearance) in (0..).zip(instances.records()).zip(instances.appearances()) {
            if appearance.hidden & Appearance::INVISIBLE_BIT != 0 {
                continue;
            }
            fading |= record.weight(time) < 1.0;
            let bounded = cull::instance_box(bounds, &record, false, time);
            let lod = match bounded {
                Some((middle, edges)) if frustum.sees(middle, edges) => {
                    cull::lod(view, &model.errors[..levels], middle, edges, record.scale)
                }
                Some(_) => continue,
                None => 0,
            };
            self.lists[lod].push(i);
        }
        let count = self.lists.iter().map(Vec::len).sum();
        let (places, playbacks, previous) = instances.all();
        let reused = known.filter(|known| known.capacity >= count && known.previous.is_some() == previous.is_some());
        let mut visible = match &reused {
            Some(known) => known.with_same_buffers(),
            None => VisibleInstances::new(gpu.device, (count, places.len()), previous.is_some()),
        };
        let order = || self.lists.iter().flatten().map(|&i| i as usize);
        gather(gpu, &visible.places, places, order());
        gather(gpu, &visible.playbacks, playbacks, order());
        if let (Some(buffer), Some(previous)) = (&visible.previous, previous) {
            gather(gpu, buffer, previous, order());
        }
        let of_level = |(list, parts): (&Vec<u32>, &Vec<IndexRange>)| (list.len() as u32, parts.clone());
        visible.levels = self.lists.iter().zip(model.lods).map(of_level).collect();
        visible.selected_for = (!fading).then_some(wanted);
        self.views[index] = Some(Arc::new(visible));
    }
}

/// Writes some elements of a list into a buffer, one after the other.
fn gather<T: bytemuck::Pod>(gpu: Gpu<'_>, buffer: &wgpu::Buffer, all: &[T], order: impl Iterator<Item = usize>) {
    let chosen: Vec<T> = order.map(|i| all[i]).collect();
    if !chosen.is_empty() {
        gpu.queue.write_buffer(buffer, 0, bytemuck::cast_slice(&chosen));
    }
}

impl VisibleInstances {
    /// `all`: number of instances that the crowd has, visible or not; the device can hold as many.
    fn new(device: &wgpu::Device, (count, all): (usize, usize), previous: bool) -> Self {
        let capacity = count.next_power_of_two().max(64).min(all.max(1));
        let buffer = |bytes: u64| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gpuskin visible instances"),
                size: capacity as u64 * bytes,
                usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        Self {
            places: buffer(PLACE_BYTES),
            playbacks: buffer(PLAYBACK_BYTES),
            previous: previous.then(|| buffer(PLACE_BYTES)),
            capacity,
            levels: Vec::new(),
            selected_for: None,
        }
    }

    fn with_same_buffers(&self) -> Self {
        Self {
            places: self.places.clone(),
            playbacks: self.playbacks.clone(),
            previous: self.previous.clone(),
            capacity: self.capacity,
            levels: Vec::new(),
            selected_for: None,
        }
    }

    /// Playback records of all visible instances, and their number.
    pub(crate) fn playbacks(&self) -> (&wgpu::Buffer, u32) {
        (&self.playbacks, self.levels.iter().map(|(instances, _)| instances).sum())
    }

    /// Number of levels of detail that instances are selected for.
    pub(crate) fn lods(&self) -> u32 {
        self.levels.len() as u32
    }

    /// Levels of detail that are visible.
    pub(crate) fn visible_levels(&self) -> impl Iterator<Item = VisibleLevel<'_>> {
        let starts = self.levels.iter().scan(0, |next, (instances, _)| {
            let start = *next;
            *next += *instances;
            Some(start)
        });
        (0..).zip(&self.levels).zip(starts).filter(|((_, (instances, _)), _)| *instances > 0).map(
            |((lod, (instances, parts)), start)| VisibleLevel {
                places: &self.places,
                playbacks: &self.playbacks,
                previous: self.previous.as_ref(),
                start,
                instances: *instances,
                lod,
                parts,
            },
        )
    }
}
