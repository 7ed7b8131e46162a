//! Sockets on the CPU, compared with the GPU: a probe mesh with one vertex at each bone and one at
//! the tip of each of its axes is drawn from the model's buffers, and read back.

use glam::{Vec2, Vec3, Vec4};
use gpuskin_rt::internals::local::{LocalTracks, LocalTransform};
use gpuskin_rt::internals::render::{Capture, CaptureFrame, CapturedVertex};
use gpuskin_rt::internals::vertex::{Vertex, pack};
use gpuskin_rt::internals::{
    Aabb, BakedModel, Bone, ByteRange, Clip, Curve, Data, Dynamic, FiredEventKind, Instance, InstancePose,
    InstanceRecord, LayerSet, LiveBones, MeshInfo, Model, Packing, Payload, Sockets, Time, Transition, VertexFormat,
    VertexRange,
};
use gpuskin_test_harness::note;
use gpuskin_tests::gpu::{BACKENDS, Gpu, open, open_compute};
use gpuskin_tests::shared::workspace;
use gpuskin_tests::{bones, clips, masks, models};
use server::World;

/// Greatest distance, as a fraction of the model's diagonal.
const TOLERANCE: f32 = 1e-5;

/// Returns the model with a probe mesh: four vertices per bone, at its origin and the tips of its
/// axes.
fn probes(model: &Model) -> Model {
    let format = VertexFormat { packing: Packing::Full, tangent: false, second_uv: false, color: false };
    let range = VertexRange::default();
    let probe = |bone: usize, position: Vec3| {
        let (normal, tangent, uv) = (Vec3::Y, Vec4::X, Vec2::ZERO);
        let vertex = Vertex {
            position,
            normal,
            tangent,
            uv,
            second_uv: uv,
            joints: [bone as u32, 0, 0, 0, 0, 0, 0, 0],
            weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            part: 0,
            color: Vec4::ONE,
        };
        pack(&vertex, format, &range)
    };
    let mut words: Vec<u32> = Vec::new();
    for (i, bone) in model.meta.bones.iter().enumerate() {
        let column = |c: usize| Vec3::from(bone.bind.map(|row| row[c]));
        words.extend(probe(i, column(3)));
        (0..3).for_each(|axis| words.extend(probe(i, column(3) + column(axis))));
    }
    let vertex_count = 4 * model.meta.bones.len() as u32;
    let old = gpuskin_rt::internals::files::load(&model.mesh, &model.meta.content_hash).unwrap();
    let clips = &old[model.meta.mesh.clips.offset as usize..][..model.meta.mesh.clips.len as usize];
    let mut file = model.meta.content_hash.to_vec();
    let mut add = |bytes: &[u8]| {
        let range = ByteRange { offset: file.len() as u64, len: bytes.len() as u64 };
        file.extend(bytes);
        range
    };
    let vertices = add(&words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>());
    let (indices, clips) = (add(&[0; 8]), add(clips));
    let mut probes = model.clone();
    let (parts, levels) = (vec![].into(), vec![].into());
    probes.meta.mesh = MeshInfo {
        format,
        range,
        vertex_count,
        vertices,
        indices,
        wide_indices: false,
        clips,
        parts,
        levels,
        influence_error: 0.0,
        morphs: ByteRange::default(),
        rest: None,
    };
    let levels = vec![ByteRange { offset: 0, len: file.len() as u64 }].into();
    probes.mesh = Payload { size: file.len() as u64, data: Data::Bytes(file.into()), hash_at: 0, levels };
    probes.others = vec![].into();
    probes
}

/// Instances of every clip, away from the origin, at uneven times.
fn samples(model: &Model) -> Vec<(InstanceRecord, Time)> {
    let instance = |clip: usize, speed: f32| {
        let at = Instance::<Dynamic>::at([0.3, 0.1, -0.7]).facing(0.4 + clip as f32).scaled(1.3);
        at.play(Clip::new(clip as u16)).speed(speed).phase(0.137).record(&model.meta, Time::from_secs(11.0))
    };
    let times = |clip| {
        let both = [0.9, -1.7].map(|speed| instance(clip, speed));
        both.into_iter().flat_map(|i| [11.0, 11.261, 12.777, 6e5].map(|now| (i, Time::from_secs(now))))
    };
    (0..model.meta.clips.len()).flat_map(times).chain(fades(model)).collect()
}

/// Instances in the middle of a fade, and of an interrupted fade.
fn fades(model: &Model) -> Vec<(InstanceRecord, Time)> {
    let meta = &model.meta;
    let playing =
        |clip, now: f64| Instance::<Dynamic>::at([0.0; 3]).play(Clip::new(clip)).record(meta, now.into()).playback();
    let mut fading = Instance::<Dynamic>::at([-0.6, 0.0, 0.2]).play(Clip::new(1)).record(meta, Time::from_secs(2.0));
    fading.play(&playing(2, 5.0), 0.8, Curve::Smooth, Time::from_secs(5.0));
    let mut twice = fading;
    twice.play(&playing(0, 5.3), 0.5, Curve::Linear, Time::from_secs(5.3));
    let at = |record: InstanceRecord, now: [f64; 3]| now.map(|now| (record, Time::from_secs(now)));
    [at(fading, [5.1, 5.5, 5.79]), at(twice, [5.31, 5.5, 5.79])].concat()
}

/// Greatest distance between sockets and drawn vertices, as a fraction of the model's diagonal.
fn worst(gpu: &Gpu, model: &Model) -> f32 {
    let frames = samples(model);
    let drawn = Capture::new(&gpu.device, &gpu.queue, &probes(model)).unwrap().frames(&frames).unwrap();
    let sockets = Sockets::with_model(model).unwrap();
    let mut worst = 0.0_f32;
    for (vertices, (instance, now)) in drawn.iter().zip(&frames) {
        for (bone, drawn) in (0..).zip(vertices.as_chunks::<4>().0) {
            let place = sockets.in_world(Bone::new(bone), instance, *now).unwrap();
            let points = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].map(|p| place.point(p));
            assert_eq!(points[0].to_array(), place.translation());
            for (point, drawn) in points.iter().zip(drawn) {
                let distance = point.distance(drawn.position.into()) / model.meta.bounds.diagonal();
                worst = worst.max(if distance.is_finite() { distance } else { f32::INFINITY });
            }
        }
    }
    worst
}

pub fn sockets_match_gpu_bones() {
    for (textured, computing) in BACKENDS.into_iter().filter_map(|b| Some((open(b)?, open_compute(b)?))) {
        for model in models::ALL.iter().flat_map(|model| std::iter::once(*model).chain(model.others.iter())) {
            let gpu = if model.meta.encoding.needs_compute() { &computing } else { &textured };
            let (worst, meta) = (worst(gpu, model), &model.meta);
            let of = format!("{} in {} on {}", meta.name, meta.encoding.name(), gpu.name);
            note!("{of}: {worst:.1e} of the diagonal");
            assert!(worst <= TOLERANCE, "{of}: {worst:.1e} of the diagonal");
        }
    }
}

/// Instances with layers that fade in, play and fade out, and with live bones on top.
fn layered<'a>(model: &Model, live: [LiveBones<'a>; 2]) -> Vec<CaptureFrame<'a>> {
    let (meta, count) = (&model.meta, model.meta.clips.len() as u16);
    let mut frames = Vec::new();
    for clip in 0..count {
        for (i, mask) in (0..).zip([None, Some(masks::SOLDIER_UPPER_BODY.index()), Some(0)]) {
            let instance = Instance::<Dynamic>::at([0.4, 0.0, -0.3]).facing(0.3).scaled(1.1).play(Clip::new(clip));
            let record = instance.phase(0.31).record(meta, Time::from_secs(20.0));
            let mut set = LayerSet::default();
            let over = Transition::crossfade(0.8).speed(1.3);
            let play = |set: &mut LayerSet, layer, clip, weight, seconds| {
                let now = Time::from_secs(seconds);
                let next = over.playback(meta, Clip::<Dynamic>::new(clip % count), now);
                set.play(layer, &next, mask, &over, weight, now);
            };
            play(&mut set, 0, clip + 1, 0.9, 20.2);
            play(&mut set, 1, clip + 2 + i, 0.6, 20.5);
            // Replaces the first layer's clip while its weight still changes.
            play(&mut set, 0, clip + 3, 1.0, 20.7);
            let bones = [None, Some(live[0]), Some(live[1])][usize::from((clip + i) % 3)];
            if let Some(bones) = &bones {
                set.set_live_bones(bones, 0, 0.5, Time::from_secs(20.8));
            }
            let at =
                |seconds: f64| CaptureFrame { record, layers: Some(set), live: bones, time: Time::from_secs(seconds) };
            frames.extend([20.85, 21.1, 30.0].map(at));
        }
    }
    frames
}

fn posed<'a>(record: &'a InstanceRecord, layers: &'a LayerSet, live: Option<LiveBones<'a>>) -> InstancePose<'a> {
    let pose = InstancePose::new(record).with_layers(layers);
    live.map_or(pose, |bones| pose.with_live_bones(bones))
}

pub fn sockets_match_gpu_bones_under_layers() {
    let model = models::Soldier::MODEL;
    assert!(model.meta.encoding.needs_compute());
    let file = gpuskin_rt::internals::files::load(&model.animation, &model.meta.content_hash).unwrap();
    let level = model.animation.levels[0];
    let tracks = LocalTracks::new(&file[level.offset as usize..][..level.len as usize]).unwrap();
    let turned = LocalTransform::new(Vec4::new(0.3, -0.1, 0.2, 0.9), Vec3::new(0.02, 0.1, 0.0), Vec3::ONE);
    let locals = vec![turned; tracks.node_count()];
    let lifted = |bind: [[f32; 4]; 3]| [[bind[0][0], -bind[0][1], bind[0][2], bind[0][3] + 0.2], bind[2], bind[1]];
    let matrices: Vec<_> = model.meta.bones.iter().map(|bone| lifted(bone.bind)).collect();
    let frames = layered(model, [LiveBones::Local(&locals), LiveBones::Model(&matrices)]);
    let sockets = Sockets::<models::Soldier>::new().unwrap();
    for gpu in BACKENDS.into_iter().filter_map(open_compute) {
        let drawn = Capture::new(&gpu.device, &gpu.queue, &probes(model)).unwrap().layered(&frames).unwrap();
        let (mut worst, mut apart) = (0.0_f32, 0.0_f32);
        for (vertices, CaptureFrame { record, layers, live, time }) in drawn.iter().zip(&frames) {
            for (bone, drawn) in (0..).map(Bone::new).zip(vertices.as_chunks::<4>().0) {
                let layers = layers.unwrap();
                let place = sockets.in_world(bone, posed(record, &layers, *live), *time).unwrap();
                for (point, drawn) in [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].map(|p| place.point(p)).iter().zip(drawn)
                {
                    let distance = point.distance(drawn.position.into()) / model.meta.bounds.diagonal();
                    worst = worst.max(if distance.is_finite() { distance } else { f32::INFINITY });
                }
                let bare = sockets.in_world(bone, record, *time).unwrap();
                apart = apart.max(bare.origin().distance(place.origin()));
            }
        }
        note!(
            "under layers on {}: {worst:.1e} of the diagonal, up to {apart:.2} m from the pose without layers",
            gpu.name
        );
        assert!(worst <= TOLERANCE, "{worst:e}");
        assert!(apart > 0.2, "{apart}");
    }
}

pub fn sockets_accept_any_layers() {
    let sockets = Sockets::<models::Soldier>::new().unwrap();
    let soldier = Instance::at([5.0, 0.0, 2.0]).play(clips::SOLDIER_WALK);
    let record = soldier.record(sockets.meta(), Time::ZERO);
    let hand = bones::SOLDIER_HAND_R;
    let bare = sockets.in_model(hand, &record, 0.5);
    let of = |set: &LayerSet, live| sockets.in_model(hand, posed(&record, set, live), 0.5);
    assert_eq!(of(&LayerSet::default(), None), bare);
    let over = Transition::cut();
    let playing = |mask: Option<u8>| {
        let mut set = LayerSet::default();
        let next = over.playback(sockets.meta(), clips::SOLDIER_ATTACK, 0.2);
        set.play(0, &next, mask, &over, 1.0, Time::from_secs(0.2));
        set
    };
    assert_ne!(of(&playing(None), None), bare);
    assert_eq!(of(&playing(Some(200)), None), bare, "a mask index out of range changed the pose");
    let mut set = LayerSet::default();
    let one = [sockets.meta().bones[0].bind];
    let few = LiveBones::Model(&one);
    set.set_live_bones(&few, 0, 0.0, Time::ZERO);
    assert_eq!(of(&set, Some(few)), bare, "live bones of a wrong length changed the pose");
    assert!(sockets.in_model(Bone::new(999), posed(&record, &set, None), 0.5).is_none());
    // Encodings without layer support ignore layers.
    let soldier = models::Soldier::MODEL;
    let other = soldier.others.iter().find(|model| !model.meta.encoding.needs_compute()).unwrap();
    let others = Sockets::with_model(other).unwrap();
    let hand = Bone::new(hand.index());
    let shown = others.in_model(hand, posed(&record, &playing(None), None), 0.5);
    assert_eq!(shown, others.in_model(hand, &record, 0.5));
}

pub fn drawn_vertices_are_within_the_bounds() {
    let gpu = BACKENDS.into_iter().find_map(open_compute).expect("a device, which the test needs");
    for model in models::ALL {
        let frames = samples(model);
        let drawn = Capture::new(&gpu.device, &gpu.queue, model).unwrap().frames(&frames).unwrap();
        for (vertices, (instance, now)) in drawn.iter().zip(&frames) {
            let Aabb { min, max } = model.meta.world_bounds(instance, *now);
            let clip = &model.meta.clips[instance.clip_index()];
            let slack = 2.0 * clip.motion_error.max + 1e-5;
            let (mut least, mut greatest) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            for vertex in vertices {
                least = least.min(vertex.position.into());
                greatest = greatest.max(vertex.position.into());
            }
            assert!((Vec3::from(min) - slack).cmple(least).all(), "{min:?} {least}");
            assert!((Vec3::from(max) + slack).cmpge(greatest).all(), "{max:?} {greatest}");
            // The box around a rotated box is larger, but by less than 4 times.
            let larger = (Vec3::from(max) - Vec3::from(min)).length() / (greatest - least).length();
            assert!(larger < 4.0, "{larger}");
        }
    }
}

pub fn baked_model_has_typed_sockets() {
    let sockets = Sockets::<models::Soldier>::new().unwrap();
    let soldier = Instance::at([5.0, 0.0, 2.0]).play(clips::SOLDIER_IDLE);
    let record = soldier.record(sockets.meta(), Time::ZERO);
    let hand = sockets.in_world(bones::SOLDIER_HAND_R, &record, 0.5).unwrap().origin();
    assert!(hand.distance(Vec3::new(5.0, 1.0, 2.0)) < 1.0, "{hand}");
    assert_eq!(sockets.find("Hand.R"), Some(bones::SOLDIER_HAND_R));
    let model = sockets.in_model(bones::SOLDIER_HAND_R, &record, 0.5).unwrap();
    assert_eq!(sockets.of_playback(bones::SOLDIER_HAND_R, &record.playback(), 0.5), Some(model));
    assert!(sockets.in_world(Bone::new(999), &record, 0.5).is_none());
}

pub fn server_sockets_match_drawn_vertices() {
    let gpu = BACKENDS.into_iter().find_map(open_compute).expect("a device, which the test needs");
    let mut world = World::new(6).unwrap();
    let soldier = server::baked::models::Soldier::MODEL;
    let capture = |model: &Model| Capture::new(&gpu.device, &gpu.queue, model).unwrap();
    let (probes, whole) = (capture(&probes(soldier)), capture(soldier));
    // Bounds are those of the finest level. Vertices of the others may be farther out, by at most their level's error.
    let slack = Vec3::splat(soldier.meta.mesh.levels.iter().fold(0.05, |most, level| level.error.max(most)));
    let mut ended = Vec::new();
    for tick in 1..=80 {
        let now = Time::from_secs(f64::from(tick) * 0.05);
        ended.extend(world.tick(now).into_iter().filter(|notice| notice.kind == FiredEventKind::Finished));
        if tick % 8 > 0 {
            continue;
        }
        let frames: Vec<_> = world.soldiers.iter().map(|soldier| (*soldier, now)).collect();
        let hands = probes.frames(&frames).unwrap();
        for (i, vertices) in hands.iter().enumerate() {
            let drawn = Vec3::from(vertices[4 * usize::from(server::HAND.index())].position);
            let distance = world.hand(i, now).distance(drawn) / soldier.meta.bounds.diagonal();
            assert!(distance <= TOLERANCE, "{i} at {now:?}: {distance:e}");
        }
        for (i, vertices) in whole.frames(&frames).unwrap().iter().enumerate() {
            let Aabb { min, max } = world.bounds(i, now);
            let within = |v: &CapturedVertex| {
                let p = Vec3::from(v.position);
                p.cmpge(Vec3::from(min) - slack).all() && p.cmple(Vec3::from(max) + slack).all()
            };
            assert!(vertices.iter().all(within), "{i} at {now:?}");
        }
    }
    assert!(ended.len() > 6 && world.fallen.contains(&true), "{} clips ended", ended.len());
    // A soldier moves until its clip has finished, and not afterwards.
    let ends = world.soldiers.iter().filter_map(|soldier| Some((soldier, soldier.playback().finishes_at()?)));
    let frames: Vec<_> =
        ends.flat_map(|(soldier, end)| [end - 0.5, end, end + 9.0].map(|now| (*soldier, now))).collect();
    assert!(!frames.is_empty());
    for shown in probes.frames(&frames).unwrap().as_chunks::<3>().0 {
        let apart = |a: &[CapturedVertex], b: &[CapturedVertex]| {
            let each = a.iter().zip(b).map(|(a, b)| Vec3::from(a.position).distance(b.position.into()));
            each.fold(0.0, f32::max)
        };
        assert!(apart(&shown[1], &shown[2]) < 1e-5 && apart(&shown[0], &shown[1]) > 1e-4);
    }
}

pub fn server_does_not_depend_on_wgpu() {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut tree = std::process::Command::new(cargo);
    tree.args(["tree", "--package", "server", "--edges", "normal", "--prefix", "none"]).current_dir(workspace());
    let output = tree.output().unwrap();
    let packages = String::from_utf8(output.stdout).unwrap();
    assert!(packages.contains("gpuskin-rt"), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!packages.lines().any(|line| line.starts_with("wgpu") || line.starts_with("naga")), "{packages}");
}
