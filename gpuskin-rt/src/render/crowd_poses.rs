//! Poses of a crowd that a pass draws into textures.

use super::View;
use super::crowd_core::{CrowdCore, Drawn};
use super::draw_run::DrawnPoses;
use super::gpu::Gpu;
use super::poses::{self, Unposed};

impl CrowdCore {
    /// Whether a pass draws the poses of the crowd.
    pub(crate) fn is_posed(&self) -> bool {
        self.model.geometry.variant.is_posed()
    }

    /// Drawable state as of the last upload, with poses: of the instances that a view sees; without a view or a list
    /// of these, of all instances, so that their numbers are those of the crowd. `None` if there are no instances, or if
    /// their poses do not fit.
    pub(crate) fn drawn_with_poses(&self, view: Option<View>) -> Option<Drawn> {
        let mut drawn = self.drawn()?;
        let index = view.map_or(View::MAIN.0, |View(index)| index);
        drawn.culled = view.and_then(|View(index)| self.state().culled.view(index).cloned());
        if self.is_posed() && view != Some(View::REVEALED) {
            let texture = if drawn.culled.is_some() { poses::of_view(index) } else { poses::ALL };
            drawn.poses = Some(self.poses_in(texture, &drawn)?);
        }
        Some(drawn)
    }

    /// Whether the last frame drew all instances: the next one will, too.
    pub(crate) fn drew_all_poses(&self) -> bool {
        self.state().posed.all_used + 1 == self.poses.frame()
    }

    /// Instances whose poses are to be drawn into a texture.
    pub(crate) fn unposed<'a>(&'a self, drawn: &'a Drawn, texture: usize) -> Unposed<'a> {
        let all = (drawn.all_playbacks(), drawn.instances);
        let (playbacks, instances) = drawn.culled.as_ref().map_or(all, |culled| culled.playbacks());
        let before = self.state().posed.get(texture);
        Unposed { name: &self.name, geometry: &self.model.geometry, playbacks, instances, before }
    }

    /// Notes the poses that a pass has drawn.
    pub(crate) fn set_poses(&self, texture: usize, poses: Option<DrawnPoses>) {
        self.locked().posed.set(texture, poses);
    }

    /// Poses of this frame; a pass that draws them is submitted where `prepare` has not recorded one.
    fn poses_in(&self, texture: usize, drawn: &Drawn) -> Option<DrawnPoses> {
        let frame = self.poses.frame();
        let known = {
            let posed = &mut self.locked().posed;
            if texture == poses::ALL {
                posed.all_used = frame;
            }
            posed.get(texture)
        };
        if known.as_ref().is_some_and(|known| known.frame == frame) {
            return known;
        }
        let gpu = Gpu { device: &self.device, queue: &self.queue };
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let list = self.unposed(drawn, texture);
        let (mut posed, _) = self.poses.draw(gpu, &mut encoder, texture, &[list]);
        self.queue.submit([encoder.finish()]);
        let posed = posed.pop().flatten();
        self.set_poses(texture, posed.clone());
        posed
    }
}
