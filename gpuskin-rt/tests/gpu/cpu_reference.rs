//! WGSL compared with the CPU reference on every available backend.

use crate::common::model::{Pose, Random, Recipe, TestModel, many_clips, variant_names};
use crate::common::{BACKENDS, Gpu, compute, compute_eight, gpu};
use glam::Vec3;
use gpuskin_rt::internals::render::Capture;
use gpuskin_rt::internals::*;
use gpuskin_test_harness::note;

/// Relative to the diagonal of the drawn mesh.
const POSITION_TOLERANCE: f32 = 2e-6;
const NORMAL_TOLERANCE_DEGREES: f32 = 0.01;

fn model(seed: u64, encoding: Encoding, format: VertexFormat, bones: u32, array: bool, mirrored: bool) -> TestModel {
    let mut random = Random(seed);
    let mut recipe = Recipe::random(&mut random, encoding, format, bones).with_steps();
    if array {
        recipe.frames_per_layer = 5;
    }
    recipe.build(|_, _| Pose::random(&mut random, mirrored))
}

/// A model with so many clips that their records are in a texture. `array`: its animation texture has several layers.
fn model_of_many_clips(encoding: Encoding, format: VertexFormat, clips: usize, array: bool) -> TestModel {
    let mut random = Random(clips as u64);
    let mut recipe = Recipe::random(&mut random, encoding, format, 3);
    recipe.clips = many_clips(clips);
    (recipe.width, recipe.frames_per_layer) = if array { (512, 800) } else { (MAX_SIDE, u32::MAX) };
    recipe.build(|_, _| Pose::random(&mut random, false))
}

/// Returns the clips of a model that tests play, and fade between in this order: all, or some of many.
fn played_clips(meta: &Metadata) -> Vec<u16> {
    let last = meta.clips.len() as u16 - 1;
    if last < 4 {
        return (0..=last).collect();
    }
    // Around the last clip that fits the uniform buffer, and around the end of a row of the texture.
    let last_in_uniform = shader::UNIFORM_CLIPS as u16 - 1;
    [3, 4_900, last_in_uniform, last_in_uniform + 1, 127, 128, last].into_iter().filter(|clip| *clip <= last).collect()
}

/// Instances of all kinds, each with a time.
fn timed_records(meta: &Metadata, random: &mut Random) -> Vec<(InstanceRecord, Time)> {
    let month = 30.0 * 86_400.0;
    let clips = played_clips(meta);
    let mut all = Vec::new();
    for (start, elapsed) in [(0.0, 0.0), (3.0, 0.123), (1e6, 7.31), (17.25, month + 0.37), (50.0, -20.0), (4e9, 1e8)] {
        for (i, &clip) in clips.iter().enumerate() {
            let next = Clip::<Dynamic>::new(clips[(i + 1) % clips.len()]);
            for mode in 0..9 {
                let rotation = random.direction().extend(random.within(-1.0, 1.0)).to_array();
                let instance = Instance::<Dynamic>::at(random.vector())
                    .rotated(rotation)
                    .scaled(random.within(0.5, 1.5))
                    .play(Clip::new(clip))
                    .starting(start);
                let instance = match mode {
                    0 => instance,
                    1 => instance.repeat(Repeat::Loop).speed(random.within(0.1, 3.0)).phase(random.unit()),
                    2 => instance.repeat(Repeat::Loop).speed(-1.7).phase(0.3),
                    3 => instance.repeat(Repeat::Once).speed(-0.4).seek(0.6),
                    4 => instance.repeat(Repeat::Once).seek(0.2),
                    5 => instance.speed(0.0).seek(random.unit().into()),
                    6 => instance.repeat(Repeat::PingPong).speed(1.3).phase(random.unit()),
                    _ => instance.speed(0.7).phase(random.unit()),
                };
                let mut record = instance.record(meta, Time::ZERO);
                let now = Time::from_secs(start + elapsed);
                // A crossfade, then one that interrupts it.
                for i in 7..=mode {
                    let next = Instance::at([0.0; 3]).play(next).phase(random.unit()).record(meta, now).playback();
                    let curve = [Curve::Linear, Curve::Smooth, Curve::EaseIn, Curve::EaseOut][random.below(4) as usize];
                    record.play(&next, 0.5, curve, now - f64::from(9 - i) * 0.1);
                }
                all.push((record, now));
            }
        }
    }
    all
}

/// Returns a fifth of the samples, depending on the seed: together the tests use all.
fn some(seed: u64, timed_records: Vec<(InstanceRecord, Time)>) -> Vec<(InstanceRecord, Time)> {
    timed_records.into_iter().skip(seed as usize % 5).step_by(5).collect()
}

/// Returns greatest distance relative to the diagonal, and greatest angle in degrees.
fn compare(gpu: &Gpu, test: &TestModel, frames: &[(InstanceRecord, Time)]) -> (f32, f32) {
    let captured = Capture::new(&gpu.device, &gpu.queue, &test.model).unwrap().frames(frames).unwrap();
    assert_eq!(captured.len(), frames.len());
    let (mut distance, mut angle) = (0.0_f32, 0.0_f32);
    for (vertices, (record, now)) in captured.iter().zip(frames) {
        let expected = test.on_cpu(record, *now);
        assert_eq!(vertices.len(), expected.len());
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

pub fn every_variant_matches_cpu_reference() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let (mut distance, mut angle) = (0.0_f32, 0.0_f32);
        // The transforms of the previous frame do not affect this one.
        let textured = shader::Variant::all().filter(|v| !v.encoding.needs_compute() && !v.previous_transforms);
        for (seed, variant) in (0..).zip(textured) {
            let mirrored = seed % 2 == 1;
            let mut test = match variant.clip_texture {
                true => model_of_many_clips(variant.encoding, variant.vertex, 1_100, variant.array),
                false if variant.morphs == shader::MorphUse::Applied => {
                    let mut random = Random(seed);
                    let recipe = Recipe::random(&mut random, variant.encoding, variant.vertex, 40);
                    recipe.with_morphs(&mut random).build(|_, _| Pose::random(&mut random, mirrored))
                }
                false => model(seed, variant.encoding, variant.vertex, 40, variant.array, mirrored),
            };
            test.model.meta.normals = variant.normals;
            test.model.meta.variants = variant_names(variant.model_variants);
            assert_eq!(shader::Variant::of(&test.model.meta), variant);
            let frames = some(seed, timed_records(&test.model.meta, &mut Random(seed + 1000)));
            let worst = compare(&gpu, &test, &frames);
            assert!(
                worst.0 <= POSITION_TOLERANCE && worst.1 <= NORMAL_TOLERANCE_DEGREES,
                "{variant:?} on {}: {worst:?}",
                gpu.name
            );
            (distance, angle) = (distance.max(worst.0), angle.max(worst.1));
        }
        note!("{}: positions within {distance:.1e} of the diagonal, normals within {angle:.1e} degrees", gpu.name);
    }
}

/// Thousands of clips, and as many as a model can have, on the path without compute and on the palette path:
/// also in crossfades between clips of any index.
pub fn models_with_thousands_of_clips_match_cpu_reference() {
    let cases = [
        (Encoding::MatrixF16, 5_000),
        (Encoding::TrsPacked, 5_000),
        (Encoding::VatF16, 2_000),
        (Encoding::LocalPacked, 5_000),
        (Encoding::TrsF16, MAX_CLIPS),
        (Encoding::LocalPacked, MAX_CLIPS),
    ];
    let everywhere = cases.map(|(encoding, clips)| {
        let packing = if encoding.is_vertex() { Packing::Static } else { Packing::Narrow };
        let format = VertexFormat { packing, tangent: false, second_uv: false, color: false };
        model_of_many_clips(encoding, format, clips, true)
    });
    for backend in BACKENDS {
        for test in &everywhere {
            let Metadata { encoding, ref clips, .. } = test.model.meta;
            let opened = if encoding.needs_compute() { compute(backend) } else { gpu(backend) };
            let Some(gpu) = opened else { continue };
            let variant = shader::Variant::of(&test.model.meta);
            assert_eq!((variant.clip_texture, variant.array), (!encoding.needs_compute(), !encoding.needs_compute()));
            let frames = timed_records(&test.model.meta, &mut Random(1));
            let fades =
                |(record, now): &&(InstanceRecord, Time)| record.clip_index() == 4_900 && record.weight(*now) < 1.0;
            assert!(clips.len() < 4_900 || frames.iter().filter(fades).count() > 2);
            let worst = compare(&gpu, test, &frames);
            note!("{} clips of {encoding:?} on {}: {worst:?}", clips.len(), gpu.name);
            assert!(
                worst.0 <= POSITION_TOLERANCE && worst.1 <= NORMAL_TOLERANCE_DEGREES,
                "{} clips of {encoding:?} on {}: {worst:?}",
                clips.len(),
                gpu.name
            );
        }
    }
}

pub fn models_with_one_and_1024_bones_match_cpu_reference() {
    let narrow = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for bones in [1, 256, 1024] {
            for encoding in Encoding::ALL.into_iter().filter(|e| !e.needs_compute() && !e.is_vertex()) {
                let test = model(u64::from(bones), encoding, narrow, bones, bones == 1024, false);
                let frames = some(0, timed_records(&test.model.meta, &mut Random(1)));
                let worst = compare(&gpu, &test, &frames[..12]);
                assert!(worst.0 <= POSITION_TOLERANCE && worst.1 <= NORMAL_TOLERANCE_DEGREES, "{bones}: {worst:?}");
            }
        }
    }
}

pub fn palettes_match_cpu_reference() {
    let eight_influences = [Packing::Full8, Packing::Wide8];
    let all = [Packing::Full, Packing::Narrow, Packing::Wide, Packing::Full8, Packing::Wide8];
    let devices = BACKENDS.into_iter().filter_map(compute).map(|gpu| (gpu, &all[..]));
    // Shaders load influences if they may read a fifth storage buffer.
    let loading = BACKENDS.into_iter().filter_map(compute_eight).map(|gpu| (gpu, &eight_influences[..]));
    for (gpu, packings) in devices.chain(loading) {
        // Hierarchies that fit workgroup memory, and larger ones.
        for (seed, bones) in (0..).zip([1, 40, 72, 73, 144, 145, 252, 253, 1024]) {
            for &packing in packings {
                let format = VertexFormat { packing, tangent: seed % 2 == 0, second_uv: false, color: false };
                let test = model(seed, Encoding::LocalPacked, format, bones, false, false);
                let frames = some(seed, timed_records(&test.model.meta, &mut Random(seed)));
                let frames = if bones > 300 { &frames[..20] } else { &frames[..] };
                let worst = compare(&gpu, &test, frames);
                note!("{bones} bones on {}: {worst:?}", gpu.name);
                assert!(worst.0 <= POSITION_TOLERANCE && worst.1 <= NORMAL_TOLERANCE_DEGREES, "{bones}: {worst:?}");
            }
        }
    }
}

pub fn frames_beyond_one_readback_are_captured() {
    let gpu = BACKENDS.into_iter().find_map(gpu).expect("a device, which the test needs");
    let full = VertexFormat { packing: Packing::Full, tangent: false, second_uv: false, color: false };
    let mut random = Random(5);
    let mut recipe = Recipe::random(&mut random, Encoding::MatrixF32, full, 3);
    let some = recipe.vertices.clone();
    // 400,000 vertices: three frames exceed the 2^20 vertices that are read back at once.
    recipe.vertices = (0..400_000).map(|i| some[i % some.len()]).collect();
    let test = recipe.build(|_, _| Pose::random(&mut random, false));
    let frames = timed_records(&test.model.meta, &mut random);
    let captured = Capture::new(&gpu.device, &gpu.queue, &test.model).unwrap().frames(&frames[..5]).unwrap();
    for (vertices, (record, now)) in captured.iter().zip(&frames) {
        assert_eq!(vertices.len(), 400_000);
        let expected = test.on_cpu(record, *now);
        for i in [0, 48_575, 48_576, 199_999, 248_575, 248_576, 300_001, 399_999] {
            assert!(Vec3::from(vertices[i].position).distance(expected[i].position) < 1e-5, "{i}");
        }
    }
    assert!(Capture::new(&gpu.device, &gpu.queue, &test.model).unwrap().frames(&[]).unwrap().is_empty());
}

pub fn non_finite_arguments_stay_finite() {
    let gpu = BACKENDS.into_iter().find_map(gpu).expect("a device, which the test needs");
    let format = VertexFormat { packing: Packing::Wide, tangent: true, second_uv: false, color: false };
    let test = model(9, Encoding::TrsF16, format, 5, false, false);
    let nan = f32::NAN;
    let instances = [
        Instance::<Dynamic>::at([nan, f32::INFINITY, 0.0]).rotated([nan; 4]).scaled(nan).speed(nan).phase(nan),
        Instance::at([0.0; 3]).rotated([0.0; 4]).facing(nan).speed(f32::INFINITY).seek(f64::NAN).play(Clip::new(77)),
        Instance::at([0.0; 3]).rotated([1e-30; 4]).scaled(0.0).speed(1e30).phase(-1e30),
        Instance::at([0.0; 3]).rotated([3e38; 4]).speed(f32::MAX).starting(f64::NAN),
    ];
    let frames = instances.map(|i| (i.record(&test.model.meta, Time::ZERO), Time::from_secs(12.3)));
    for (record, now) in frames {
        let captured = Capture::new(&gpu.device, &gpu.queue, &test.model).unwrap().frames(&[(record, now)]).unwrap();
        for (vertex, twin) in captured[0].iter().zip(test.on_cpu(&record, now)) {
            let position = Vec3::from(vertex.position);
            assert!(position.is_finite(), "{vertex:?}");
            assert!(position.distance(twin.position) < 1e-4, "{vertex:?}, expected {twin:?}");
        }
    }
}
