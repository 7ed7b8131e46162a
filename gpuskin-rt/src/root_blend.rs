//! Root motion of an instance, through loops and crossfades. CPU reference of `shaders/root_motion.wgsl`.
//!
//! A clip alone displaces an instance by [`ClipInfo::root_displacement`]. During a crossfade, the instance moves by a
//! blend of the clips. The crossfade is divided into equal steps, at most [`MAX_STEPS`], and not shorter than
//! [`MIN_STEP`]. In a step, or its part until some time, clip `i` alone turns by the quaternion `q_i` and moves by `t_i`; its mean
//! weight is `w_i`. The displacement is
//!
//! ```text
//! rotation    q = sum of w_i q_i, normalised, along shorter arcs
//! translation t = half(q) * sum of w_i half(q_i)^-1 t_i
//! ```
//!
//! where `half` is half of a rotation: translations are blended in the middle of the step, so that the path bends with
//! the instance. A crossfade from a clip to itself moves as that clip alone.
//!
//! Displacements of consecutive steps multiply, as those of clips do. So velocity and turn rate are those of the old
//! clip at the start of the crossfade, those of the new clip at its end, and between these in proportion to the weights;
//! the velocity turns with the instance. Steps count from the start of the crossfade, so displacements of consecutive intervals
//! multiply to that of the whole wherever it is cut.

use glam::{DQuat, DVec3};

use crate::root_motion::Displacement;
use crate::{ClipInfo, InstanceRecord, Playback, Time};

/// Greatest number of steps of a crossfade.
const MAX_STEPS: u64 = 16;
/// Least length of a step: 1/32 s in 32.32 fixed point.
const MIN_STEP: u64 = 1 << 27;

impl InstanceRecord {
    /// Returns the root motion of what the instance plays between two times, in which no command changes it; `to` may be
    /// earlier. `clips`: [`Metadata::clips`](crate::Metadata::clips). Includes loops, crossfades and speed; layers do not
    /// move an instance.
    ///
    /// An instance that [follows its root motion](crate::Motion::following_root) is drawn there. For servers:
    ///
    /// ```
    /// # use gpuskin_rt::{ClipInfo, InstanceRecord, Time, Transform};
    /// /// Returns where an instance is that has followed its root motion since the last command, when it was at `start`.
    /// fn transform(instance: &InstanceRecord, clips: &[ClipInfo], start: (Transform, Time), time: Time) -> Transform {
    ///     let mut moved = *instance;
    ///     moved.set_transform(start.0);
    ///     moved.displace(instance.root_displacement(clips, start.1, time));
    ///     moved.transform()
    /// }
    /// ```
    pub fn root_displacement(&self, clips: &[ClipInfo], from: impl Into<Time>, to: impl Into<Time>) -> Displacement {
        let (from, to) = (from.into(), to.into());
        match FadeSteps::of(self) {
            Some(steps) if from.min(to) < steps.end() => {
                let since_start = |time| steps.displacement(self, clips, time);
                since_start(from).inverse() * since_start(to)
            }
            _ => by_clip(clips, &self.playback(), from, to),
        }
    }
}

/// Returns the displacement by one clip alone; none if the model does not have it.
fn by_clip(clips: &[ClipInfo], playback: &Playback, from: Time, to: Time) -> Displacement {
    clips.get(playback.clip_index()).map_or(Displacement::IDENTITY, |clip| clip.root_displacement(playback, from, to))
}

/// Steps of a crossfade.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FadeSteps {
    start: Time,
    /// Length of a step, seconds in 32.32 fixed point; at least 1.
    pub(crate) length: u64,
    pub(crate) count: u32,
    /// Progress of the crossfade at the start, 0..1.
    progress: f64,
}

impl FadeSteps {
    /// Returns the steps of the crossfade of an instance; `None` where none goes on.
    pub(crate) fn of(record: &InstanceRecord) -> Option<Self> {
        let (progress, rate) = record.fade()?;
        let left = u128::from(u16::MAX - progress) << 64;
        let seconds = left / (65_535 * u128::from(rate.max(1)));
        // Half of the range, so that no sum of steps overflows.
        let seconds = u64::try_from(seconds).unwrap_or(u64::MAX).min(u64::MAX / 2);
        let count = seconds.div_ceil(MIN_STEP).clamp(1, MAX_STEPS);
        Some(Self {
            start: record.started(),
            length: seconds.div_ceil(count).max(1),
            count: count as u32,
            progress: f64::from(progress) / 65_535.0,
        })
    }

    /// Returns the time of a boundary between two steps.
    fn time(&self, step: u32) -> Time {
        Time::from_bits(self.start.to_bits().saturating_add(self.length.saturating_mul(step.into())))
    }

    /// Returns the time at which the crossfade is complete.
    pub(crate) fn end(&self) -> Time {
        self.time(self.count)
    }

    /// Returns the displacement since the start of the crossfade.
    pub(crate) fn displacement(&self, record: &InstanceRecord, clips: &[ClipInfo], time: Time) -> Displacement {
        let mut sum = Displacement::IDENTITY;
        for step in (0..self.count).take_while(|step| self.time(*step) < time) {
            sum = sum * self.part_of_step(record, clips, step, time);
        }
        if time > self.end() { sum * by_clip(clips, &record.playback(), self.end(), time) } else { sum }
    }

    /// Returns the displacement since the start of a step, until its end or an earlier time.
    fn part_of_step(&self, record: &InstanceRecord, clips: &[ClipInfo], step: u32, time: Time) -> Displacement {
        let from = self.time(step);
        let to = time.min(self.time(step + 1));
        let each = (1.0 - self.progress) / f64::from(self.count);
        let before = self.progress + each * f64::from(step);
        let after = before + each * (to.to_bits() - from.to_bits()) as f64 / self.length as f64;
        let weight = record.curve().mean_weight(before, after);
        let older = f64::from(record.older());
        let part = |weight: f64, playback: Playback| {
            let moves = weight > 0.0;
            (weight, if moves { by_clip(clips, &playback, from, to) } else { Displacement::IDENTITY })
        };
        blend([
            part(weight, record.playback()),
            part((1.0 - weight) * (1.0 - older), record.source(0)),
            part((1.0 - weight) * older, record.source(1)),
        ])
    }
}

/// Blends displacements by weights, whose sum is 1.
fn blend(parts: [(f64, Displacement); 3]) -> Displacement {
    let mut translation = DVec3::ZERO;
    let mut rotation = DQuat::from_array([0.0; 4]);
    for (weight, part) in parts {
        let turn = if part.rotation.w < 0.0 { -part.rotation } else { part.rotation };
        translation += half(turn).conjugate() * part.translation * weight;
        rotation += turn * weight;
    }
    let length = rotation.length();
    let rotation = if length > 1e-3 { rotation / length } else { DQuat::IDENTITY };
    Displacement { rotation, translation: half(rotation) * translation }
}

/// Returns half of a rotation whose `w` is not negative.
fn half(q: DQuat) -> DQuat {
    DQuat::from_xyzw(q.x, q.y, q.z, q.w + 1.0).normalize()
}
