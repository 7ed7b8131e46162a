//! Motion of instances at constant rates or by root motion, as a function of time. CPU reference and WGSL source of
//! `shaders/motion.wgsl`. Does not need wgpu.
//!
//! Root motion is that of [`crate::root_blend`]. With velocity `v` and turn rate `w` about the y axis, the position after `t` seconds is
//! `p + R(w t / 2) v' 2 sin(w t / 2) / w`, the integral of `R(w s) v'` over `s` from 0 to `t`, where
//! `v'` is the velocity in world space at the start. Its vertical part is `v'.y t`.
//!
//! Commands store the position at which they find an instance in `f64`, so no number of them lets it
//! drift. The GPU takes the angle from integers: rates are turns per second with 56 fraction bits,
//! times seconds with 32, and the fraction of their product is exact after weeks.

use bytemuck::{Pod, Zeroable};
use glam::{DQuat, DVec3, Vec3};

use crate::bit_fields;
#[cfg(any(feature = "wgpu", test))]
use crate::root_blend::FadeSteps;
#[cfg(any(feature = "wgpu", test))]
use crate::root_motion::Displacement;
#[cfg(any(feature = "wgpu", test))]
use crate::root_table::Screw;
#[cfg(any(feature = "wgpu", test))]
use crate::terrain::Terrain;
#[cfg(any(feature = "wgpu", test))]
use crate::timeline::{CYCLE, PlaybackTimeline};
#[cfg(any(feature = "wgpu", test))]
use crate::transform::{finite_position, unit_rotation};
#[cfg(any(feature = "wgpu", test))]
use crate::{ClipInfo, InstanceRecord};
use crate::{Time, Transform};

/// Fraction bits of a turn rate, turns per second.
#[cfg(any(feature = "wgpu", test))]
const TURN_BITS: i32 = 56;
/// Greatest turn rate, radians per second: ten turns.
const FASTEST: f32 = 62.8;
/// [`MotionRecord::moving`] of an instance that follows its root motion.
#[cfg(any(feature = "wgpu", test))]
const MOVES_BY_ROOT: u32 = 2;
/// Instances per workgroup of the pass.
pub const MOTION_GROUP_SIZE: u32 = 64;
/// Compute entry point of [`motion`]: one thread per instance, workgroups counted along x, then y.
pub const MOTION_ENTRY_POINT: &str = "gpuskin_move";

/// Motion of an instance: a velocity along its own axes, and a turn about the y axis, or the root motion of what it
/// plays. At constant rates, the path is a straight line, an arc or a spiral staircase.
///
/// ```
/// # use gpuskin_rt::{Motion, Transform};
/// let walk = Motion::forwards(1.4).turning(0.2);
/// // After a quarter of a turn it faces the world's x axis.
/// let there = walk.transform_after(Transform::default(), core::f64::consts::FRAC_PI_2 / 0.2);
/// assert!((there.translation[0] - 7.0).abs() < 1e-4 && (there.translation[2] - 7.0).abs() < 1e-4);
/// // Goes where its clips take it, through loops, crossfades and changes of speed.
/// let follow = Motion::following_root();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Velocity along the instance's own axes, metres per second; its scale does not change it. Models
    /// face along z.
    pub velocity: [f32; 3],
    /// Turn about the world's y axis, radians per second, counter-clockwise seen from above; at most ten
    /// turns per second. Velocity turns with the instance.
    pub turn_rate: f32,
    /// Whether the instance follows the root motion of what it plays instead; velocity and turn rate then do not matter.
    pub follows_root: bool,
}

impl Motion {
    /// No motion.
    pub const STILL: Self = Self { velocity: [0.0; 3], turn_rate: 0.0, follows_root: false };

    /// Makes a motion along the instance's z axis, metres per second.
    pub const fn forwards(speed: f32) -> Self {
        Self { velocity: [0.0, 0.0, speed], ..Self::STILL }
    }

    /// Makes the motion of an instance that follows the root motion of what it plays: across loops and crossfades, at the
    /// speed of the clip, backwards and in ping-pong too. A paused instance stands, and so does one whose clips were baked
    /// without root motion. Layers do not move it. The scale of the instance multiplies its way.
    pub const fn following_root() -> Self {
        Self { follows_root: true, ..Self::STILL }
    }

    /// Sets the turn rate, radians per second.
    pub fn turning(mut self, turn_rate: f32) -> Self {
        self.turn_rate = turn_rate;
        self
    }

    /// Returns the transform of an instance that has moved at constant rates for some seconds from `start`: for servers,
    /// and the reference of what is drawn. For an instance that follows its root motion, which depends on what it plays,
    /// see [`InstanceRecord::root_displacement`].
    pub fn transform_after(&self, start: Transform, seconds: f64) -> Transform {
        let start = start.finite();
        let (origin, rotation) = MotionState::new(start, *self, Time::ZERO).place_at_rates(seconds);
        transform(origin, rotation, start.scale)
    }

    /// Returns the motion with numbers that can be played: those that are not finite become 0.
    pub(crate) fn finite(self) -> Self {
        if self.follows_root {
            return Self::following_root();
        }
        let finite = |c: f32| if c.is_finite() { c } else { 0.0 };
        Self {
            velocity: self.velocity.map(finite),
            turn_rate: finite(self.turn_rate).clamp(-FASTEST, FASTEST),
            follows_root: false,
        }
    }
}

/// Clips of an instance, and its scale, on which root motion depends, and the ground.
#[cfg(any(feature = "wgpu", test))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Playing<'a> {
    /// Record of the instance; position and rotation do not matter.
    pub(crate) record: InstanceRecord,
    pub(crate) clips: &'a [ClipInfo],
    /// Ground of the crowd.
    pub(crate) terrain: Option<&'a Terrain>,
}

#[cfg(any(feature = "wgpu", test))]
impl Playing<'_> {
    /// Returns the displacement between two times, multiplied by the scale.
    fn displacement(&self, from: Time, to: Time) -> Displacement {
        self.record.root_displacement(self.clips, from, to).scaled(self.record.scale.into())
    }
}

fn transform(origin: DVec3, rotation: DQuat, scale: f32) -> Transform {
    Transform { translation: origin.as_vec3().into(), scale, rotation: rotation.as_quat().into() }
}

/// Motion since a time, and where it began. On a terrain, places are over the ground, of which the height is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MotionState {
    pub(crate) origin: DVec3,
    pub(crate) rotation: DQuat,
    pub(crate) motion: Motion,
    pub(crate) start: Time,
}

impl Default for MotionState {
    fn default() -> Self {
        Self { origin: DVec3::ZERO, rotation: DQuat::IDENTITY, motion: Motion::STILL, start: Time::ZERO }
    }
}

impl MotionState {
    /// Starts a motion at a transform whose numbers are finite.
    pub(crate) fn new(from: Transform, motion: Motion, start: Time) -> Self {
        let rotation = DQuat::from_array(from.rotation.map(f64::from)).normalize();
        Self { origin: Vec3::from(from.translation).as_dvec3(), rotation, motion: motion.finite(), start }
    }

    /// Returns the state over the ground of one that starts in the world.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn over_ground(self, terrain: Option<&Terrain>) -> Self {
        let Some(terrain) = terrain else { return self };
        let (origin, rotation) = terrain.over_ground(self.origin, self.rotation);
        Self { origin, rotation, ..self }
    }

    /// Returns the state in the world of one that starts over the ground.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn in_world(self, terrain: Option<&Terrain>) -> Self {
        let Some(terrain) = terrain else { return self };
        let (origin, rotation) = terrain.in_world(self.origin, self.rotation);
        Self { origin, rotation, ..self }
    }

    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn is_still(&self) -> bool {
        self.motion == Motion::STILL
    }

    /// Returns the state from `time` on: the same motion from where it has come by then.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn rebased(&self, time: Time, playing: &Playing<'_>) -> Self {
        let (origin, rotation) = self.place(time, playing);
        Self { origin, rotation, start: time, ..*self }
    }

    /// Returns the state that is at `to` where this one is at `from`: the same, unless the start would be
    /// before [`Time::ZERO`]; then it starts at `to`. `playing`: what the instance plays at `from`.
    #[cfg(feature = "wgpu")]
    pub(crate) fn moved_in_time(&self, from: Time, to: Time, playing: &Playing<'_>) -> Self {
        let shift = to.to_bits().wrapping_sub(from.to_bits());
        let start = self.start.to_bits();
        // Clips may start anew where time goes back.
        let keeps_start = !self.motion.follows_root && start >= from.to_bits().saturating_sub(to.to_bits());
        if to >= from || keeps_start {
            return Self { start: Time::from_bits(start.wrapping_add(shift)), ..*self };
        }
        Self { start: to, ..self.rebased(from, playing) }
    }

    /// Returns the transform at a time; before the start, that of the start.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn transform(&self, time: Time, playing: &Playing<'_>) -> Transform {
        let (origin, rotation) = self.place(time, playing);
        let in_world = |terrain: &Terrain| terrain.in_world(origin, rotation);
        let (origin, rotation) = playing.terrain.map_or((origin, rotation), in_world);
        let found = transform(origin, rotation, playing.record.scale);
        if self.motion.follows_root { found.finite() } else { found }
    }

    #[cfg(any(feature = "wgpu", test))]
    fn place(&self, time: Time, playing: &Playing<'_>) -> (DVec3, DQuat) {
        if !self.motion.follows_root {
            return self.place_at_rates(time.since(self.start));
        }
        let start = Displacement { rotation: self.rotation, translation: self.origin };
        let there = start * playing.displacement(self.start, time.max(self.start));
        (there.translation, there.rotation)
    }

    fn place_at_rates(&self, seconds: f64) -> (DVec3, DQuat) {
        let rate = f64::from(self.motion.turn_rate);
        let velocity = self.rotation * Vec3::from(self.motion.velocity).as_dvec3();
        let half = 0.5 * rate * seconds;
        // 2 sin(half) / rate, also for a rate of 0.
        let chord = if half.abs() < 1e-4 { seconds * (1.0 - half * half / 6.0) } else { 2.0 * half.sin() / rate };
        let along = DQuat::from_rotation_y(half) * velocity;
        let moved = DVec3::new(along.x * chord, velocity.y * seconds, along.z * chord);
        (self.origin + moved, (DQuat::from_rotation_y(2.0 * half) * self.rotation).normalize())
    }

    /// Returns the words that the GPU reads.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn record(&self) -> MotionRecord {
        let rate = f64::from(self.motion.turn_rate) / core::f64::consts::TAU;
        let turns = (rate.abs() * f64::from(TURN_BITS).exp2()).round() as u64;
        MotionRecord {
            origin: self.origin.as_vec3().into(),
            turn_rate: self.motion.turn_rate,
            rotation: self.rotation.as_quat().into(),
            velocity: (self.rotation * Vec3::from(self.motion.velocity).as_dvec3()).as_vec3().into(),
            moving: if self.motion.follows_root { MOVES_BY_ROOT } else { (!self.is_still()).into() },
            start: self.start.words(),
            turns: Time::from_bits(turns).words(),
        }
    }

    /// Returns the state from the end of a crossfade on, after which the current clip moves the instance alone; the same
    /// where none goes on.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn settled(&self, playing: &Playing<'_>) -> Self {
        self.fade(playing).map_or(*self, |steps| self.rebased(steps.end(), playing))
    }

    /// Returns the steps of the crossfade in which the motion starts, if it follows the root motion.
    #[cfg(any(feature = "wgpu", test))]
    fn fade(&self, playing: &Playing<'_>) -> Option<FadeSteps> {
        let steps = FadeSteps::of(&playing.record).filter(|_| self.motion.follows_root)?;
        (self.start < steps.end()).then_some(steps)
    }

    /// Returns the words that the GPU reads in crowds of which some instances follow their root motion. `settled`:
    /// [`Self::settled`].
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn root_record(&self, settled: &Self, playing: &Playing<'_>) -> RootMotionRecord {
        if !self.motion.follows_root {
            return RootMotionRecord::at_rates(&self.record());
        }
        let Playing { record, clips, .. } = playing;
        let displaced = |state: &Self| Displacement { rotation: state.rotation, translation: state.origin };
        let fade = self.fade(playing);
        // Steps count from the start of the crossfade, which may be earlier than the motion.
        let to_fade = fade.map_or(Displacement::IDENTITY, |_| playing.displacement(self.start, record.started()));
        let at_fade = displaced(self) * to_fade;
        let (loops, phase) = PlaybackTimeline::of(&record.playback()).loops_and_phase(settled.start);
        let scale = f64::from(record.scale);
        let since = |phase| {
            let clip = clips.get(record.clip_index());
            clip.map_or(Displacement::IDENTITY, |clip| clip.root_at(phase)).scaled(scale)
        };
        let at_loop = displaced(settled) * since(phase).inverse();
        let screw = Screw::of(&since(CYCLE));
        let position = |position: DVec3| finite_position(position.as_vec3().into());
        RootMotionRecord {
            fade_origin: position(at_fade.translation),
            reserved: 0,
            fade_rotation: unit_rotation(at_fade.rotation.as_quat().into()),
            along: position(at_loop.rotation * screw.along),
            moving: MOVES_BY_ROOT,
            start: self.start.words(),
            step: fade.map_or([0; 2], |steps| Time::from_bits(steps.length).words()),
            loop_origin: position(at_loop.translation),
            loops: loops as u32,
            loop_rotation: unit_rotation(at_loop.rotation.as_quat().into()),
            across: position(at_loop.rotation * screw.across),
            steps: fade.map_or(0, |steps| steps.count),
        }
    }
}

/// Motion of an instance as the GPU reads it: four vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct MotionRecord {
    /// Position at the start. World space, metres.
    origin: [f32; 3],
    /// Radians per second.
    turn_rate: f32,
    /// Rotation at the start.
    rotation: [f32; 4],
    /// Velocity at the start. World space, metres per second.
    velocity: [f32; 3],
    /// 0: the instance stands. 1: it moves at constant rates. [`MOVES_BY_ROOT`].
    moving: u32,
    /// [`Time::words`] of the start.
    start: [u32; 2],
    /// Turn rate without its sign, turns per second: upper word, lower word of 56 fraction bits.
    turns: [u32; 2],
}

/// Motion of an instance as the GPU reads it in crowds of which some instances follow their root motion: seven vectors. For an
/// instance that moves at constant rates, [`MotionRecord`] and three zero vectors.
#[cfg(any(feature = "wgpu", test))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RootMotionRecord {
    /// Position at the start of the crossfade. World space, metres.
    fade_origin: [f32; 3],
    reserved: u32,
    /// Rotation at the start of the crossfade.
    fade_rotation: [f32; 4],
    /// [`Screw::along`] of the current clip. World space, metres.
    along: [f32; 3],
    /// Kind of motion, as in [`MotionRecord`].
    moving: u32,
    /// [`Time::words`] of the start of the motion.
    start: [u32; 2],
    /// Length of a step of the crossfade, seconds: [`Time::words`].
    step: [u32; 2],
    /// Position at the start of the loop in which the motion starts, or in which the crossfade ends, as if the current
    /// clip played alone. World space, metres.
    loop_origin: [f32; 3],
    /// Number of that loop, counted from the start of the clip.
    loops: u32,
    /// Rotation at the start of that loop.
    loop_rotation: [f32; 4],
    /// [`Screw::across`] of the current clip. World space, metres.
    across: [f32; 3],
    /// Number of steps of the crossfade; 0: none goes on.
    steps: u32,
}

#[cfg(any(feature = "wgpu", test))]
impl RootMotionRecord {
    fn at_rates(record: &MotionRecord) -> Self {
        let mut words = Self::default();
        bytemuck::bytes_of_mut(&mut words)[..size_of::<MotionRecord>()].copy_from_slice(bytemuck::bytes_of(record));
        words
    }
}

/// Uniform of the motion pass. CPU layout of `GpuskinMotionParameters` in `shaders/motion.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct MotionUniform {
    /// Time: [`Time::words`].
    pub time: [u32; 2],
    /// Number of instances.
    pub instances: u32,
    /// Zero.
    pub reserved: u32,
}

/// Returns the WGSL of the pass that writes the transforms of moving instances. `root_motion`: some of them may follow it.
/// `terrain`: they move on a terrain.
pub fn motion(root_motion: bool, terrain: bool) -> String {
    let fields = bit_fields::wgsl();
    let mut modules = vec![
        include_str!("../shaders/playback.wgsl"),
        include_str!("../shaders/pack_rotation.wgsl"),
        include_str!("../shaders/motion.wgsl"),
    ];
    if root_motion || terrain {
        modules.push(include_str!("../shaders/quaternion_product.wgsl"));
    }
    match root_motion {
        true => modules.extend([
            &fields,
            include_str!("../shaders/instance.wgsl"),
            include_str!("../shaders/root_motion.wgsl"),
        ]),
        false => modules.push(include_str!("../shaders/root_motion_none.wgsl")),
    }
    modules.push(match terrain {
        true => include_str!("../shaders/terrain.wgsl"),
        false => include_str!("../shaders/terrain_none.wgsl"),
    });
    modules.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Motions at constant rates do not depend on it.
    fn at_rates() -> Playing<'static> {
        Playing { record: InstanceRecord::default(), clips: &[], terrain: None }
    }

    /// Integrates the motion in small steps.
    fn integrated(motion: Motion, from: Transform, seconds: f64) -> (DVec3, DQuat) {
        let state = MotionState::new(from, motion, Time::ZERO);
        let (steps, mut place) = (200_000, state.origin);
        let dt = seconds / f64::from(steps);
        let turned = |t: f64| DQuat::from_rotation_y(f64::from(motion.turn_rate) * t) * state.rotation;
        for i in 0..steps {
            place += turned((f64::from(i) + 0.5) * dt) * Vec3::from(motion.velocity).as_dvec3() * dt;
        }
        (place, turned(seconds))
    }

    #[test]
    fn place_is_the_integral_of_the_velocity() {
        let from = Transform::at([3.0, -1.0, 2.0]).facing(0.7).scaled(2.0);
        for (motion, seconds) in [
            (Motion::forwards(1.4), 10.0),
            (Motion { velocity: [0.5, 0.2, 1.0], turn_rate: 0.9, ..Motion::STILL }, 12.0),
            (Motion { velocity: [0.0, 0.0, 2.0], turn_rate: -3.0, ..Motion::STILL }, 4.0),
            (Motion { velocity: [0.0, 1.0, 2.0], turn_rate: 1e-6, ..Motion::STILL }, 50.0),
            (Motion::STILL.turning(2.0), 1.0),
        ] {
            let found = motion.transform_after(from, seconds);
            let (place, rotation) = integrated(motion, from, seconds);
            assert!(Vec3::from(found.translation).as_dvec3().distance(place) < 1e-5, "{motion:?} {found:?} {place}");
            let angle = DQuat::from_array(found.rotation.map(f64::from)).normalize().angle_between(rotation);
            assert!(angle < 1e-6 && found.scale == 2.0, "{motion:?} {angle}");
        }
    }

    #[test]
    fn commands_do_not_let_an_instance_drift() {
        let walk = Motion::forwards(1.4).turning(0.01);
        let (mut state, mut time) = (MotionState::new(Transform::default(), walk, Time::ZERO), Time::ZERO);
        for i in 0..100_000 {
            time = time + (1.0 + f64::from(i % 7) * 0.37);
            state = state.rebased(time, &at_rates());
        }
        let whole = MotionState::new(Transform::default(), walk, Time::ZERO).rebased(time, &at_rates());
        assert!(state.origin.distance(whole.origin) < 1e-5, "{} {}", state.origin, whole.origin);
    }

    #[test]
    fn odd_numbers_stand_still() {
        let odd = Motion { velocity: [f32::NAN, f32::INFINITY, 1.0], turn_rate: f32::NAN, ..Motion::STILL };
        assert_eq!(odd.finite(), Motion::forwards(1.0));
        let fast = Motion { turn_rate: -1e30, ..Motion::STILL };
        assert_eq!(fast.finite().turn_rate, -FASTEST);
        let early = MotionState::new(Transform::default(), Motion::forwards(1.0), Time::from_secs(5.0));
        assert_eq!(early.transform(Time::ZERO, &at_rates()), Transform::default());
    }
}
