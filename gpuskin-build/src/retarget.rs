//! Retargeting: clips of one humanoid skeleton, played by another with other names and proportions.
//!
//! Both skeletons are compared in a reference pose ([`Rig`]). With `A` the rotation between the axes of
//! their bodies, `G(t)` the rotation of a bone of the source in its scene at a time, and `G0`, `H0` the
//! rotations of both in their reference poses, the bone of the target has the rotation
//!
//! ```text
//! H(t) = A G(t) G0^-1 A^-1 L H0
//! ```
//!
//! where `L` is the shortest rotation that gives the limb of the target the direction that the limb of the
//! source has in its reference pose: `T` poses and `A` poses mix. Soles are taken to be flat on the ground in
//! both.
//!
//! The hips take the way of the source's hips, scaled by the lengths of the legs. Ankles are put where the
//! source has them, scaled alike, by two-bone inverse kinematics that keeps the plane of the knee. Feet differ
//! in length and height, so what is put in its place is the heel below the ankle, or the toes while the heel is
//! lifted. Where a leg is too short, the hips come down.

pub(crate) mod bone;
pub(crate) mod humanoid;
mod leg;
mod names;
mod rig;
mod stance;
mod transfer;
mod turn;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::{DVec3, DVec4};

pub(crate) use rig::{Rig, RigError};
pub(crate) use stance::Stray;

use crate::model::{Channel, Clip, Curve, Interpolation, Local, Property, SourceMotion, Trs};
use crate::sample::Sampler;
use bone::HumanBone;
use transfer::Transfer;

/// Longest interval between keys of a retargeted clip, in seconds, that of 24 frames per second: the source's keys
/// are kept, and longer intervals are divided.
const LONGEST_INTERVAL: f64 = 1.0 / 24.0 + 1e-6;
/// Time by which a curve that is not STEP has its key before a jump of the source, in seconds, so that a frame at the jump is
/// after it, whatever rounding of times does.
const BEFORE_JUMP: f64 = 1e-5;

/// Time of a pose of the source, and of its key in curves of the target that are not STEP, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KeyTime {
    pose: f64,
    key: f64,
}

impl KeyTime {
    fn at(time: f64) -> Self {
        Self { pose: time, key: time }
    }
}

/// Retargets clips of one skeleton to another.
#[derive(Debug)]
pub(crate) struct Retargeter<'a> {
    source: &'a Rig,
    target: &'a Rig,
    transfer: Transfer<'a>,
}

impl<'a> Retargeter<'a> {
    pub(crate) fn new(source: &'a Rig, target: &'a Rig) -> Self {
        Self { source, target, transfer: Transfer::new(source, target) }
    }

    /// Returns the bones of the target that no bone of the source moves.
    pub(crate) fn unmatched(&self) -> Vec<HumanBone> {
        let moved: BTreeSet<HumanBone> = self.transfer.targets().map(|(bone, _)| bone).collect();
        self.target.bones.iter().map(|(bone, _)| bone).filter(|bone| !moved.contains(bone)).collect()
    }

    /// Returns the nodes that clips of the source move and that have no counterpart: neither they nor a node
    /// below them is a bone that the target has.
    pub(crate) fn left_out(&self, clips: &[&Clip]) -> BTreeSet<usize> {
        let mut used = vec![false; self.source.model.nodes.len()];
        self.transfer.sources().for_each(|node| used[node] = true);
        for &node in self.source.model.order.iter().rev() {
            if let (true, Some(parent)) = (used[node], self.source.model.nodes[node].parent) {
                used[parent] = true;
            }
        }
        let channels = clips.iter().flat_map(|clip| &clip.channels);
        channels.map(|channel| channel.node).filter(|node| !used[*node]).collect()
    }

    /// Returns the times at which a clip is sampled: its keys, times between that are at most
    /// [`LONGEST_INTERVAL`] apart, and times just before jumps. `None` if there are more than `most`.
    pub(crate) fn times(&self, clip: &Clip, most: usize) -> Option<Vec<KeyTime>> {
        let jumps: BTreeSet<u64> =
            clip.channels.iter().flat_map(|channel| jumps(&channel.curve)).map(f64::to_bits).collect();
        let keys = clip.channels.iter().flat_map(|channel| &channel.curve.times).copied();
        let mut keys: Vec<f64> = keys.filter(|time| (0.0..=clip.end).contains(time)).chain([0.0, clip.end]).collect();
        keys.sort_by(f64::total_cmp);
        keys.dedup();
        let mut times = vec![KeyTime::at(keys[0])];
        for pair in keys.windows(2) {
            let parts = ((pair[1] - pair[0]) / LONGEST_INTERVAL).ceil().max(1.0);
            if parts > most as f64 || times.len() + parts as usize + 1 > most {
                return None;
            }
            let parts = parts as usize;
            let between = (1..parts).map(|i| pair[0] + (pair[1] - pair[0]) * i as f64 / parts as f64);
            times.extend(between.map(KeyTime::at));
            let before = pair[1] - 2.0 * BEFORE_JUMP;
            if jumps.contains(&pair[1].to_bits()) && times.last().is_some_and(|last| last.key < before) {
                times.push(KeyTime::at(before));
                times.push(KeyTime { pose: pair[1], key: pair[1] - BEFORE_JUMP });
            } else {
                times.push(KeyTime::at(pair[1]));
            }
        }
        Some(times)
    }

    /// Returns a clip that moves the target as `clip` moves the source, with keys at the given times. Curves are STEP where
    /// all curves of the source that they follow are.
    pub(crate) fn clip(&self, clip: &Clip, times: &[KeyTime]) -> Clip {
        let sampler = Sampler::new(&self.source.model, Some(clip));
        let moved: Vec<(HumanBone, usize)> = self.transfer.targets().collect();
        let mut rotations: Vec<Vec<DVec4>> = vec![Vec::with_capacity(times.len()); moved.len()];
        let mut translations: Vec<Vec<DVec4>> = vec![Vec::new(); moved.len()];
        for time in times {
            let pose = self.transfer.pose(&sampler.globals(time.pose));
            for (i, &(bone, node)) in moved.iter().enumerate() {
                rotations[i].push(DVec4::from(pose.locals[node].rotation));
                if self.transfer.moves(bone) {
                    translations[i].push(pose.locals[node].translation.extend(0.0));
                }
            }
        }
        let mut channels = self.held();
        for ((bone, node), (rotations, translations)) in moved.into_iter().zip(rotations.into_iter().zip(translations))
        {
            let jumps = self.jumps_of(bone, clip);
            let curves = [(Property::Translation, translations), (Property::Rotation, rotations)];
            for (property, values) in curves.into_iter().filter(|(_, values)| !values.is_empty()) {
                channels.retain(|held| (held.node, held.property) != (node, property));
                let curve = match &jumps {
                    Some(jumps) => {
                        let keys = times.iter().zip(&values).enumerate();
                        let at_jumps = keys.filter(|(i, (time, _))| *i == 0 || jumps.contains(&time.pose.to_bits()));
                        let (times, values) = at_jumps.map(|(_, (time, value))| (time.pose, *value)).unzip();
                        Curve { times, values, interpolation: Interpolation::Step }
                    }
                    None => {
                        let times = times.iter().map(|time| time.key).collect();
                        Curve { times, values, interpolation: Interpolation::Linear }
                    }
                };
                channels.push(Channel { node, property, curve });
            }
        }
        channels.sort_by_key(|channel| (channel.node, channel.property));
        let source = SourceMotion {
            skeleton: self.source.model.clone(),
            clip: clip.clone(),
            placed: self.transfer.placed(),
            bones: self.source.bones.lines(&self.source.model.nodes),
        };
        Clip { channels, morphs: Vec::new(), retargeted_from: Some(Arc::new(source)), ..clip.clone() }
    }

    /// Returns the times at which a bone of the target jumps, as bits, if all curves of the source that it follows are STEP or
    /// change nothing.
    fn jumps_of(&self, bone: HumanBone, clip: &Clip) -> Option<BTreeSet<u64>> {
        let followed = self.transfer.followed(bone);
        let mut times = BTreeSet::new();
        for Channel { node, property, curve } in &clip.channels {
            if !followed.nodes.contains(node) || (*property == Property::Translation && !followed.places) {
                continue;
            }
            let is_constant = curve.values.windows(2).all(|pair| pair[0] == pair[1]);
            if curve.interpolation != Interpolation::Step && !is_constant {
                return None;
            }
            times.extend(jumps(curve).map(f64::to_bits));
        }
        Some(times)
    }

    /// Returns channels that hold what the reference pose has and the nodes have not. Channels replace a node's
    /// matrix, so a node that has one gets all of them.
    fn held(&self) -> Vec<Channel> {
        let mut channels = Vec::new();
        let moved: BTreeSet<usize> = self.transfer.targets().map(|(_, node)| node).collect();
        for (node, reference) in self.transfer.reference().iter().enumerate() {
            let local = self.target.model.nodes[node].local;
            let rest = match local {
                Local::Trs(trs) => trs,
                Local::Matrix(m) => Trs::from_matrix(&m),
            };
            let different = [
                differs(rest.translation, reference.translation),
                rest.rotation.angle_between(reference.rotation) > 1e-5,
                differs(rest.scale, reference.scale),
            ];
            let is_matrix = matches!(local, Local::Matrix(_));
            let all = is_matrix && (moved.contains(&node) || different.contains(&true));
            let values = [
                (Property::Translation, reference.translation.extend(0.0)),
                (Property::Rotation, DVec4::from(reference.rotation)),
                (Property::Scale, reference.scale.extend(0.0)),
            ];
            for ((property, value), _) in values.into_iter().zip(different).filter(|(_, differs)| all || *differs) {
                let curve = Curve { times: vec![0.0], values: vec![value], interpolation: Interpolation::Step };
                channels.push(Channel { node, property, curve });
            }
        }
        channels
    }
}

/// Returns the times at which a curve jumps, in seconds; none, if it is not STEP.
fn jumps(curve: &Curve) -> impl Iterator<Item = f64> + '_ {
    let pairs = curve.times.windows(2).zip(curve.values.windows(2));
    let jumps = pairs.filter(|(_, values)| curve.interpolation == Interpolation::Step && values[0] != values[1]);
    jumps.map(|(times, _)| times[1])
}

fn differs(a: DVec3, b: DVec3) -> bool {
    a.distance(b) > 1e-5 * a.length().max(b.length())
}
