//! Instances that follow the root motion of what they play are where an f64 reference says, on devices with compute and
//! without.

use crate::common::model::{Random, TestClip, TestModel, plain};
use crate::common::squares::{map, renderer, square_recipe};
use crate::common::{BACKENDS, Gpu, compute, gpu};
use glam::{DQuat, Quat, Vec3};
use gpuskin_rt::internals::root_motion::Displacement;
use gpuskin_rt::internals::*;

/// Root motion after a fraction of a clip: a screw along a tilted axis, with a sway that is 0 at both ends. `turn`: radians per
/// loop.
fn screw(turn: f32, axis: Vec3, across: Vec3, t: f32) -> RootKey {
    let sway = (core::f32::consts::TAU * t).sin();
    let rotation = Quat::from_axis_angle(axis.normalize(), turn * t) * Quat::from_rotation_y(0.2 * sway);
    let translation = across * t + Vec3::new(0.05 * sway, 0.02 * sway * sway, 0.1 * sway);
    RootKey { translation: translation.into(), rotation: rotation.to_array() }
}

/// Squares with these clips: a curved walk, a straight run, a fall that tumbles, a turn by half a circle per loop, a climb along a
/// tilted screw, a short jog; the last one has no root motion.
fn travellers(encoding: Encoding) -> TestModel {
    let mut recipe = square_recipe(encoding, plain([1.0; 4]));
    let lengths = [(24, 1.1), (16, 0.7), (10, 2.0), (2, 0.9), (12, 1.3), (5, 0.31), (4, 1.0)];
    let clip = |(intervals, duration)| TestClip {
        intervals,
        stored: intervals + 1,
        held: HeldFrames::NONE,
        duration,
        looped: true,
    };
    recipe.clips = lengths.map(clip).to_vec();
    recipe.frames_per_layer = 128;
    let mut test = recipe.build(|_, _| crate::common::model::Pose::REST);
    let (up, tilted) = (Vec3::Y, Vec3::new(0.3, 1.0, -0.2));
    for (i, clip) in test.model.meta.clips.to_mut().iter_mut().enumerate() {
        let key = |t: f32| match i {
            0 => screw(0.4, up, Vec3::new(0.1, 0.0, 1.4), t),
            1 => RootKey { translation: [0.0, 0.0, 2.3 * t], ..RootKey::IDENTITY },
            2 => screw(2.0, tilted, Vec3::new(0.2, -0.9, 0.5), t),
            3 => screw(core::f32::consts::PI, up, Vec3::ZERO, t),
            4 => screw(-0.7, tilted, Vec3::new(0.5, 0.01, 0.4), t),
            _ => screw(1e-5, up, Vec3::new(0.0, 0.0, 0.8), t),
        };
        let keys: Vec<RootKey> = (0..=clip.intervals).map(|frame| key(frame as f32 / clip.intervals as f32)).collect();
        clip.root_motion = (i < 6).then(|| RootMotion { planar: false, keys: keys.into() });
    }
    test
}

fn prepare(gpu: &Gpu, renderer: &mut CrowdRenderer, time: f64) {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), time).unwrap();
    gpu.queue.submit([encoder.finish()]);
}

/// Reference of an instance: what it plays, and where it is in f64.
#[derive(Clone, Copy, Debug)]
struct Traveller {
    record: InstanceRecord,
    place: Displacement,
    scale: f64,
}

impl Traveller {
    fn new(crowd: &Crowd<Dynamic>, id: InstanceId, position: Vec3) -> Self {
        let place = Displacement { rotation: DQuat::IDENTITY, translation: position.as_dvec3() };
        Self { record: crowd.get(id).unwrap(), place, scale: 1.0 }
    }

    fn after(self, meta: &Metadata, from: f64, to: f64) -> Self {
        let mut by = self.record.root_displacement(meta.clips(), from, to);
        by.translation *= self.scale;
        Self { place: self.place * by, ..self }
    }

    /// Distance of a found transform, and the angle between both rotations.
    fn errors(&self, found: &Transform) -> [f64; 2] {
        let rotation = DQuat::from_array(found.rotation.map(f64::from)).normalize();
        let cosine = rotation.dot(self.place.rotation).abs();
        let apart = 2.0 * (1.0 - cosine * cosine).max(0.0).sqrt();
        [self.place.translation.distance(Vec3::from(found.translation).as_dvec3()), apart]
    }
}

/// Gives a traveller a random command.
fn command(random: &mut Random, crowd: &Crowd<Dynamic>, id: InstanceId, traveller: &mut Traveller) {
    let fade = *random.of(&[0.0, 0.01, 0.2, 0.7, 3.0, 40.0]);
    let transition = Transition::crossfade(fade)
        .speed(random.within(-1.5, 2.0))
        .phase(random.unit())
        .curve(*random.of(&[Curve::Linear, Curve::Smooth, Curve::EaseIn, Curve::EaseOut]))
        .repeat(*random.of(&[Repeat::Loop, Repeat::Loop, Repeat::Once, Repeat::PingPong]));
    let clip = Clip::new(random.below(7) as u16);
    match random.below(14) {
        0 => crowd.set_speed(id, random.within(-2.0, 2.0)).unwrap(),
        1 => crowd.set_speeds(&[id], &[0.01]).unwrap(),
        2 => crowd.seek(id, random.within(0.0, 2.0).into()).unwrap(),
        3 => crowd.set_paused(id, random.below(3) == 0).unwrap(),
        4 => {
            let to =
                Vec3::new(random.within(-1200.0, 1200.0), random.within(-5.0, 5.0), random.within(-1200.0, 1200.0));
            crowd.move_to(id, to).unwrap();
            traveller.place.translation = to.as_dvec3();
        }
        5 => {
            let rotation = Quat::from_rotation_y(random.within(-3.0, 3.0));
            crowd.rotate_to(id, rotation).unwrap();
            traveller.place.rotation = rotation.as_dquat().normalize();
        }
        6 => {
            traveller.scale = random.within(0.5, 1.5).into();
            crowd.scale_to(id, traveller.scale as f32).unwrap();
        }
        7 => crowd.play_many(&[id], &[clip], transition).unwrap(),
        // The same motion again, from where the instance is.
        8 => crowd.set_motion(id, Motion::following_root()).unwrap(),
        9 => crowd.set_tint(id, [random.unit(); 4]).unwrap(),
        _ => crowd.play(id, clip, transition).unwrap(),
    }
    traveller.record = crowd.get(id).unwrap();
}

/// A week of commands at irregular times, many of them within crossfades: no instance is ever a millimetre off.
pub fn a_week_of_commands_stays_within_a_millimetre() {
    let devices = BACKENDS.into_iter().filter_map(gpu).chain(BACKENDS.into_iter().filter_map(compute));
    for gpu in devices {
        let mut renderer = renderer(&gpu);
        let test = travellers(Encoding::MatrixF16);
        let meta = &test.model.meta;
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let mut random = Random(11);
        let mut time = 40_000.0;
        prepare(&gpu, &mut renderer, time);
        let mut travellers: Vec<_> = (0..32)
            .map(|i| {
                let at = Vec3::new(random.within(-1200.0, 1200.0), 0.0, random.within(-1200.0, 1200.0));
                let instance = Instance::at(at).play(Clip::new(i % 7)).moving(Motion::following_root());
                let id = crowd.spawn(instance);
                (id, Traveller::new(&crowd, id, at))
            })
            .collect();
        let (mut worst, mut commands) = ([0.0_f64; 2], 0);
        while time < 40_000.0 + 7.0 * 86_400.0 {
            let long = f64::from(random.below(150_000) + 1) / 64.0;
            let seconds = if random.below(3) == 0 { long } else { f64::from(random.below(100) + 1) / 128.0 };
            for (id, traveller) in &mut travellers {
                let far = |traveller: &Traveller| {
                    traveller.after(meta, time, time + seconds).place.translation.length() > 2000.0
                };
                let mut given = 0;
                while given == 0 && random.below(3) > 0 || far(traveller) {
                    command(&mut random, &crowd, *id, traveller);
                    given += 1;
                }
                commands += given;
                *traveller = traveller.after(meta, time, time + seconds);
            }
            time += seconds;
            prepare(&gpu, &mut renderer, time);
            let drawn = crowd.drawn_transforms(&renderer).unwrap();
            for ((id, traveller), drawn) in travellers.iter().zip(&drawn) {
                for (device, found) in [(true, *drawn), (false, crowd.transform(*id).unwrap())] {
                    let errors = traveller.errors(&found);
                    assert!(
                        errors[0] < 1e-3 && errors[1] < 2e-4,
                        "{}, device {device}: {errors:?} at {time}, {traveller:?}, {found:?}",
                        gpu.name
                    );
                    worst = [0, 1].map(|i| worst[i].max(errors[i]));
                }
            }
        }
        assert!(commands > 10_000, "{commands}");
        println!("{}: {commands} commands, at most {worst:?} off", gpu.name);
    }
}
