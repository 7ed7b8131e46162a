//! Commands on the live bones of instances.

use super::crowd_core::CrowdState;
use super::layer_commands::local_poses;
use super::live::check;
use super::{Crowd, Error, InstanceId, StaleId};
use crate::{LiveBones, Morph, MorphWeightError};

impl<M> Crowd<M> {
    /// Shows bones computed by the game on one instance, over its clip and layers: a ragdoll, a
    /// cut-scene, a hero with its own animator. Their weight fades to 1 over `seconds`, blended
    /// with the pose below. Mesh, pipeline and draw call of the instance stay the same.
    ///
    /// A node or bone with a value that is not finite keeps the pose below.
    ///
    /// # Errors
    /// If the instance no longer exists, if the model does not play
    /// [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) on this device, if the number of
    /// bones or nodes is not the model's, or if the device has no memory for more live poses.
    pub fn set_live_bones(&self, id: InstanceId, bones: LiveBones<'_>, seconds: f32) -> Result<(), Error> {
        self.set_live(id, bones, seconds, "live bones")
    }

    /// Sets live bones. `what`: name of the feature, for errors.
    fn set_live(&self, id: InstanceId, bones: LiveBones<'_>, seconds: f32, what: &'static str) -> Result<(), Error> {
        let (poses, time) = (local_poses(self, what)?, self.time());
        check(&self.meta.name, poses, 1, &bones)?;
        let CrowdState { instances, layers, .. } = &mut *self.core.state_mut();
        let slot = layers.of(instances, id, &self.meta.name, time)?;
        let pose = match layers.set(slot).live_pose_number() {
            Some(pose) => pose,
            None => layers.add_pose(&self.meta.name)?,
        };
        layers.live.set(&self.core.device, pose, &bones);
        layers.change(instances, slot, time, |set| set.set_live_bones(&bones, pose, seconds, time));
        Ok(())
    }

    /// Sets the weights of an instance's morph targets, over its clip and layers: lip synchronisation, a face that the
    /// game animates. Targets that are not listed get the weight 0. The weights fade in over `seconds`, and
    /// [`Crowd::release_live_bones`] fades back to the clip.
    ///
    /// Other live bones of the instance are replaced: a game that sets both writes the weights into its
    /// bones by [`Metadata::write_morphs`](crate::Metadata::write_morphs).
    ///
    /// # Errors
    /// As [`Crowd::set_live_bones`], and if a target does not exist.
    pub fn set_morphs(&self, id: InstanceId, weights: &[(Morph<M>, f32)], seconds: f32) -> Result<(), Error> {
        let mut bones = vec![[[f32::NAN; 4]; 3]; self.meta.bones.len()];
        let wrong = |e: MorphWeightError| Error::Argument { model: self.meta.name.to_string(), reason: e.to_string() };
        self.meta.write_morphs(weights, &mut bones).map_err(wrong)?;
        self.set_live(id, LiveBones::Model(&bones), seconds, "morph weights of the game")
    }

    /// Updates the live bones of many instances, one instance after the other in `bones`. Has the
    /// effect of one call per instance, and is cheaper. Returns the number of instances updated;
    /// instances that no longer exist or whose live bones were released are skipped.
    ///
    /// # Errors
    /// If the number of bones or nodes does not match that many instances. Also at an instance
    /// whose live bones are of the other kind; the instances before it have been updated then.
    pub fn update_live_bones(&self, ids: &[InstanceId], bones: LiveBones<'_>) -> Result<usize, Error> {
        let poses = local_poses(self, "live bones")?;
        check(&self.meta.name, poses, ids.len(), &bones)?;
        let each = bones.len() / ids.len().max(1);
        let CrowdState { instances, layers, .. } = &mut *self.core.state_mut();
        let (mut found, mut result) = (0, Ok(()));
        // Instances whose poses are consecutive: first instance, first pose, count.
        let mut run = (0, 0, 0);
        for (i, &id) in ids.iter().enumerate() {
            let slot = instances.get(id).and_then(|record| record.layer_set().checked_sub(1));
            let Some((set, pose)) =
                slot.map(|slot| layers.set(slot)).and_then(|set| Some((set, set.live_pose_number()?)))
            else {
                continue;
            };
            if !set.is_live_kind(&bones) {
                let reason = "live bones of the other kind given; call set_live_bones to change the kind".to_owned();
                result = Err(Error::Argument { model: self.meta.name.to_string(), reason });
                break;
            }
            found += 1;
            let (first, first_pose, count) = run;
            if i == first + count && pose as usize == first_pose as usize + count {
                run.2 += 1;
                continue;
            }
            layers.live.set_run(
                &self.core.device,
                first_pose,
                count as u32,
                &bones.part(first * each..(first + count) * each),
            );
            run = (i, pose, 1);
        }
        let (first, first_pose, count) = run;
        layers.live.set_run(
            &self.core.device,
            first_pose,
            count as u32,
            &bones.part(first * each..(first + count) * each),
        );
        result.map(|()| found)
    }

    /// Fades from the live bones back to the instance's own animation over `seconds`. Has no effect on an instance without
    /// live bones.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn release_live_bones(&self, id: InstanceId, seconds: f32) -> Result<(), StaleId> {
        let time = self.time();
        let CrowdState { instances, layers, .. } = &mut *self.core.state_mut();
        let record = instances.get(id).ok_or(StaleId::Instance(id))?;
        let slot = record.layer_set().checked_sub(1);
        if let Some(slot) = slot.filter(|slot| layers.set(*slot).live_pose_number().is_some()) {
            layers.change(instances, slot, time, |set| set.release_live_bones(seconds, time));
        }
        Ok(())
    }
}
