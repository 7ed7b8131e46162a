//! Instances that follow the root motion of what they play are where an f64 reference says, on devices with compute and
//! without.

use crate::common::model::{Pose, Random, TestClip, TestModel, plain};
use crate::common::squares::{FLAT, RED, STILL, draw, map, renderer, shows, square_recipe};
use crate::common::{BACKENDS, Gpu, compute, eight_storage_buffers, gpu, gpu_with, noop};
use crate::motion::motion;
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
        stepped: false,
        duration,
        looped: true,
    };
    recipe.clips = lengths.map(clip).to_vec();
    recipe.frames_per_layer = 128;
    let mut test = recipe.build(|_, _| Pose::REST);
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

/// Devices without compute, on which the CPU moves instances, then devices with compute.
pub fn devices() -> impl Iterator<Item = Gpu> {
    BACKENDS.into_iter().filter_map(gpu).chain(BACKENDS.into_iter().filter_map(compute))
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
        // A new motion of the same kind starts where the instance is.
        8 => crowd.set_motion(id, Motion::following_root()).unwrap(),
        9 => crowd.set_tint(id, [random.unit(); 4]).unwrap(),
        _ => crowd.play(id, clip, transition).unwrap(),
    }
    traveller.record = crowd.get(id).unwrap();
}

/// A week of commands at irregular times, many of them within crossfades: no instance is ever a millimetre off.
pub fn a_week_of_commands_stays_within_a_millimetre() {
    for gpu in devices() {
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
        let mut commands = 0;
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
                }
            }
        }
        assert!(commands > 10_000, "{commands}");
    }
}

/// A square of 0.4 metres that faces +z. Clip 0 stands; clip 1 moves one metre along x per loop of a second; clip 2 moves along y.
pub fn sliders(encoding: Encoding) -> TestModel {
    let mut recipe = square_recipe(encoding, plain([1.0, 0.0, 0.0, 1.0]));
    let slide = TestClip { duration: 1.0, looped: true, ..STILL };
    recipe.clips = vec![STILL, slide, slide];
    recipe.frames_per_layer = 64;
    let mut test = recipe.build(|_, _| Pose::REST);
    for (i, clip) in test.model.meta.clips.to_mut().iter_mut().enumerate() {
        let translation = if i == 1 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let keys = vec![RootKey::IDENTITY, RootKey { translation, ..RootKey::IDENTITY }];
        // Snapshots find clips by their names.
        clip.name = format!("clip_{i}").into();
        clip.root_motion = (i > 0).then(|| RootMotion { planar: false, keys: keys.into() });
    }
    test
}

const ALONG_X: Clip<Dynamic> = Clip::new(1);
const ALONG_Y: Clip<Dynamic> = Clip::new(2);

#[track_caller]
fn near(gpu: &Gpu, found: &Transform, expected: [f32; 3]) {
    let apart = Vec3::from(found.translation).distance(Vec3::from(expected));
    assert!(apart < 1e-4, "{}: {found:?}, expected {expected:?}", gpu.name);
}

/// Commands on instances that follow their root motion, beside others that move at constant rates or stand: moved, stopped,
/// despawned, restored.
pub fn commands_continue_or_stop_root_motion() {
    for gpu in devices() {
        let mut renderer = renderer(&gpu);
        let test = sliders(Encoding::MatrixF16);
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let follow = Motion::following_root();
        let slides = |y: f32| Instance::at([0.0, y, 0.0]).play(ALONG_X);
        let ids = [
            crowd.spawn(slides(0.0).moving(Motion { velocity: [0.0, 0.0, 2.0], ..Motion::STILL })),
            crowd.spawn(slides(1.0)),
            crowd.spawn(slides(2.0).moving(follow)),
            crowd.spawn(slides(3.0).scaled(2.0).speed(0.5).moving(follow)),
            crowd.spawn(slides(4.0).starting(1.5).moving(follow)),
            crowd.spawn(slides(5.0).repeat(Repeat::Once).moving(follow)),
            crowd.spawn(slides(6.0).phase(0.5).speed(-1.0).moving(follow)),
        ];
        let check = |renderer: &CrowdRenderer, expected: &[[f32; 3]]| {
            let drawn = crowd.drawn_transforms(renderer).unwrap();
            assert_eq!(drawn.len(), expected.len());
            for (i, (drawn, expected)) in drawn.iter().zip(expected).enumerate() {
                near(&gpu, drawn, *expected);
                near(&gpu, &crowd.transform(crowd.id_at(i as u32).unwrap()).unwrap(), *expected);
            }
        };
        prepare(&gpu, &mut renderer, 1.0);
        prepare(&gpu, &mut renderer, 2.25);
        let (x, z) = ([0.0, 0.0, 2.25, 2.25, 0.75, 1.0, -2.25], [4.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        check(&renderer, &[0, 1, 2, 3, 4, 5, 6].map(|i| [x[i], i as f32, z[i]]));
        assert_eq!([1, 2].map(|i| crowd.motion(ids[i])), [Some(Motion::STILL), Some(follow)]);

        crowd.set_motion(ids[0], follow).unwrap();
        crowd.set_motion(ids[1], follow).unwrap();
        crowd.set_motion(ids[2], Motion::STILL).unwrap();
        crowd.play(ids[3], ALONG_Y, Transition::cut()).unwrap();
        crowd.set_paused(ids[4], true).unwrap();
        crowd.move_to(ids[6], [1.0, 6.0, 0.0]).unwrap();
        crowd.face(ids[6], core::f32::consts::FRAC_PI_2).unwrap();
        prepare(&gpu, &mut renderer, 3.25);
        let places = [
            [1.0, 0.0, 4.5],
            [1.0, 1.0, 0.0],
            [2.25, 2.0, 0.0],
            [2.25, 5.0, 0.0],
            [0.75, 4.0, 0.0],
            [1.0, 5.0, 0.0],
            // Backwards along its own x axis, which is the world's -z.
            [1.0, 6.0, 1.0],
        ];
        check(&renderer, &places);

        // The last one takes the place of the first.
        crowd.despawn(ids[0]).unwrap();
        crowd.set_paused(ids[4], false).unwrap();
        crowd.set_motion(ids[1], follow).unwrap();
        prepare(&gpu, &mut renderer, 3.5);
        let saved = crowd.snapshot();
        let later = |seconds: f32| {
            let mut later = [places[6], places[1], places[2], places[3], places[4], places[5]];
            (later[0][2], later[1][0], later[3][1]) = (1.0 + seconds, 1.0 + seconds, 5.0 + 2.0 * seconds);
            later[4][0] = 0.75 + seconds;
            later
        };
        prepare(&gpu, &mut renderer, 3.75);
        check(&renderer, &later(0.5));
        // Later; and earlier than the clips have played, but not than the last command is ago.
        for time in [1000.0, 0.375] {
            prepare(&gpu, &mut renderer, time);
            crowd.restore(&saved).unwrap();
            prepare(&gpu, &mut renderer, time + 0.5);
            check(&renderer, &later(0.75));
            prepare(&gpu, &mut renderer, time + 2.0);
            check(&renderer, &later(2.25));
        }
        // Grows beyond its capacity while it moves.
        let more = crowd.spawn_many((0..300).map(|i| slides(i as f32).moving(follow)));
        prepare(&gpu, &mut renderer, 3.375);
        near(&gpu, &crowd.drawn_transforms(&renderer).unwrap()[305], [1.0, 299.0, 0.0]);
        near(&gpu, &crowd.transform(more[299]).unwrap(), [1.0, 299.0, 0.0]);
        // Commands count from a time that is not prepared yet; until then the instance stands there.
        renderer.set_time(5.0);
        crowd.play(more[7], ALONG_Y, Transition::crossfade(0.5)).unwrap();
        crowd.move_to(more[8], [0.5, 8.0, 0.0]).unwrap();
        for time in [4.0, 5.0] {
            prepare(&gpu, &mut renderer, time);
            let drawn = crowd.drawn_transforms(&renderer).unwrap();
            for (i, expected) in [(7, [2.625, 7.0, 0.0]), (8, [0.5, 8.0, 0.0])] {
                near(&gpu, &drawn[6 + i], expected);
                near(&gpu, &crowd.transform(more[i]).unwrap(), expected);
            }
        }
        crowd.clear();
        crowd.spawn(slides(1.0).moving(Motion::forwards(2.0)));
        prepare(&gpu, &mut renderer, 6.0);
        check(&renderer, &[[0.0, 1.0, 2.0]]);
    }
}

/// Pictures of an instance that follows its root motion into view and out of it equal those of one that the game moves: with
/// culling on the GPU, on the CPU and without.
pub fn pictures_show_root_motion() {
    for gpu in devices() {
        for encoding in [Encoding::MatrixF16, Encoding::LocalPacked] {
            if encoding.needs_compute() && gpu.device.limits().max_storage_buffers_per_shader_stage == 0 {
                continue;
            }
            for culling in [true, false] {
                let test = sliders(encoding).with_bounds();
                let scene = |motion: Motion| {
                    let descriptor = RendererDescriptor { culling, light: FLAT, ..Default::default() };
                    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
                    let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
                    let id = crowd.spawn(Instance::at([-6.0, 2.0, 0.0]).play(ALONG_X).moving(motion));
                    (renderer, crowd, id)
                };
                let mut scenes = [Motion::following_root(), Motion::STILL].map(scene);
                let mut seen = 0;
                // At 10.5 s, a linear crossfade of two seconds begins: one metre along either axis.
                let [fades, ends] = [10.5, 12.5];
                for time in [1.0_f64, 4.0, 7.0, 9.0, 10.5, 11.5, 12.5, 13.5, 15.0, 30.0] {
                    let [into, after] = [time.min(ends) - fades, time - ends].map(|seconds: f64| seconds.max(0.0));
                    let x = time.min(fades) + into - into * into / 4.0;
                    let y = into * into / 4.0 + after;
                    scenes[1].1.move_to(scenes[1].2, [x as f32 - 6.0, y as f32 + 2.0, 0.0]).unwrap();
                    let [found, expected] =
                        scenes.each_mut().map(|(renderer, ..)| draw(&gpu, renderer, &map(8.0), time));
                    let name = format!("{} {encoding:?}, culling {culling}, at {time}", gpu.name);
                    assert!(found == expected, "{name}: {} and {} pixels", found.covered(), expected.covered());
                    seen += usize::from(found.covered() > 0);
                    assert!(encoding.needs_compute() || time != 9.0 || shows(&found, 3.0, 2.0) == RED, "{name}");
                    if time == fades {
                        for (_, crowd, id) in &scenes {
                            crowd.play(*id, ALONG_Y, Transition::crossfade(2.0).curve(Curve::Linear)).unwrap();
                        }
                    }
                }
                assert!((3..10).contains(&seen), "{} {encoding:?}: {seen} pictures", gpu.name);
            }
        }
    }
}

/// Root motion is part of motion vectors.
pub fn root_motion_has_motion_vectors() {
    let more_buffers = BACKENDS.into_iter().filter_map(|backends| gpu_with(backends, eight_storage_buffers()));
    for gpu in devices().chain(more_buffers) {
        for (encoding, culling) in
            [(Encoding::MatrixF16, true), (Encoding::MatrixF16, false), (Encoding::LocalPacked, true)]
        {
            if encoding.needs_compute() && gpu.device.limits().max_storage_buffers_per_shader_stage < 5 {
                continue;
            }
            let descriptor = RendererDescriptor { motion_vectors: true, culling, ..Default::default() };
            let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
            let test = sliders(encoding);
            let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
            let instance = Instance::at([4.0, 4.0, 0.0]).scaled(40.0).play(ALONG_X).speed(0.025);
            let id = crowd.spawn(instance.moving(Motion::following_root()));
            let mut frame = |time: f64, speed: Option<f32>| {
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), time).unwrap();
                gpu.queue.submit([encoder.finish()]);
                let found = motion(&gpu, &renderer, &crowd, [map(8.0); 2], [time; 2])[0];
                speed.into_iter().for_each(|speed| crowd.set_speed(id, speed).unwrap());
                found
            };
            // Metres per frame, over 4 metres per half of the picture.
            let found = [
                frame(1.0, None),
                frame(1.5, Some(-0.0125)),
                frame(2.5, None),
                frame(2.75, Some(0.0)),
                frame(3.0, Some(0.05)),
                frame(3.25, None),
            ];
            let expected = [0.0, 0.125, -0.125, -0.031_25, 0.0, 0.125];
            for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
                let name = format!("{} {encoding:?} {culling} {i}", gpu.name);
                assert!((found - expected).abs() < 1e-4, "{name}: {found}, expected {expected}");
            }
        }
    }
}

/// Crowds that share their buffers in a batch.
pub fn batched_crowds_follow_their_root_motion() {
    let gpu = gpu_with(wgpu::Backends::VULKAN, eight_storage_buffers()).expect("the test's need");
    let mut renderer = renderer(&gpu);
    let mut models = [(); 3].map(|()| sliders(Encoding::LocalPacked).with_bounds());
    for (i, test) in models.iter_mut().enumerate() {
        test.model.meta.content_hash[14] ^= i as u8 + 1;
        for payload in [&mut test.model.mesh, &mut test.model.animation] {
            let Data::Bytes(bytes) = &mut payload.data else { panic!("the payload is not in memory") };
            bytes.to_mut()[14] ^= i as u8 + 1;
        }
    }
    let mut crowd = |i: usize| Crowd::with_model(&mut renderer, &models[i].model, Default::default()).unwrap();
    let crowds = [crowd(0), crowd(1), crowd(2)];
    for (i, crowd) in crowds.iter().enumerate() {
        crowd.spawn_many((0..70).map(|k| {
            let instance = Instance::at([0.0, k as f32, i as f32]).play(Clip::new(1 + (k + i as u16) % 2));
            if k % 3 == 0 { instance } else { instance.moving(Motion::following_root()) }
        }));
    }
    prepare(&gpu, &mut renderer, 1.0);
    prepare(&gpu, &mut renderer, 3.5);
    assert_eq!(crowds[0].explain(&renderer).merged, 3);
    for (i, crowd) in crowds.iter().enumerate() {
        let drawn = crowd.drawn_transforms(&renderer).unwrap();
        for (k, found) in drawn.iter().enumerate() {
            let way = if k % 3 == 0 { 0.0 } else { 3.5 };
            let (x, y) = if (k + i) % 2 == 0 { (way, 0.0) } else { (0.0, way) };
            near(&gpu, found, [x, k as f32 + y, i as f32]);
        }
    }
}

/// A model without root motion: an instance that would follow it stands.
pub fn models_without_root_motion_stand() {
    let gpu = noop(wgpu::Limits::downlevel_defaults());
    let mut renderer = renderer(&gpu);
    let test = square_recipe(Encoding::MatrixF16, plain([1.0; 4])).build(|_, _| Pose::REST);
    let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
    let id = crowd.spawn(Instance::at([1.0, 2.0, 3.0]).moving(Motion::following_root()));
    assert_eq!(crowd.motion(id), Some(Motion::STILL));
    crowd.set_motion(id, Motion::forwards(1.0)).unwrap();
    prepare(&gpu, &mut renderer, 2.0);
    crowd.set_motion(id, Motion::following_root()).unwrap();
    prepare(&gpu, &mut renderer, 9.0);
    assert_eq!(crowd.transform(id).unwrap().translation, [1.0, 2.0, 5.0]);
}

/// Odd keys, scales and times: transforms stay finite on the CPU, and devices do not complain.
pub fn odd_root_motion_stays_finite() {
    for gpu in devices() {
        let mut renderer = renderer(&gpu);
        let mut test = sliders(Encoding::MatrixF16);
        let odd = [
            RootKey { translation: [1e38, -1e38, 0.0], rotation: [0.0; 4] },
            RootKey { translation: [-1e38, 1e38, 1.0], rotation: [1e30, 0.0, -1e30, 1e-30] },
        ];
        let clip = &mut test.model.meta.clips.to_mut()[1];
        let keys: Vec<_> = odd.into_iter().cycle().take(2).collect();
        clip.root_motion = Some(RootMotion { planar: true, keys: keys.into() });
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let instance = Instance::at([f32::NAN, f32::INFINITY, 0.0]).play(ALONG_X).moving(Motion::following_root());
        let all =
            [instance.scaled(1e38), instance.scaled(f32::NAN), instance.scaled(0.0), instance.speed(f32::INFINITY)];
        let ids = all.map(|instance| crowd.spawn(instance));
        for time in [0.1, 3.0, 1e9, 4e9] {
            prepare(&gpu, &mut renderer, time);
            for id in ids {
                let Transform { translation, rotation, .. } = crowd.transform(id).unwrap();
                assert!(translation.iter().chain(&rotation).all(|c| c.is_finite()), "{}: {translation:?}", gpu.name);
                crowd.play(id, ALONG_Y, Transition::crossfade(f32::MAX).speed(1e30)).unwrap();
                crowd.play(id, ALONG_X, Transition::crossfade(f32::MIN_POSITIVE).speed(-1e30)).unwrap();
            }
        }
    }
}
