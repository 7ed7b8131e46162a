//! Attachments on the instances of a crowd: placed at sockets on every draw path, shown and hidden
//! per instance, and culled with their owners.

use std::collections::BTreeSet;

use crate::own::{Own, OwnDescriptor};
use glam::{Quat, Vec3};
use gpuskin_rt::internals::compose;
use gpuskin_rt::internals::render::{Capture, CpuModel, CustomDraw, DrawPath, PoseSharing, vertex_buffers};
use gpuskin_rt::internals::{
    Attachment, AttachmentId, BakedModel, Bone, Camera, Crowd, CrowdDescriptor, CrowdRenderer, Instance, InstanceId,
    InstancePose, LiveBones, Model, Part, Sockets, Time, Transition, View, shader, wgpu,
};
use gpuskin_test_harness::note;
use gpuskin_tests::gpu::{BACKENDS, Canvas, Gpu, open, open_compute};
use gpuskin_tests::{bones, clips, masks, models, parts};

/// Shader that writes each vertex position to its own pixel: instance by instance, `clock.z`
/// vertices per instance.
const PROBE: &str = r"
    @group(0) @binding(0) var<uniform> clock: vec4<u32>;    // Time::words(), then vertices per instance

    struct Varyings {
        @builtin(position) pixel: vec4<f32>,
        @location(0) @interpolate(flat) position: vec3<f32>,
    }

    @vertex
    fn vertex(input: GpuskinInput, @builtin(vertex_index) index: u32) -> Varyings {
        let pixel = gpuskin_instance_number(input) * clock.z + index;
        let place = (vec2<f32>(vec2<u32>(pixel % 1024u, pixel / 1024u)) + 0.5) / 1024.0 * 2.0 - 1.0;
        let skinned = gpuskin_skin_vertex(input, clock.xy);
        return Varyings(vec4<f32>(place.x, -place.y, 0.0, 1.0), skinned.position);
    }

    @fragment
    fn fragment(varyings: Varyings) -> @location(0) vec4<u32> {
        return bitcast<vec4<u32>>(vec4<f32>(varyings.position, 1.0));
    }
";

/// Vertex positions of the attachment on each instance, as the GPU computes them.
/// `[instance][vertex]`, world space, metres.
fn positions<M>(
    gpu: &Gpu,
    renderer: &mut CrowdRenderer,
    crowd: &Crowd<M>,
    id: AttachmentId,
    (vertices, now): (u32, Time),
) -> Vec<Vec<Vec3>> {
    let variant = crowd.attachment_variant(id).unwrap();
    let [seconds, fraction] = now.words();
    let own = Own::new(
        gpu,
        OwnDescriptor {
            text: shader::source(variant, 1) + PROBE,
            instances: renderer.model_layout(variant),
            buffers: vertex_buffers(variant),
            uniforms: vec![bytemuck::bytes_of(&[seconds, fraction, vertices, 0])],
            topology: wgpu::PrimitiveTopology::PointList,
            format: wgpu::TextureFormat::Rgba32Uint,
            targets: 1,
            side: 1024,
        },
    );
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    // All instances are in view.
    let camera = Camera::orthographic_look_at([0.0, 0.0, 50.0], [0.0; 3], 50.0, 50.0, 100.0);
    renderer.prepare(&gpu.queue, &mut encoder, &camera, now).unwrap();
    let drawn: Vec<Vec<[f32; 4]>> =
        own.draw(gpu, encoder, |pass| crowd.draw_with(pass, CustomDraw::new(1).attachment(id), |_, _| {}));
    let place = |&[x, y, z, w]: &[f32; 4]| if w == 1.0 { Vec3::new(x, y, z) } else { Vec3::NAN };
    let places: Vec<Vec3> = drawn[0].iter().map(place).collect();
    places.chunks(vertices as usize).take(crowd.len()).map(<[Vec3]>::to_vec).collect()
}

/// Variant of the model for devices with (`computing`) or without compute shaders.
fn played(model: &'static Model, computing: bool) -> &'static Model {
    let all = std::iter::once(model).chain(model.others.iter());
    all.into_iter().find(|model| model.meta.encoding.needs_compute() == computing).unwrap()
}

/// Spawns soldiers in all states: playing, fading, in an interrupted fade, holding the last pose.
fn spawn(crowd: &Crowd<models::Soldier>, mut prepare: impl FnMut(f64)) -> Vec<InstanceId> {
    let all = [clips::SOLDIER_IDLE, clips::SOLDIER_WALK, clips::SOLDIER_RUN, clips::SOLDIER_ATTACK, clips::SOLDIER_DIE];
    let ids: Vec<_> = (0..10_u8)
        .map(|i| {
            let at = Instance::at([f32::from(i) * 1.5 - 7.0, 0.3, 0.2]).facing(f32::from(i)).scaled(1.2);
            crowd.spawn(at.play(all[usize::from(i) % 5]).speed(0.9).phase(f32::from(i) * 0.137))
        })
        .collect();
    prepare(0.7);
    ids[5..].iter().zip(all).for_each(|(id, clip)| assert!(crowd.play(*id, clip, Transition::crossfade(1.0)).is_ok()));
    prepare(1.1);
    assert!(crowd.play(ids[8], clips::SOLDIER_ATTACK, Transition::crossfade(0.8)).is_ok());
    ids
}

pub fn attachment_follows_its_socket() {
    for (textured, computing) in BACKENDS.into_iter().filter_map(|b| Some((open(b)?, open_compute(b)?))) {
        for gpu in [textured, computing] {
            let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
            let crowd = Crowd::<models::Soldier>::new(&mut renderer, Default::default()).unwrap();
            let camera = Camera::perspective_look_at([0.0, 1.0, 9.0], [0.0; 3], 1.0, 1.0, 0.1, 50.0);
            let ids = spawn(&crowd, |now| {
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                renderer.prepare(&gpu.queue, &mut encoder, &camera, now).unwrap();
                gpu.queue.submit([encoder.finish()]);
            });
            let computing = crowd.variant().encoding.needs_compute();
            let soldier = played(models::Soldier::MODEL, computing);
            // Live pose: every bone is 0.3 m beside its bind pose, with y and z swapped.
            let aside = |[x, y, z]: [[f32; 4]; 3]| [[x[0], x[1], x[2], x[3] + 0.3], z, y];
            let pose: Vec<_> = soldier.meta.bones.iter().map(|bone| aside(bone.bind)).collect();
            let live = LiveBones::Model(&pose);
            if computing {
                let over = Transition::crossfade(0.5);
                let upper = Some(masks::SOLDIER_UPPER_BODY);
                for id in &ids[1..4] {
                    assert!(crowd.play_layer(*id, 0, clips::SOLDIER_ATTACK, upper, over, 0.9).is_ok());
                }
                assert!(crowd.play_layer(ids[2], 1, clips::SOLDIER_DIE, None, over, 0.5).is_ok());
                for id in [ids[3], ids[4], ids[8]] {
                    assert!(crowd.set_live_bones(id, live, 0.4).is_ok());
                }
            }
            // A slightly turned hound on the hand: any model can be an attachment.
            let place = Attachment::to(bones::SOLDIER_HAND_R).at([0.02, 0.1, -0.03]).scaled(0.4);
            let place = place.rotated(Quat::from_euler(glam::EulerRot::XYZ, 0.3, 1.0, -0.4));
            let id = crowd.attach(&mut renderer, models::Hound::MODEL, place).unwrap();
            let hound = played(models::Hound::MODEL, computing);
            let still = Instance::<models::Hound>::at([0.0; 3]).starting(0.0).record(&hound.meta, Time::ZERO);
            let prop = Capture::new(&gpu.device, &gpu.queue, hound).unwrap().frames(&[(still, Time::ZERO)]).unwrap();

            let mesh = CpuModel::new(hound).unwrap();
            let corners = (0..hound.meta.materials.len()).flat_map(|material| mesh.triangles(material as u32));
            // Other vertices belong to coarser LODs, which are not drawn here.
            let finest: BTreeSet<usize> = corners.flatten().map(|vertex| vertex as usize).collect();
            assert!(finest.len() > prop[0].len() / 2);

            let now = Time::from_secs(1.3);
            let drawn = positions(&gpu, &mut renderer, &crowd, id, (prop[0].len() as u32, now));
            let sockets = Sockets::with_model(soldier).unwrap();
            let (mut worst, mut layered) = (0.0_f32, 0);
            for (instance, drawn) in ids.iter().zip(&drawn) {
                let record = crowd.get(*instance).unwrap();
                let layers = crowd.layers(*instance);
                layered += usize::from(layers.is_some());
                let posed = layers.and_then(|set| set.live_pose_number()).map(|_| live);
                let hand = Bone::new(bones::SOLDIER_HAND_R.index());
                let layers = layers.unwrap_or_default();
                let pose = InstancePose::new(&record).with_layers(&layers);
                let pose = posed.map_or(pose, |bones| pose.with_live_bones(bones));
                let hand = sockets.in_world(hand, pose, now).unwrap();
                let place = compose(&hand, &place.offset());
                for &vertex in &finest {
                    let expected = place.point(prop[0][vertex].position.into());
                    let distance = expected.distance(drawn[vertex]);
                    worst = worst.max(if distance.is_nan() { f32::INFINITY } else { distance });
                }
            }
            assert_eq!(layered, if computing { 5 } else { 0 });
            let worst = worst / soldier.meta.bounds.diagonal();
            note!("{} on {}: {worst:.1e} of the diagonal", soldier.meta.encoding.name(), gpu.name);
            assert!(worst <= 1e-5, "{} on {}: {worst:e}", soldier.meta.encoding.name(), gpu.name);
        }
    }
}

const SIDE: u32 = 128;

/// Covered pixels per column of one metre, for x from -8 to 8 metres.
fn columns(gpu: &Gpu, renderer: &mut CrowdRenderer, only_depth: bool) -> [usize; 16] {
    let camera = Camera::orthographic_look_at([0.0, 0.0, 30.0], [0.0; 3], 8.0, 8.0, 60.0);
    let canvas = Canvas::new(gpu, SIDE);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &camera, 0.0).unwrap();
    canvas.pass(&mut encoder, |pass| {
        if only_depth {
            renderer.draw_depth(pass, View::MAIN);
        } else {
            renderer.draw(pass);
        }
    });
    let picture = canvas.finish(gpu, encoder);
    core::array::from_fn(|column| {
        let x = column as u32 * 8..column as u32 * 8 + 8;
        x.flat_map(|x| (0..SIDE).map(move |y| (x, y))).filter(|(x, y)| picture.covered(*x, *y)).count()
    })
}

pub fn attachments_are_shown_hidden_detached_and_culled_with_their_owners() {
    for (textured, computing) in BACKENDS.into_iter().filter_map(|b| Some((open(b)?, open_compute(b)?))) {
        for gpu in [textured, computing] {
            let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
            let crowd = Crowd::<models::Soldier>::new(&mut renderer, Default::default()).unwrap();
            let ids = [-5.5, 3.5].map(|x| crowd.spawn(Instance::at([x, -1.0, 0.0]).play(clips::SOLDIER_IDLE)));
            let bare = columns(&gpu, &mut renderer, false);
            // Three metres to the side of each soldier.
            let stand = Attachment::to(bones::SOLDIER_HAND_R).scaled(2.0);
            let sockets = Sockets::<models::Soldier>::new().unwrap();
            let record = crowd.get(ids[0]).unwrap();
            let hand = sockets.in_model(bones::SOLDIER_HAND_R, &record, Time::ZERO).unwrap();
            let along = hand.rows.map(|row| row.x);
            let stand = stand.at(along_side(&hand, 3.0));
            assert!(along.iter().all(|c| c.is_finite()));
            let hound = crowd.attach(&mut renderer, models::Hound::MODEL, stand).unwrap();
            let both = columns(&gpu, &mut renderer, false);
            let more = |seen: [usize; 16], range: core::ops::Range<usize>| {
                let sum = |columns: [usize; 16]| columns[range.clone()].iter().sum::<usize>();
                sum(seen) - sum(bare)
            };
            assert!(more(both, 4..8) > 40 && more(both, 13..16) > 40, "{}: {both:?} after {bare:?}", gpu.name);

            assert!(crowd.set_attachment_visible(ids[0], hound, false).is_ok());
            let one = columns(&gpu, &mut renderer, false);
            assert_eq!((more(one, 0..8), more(one, 8..16)), (0, more(both, 8..16)), "{}", gpu.name);
            assert!(
                crowd.set_attachment_visible(ids[0], hound, true).is_ok() && crowd.set_visible(ids[1], false).is_ok()
            );
            let other = columns(&gpu, &mut renderer, false);
            assert_eq!(other[..8], both[..8], "{}", gpu.name);
            assert_eq!(other[8..], [0; 8], "{}", gpu.name);
            assert!(crowd.set_visible(ids[1], true).is_ok());

            // The owner is outside the picture, its attachment inside.
            assert!(crowd.move_to(ids[1], [-9.5, -1.0, 0.0]).is_ok() && crowd.set_visible(ids[0], false).is_ok());
            let outside = columns(&gpu, &mut renderer, false);
            assert!(outside.iter().sum::<usize>() > 40, "{}: {outside:?}", gpu.name);
            assert!(crowd.set_visible(ids[0], true).is_ok() && crowd.move_to(ids[1], [3.5, -1.0, 0.0]).is_ok());
            assert_eq!(columns(&gpu, &mut renderer, false), both, "{}", gpu.name);

            assert!(
                crowd.detach(hound).is_ok()
                    && crowd.detach(hound).is_err()
                    && crowd.set_attachment_visible(ids[0], hound, false).is_err()
            );
            assert!(crowd.attachment_variant(hound).is_err());
            assert_eq!(columns(&gpu, &mut renderer, false), bare, "{}", gpu.name);
            // A new attachment in the freed slot is visible on all instances. With a part, it
            // follows the part's visibility.
            let again =
                crowd.attach(&mut renderer, models::Hound::MODEL, stand.with_part(parts::SOLDIER_SWORD)).unwrap();
            assert!(again != hound && crowd.set_attachment_visible(ids[0], hound, false).is_err());
            assert_eq!(columns(&gpu, &mut renderer, false), both, "{}", gpu.name);
            assert!(crowd.set_part_visible(ids[0], parts::SOLDIER_SWORD, false).is_ok());
            assert_eq!(more(columns(&gpu, &mut renderer, false), 4..8), 0, "{}", gpu.name);
        }
    }
}

/// Offset of `metres` along the model's x axis, in the space of a bone.
fn along_side(bone: &gpuskin_rt::internals::Affine3, metres: f32) -> Vec3 {
    // The transpose inverts the rotation.
    Vec3::new(bone.rows[0].x, bone.rows[0].y, bone.rows[0].z) * metres
}

/// Attachments follow bones, so that the pose cache stores the bone matrices of each pose beside
/// its vertices.
pub fn attachments_follow_cached_poses() {
    for gpu in BACKENDS.into_iter().filter_map(open_compute) {
        let picture = |path: DrawPath, props: bool| {
            let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
            let descriptor = CrowdDescriptor {
                time_grid: Some(0.1),
                sharing: PoseSharing::Always,
                path: Some(path),
                ..Default::default()
            };
            let crowd = Crowd::<models::Soldier>::new(&mut renderer, descriptor).unwrap();
            if props {
                let stand = Attachment::to(bones::SOLDIER_HAND_R).scaled(0.7);
                crowd.attach(&mut renderer, models::Hound::MODEL, stand).unwrap();
            }
            for i in 0..24_u8 {
                let at = Instance::at([f32::from(i % 6) * 1.6 - 4.0, 0.0, f32::from(i / 6) * -2.0]);
                crowd.spawn(
                    at.play([clips::SOLDIER_RUN, clips::SOLDIER_WALK][usize::from(i % 2)]).phase(f32::from(i) * 0.137),
                );
            }
            let canvas = Canvas::new(&gpu, 256);
            let camera = Camera::perspective_look_at([0.0, 2.0, 7.0], [0.0, 0.8, 0.0], 1.0, 1.0, 0.1, 50.0);
            for frame in 0..3 {
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                renderer.prepare(&gpu.queue, &mut encoder, &camera, 1.0 + f64::from(frame) * 0.2).unwrap();
                canvas.pass(&mut encoder, |pass| renderer.draw(pass));
                gpu.queue.submit([encoder.finish()]);
            }
            let cached = crowd.count_drawn(&renderer, View::MAIN).unwrap().cached;
            let expected =
                if path == DrawPath::Cache { crowd.count_drawn(&renderer, View::MAIN).unwrap().total() } else { 0 };
            assert!(
                cached <= expected && cached * 2 >= expected,
                "{cached} of {expected} instances are cached on {}",
                gpu.name
            );
            canvas.finish(&gpu, gpu.device.create_command_encoder(&Default::default()))
        };
        let [palette, cache] = [DrawPath::Palette, DrawPath::Cache].map(|path| picture(path, true));
        let off = palette.difference(&cache);
        // Pixels along edges may differ.
        assert!(off < 2.0, "{off} on {}", gpu.name);
        let bare = palette.difference(&picture(DrawPath::Cache, false));
        assert!(bare > 10.0, "{bare} on {}", gpu.name);
    }
}

pub fn attach_reports_why_it_is_refused() {
    let gpu = BACKENDS.into_iter().find_map(open).expect("a device, which the test needs");
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    let mut other = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    let crowd = Crowd::<models::Soldier>::new(&mut renderer, Default::default()).unwrap();
    let hand = Attachment::to(bones::SOLDIER_HAND_R);
    let refused = |result: Result<AttachmentId, gpuskin_rt::internals::Error>, why: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with("soldier: attach: ") && error.contains(why), "{error}");
    };
    refused(crowd.attach(&mut other, models::Hound::MODEL, hand), "another renderer");
    refused(
        crowd.attach(&mut renderer, models::Hound::MODEL, Attachment::to(Bone::new(999))),
        "bone 999 does not exist; the model has",
    );
    refused(
        crowd.attach(&mut renderer, models::Hound::MODEL, hand.with_part(Part::new(9))),
        "part 9 does not exist; the model has 3",
    );
    let ids: Vec<_> = (0..14).map(|_| crowd.attach(&mut renderer, models::Hound::MODEL, hand).unwrap()).collect();
    refused(crowd.attach(&mut renderer, models::Hound::MODEL, hand), "already has 14 attachments");
    assert!(crowd.detach(ids[3]).is_ok());
    assert!(crowd.attach(&mut renderer, models::Hound::MODEL, hand).is_ok_and(|id| !ids.contains(&id)));
    let hounds = Crowd::<models::Hound>::new(&mut renderer, Default::default()).unwrap();
    assert!(hounds.detach(ids[0]).is_err() && hounds.attachment_variant(ids[0]).is_err());
}
