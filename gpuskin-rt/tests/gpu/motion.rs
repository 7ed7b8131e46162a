//! Motion vectors by the documented example, and poses of clips that play once.

use crate::common::model::{Pose, Random, Recipe, plain};
use crate::common::own::{Own, OwnDescriptor};
use crate::common::squares::{map, square_recipe, squares};
use crate::common::{BACKENDS, Gpu, compute, compute_eight, gpu, gpu_with, noop};
use glam::Vec3;
use gpuskin_rt::internals::render::{CaptureFrame, CustomDraw, vertex_buffers};
use gpuskin_rt::internals::*;

/// Returns the documented WGSL of motion vectors, changed to write to a target that every device
/// supports.
fn documented() -> String {
    let lines = include_str!("../../src/pipeline.rs").lines().map(|line| line.trim_start_matches("//!"));
    let example = lines.skip_while(|line| line.trim() != "```wgsl").skip(1).take_while(|line| line.trim() != "```");
    let text = example.collect::<Vec<_>>().join("\n");
    let written = text.replace("@location(0) vec4<f32> {\n     // In", "@location(0) vec4<u32> {\n     // In");
    let written = written.replace("return vec4<f32>(current", "return bitcast<vec4<u32>>(vec4<f32>(current");
    written.replace(", 0.0, 1.0);\n }", ", 0.0, 1.0));\n }")
}

/// Returns the motion vector in the centre of the picture.
pub fn motion(
    gpu: &Gpu,
    renderer: &CrowdRenderer,
    crowd: &Crowd<Dynamic>,
    cameras: [Camera; 2],
    times: [f64; 2],
) -> [f32; 4] {
    let clocks = times.map(|time| Time::from_secs(time).words());
    let matrices: [[[f32; 4]; 4]; 2] = cameras.map(|camera| camera.view_proj);
    let bytes = [bytemuck::bytes_of(&matrices), bytemuck::bytes_of(&clocks)].concat();
    let own = Own::new(
        gpu,
        OwnDescriptor {
            text: shader::source(crowd.variant(), 1) + &documented(),
            instances: renderer.model_layout(crowd.variant()),
            buffers: vertex_buffers(crowd.variant()),
            uniforms: vec![&bytes],
            topology: wgpu::PrimitiveTopology::TriangleList,
            format: wgpu::TextureFormat::Rgba32Uint,
            targets: 1,
            side: 16,
        },
    );
    let encoder = gpu.device.create_command_encoder(&Default::default());
    own.draw(gpu, encoder, |pass| crowd.draw_with(pass, CustomDraw::new(1), |_, _| {}))[0][8 * 16 + 8]
}

pub fn motion_vectors_include_pose_and_camera() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let descriptor = RendererDescriptor { motion_vectors: true, ..Default::default() };
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        // Falls from a height of one metre within a second; larger than the picture.
        let at = Instance::at([4.0, 4.0, 0.0]).scaled(40.0).play(Clip::new(2)).starting(10.0);
        crowd.spawn(at);
        let mut at_times = |cameras: [Camera; 2], [now, before]: [f64; 2]| {
            for time in [before, now] {
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), time).unwrap();
                gpu.queue.submit([encoder.finish()]);
            }
            motion(&gpu, &renderer, &crowd, cameras, [now, before])
        };
        let near = |found: [f32; 4], x: f32, y: f32| {
            assert!(
                (found[0] - x).abs() < 1e-4 && (found[1] - y).abs() < 1e-4 && found[3] == 1.0,
                "{found:?}, expected {x}, {y}"
            );
        };
        let (here, there) = (map(8.0), Camera::orthographic_look_at([5.0, 4.0, 5.0], [5.0, 4.0, 0.0], 4.0, 4.0, 10.0));
        // 40 metres per second, over 4 metres per half of the picture, for 10 ms.
        near(at_times([here; 2], [10.99, 10.98]), 0.0, -0.1);
        near(at_times([here; 2], [10.99, 10.99]), 0.0, 0.0);
        near(at_times([here, there], [10.99, 10.99]), 0.25, 0.0);
        near(at_times([here; 2], [90.0, 20.0]), 0.0, 0.0);
    }
}

/// Writes current and previous position of a vertex to a pixel of its own.
const BOTH: &str = r"
    struct Clocks {
        now: vec2<u32>,
        before: vec2<u32>,
        vertices: u32,
    }
    @group(0) @binding(0) var<uniform> clocks: Clocks;

    struct Varyings {
        @builtin(position) pixel: vec4<f32>,
        @location(0) @interpolate(flat) now: vec3<f32>,
        @location(1) @interpolate(flat) before: vec3<f32>,
    }

    @vertex
    fn vertex(input: GpuskinInput, @builtin(vertex_index) index: u32) -> Varyings {
        let pixel = gpuskin_instance_number(input) * clocks.vertices + index;
        let place = (vec2<f32>(vec2<u32>(pixel % 64u, pixel / 64u)) + 0.5) / 32.0 - 1.0;
        let now = gpuskin_skin_vertex(input, clocks.now).position;
        let before = gpuskin_skin_previous_vertex(input, clocks.before).position;
        return Varyings(vec4<f32>(place.x, -place.y, 0.0, 1.0), now, before);
    }

    struct Texels {
        @location(0) now: vec4<u32>,
        @location(1) before: vec4<u32>,
    }

    @fragment
    fn fragment(varyings: Varyings) -> Texels {
        let now = bitcast<vec4<u32>>(vec4<f32>(varyings.now, 1.0));
        return Texels(now, bitcast<vec4<u32>>(vec4<f32>(varyings.before, 1.0)));
    }
";

/// Returns a camera above the origin that sees `half` metres to each side.
fn above(half: f32) -> Camera {
    Camera::orthographic_look_at([0.0, 0.0, 50.0], [0.0; 3], half, half, 100.0)
}

/// [`BOTH`] for models whose vertices have an index.
fn numbered() -> String {
    BOTH.replace(", @builtin(vertex_index) index: u32", "").replace("+ index;", "+ input.vertex;")
}

pub fn palette_keeps_pose_of_previous_frame() {
    // Four storage buffers per stage are too few for transforms of the previous frame.
    let five = wgpu::Limits { max_storage_buffers_per_shader_stage: 5, ..wgpu::Limits::downlevel_defaults() };
    let more = gpu_with(wgpu::Backends::VULKAN, five);
    let eight = BACKENDS.into_iter().filter_map(compute_eight);
    for gpu in BACKENDS.into_iter().filter_map(compute).chain(more).chain(eight) {
        let buffers = gpu.device.limits().max_storage_buffers_per_shader_stage;
        let transforms = buffers >= 5;
        // Node matrices in workgroup memory, with culling; and in the palette, without. Morph targets that a compute pass
        // adds, for one pose, and for all of them.
        let most = RendererDescriptor::default().morph_bytes;
        // Eight influences, which shaders load if they may read another storage buffer.
        let (four, morphs, eight) = (Packing::Narrow, Packing::Wide, [Packing::Wide8, Packing::Full8]);
        let cases = [
            (4, true, 0, four),
            (253, false, 0, four),
            (4, true, most, morphs),
            (40, false, most, morphs),
            (4, true, 1 << 13, morphs),
            (40, true, 0, eight[0]),
            (4, false, 0, eight[1]),
            (40, false, most, eight[0]),
            (4, true, 1 << 13, eight[1]),
        ];
        for (bones, culling, morph_bytes, packing) in cases {
            let format = VertexFormat { packing, tangent: false, second_uv: false, color: false };
            let mut recipe = Recipe::random(&mut Random(3), Encoding::LocalPacked, format, bones);
            if morph_bytes > 0 {
                recipe = recipe.with_morphs(&mut Random(9));
            }
            let test = recipe.build(|_, _| Pose::REST);
            let test = if culling { test.with_bounds() } else { test };
            let descriptor = RendererDescriptor { motion_vectors: true, culling, morph_bytes, ..Default::default() };
            let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
            let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
            let loads = packing.influences() == 8 && buffers > 5;
            let variant = crowd.variant();
            assert_eq!((variant.previous_transforms, variant.loads_influences), (transforms, loads));
            let mut prepare = |seconds: f64| {
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                renderer.prepare(&gpu.queue, &mut encoder, &above(20.0), seconds).unwrap();
                gpu.queue.submit([encoder.finish()]);
            };
            let moving = |i: u16| {
                Instance::at([f32::from(i) * 4.0 - 16.0, 0.0, 0.0]).play(Clip::new(i % 2)).repeat(Repeat::Loop)
            };
            let ids: Vec<_> = (0..9).map(|i| crowd.spawn(moving(i).speed(0.7 + 0.1 * f32::from(i)))).collect();
            prepare(7.0);
            let fade = Transition::crossfade(2.0);
            assert!(crowd.play(ids[2], Clip::new(1), fade).is_ok() && crowd.play(ids[3], Clip::new(2), fade).is_ok());
            assert!(crowd.play_layer(ids[4], 0, Clip::new(1), Some(Mask::new(0)), fade, 0.8).is_ok());
            let matrix = |x| vec![[[0.8, 0.0, -0.6, x], [0.0, 1.0, 0.0, 0.1], [0.6, 0.0, 0.8, 0.0]]; bones as usize];
            let matrices = [matrix(0.3), matrix(0.9), matrix(-0.4)];
            let [first, second, new] = [0, 1, 2].map(|i| LiveBones::Model(&matrices[i]));
            assert!(
                crowd.set_live_bones(ids[5], first, 1.5).is_ok() && crowd.set_live_bones(ids[1], second, 0.0).is_ok()
            );
            // Outside the view: a later instance gets its palette slot.
            assert!(!culling || crowd.move_to(ids[6], [400.0, 0.0, 0.0]).is_ok());
            prepare(7.9);
            // Moves in the last frame; its pose is still that of the previous time.
            let before: Vec<_> = ids.iter().map(|id| crowd.get(*id).unwrap()).collect();
            assert!(crowd.move_to(ids[7], [12.0, 1.0, 0.0]).is_ok());
            assert!(crowd.move_and_face(ids[3], [-3.0, 0.5, 0.0], 0.7).is_ok() && crowd.scale_to(ids[0], 1.2).is_ok());
            assert!(
                crowd.update_live_bones(&ids[5..6], second) == Ok(1) && crowd.set_live_bones(ids[8], new, 0.0).is_ok()
            );
            prepare(8.4);
            assert_eq!([renderer.time(), renderer.previous_time()], [8.4, 7.9].map(Time::from_secs));

            let times = [renderer.time(), renderer.previous_time()];
            let words = [times[0].words(), times[1].words(), [150, 0]];
            let added = morph_bytes == most;
            let (source, both) = match (added, crowd.variant().has_vertex_index()) {
                (true, _) => (shader::added_morphs_source(crowd.variant(), 1), &numbered()),
                (false, true) => (shader::source(crowd.variant(), 1), &numbered()),
                (false, false) => (shader::source(crowd.variant(), 1), &BOTH.to_owned()),
            };
            let own = Own::new(
                &gpu,
                OwnDescriptor {
                    text: source + both,
                    instances: renderer.model_layout(crowd.variant()),
                    buffers: vertex_buffers(crowd.variant()),
                    uniforms: vec![bytemuck::bytes_of(&words)],
                    topology: wgpu::PrimitiveTopology::PointList,
                    format: wgpu::TextureFormat::Rgba32Uint,
                    targets: 2,
                    side: 64,
                },
            );
            let encoder = gpu.device.create_command_encoder(&Default::default());
            let draw = if added { CustomDraw::new(1).with_added_morphs() } else { CustomDraw::new(1) };
            let drawn: Vec<Vec<[f32; 4]>> = own.draw(&gpu, encoder, |pass| {
                crowd.draw_with(pass, draw, |_, part| assert_eq!(part.morphs_added, added));
            });
            let mut moved = 0;
            for (number, id) in ids.iter().enumerate() {
                let (record, layers) = (crowd.get(*id).unwrap(), crowd.layers(*id));
                let found = drawn.iter().map(|texels| &texels[number * 150..][..150]);
                if culling && number == 6 {
                    assert!(found.flatten().all(|texel| *texel == [0.0; 4]), "a culled instance is drawn");
                    continue;
                }
                // Current and previous live bones; an instance that just got live bones has no
                // motion.
                let live = match number {
                    1 => [Some(second); 2],
                    5 => [Some(second), Some(first)],
                    8 => [Some(new); 2],
                    _ => [None; 2],
                };
                let mut previous = record;
                let InstanceRecord { translation, scale, rotation, .. } =
                    if transforms { before[number] } else { record };
                (previous.translation, previous.scale, previous.rotation) = (translation, scale, rotation);
                let records = [record, previous];
                let twin = |record, time, live| test.on_cpu_over(&CaptureFrame { record, layers, live, time });
                let twins = [0, 1].map(|i| twin(records[i], times[i], live[i]));
                for (found, twin) in found.zip(&twins) {
                    for (texel, twin) in found.iter().zip(twin) {
                        let distance = Vec3::from_slice(&texel[..3]).distance(twin.position);
                        assert!(texel[3] == 1.0 && distance < 1e-4, "{number}: {texel:?}, expected {}", twin.position);
                    }
                }
                let far = twins[0].iter().zip(&twins[1]).any(|(a, b)| a.position.distance(b.position) > 1e-2);
                moved += usize::from(far);
            }
            assert!(moved > 5, "only {moved} of {} instances move", ids.len());
        }
    }
}

/// Instances in a texture encoding that commands move, on devices of all backends.
pub fn moved_instances_have_motion_of_their_own() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
        for motion_vectors in [true, false] {
            let descriptor = RendererDescriptor { motion_vectors, ..Default::default() };
            let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
            let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
            let id = crowd.spawn(Instance::at([4.0, 4.0, 0.0]).scaled(40.0));
            let mut frame = |x: Option<f32>| {
                x.into_iter().for_each(|x| crowd.move_to(id, [x, 4.0, 0.0]).unwrap());
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), 1.0).unwrap();
                gpu.queue.submit([encoder.finish()]);
                motion(&gpu, &renderer, &crowd, [map(8.0); 2], [1.0; 2])[0]
            };
            // Metres per frame, over 4 metres per half of the picture.
            let found = [None, Some(5.0), Some(4.5), None, Some(4.0)].map(&mut frame);
            let expected = if motion_vectors { [0.0, 0.25, -0.125, 0.0, -0.125] } else { [0.0; 5] };
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-4, "{}: {found}, expected {expected}", gpu.name);
            }
            crowd.set(id, Instance::at([6.0, 4.0, 0.0]).scaled(40.0)).unwrap();
            assert!(frame(None).abs() < 1e-4, "a replaced instance moves");
        }
    }
}

/// Instances that move at constant rates, on devices with compute and without.
pub fn moving_instances_have_motion_vectors() {
    for gpu in BACKENDS.into_iter().filter_map(gpu).chain(BACKENDS.into_iter().filter_map(compute)) {
        for encoding in [Encoding::MatrixF16, Encoding::LocalPacked] {
            let storage_buffers = gpu.device.limits().max_storage_buffers_per_shader_stage;
            if encoding.needs_compute() && storage_buffers < 5 {
                continue;
            }
            let test = squares(square_recipe(encoding, plain([1.0; 4])));
            let descriptor = RendererDescriptor { motion_vectors: true, ..Default::default() };
            let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
            let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
            let along = |speed: f32| Motion { velocity: [speed, 0.0, 0.0], ..Motion::STILL };
            let id = crowd.spawn(Instance::at([4.0, 4.0, 0.0]).scaled(40.0).moving(along(1.0)));
            let mut frame = |time: f64, next: Option<Motion>| {
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), time).unwrap();
                gpu.queue.submit([encoder.finish()]);
                let found = motion(&gpu, &renderer, &crowd, [map(8.0); 2], [time; 2])[0];
                next.into_iter().for_each(|motion| crowd.set_motion(id, motion).unwrap());
                found
            };
            // Metres per frame, over 4 metres per half of the picture.
            let found = [
                frame(1.0, None),
                frame(1.5, Some(along(-0.5))),
                frame(2.5, None),
                frame(2.75, Some(Motion::STILL)),
                frame(3.0, None),
                frame(3.5, Some(along(2.0))),
                frame(3.75, None),
            ];
            let expected = [0.0, 0.125, -0.125, -0.031_25, 0.0, 0.0, 0.125];
            for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
                assert!((found - expected).abs() < 1e-4, "{} {encoding:?} {i}: {found}, expected {expected}", gpu.name);
            }
        }
    }
}

pub fn previous_poses_are_kept_only_on_request() {
    let gpu = noop(wgpu::Limits::downlevel_defaults());
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    let test = Recipe::random(&mut Random(3), Encoding::LocalPacked, format, 4).build(|_, _| Pose::REST);
    let bytes = [false, true].map(|motion_vectors| {
        let descriptor = RendererDescriptor { motion_vectors, ..Default::default() };
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
        assert_eq!(renderer.previous_time(), renderer.time());
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare(&gpu.queue, &mut encoder, &above(8.0), 5.0).unwrap();
        assert_eq!(renderer.previous_time(), Time::from_secs(5.0), "there is no earlier frame");
        crowd.explain(&renderer).bytes_per_instance
    });
    assert_eq!(bytes, [4 * 48, 8 * 48]);
}

pub fn clip_of_length_zero_finishes_at_its_start() {
    let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
    let meta = &test.model.meta;
    for speed in [1.0, -0.5] {
        let pose = Instance::<Dynamic>::at([0.0; 3]).play(Clip::new(1)).speed(speed).starting(5.0);
        let record = pose.repeat(Repeat::Once).record(meta, Time::ZERO);
        assert!(record.playback().finishes_at().unwrap().since(Time::from_secs(5.0)) < 1e-7);
        assert!([5.000_001, 1e9].iter().all(|now| record.is_finished(Time::from_secs(*now))));
        assert!(!record.is_finished(Time::from_secs(4.9)));
        let mut queue = EventQueue::new();
        queue.play(&meta.clips, 0, "pose", record.playback(), Time::from_secs(4.0));
        let ends: Vec<_> = queue.drain(&meta.clips, Time::from_secs(6.0)).map(|n| (n.instance, n.kind)).collect();
        assert_eq!(ends, [("pose", FiredEventKind::Finished)]);
        for now in [0.0, 5.0, 5e8] {
            let y = test.on_cpu(&record, Time::from_secs(now))[0].position.y;
            assert!((y - 0.8).abs() < 1e-3, "{y} at {now}");
        }
        let looped = pose.repeat(Repeat::Loop).record(meta, Time::ZERO);
        assert_eq!((looped.playback().finishes_at(), looped.is_finished(Time::MAX)), (None, false));
    }
    let still =
        Instance::<Dynamic>::at([0.0; 3]).play(Clip::new(1)).speed(0.0).repeat(Repeat::Once).record(meta, Time::ZERO);
    assert!(!still.is_finished(Time::MAX));
}
