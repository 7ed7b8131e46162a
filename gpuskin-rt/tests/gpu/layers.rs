//! Layers and live bones on every available backend: compared with the CPU reference, and as part
//! of crowds.

use crate::common::cells::{self, COUNT, PIXELS, ROW, middle};
use crate::common::model::{Pose, Random, Recipe, TestModel, plain};
use crate::common::{BACKENDS, Canvas, Gpu, Picture, compute, gpu, gpu_with};
use glam::{Quat, Vec3};
use gpuskin_rt::internals::local::LocalTransform;
use gpuskin_rt::internals::render::{Capture, CaptureFrame};
use gpuskin_rt::internals::*;
use gpuskin_test_harness::note;

/// Relative to the diagonal of the drawn mesh.
const POSITION_TOLERANCE: f32 = 4e-6;
const NORMAL_TOLERANCE_DEGREES: f32 = 0.02;

fn model(encoding: Encoding, bones: u32) -> TestModel {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut Random(7), encoding, format, bones).with_steps();
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    recipe.build(|_, _| Pose::REST)
}

/// A model whose vertices the translations of its bones move by morph targets, too.
fn morphed_model(bones: u32) -> TestModel {
    let format = VertexFormat { packing: Packing::Wide, tangent: false, second_uv: false, color: false };
    let mut random = Random(11);
    let mut recipe = Recipe::random(&mut random, Encoding::LocalPacked, format, bones).with_morphs(&mut random);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    recipe.build(|_, _| Pose::REST)
}

/// Weights that the game sets are those of live bones, and the clip's come back.
pub fn morph_weights_of_the_game_are_drawn() {
    const BONES: u32 = 4;
    let mut test = morphed_model(BONES);
    let bone = |i: u32| BoneInfo { name: format!("bone {i}").into(), parent: None, bind: [[0.0; 4]; 3] };
    test.model.meta.bones = (0..BONES).map(bone).collect();
    let of_bone_3 = |axis: u32| MorphInfo { name: format!("{axis}").into(), bone: 3, axis, scale: 0.5 };
    test.model.meta.morphs = (0..3).map(of_bone_3).collect();
    let gpu = BACKENDS.into_iter().find_map(compute).expect("a device, which the test needs");
    let mut renderer = renderer(&gpu);
    let crowds: Vec<Crowd<Dynamic>> =
        (0..3).map(|_| Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap()).collect();
    let mut pictures = Vec::new();
    for (i, crowd) in crowds.iter().enumerate() {
        let id = crowd.spawn(standing(0));
        crowd.set_paused(id, true).unwrap();
        let weights = [(Morph::new(0), 0.8), (Morph::new(2), -0.4)];
        if i == 1 {
            crowd.set_morphs(id, &weights, 0.0).unwrap();
            let wrong = crowd.set_morphs(id, &[(Morph::new(3), 1.0)], 0.0).unwrap_err().to_string();
            assert!(wrong.contains("morph target 3") && wrong.contains("has 3"), "{wrong}");
        } else if i == 2 {
            let mut bones = vec![[[f32::NAN; 4]; 3]; BONES as usize];
            bones[3] = [[1.0, 0.0, 0.0, 0.4], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -0.2]];
            crowd.set_live_bones(id, LiveBones::Model(&bones), 0.0).unwrap();
        }
        let picture = |renderer: &mut CrowdRenderer, seconds| draw(&gpu, renderer, seconds);
        pictures.push(picture(&mut renderer, 1.0).pixels);
        if i == 1 {
            crowd.release_live_bones(id, 0.0).unwrap();
            assert_eq!(picture(&mut renderer, 2.0).pixels, pictures[0], "the clip's weights are back");
        }
        crowd.clear();
    }
    assert_ne!(pictures[0], pictures[1]);
    assert_eq!(pictures[1], pictures[2]);
}

/// Returns a random transform; its quaternion is not normalised.
fn local(random: &mut Random) -> LocalTransform {
    let rotation = (random.direction() * 0.7).extend(random.within(-1.0, 1.0));
    LocalTransform::new(rotation, random.vector() * 0.2, Vec3::ONE + random.vector() * 0.2)
}

fn matrix(random: &mut Random) -> [[f32; 4]; 3] {
    let m = glam::Mat3::from_quat(Quat::from_axis_angle(random.direction(), random.within(-3.0, 3.0)))
        * glam::Mat3::from_diagonal(Vec3::ONE + random.vector() * 0.3);
    [0, 1, 2].map(|row| m.row(row).extend(random.within(-0.5, 0.5)).to_array())
}

/// Returns a layer set after random commands up to `now`.
fn set(meta: &Metadata, random: &mut Random, live: Option<&LiveBones<'_>>, now: Time) -> LayerSet {
    let mut set = LayerSet::default();
    let mut ago = 2.0;
    for _ in 0..random.below(6) {
        ago *= random.within(0.5, 0.9);
        let played_at = now - f64::from(ago);
        let (layer, seconds) = (random.below(2) as usize, random.unit());
        match random.below(5) {
            0 => set.set_weight(layer, random.unit(), seconds, played_at),
            1 => set.set_paused(random.unit() < 0.3, played_at),
            _ => {
                let fade = if random.unit() < 0.2 { 0.0 } else { 1.5 * seconds };
                let curve = [Curve::Linear, Curve::Smooth, Curve::EaseIn, Curve::EaseOut][random.below(4) as usize];
                let transition = Transition::crossfade(fade).curve(curve);
                let once = random.unit() < 0.5;
                let next = Instance::<Dynamic>::at([0.0; 3])
                    .play(Clip::new(random.below(3) as u16))
                    .speed(random.within(-1.5, 1.5))
                    .phase(random.unit())
                    .repeat(if once { Repeat::Once } else { Repeat::Loop })
                    .record(meta, played_at)
                    .playback();
                let mask = random.below(4).checked_sub(1).map(|mask| mask as u8);
                set.play(
                    layer,
                    &next,
                    mask,
                    &transition,
                    if random.unit() < 0.3 { 1.0 } else { random.unit() },
                    played_at,
                );
                if random.unit() < 0.5 {
                    set.fade_out_at_end(layer, fade);
                }
            }
        }
    }
    if let Some(live) = live {
        set.set_live_bones(live, 0, random.within(-0.3, 1.0), now - 0.5);
        if random.unit() < 0.3 {
            set.release_live_bones(0.4, now - 0.2);
        }
    }
    set
}

fn compare(gpu: &Gpu, test: &TestModel, frames: &[CaptureFrame<'_>]) -> (f32, f32) {
    let captured = Capture::new(&gpu.device, &gpu.queue, &test.model).unwrap().layered(frames).unwrap();
    let (mut distance, mut angle) = (0.0_f32, 0.0_f32);
    for (vertices, frame) in captured.iter().zip(frames) {
        let expected = test.on_cpu_over(frame);
        assert_eq!(vertices.len(), expected.len());
        // A single bone equals the same bone of the whole pose.
        let shown = frame.record.pose_blend(&test.records, frame.time);
        let over = frame.layers.unwrap_or_default().sample(&test.records, frame.live, frame.time);
        let (tracks, texels) = (test.tracks(), test.texels());
        for (i, bone) in tracks.pose_over(shown, &over).iter().enumerate().step_by(7) {
            assert_eq!(tracks.bone_over(shown, &over, i), *bone);
            assert_eq!(texels.bone_over(shown, &over, i as u32), *bone);
        }
        let min = expected.iter().map(|v| v.position).reduce(Vec3::min).unwrap();
        let max = expected.iter().map(|v| v.position).reduce(Vec3::max).unwrap();
        for (vertex, twin) in vertices.iter().zip(&expected) {
            let (position, normal) = (Vec3::from(vertex.position), Vec3::from(vertex.normal));
            assert!(position.is_finite() && normal.is_finite(), "{vertex:?}, expected {twin:?}");
            distance = distance.max(position.distance(twin.position) / (max - min).length());
            angle = angle.max(normal.cross(twin.normal).length().atan2(normal.dot(twin.normal)).to_degrees());
        }
    }
    (distance, angle)
}

pub fn layers_and_live_bones_match_cpu_reference() {
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        // Hierarchies that fit workgroup memory, and larger ones.
        for (seed, (bones, morphs)) in (0..).zip([(1, false), (40, false), (252, false), (253, false), (40, true)]) {
            let test = if morphs { morphed_model(bones) } else { model(Encoding::LocalPacked, bones) };
            let random = &mut Random(seed);
            let nodes = test.tracks().node_count();
            let mut locals: Vec<_> = (0..nodes).map(|_| local(random)).collect();
            let mut matrices: Vec<_> = (0..bones).map(|_| matrix(random)).collect();
            // Values that are not finite, and quaternions of length zero, are ignored.
            locals[nodes / 2].translation.y = f32::NAN;
            locals[nodes / 3].rotation *= 0.0;
            matrices[bones as usize / 2][1][2] = f32::INFINITY;
            let frames: Vec<_> = (0..if bones > 250 { 16 } else { 60 })
                .map(|i| {
                    let live = [None, None, Some(LiveBones::Local(&locals)), Some(LiveBones::Model(&matrices))][i % 4];
                    let time = Time::from_secs(f64::from(random.within(3.0, 9.0)) + 1e6);
                    let clip = Clip::<Dynamic>::new(random.below(3) as u16);
                    let record = Instance::at(random.vector()).play(clip).repeat(Repeat::Loop).phase(random.unit());
                    let record = record.record(&test.model.meta, time - 5.0);
                    let layers = (i != 5).then_some(set(&test.model.meta, random, live.as_ref(), time));
                    CaptureFrame { record, layers, live, time }
                })
                .collect();
            let worst = compare(&gpu, &test, &frames);
            note!("{bones} bones on {}: {worst:?}", gpu.name);
            assert!(worst.0 <= POSITION_TOLERANCE && worst.1 <= NORMAL_TOLERANCE_DEGREES, "{bones}: {worst:?}");
        }
    }
}

fn renderer(gpu: &Gpu) -> CrowdRenderer {
    CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor::default()).unwrap()
}

fn prepare(gpu: &Gpu, renderer: &mut CrowdRenderer, seconds: f64) {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &cells::camera(), seconds).unwrap();
    gpu.queue.submit([encoder.finish()]);
}

fn draw(gpu: &Gpu, renderer: &mut CrowdRenderer, seconds: f64) -> Picture {
    let canvas = Canvas::new(gpu, PIXELS * ROW);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &cells::camera(), seconds).unwrap();
    canvas.pass(&mut encoder, |pass| renderer.draw(pass));
    canvas.finish(gpu, encoder)
}

fn standing(i: u32) -> Instance<Dynamic> {
    Instance::at(middle(i).to_array())
        .play(Clip::new((i % 3) as u16))
        .repeat(Repeat::Loop)
        .phase(i as f32 * 0.137)
        .facing(i as f32)
}

/// Random live poses.
fn poses(test: &TestModel, step: u64) -> (Vec<LocalTransform>, Vec<[[f32; 4]; 3]>) {
    let random = &mut Random(step);
    let (nodes, bones) = (test.tracks().node_count(), test.tracks().bone_count());
    ((0..nodes).map(|_| local(random)).collect(), (0..bones).map(|_| matrix(random)).collect())
}

/// Sends the commands of step 1, 2 or 3 to the instance of a square.
fn command(crowd: &Crowd<Dynamic>, id: InstanceId, i: u32, step: u32, test: &TestModel) {
    let over = Transition::crossfade(1.5).repeat(Repeat::Loop);
    let (locals, matrices) = poses(test, u64::from(step + i % 2));
    let live = if i % 8 == 3 { LiveBones::Local(&locals) } else { LiveBones::Model(&matrices) };
    let mask = (i % 5 < 3).then(|| Mask::new((i % 3) as u8));
    match (step, i % 4) {
        (1, 1 | 2) => assert!(crowd.play_layer(id, 0, Clip::new(1), mask, over, 0.7).is_ok()),
        (2, 2) => assert!(crowd.play_layer(id, 1, Clip::new((i % 3) as u16), mask, over, 1.0).is_ok()),
        (3, 1) if i.is_multiple_of(3) => assert!(crowd.stop_layer(id, 0, 2.0).is_ok()),
        (3, 2) if i.is_multiple_of(3) => assert!(crowd.play_layer(id, 1, Clip::new(0), None, over, 0.4).is_ok()),
        (3, 2) if i % 3 == 1 => assert!(crowd.set_paused(id, true).is_ok()),
        (1, 3) => assert!(crowd.set_live_bones(id, live, if i.is_multiple_of(3) { 9.0 } else { 0.0 }).is_ok()),
        (3, 3) if i % 3 == 1 => assert!(crowd.release_live_bones(id, 2.0).is_ok()),
        _ => {}
    }
}

/// Updates the live bones of the instances that have some: one at a time, or in one call.
fn update(crowd: &Crowd<Dynamic>, ids: &[InstanceId], test: &TestModel, together: bool) {
    let mut all = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    for i in (3..COUNT).step_by(4) {
        let (id, (locals, matrices)) = (ids[i as usize], poses(test, u64::from(2 + i % 2)));
        let is_local = i % 8 == 3;
        if !together {
            let live = if is_local { LiveBones::Local(&locals) } else { LiveBones::Model(&matrices) };
            assert_eq!(crowd.update_live_bones(&[id], live), Ok(1));
        }
        all.2[usize::from(is_local)].push(id);
        if is_local { all.0.extend(locals) } else { all.1.extend(matrices) }
    }
    if together {
        let (locals, matrices, [of_matrices, of_locals]) = all;
        assert_eq!(crowd.update_live_bones(&of_locals, LiveBones::Local(&locals)).unwrap(), of_locals.len());
        assert_eq!(crowd.update_live_bones(&of_matrices, LiveBones::Model(&matrices)).unwrap(), of_matrices.len());
    }
}

/// Returns the pictures at 3.5 and 3.9 seconds. `moves`: after the first, all instances move to another crowd.
fn pictures_around_a_move(gpu: &Gpu, test: &TestModel, moves: bool) -> [Picture; 2] {
    let mut renderer = renderer(gpu);
    let [from, to]: [Crowd<Dynamic>; 2] = [COUNT, 10].map(|capacity| {
        let descriptor = CrowdDescriptor { capacity, ..Default::default() };
        Crowd::with_model(&mut renderer, &test.model, descriptor).unwrap()
    });
    let mut ids: Vec<_> = (0..COUNT).map(|i| from.spawn(standing(i))).collect();
    for step in 1..4 {
        prepare(gpu, &mut renderer, step.into());
        (0..COUNT).for_each(|i| command(&from, ids[i as usize], i, step, test));
        if step == 2 {
            update(&from, &ids, test, true);
        }
    }
    let before = draw(gpu, &mut renderer, 3.5);
    if !moves {
        return [before, draw(gpu, &mut renderer, 3.9)];
    }
    let stranger = from.layers(ids[1]).unwrap();
    for id in ids.iter_mut().rev() {
        let (record, appearance) = (from.get(*id).unwrap(), from.appearance(*id).unwrap());
        let moved = to.spawn_record(record, appearance).unwrap();
        // The instance gets the layers of another one first.
        to.set_layers(moved, &stranger).unwrap();
        to.set_layers(moved, &from.layers(*id).unwrap_or_default()).unwrap();
        assert_eq!(from.layers(*id).is_some(), to.layers(moved).is_some());
        from.despawn(*id).unwrap();
        *id = moved;
    }
    // Live bones without a pose play the clip.
    let without = draw(gpu, &mut renderer, 3.5);
    cells::check(&without, |i| {
        let (record, layers) = (to.get(ids[i as usize]).unwrap(), to.layers(ids[i as usize]));
        let frame = CaptureFrame { record, layers, live: None, time: Time::from_secs(3.5) };
        test.on_cpu_over(&frame).iter().map(|v| v.position).collect()
    });
    update(&to, &ids, test, false);
    assert!(draw(gpu, &mut renderer, 3.5) == before, "the instances look different");
    [before, draw(gpu, &mut renderer, 3.9)]
}

pub fn layers_continue_in_another_crowd() {
    let test = model(Encoding::LocalPacked, 4);
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        let [stayed, moved] = [false, true].map(|moves| pictures_around_a_move(&gpu, &test, moves));
        assert!(stayed[0] != stayed[1], "nothing moves");
        assert!(stayed == moved, "moved instances play on differently");

        let mut renderer = renderer(&gpu);
        let crowd = Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor::default()).unwrap();
        let id = crowd.spawn(standing(0));
        crowd.play_layer(id, 0, Clip::new(1), Some(Mask::new(0)), Transition::cut(), 1.0).unwrap();
        let layers = crowd.layers(id).unwrap();
        let mut other = model(Encoding::LocalPacked, 4);
        other.model.meta.masks = Default::default();
        let crowd: Crowd<Dynamic> = Crowd::with_model(&mut renderer, &other.model, CrowdDescriptor::default()).unwrap();
        let error = crowd.set_layers(crowd.spawn(standing(0)), &layers).unwrap_err().to_string();
        assert!(error.contains("mask 0 does not exist"), "{error}");
    }
}

pub fn layers_follow_their_instances() {
    let test = model(Encoding::LocalPacked, 4);
    for backend in BACKENDS {
        let Some(gpu) = compute(backend) else { continue };
        // One palette, and two.
        let mut limits = wgpu::Limits::downlevel_defaults();
        limits.max_storage_buffer_binding_size = (4 * 48 * 190).max(test.model.animation.levels[0].len);
        let mut pictures = Vec::new();
        for (capacity, gpu) in [(10, Some(gpu)), (300, gpu_with(backend, limits.clone()))] {
            let Some(gpu) = gpu else { continue };
            let mut renderer = renderer(&gpu);
            let crowd =
                Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity, ..Default::default() })
                    .unwrap();
            prepare(&gpu, &mut renderer, 0.0);
            // Other instances with layers of their own spawn and despawn in between.
            let other = |i: u32| {
                let id = crowd.spawn(standing(i));
                (1..3).for_each(|step| command(&crowd, id, i, step, &test));
                id
            };
            let mut ids = Vec::new();
            let mut others = Vec::new();
            for i in 0..COUNT {
                if capacity == 10 && i % 3 == 0 {
                    others.push(other(i));
                }
                ids.push(crowd.spawn(standing(i)));
            }
            for step in 1..4 {
                prepare(&gpu, &mut renderer, step.into());
                (0..COUNT).for_each(|i| command(&crowd, ids[i as usize], i, step, &test));
                if step == 2 {
                    update(&crowd, &ids, &test, capacity == 300);
                }
                let gone = others.len() / 2;
                others.drain(..gone).for_each(|id| assert!(crowd.despawn(id).is_ok()));
            }
            others.into_iter().for_each(|id| assert!(crowd.despawn(id).is_ok()));
            let picture = draw(&gpu, &mut renderer, 3.7);
            let vertices = |i: u32| {
                let id = ids[i as usize];
                let (locals, matrices) = poses(&test, u64::from(2 + i % 2));
                let live = if i % 8 == 3 { LiveBones::Local(&locals) } else { LiveBones::Model(&matrices) };
                let layers = crowd.layers(id);
                assert_eq!(layers.is_some(), !i.is_multiple_of(4), "{i}");
                let live = layers.and_then(|set| set.live_pose_number()).map(|_| live);
                let frame = CaptureFrame { record: crowd.get(id).unwrap(), layers, live, time: Time::from_secs(3.7) };
                test.on_cpu_over(&frame).iter().map(|v| v.position).collect()
            };
            cells::check(&picture, vertices);
            pictures.push(picture);

            // Without their layers, all instances look like instances that never had any.
            for (i, id) in (0..).zip(&ids) {
                (0..2).for_each(|layer| {
                    crowd.stop_layer(*id, layer, 0.3).unwrap();
                });
                crowd.release_live_bones(*id, if i % 2 == 0 { 0.0 } else { 0.3 }).unwrap();
            }
            let after = draw(&gpu, &mut renderer, 4.5);
            let vertices = |i: u32| {
                let record = crowd.get(ids[i as usize]).unwrap();
                test.on_cpu(&record, Time::from_secs(4.5)).iter().map(|v| v.position).collect()
            };
            cells::check(&after, vertices);
            crowd.clear();
            assert_eq!(draw(&gpu, &mut renderer, 4.5).covered(), 0);
            assert!(crowd.is_empty());
        }
        assert!(pictures.windows(2).all(|p| p[0] == p[1]), "pictures depend on how palettes are split");
    }
}

pub fn layer_sets_are_reused() {
    let test = model(Encoding::LocalPacked, 4);
    let gpu = BACKENDS.into_iter().find_map(compute).expect("a device, which the test needs");
    let mut renderer = renderer(&gpu);
    let crowd = Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor::default()).unwrap();
    let (locals, _) = poses(&test, 1);
    let mut greatest = 0;
    let mut last = None;
    for second in 0..400 {
        prepare(&gpu, &mut renderer, second.into());
        let id = last.take().filter(|_| second % 7 != 0).unwrap_or_else(|| crowd.spawn(standing(0)));
        assert!(crowd.play_layer(id, 0, Clip::new(0), None, Transition::crossfade(0.1), 1.0).is_ok());
        assert!(crowd.set_live_bones(id, LiveBones::Local(&locals), 0.1).is_ok());
        greatest = greatest.max(crowd.get(id).unwrap().layer_set());
        match second % 3 {
            0 => assert!(crowd.despawn(id).is_ok()),
            // Fades out while no frame is prepared.
            1 => assert!(crowd.stop_layer(id, 0, 0.3).is_ok() && crowd.release_live_bones(id, 0.3).is_ok()),
            _ => {
                assert!(crowd.stop_layer(id, 0, 0.0).is_ok() && crowd.release_live_bones(id, 0.0).is_ok());
                assert!(crowd.layers(id).is_none() && crowd.get(id).unwrap().layer_set() == 0);
                last = Some(id);
            }
        }
    }
    assert!(greatest <= 130, "{greatest} sets for one instance at a time");
}

pub fn invalid_layers_and_live_bones_are_refused() {
    let test = model(Encoding::LocalPacked, 4);
    let (locals, matrices) = poses(&test, 1);
    let live = LiveBones::Local(&locals);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = renderer(&gpu);
        let others = Crowd::with_model(&mut renderer, &model(Encoding::TrsF16, 4).model, Default::default()).unwrap();
        let id = others.spawn(standing(0));
        let layer = others.play_layer(id, 0, Clip::new(0), None, Transition::cut(), 1.0);
        let updated = others.update_live_bones(&[id], live).map(|_| ());
        let refused = [
            (layer, "layers"),
            (others.set_live_bones(id, live, 0.0), "live bones"),
            (updated, "live bones"),
            (others.set_morphs(id, &[], 0.0), "morph weights"),
        ];
        for (result, what) in refused {
            let error = result.unwrap_err().to_string();
            assert!([what, "trs-f16", "local-packed", "downlevel"].iter().all(|word| error.contains(word)), "{error}");
        }
        assert!(
            others.stop_layer(id, 0, 0.0).is_ok()
                && others.release_live_bones(id, 0.0).is_ok()
                && others.layers(id).is_none()
        );
    }
    let gpu = BACKENDS.into_iter().find_map(compute).expect("a device, which the test needs");
    let mut renderer = renderer(&gpu);
    let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
    let id = crowd.spawn(standing(0));
    let play = |layer, clip, mask| crowd.play_layer(id, layer, Clip::new(clip), mask, Transition::cut(), 1.0);
    for (result, what) in [
        (play(2, 0, None), "layer 2"),
        (play(0, 3, None), "clip 3"),
        (play(0, 0, Some(Mask::new(3))), "mask 3"),
        (crowd.set_live_bones(id, LiveBones::Local(&locals[1..]), 0.0), "4 live nodes"),
        (crowd.set_live_bones(id, LiveBones::Model(&matrices[..3]), 0.0), "3 live bones"),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Argument { .. }) && error.to_string().contains(what), "{error}");
    }
    assert_eq!(crowd.update_live_bones(&[id], live), Ok(0), "no live bones to update");
    assert!(crowd.set_live_bones(id, live, 0.0).is_ok());
    assert!(
        crowd.update_live_bones(&[id], LiveBones::Model(&matrices)).is_err(),
        "update of the other kind is refused"
    );
    assert!(crowd.update_live_bones(&[id, id], live).is_err(), "bones of one instance for two instances are refused");
    assert!(crowd.despawn(id).is_ok());
    assert!(
        play(0, 0, None).is_err()
            && crowd.set_live_bones(id, live, 0.0).is_err()
            && crowd.update_live_bones(&[id], live) == Ok(0)
    );
    assert!(
        crowd.stop_layer(id, 0, 0.0).is_err()
            && crowd.release_live_bones(id, 0.0).is_err()
            && crowd.layers(id).is_none()
    );
    // Arguments that are not finite.
    let id = crowd.spawn(standing(0));
    let over = Transition::crossfade(f32::NAN).speed(f32::INFINITY).phase(f32::NAN);
    assert!(crowd.play_layer(id, 1, Clip::new(0), None, over, f32::NAN).is_ok());
    assert!(crowd.layers(id).is_none(), "a weight of NaN makes no layer");
}
