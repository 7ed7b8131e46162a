//! Bones on the CPU compared with the GPU: a vertex at each bone and one at the tip of each of its
//! axes are drawn and read back.

use std::collections::BTreeSet;

use crate::common::model::{Pose, Random, Recipe, TestModel, many_clips};
use crate::common::{BACKENDS, compute};
use glam::{Mat3, Quat, Vec2, Vec3, Vec4};
use gpuskin_rt::internals::render::Capture;
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::*;
use gpuskin_test_harness::note;

/// Relative to the diagonal of the drawn mesh.
const TOLERANCE: f32 = 1e-5;
const BONES: u32 = 40;

/// Four vertices per bone: its origin, and the tips of its axes.
fn probes(bones: &[BoneInfo]) -> Vec<Vertex> {
    let mut vertices = Vec::new();
    for (joint, bone) in (0..).zip(bones) {
        let column = |c: usize| Vec3::from(bone.bind.map(|row| row[c]));
        for axis in [Vec3::ZERO, column(0), column(1), column(2)] {
            vertices.push(Vertex {
                position: column(3) + axis,
                normal: Vec3::Y,
                tangent: Vec4::X,
                uv: Vec2::ZERO,
                second_uv: Vec2::ZERO,
                joints: [joint, 0, 0, 0, 0, 0, 0, 0],
                weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                part: 0,
                color: Vec4::ONE,
            });
        }
    }
    vertices
}

fn model(random: &mut Random, encoding: Encoding) -> TestModel {
    let bone = |random: &mut Random| {
        let turned = Mat3::from_quat(Quat::from_axis_angle(random.direction(), random.within(-3.0, 3.0)));
        let (scale, place) = (random.within(0.1, 1.0), random.vector());
        let bind = [0, 1, 2].map(|i| (turned.row(i) * scale).extend(place[i]).to_array());
        BoneInfo { name: "bone".into(), parent: None, bind }
    };
    let bones: Vec<BoneInfo> = (0..BONES).map(|_| bone(random)).collect();
    let format = VertexFormat { packing: Packing::Full, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(random, encoding, format, BONES);
    recipe.vertices = probes(&bones);
    let mut test = recipe.build(|_, _| Pose::random(random, false));
    test.model.meta.bones = bones.into();
    test
}

/// Instances with every clip, with crossfades, and with interrupted crossfades.
fn timed_records(meta: &Metadata, random: &mut Random) -> Vec<(InstanceRecord, Time)> {
    let mut all = Vec::new();
    for clip in 0..meta.clips.len() as u16 {
        for speed in [0.9, -1.7] {
            let instance = Instance::<Dynamic>::at(random.vector())
                .rotated(random.direction().extend(random.within(-1.0, 1.0)).to_array())
                .scaled(random.within(0.5, 1.5))
                .play(Clip::new(clip))
                .speed(speed)
                .phase(random.unit());
            let playing = instance.record(meta, Time::from_secs(10.0));
            let next =
                |now: f64| Instance::<Dynamic>::at([0.0; 3]).play(Clip::new(1)).record(meta, now.into()).playback();
            let mut fading = playing;
            fading.play(&next(11.0), 0.8, Curve::Smooth, Time::from_secs(11.0));
            let mut again = fading;
            again.play(&next(11.3), 0.5, Curve::Linear, Time::from_secs(11.3));
            let at = |record, times: [f64; 3]| times.map(|now| (record, Time::from_secs(now)));
            all.extend(at(playing, [10.0, 10.77, 6e5]));
            all.extend(at(fading, [11.1, 11.5, 11.79]));
            all.extend(at(again, [11.31, 11.6, 11.79]));
        }
    }
    all
}

pub fn cpu_bones_match_gpu() {
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        for (seed, encoding) in (0..).zip(Encoding::ALL.into_iter().filter(|encoding| !encoding.is_vertex())) {
            let mut random = Random(seed);
            let test = model(&mut random, encoding);
            let frames = timed_records(&test.model.meta, &mut random);
            let drawn = Capture::new(&gpu.device, &gpu.queue, &test.model).unwrap().frames(&frames).unwrap();
            let sockets = Sockets::with_model(&test.model).unwrap();
            let mut worst = 0.0_f32;
            for (vertices, (record, now)) in drawn.iter().zip(&frames) {
                let points = || vertices.iter().map(|v| Vec3::from(v.position));
                let (min, max) = (points().reduce(Vec3::min).unwrap(), points().reduce(Vec3::max).unwrap());
                for (bone, drawn) in (0..).zip(vertices.as_chunks::<4>().0) {
                    let place = sockets.in_world(Bone::new(bone), record, *now).unwrap();
                    let tips = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].map(|p| place.point(p));
                    assert_eq!(tips[0].to_array(), place.translation());
                    for (tip, drawn) in tips.iter().zip(drawn) {
                        let distance = tip.distance(drawn.position.into()) / (max - min).length();
                        worst = worst.max(if distance.is_finite() { distance } else { f32::INFINITY });
                    }
                }
            }
            note!("{} on {}: {worst:.1e} of the diagonal", encoding.name(), gpu.name);
            assert!(worst <= TOLERANCE, "{} on {}: {worst:.1e} of the diagonal", encoding.name(), gpu.name);
        }
    }
}

/// The clips have random poses, so that a clip that is taken for another one shows.
pub fn sockets_follow_any_of_many_clips() {
    const COUNT: usize = 5_000;
    let format = VertexFormat { packing: Packing::Full, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut Random(5), Encoding::LocalPacked, format, 4);
    recipe.clips = many_clips(COUNT);
    let mut test = recipe.build(|_, _| Pose::REST);
    let bind = [0, 1, 2].map(|row| core::array::from_fn(|column| f32::from(row == column)));
    test.model.meta.bones = vec![BoneInfo { name: "bone".into(), parent: None, bind }; 4].into();
    let sockets = Sockets::with_model(&test.model).unwrap();
    let place = |clip: usize| {
        let record = InstanceRecord::playing(Playback { clip: clip as u32, ..Default::default() });
        sockets.in_world(Bone::new(0), &record, Time::ZERO).unwrap().translation()
    };
    let places: BTreeSet<_> = (0..COUNT).map(|clip| place(clip).map(f32::to_bits)).collect();
    assert_eq!(places.len(), COUNT, "clips are taken for others");
}

pub fn missing_bones_clips_and_files_are_handled() {
    let test = model(&mut Random(3), Encoding::LocalPacked);
    let sockets = Sockets::with_model(&test.model).unwrap();
    let beyond = Playback { clip: 900, ..Default::default() };
    assert!(sockets.of_playback(Bone::new(0), &beyond, Time::ZERO).is_some(), "a missing clip becomes the first clip");
    assert!(sockets.in_world(Bone::new(0), &InstanceRecord::playing(beyond), Time::ZERO).is_some());
    let last = InstanceRecord::playing(Playback { clip: MAX_CLIPS as u32 - 1, ..Default::default() });
    assert!(sockets.in_world(Bone::new(0), &last, Time::ZERO).is_some());
    assert!(sockets.of_playback(Bone::new(BONES as u16), &Playback::default(), Time::ZERO).is_none());

    let mut other = test.model.clone();
    other.meta.clips = other.meta.clips[..2].to_vec().into();
    assert!(matches!(Sockets::with_model(&other), Err(SocketError::Model { .. })), "its tracks have three clips");
    let mut other = test.model;
    other.meta.content_hash = [1; 16];
    assert!(matches!(Sockets::with_model(&other), Err(SocketError::Files { .. })));

    let format = VertexFormat { packing: Packing::Static, tangent: false, second_uv: false, color: false };
    let vertices = Recipe::random(&mut Random(4), Encoding::VatF16, format, 4).build(|_, _| Pose::REST);
    let refused = Sockets::with_model(&vertices.model).unwrap_err();
    assert_eq!(refused, SocketError::VertexMode { model: "test".into() });
    assert!(refused.to_string().contains("mode = \"bone\""), "{refused}");
}
