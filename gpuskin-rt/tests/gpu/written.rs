//! Instances that a compute pass of the game writes.

use crate::common::model::{Pose, Random, Recipe, plain};
use crate::common::squares::{draw, map, renderer, square_recipe, squares};
use crate::common::{BACKENDS, Gpu, compute, gpu};
use gpuskin_rt::internals::*;
use gpuskin_rt::pipeline::{InstanceBuffers, instance_writer_source};

const COUNT: u32 = 256;

fn prepare(gpu: &Gpu, renderer: &mut CrowdRenderer, mut encoder: wgpu::CommandEncoder, time: f64) {
    renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), time).unwrap();
    gpu.queue.submit([encoder.finish()]);
}

fn encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    gpu.device.create_command_encoder(&Default::default())
}

fn read(gpu: &Gpu, buffer: &wgpu::Buffer) -> Vec<u32> {
    let copy = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: buffer.size(),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = encoder(gpu);
    encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
    gpu.queue.submit([encoder.finish()]);
    copy.map_async(wgpu::MapMode::Read, .., |_| ());
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let bytes = copy.get_mapped_range(..).unwrap();
    bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect()
}

/// Runs a pass of one thread per instance; bindings from 0 on.
fn run(gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, text: &str, entry: &str, buffers: &[&wgpu::Buffer]) {
    let source = wgpu::ShaderSource::Wgsl((instance_writer_source() + text).into());
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some(entry),
        compilation_options: Default::default(),
        cache: None,
    });
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    });
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(COUNT.div_ceil(64), 1, 1);
}

fn buffer(gpu: &Gpu, usage: wgpu::BufferUsages, words: &[u32]) -> wgpu::Buffer {
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: size_of_val(words) as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
    buffer
}

/// A command per instance: kind, clip, rate, phase, seconds, time.
const COMMANDS: &str = r"
    struct Command {
        kind: u32,
        clip: u32,
        rate: vec2<u32>,
        phase: u32,
        seconds: f32,
        time: vec2<u32>,
    }
    @group(0) @binding(0) var<storage, read> commands: array<Command>;
    @group(0) @binding(1) var<storage, read_write> playbacks: array<GpuskinPlaybackRecord>;

    @compute @workgroup_size(64)
    fn obey(@builtin(global_invocation_id) id: vec3<u32>) {
        let command = commands[id.x];
        let record = playbacks[id.x];
        if (command.kind == 0u) {
            playbacks[id.x] =
                gpuskin_play(record, command.clip, command.rate, command.phase, command.seconds, command.time);
        } else {
            playbacks[id.x] = gpuskin_set_rate(record, command.rate, command.time);
        }
    }
";

/// Random commands: the functions of the shader do what commands of the CPU do.
pub fn written_transitions_match_the_cpu() {
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        assert!(crowd.instance_buffers().is_none());
        let ids = crowd.spawn_many((0..COUNT).map(|i| Instance::at([i as f32, 0.0, 0.0])));
        prepare(&gpu, &mut renderer, encoder(&gpu), 0.5);
        let InstanceBuffers { playbacks, .. } = crowd.instance_buffers().unwrap();
        let mut records: Vec<_> = ids.iter().map(|id| crowd.get(*id).unwrap()).collect();
        let mut random = Random(11);
        // Numbers of layer sets and of variants in all bits, which transitions keep.
        let variants: Vec<u32> = (0..COUNT).collect();
        for record in &mut records {
            *record = record.with_layer_set(random.below(LayerSet::MAX_NUMBER + 1));
        }
        let words: Vec<u32> =
            records.iter().flat_map(|record| bytemuck::cast::<_, [u32; 18]>(*record)[8..18].to_vec()).collect();
        let rows = words.as_chunks::<10>().0.iter().zip(&variants).flat_map(|(row, variant)| {
            let mut row = *row;
            row[9] |= variant << 23;
            row.into_iter().chain([0; 2])
        });
        gpu.queue.write_buffer(&playbacks, 0, bytemuck::cast_slice(&rows.collect::<Vec<_>>()));
        let (mut now, mut fading) = (vec![1.0; COUNT as usize], 0);
        for _ in 0..40 {
            let mut words = Vec::new();
            for (record, now) in records.iter_mut().zip(&mut now) {
                *now += f64::from(random.within(0.0, 0.4));
                let time = Time::from_secs(*now);
                let clip = random.below(MAX_CLIPS as u32) | *random.of(&[0, Playback::ONCE, Playback::PING_PONG]);
                let speed = *random.of(&[1.0, -0.7, 0.0, 2.3, 1e-4]);
                let rate = Time::from_bits((speed * 4_294_967_296.0) as i64 as u64).words();
                let phase = random.below(u32::MAX);
                let seconds: f32 = *random.of(&[0.0, 0.3, 2.0]);
                let kind = u32::from(random.below(4) == 0);
                words.extend([kind, clip, rate[0], rate[1], phase, seconds.to_bits()]);
                words.extend(time.words());
                if kind == 0 {
                    let next = Playback { start: time.words(), rate, offset: phase, clip };
                    record.play(&next, seconds, Curve::Smooth, time);
                } else {
                    record.set_rate(Time::from_words(rate).to_bits() as i64, time);
                }
                fading += u32::from(record.weight(time) < 1.0);
            }
            let commands = buffer(&gpu, wgpu::BufferUsages::STORAGE, &words);
            let mut encoder = encoder(&gpu);
            run(&gpu, &mut encoder, COMMANDS, "obey", &[&commands, &playbacks]);
            gpu.queue.submit([encoder.finish()]);
            let found = read(&gpu, &playbacks);
            for (i, (record, found)) in records.iter_mut().zip(found.as_chunks::<12>().0).enumerate() {
                assert_eq!(found[9] >> 23 & 0xff, variants[i], "{i}: {found:x?}");
                let mut found = *found;
                found[9] &= !(0xff << 23);
                let all: [u32; 18] = bytemuck::cast(*record);
                let expected = &all[8..];
                // Times, rates and clips to the bit; phases and progress may be rounded otherwise.
                for (at, mask) in [(0, !0), (1, !0), (2, !0), (4, !0), (6, !0), (8, !0)] {
                    assert_eq!(found[at] & mask, expected[at] & mask, "{i}, word {at}: {found:x?} {expected:x?}");
                }
                let near = |at: usize, shift: u32, bits: u32, most: u32| {
                    let part = |word: u32| (word >> shift) & (u32::MAX >> (32 - bits));
                    let apart = part(found[at]).abs_diff(part(expected[at]));
                    assert!(apart <= most, "{i}, word {at}: {found:x?} {expected:x?}");
                };
                near(3, 0, 32, 0);
                [5, 7, 9].into_iter().for_each(|at| near(at, 0, 16, 1));
                // Rate of the fade: the last of eleven bits.
                near(5, 16, 16, 1);
                // Weight of the second fading clip.
                near(7, 16, 16, 2);
                near(9, 16, 16, 0);
                // Differences do not add up.
                let words: [u32; 18] = core::array::from_fn(|at| if at < 8 { all[at] } else { found[at - 8] });
                *record = bytemuck::cast(words);
            }
        }
        assert!(fading > 2_000, "{fading}");
    }
}

/// Returns the documented pass.
fn documented() -> String {
    let lines = include_str!("../../src/pipeline.rs").lines().map(|line| line.trim_start_matches("//!"));
    let section = lines.skip_while(|line| !line.contains("Instances written by the device"));
    let example = section.skip_while(|line| line.trim() != "```wgsl").skip(1).take_while(|line| line.trim() != "```");
    example.collect::<Vec<_>>().join("\n")
}

/// The documented pass on a crowd that grows: what is drawn is what it has written.
pub fn written_instances_are_drawn() {
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
        let descriptor = CrowdDescriptor { capacity: 3, ..Default::default() };
        let crowd = Crowd::with_model(&mut renderer, &test.model, descriptor).unwrap();
        crowd.spawn_many((0..3).map(|i| Instance::at([i as f32, 0.0, 0.0])));
        prepare(&gpu, &mut renderer, encoder(&gpu), 0.0);
        for frame in 1..=10 {
            let buffers = crowd.instance_buffers().unwrap();
            let time = Time::from_secs(f64::from(frame));
            let uniform = buffer(&gpu, wgpu::BufferUsages::UNIFORM, &[time.words()[0], time.words()[1], 0, 0]);
            let mut encoder = encoder(&gpu);
            run(&gpu, &mut encoder, &documented(), "steer", &[&uniform, &buffers.places, &buffers.playbacks]);
            if frame == 5 {
                // Needs larger buffers: what was written before this frame stays.
                crowd.spawn_many((3..200).map(|i| Instance::at([i as f32, 0.0, 0.0])));
            }
            prepare(&gpu, &mut renderer, encoder, f64::from(frame));
        }
        let drawn = crowd.drawn_transforms(&renderer).unwrap();
        let near = |i: usize, z: f32| {
            let [x, _, found] = drawn[i].translation;
            assert!(x == i as f32 && (found - z).abs() < 1e-5, "{}: {i}: {:?}", gpu.name, drawn[i]);
        };
        (0..3).for_each(|i| near(i, 0.18));
        (3..200).for_each(|i| near(i, 0.1));
        let playbacks = read(&gpu, &crowd.instance_buffers().unwrap().playbacks);
        let clips: Vec<_> = playbacks.as_chunks::<12>().0[..200].iter().map(|words| words[4] & 0x3fff).collect();
        assert_eq!(clips, [1; 200]);
    }
    // Without storage buffers there is nothing to write.
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        crowd.spawn(Instance::at([0.0; 3]));
        prepare(&gpu, &mut renderer, encoder(&gpu), 0.0);
        assert!(crowd.instance_buffers().is_none());
    }
}

/// Any words may be written: frames end, and the device is not lost.
pub fn written_garbage_is_survived() {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        for encoding in [Encoding::LocalPacked, Encoding::MatrixF16, Encoding::TrsPacked] {
            let mut random = Random(3);
            let mut recipe = Recipe::random(&mut random, encoding, format, 6);
            recipe.materials = vec![plain([1.0; 4])];
            let model = recipe.build(|_, _| Pose::REST).model;
            for time_grid in [None, Some(0.1)] {
                let mut renderer = renderer(&gpu);
                let descriptor = CrowdDescriptor { time_grid, ..Default::default() };
                let crowd = Crowd::with_model(&mut renderer, &model, descriptor).unwrap();
                crowd.spawn_many((0..COUNT).map(|i| Instance::at([i as f32, 0.0, 0.0])));
                prepare(&gpu, &mut renderer, encoder(&gpu), 0.0);
                let InstanceBuffers { places, playbacks, .. } = crowd.instance_buffers().unwrap();
                for round in 0..6 {
                    for target in [&places, &playbacks] {
                        let any = |random: &mut Random| {
                            [0, u32::MAX, 0x7fc0_0000, random.bits() as u32][random.below(4) as usize]
                        };
                        let words: Vec<_> = (0..target.size() / 4).map(|_| any(&mut random)).collect();
                        gpu.queue.write_buffer(target, 0, bytemuck::cast_slice(&words));
                    }
                    draw(&gpu, &mut renderer, &map(8.0), f64::from(round));
                }
                gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            }
        }
    }
}
