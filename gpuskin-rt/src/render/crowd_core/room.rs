//! Room for the poses of a crowd.

use glam::Vec3;

use super::{CrowdCore, CrowdState};
use crate::cull;
use crate::render::cull::CulledViews;
use crate::render::layouts::MATRIX_BYTES;
use crate::render::palettes::Room;
use crate::render::pose_room::Seen;
use crate::shader::MorphUse;

impl CrowdCore {
    /// Room for poses in the next frame.
    pub(super) fn next_room(&self, state: &mut CrowdState, views: Option<CulledViews<'_>>) -> Room {
        let geometry = &self.model.geometry;
        // A batch has room for all.
        let Some(poses) = geometry.poses().filter(|_| state.batched.is_none()) else { return Room::ALL };
        // Shaders that evaluate poses have no layers, and those of attachments read bones from the palette.
        if state.layers.any() || state.attachments.iter().next().is_some() {
            self.flags.set_needs_all_poses();
        }
        let evaluates = geometry.variant.morphs == MorphUse::None
            && self.sharing.is_none()
            && !self.flags.needs_all_poses()
            && !state.pose_room.is_unlimited();
        let culled = views.filter(|of_all| evaluates && of_all.views.lods_at_once).zip(geometry.bounds.as_ref());
        let capacity = state.capacity as u32;
        match (state.visible, culled) {
            (Some(visible), culled) => {
                Room { slots: Some(visible), slotless: culled.is_some() && visible < capacity, grows: false }
            }
            (None, None) => Room::ALL,
            // Places that a game's passes write are not known on the CPU.
            (None, Some(_)) if state.exclusive => Room::ALL,
            (None, Some((CulledViews { views, frusta }, bounds))) => {
                let [minimum, extent] = cull::all_clip_bounds(bounds).map(|[x, y, z, _]| Vec3::new(x, y, z));
                let radius = minimum.abs().max((minimum + extent).abs()).length();
                let CrowdState { instances, pose_room, .. } = state;
                let seen = Seen { instances, radius, frusta, occlusion: views.occlusion };
                pose_room.next(capacity, u64::from(poses.stride()) * MATRIX_BYTES, &seen)
            }
        }
    }

    /// Makes room for the poses of all instances, from the next frame on.
    pub(crate) fn needs_all_poses(&self) {
        self.flags.set_needs_all_poses();
        self.flags.touch();
    }

    /// Records copies of the number of poses that the last frame wanted, if the room for them follows it.
    pub(crate) fn read_wanted_poses(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut state = self.locked();
        let state = &mut *state;
        let palettes = state.palettes.as_ref().filter(|palettes| palettes.room.grows);
        if let Some(palettes) = palettes {
            state.pose_room.read(&self.device, encoder, palettes);
        }
    }
}
