//! Ground truth: vertices of the shared models from an independent program, compared with baked and
//! drawn vertices.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use glam::DVec3;
use gpuskin_build::Manifest;
use gpuskin_build::internals::pose::{EvaluatedPoses, PosePath, PoseSource, PoseTimes};
use gpuskin_build::{BakeOptions, BakedModel, bake};
use gpuskin_rt::internals::render::Capture;
use gpuskin_rt::internals::{Clip, Dynamic, Encoding, Instance, InstanceRecord, Model, Repeat, Time};
use gpuskin_rt::wgpu::Backends;
use gpuskin_test_harness::{note, run, test};
use gpuskin_tests::frames::{Distance, Frames};
use gpuskin_tests::gpu::{self, ANY_COMPUTE, ANY_GPU, Gpu};
use gpuskin_tests::shared::{FIXTURES, entries, name, shared};

fn main() -> ExitCode {
    run([
        test!(importer_matches_the_reference_at_any_time, FIXTURES),
        test!(exact_matrices_match_the_source_at_frames, FIXTURES),
        test!(exact_matrices_on_the_gpu_match_the_source_at_frames, FIXTURES, ANY_GPU),
        test!(exact_vertices_match_the_source_at_frames, FIXTURES),
        test!(exact_vertices_on_the_gpu_match_the_source_at_frames, FIXTURES, ANY_GPU),
        test!(reported_errors_match_the_gpu, FIXTURES, ANY_COMPUTE),
        test!(reported_vertex_errors_match_the_gpu, FIXTURES, ANY_GPU),
        test!(morph_targets_that_are_left_out_are_reported, FIXTURES),
    ])
}

/// Greatest distance from the reference, as a fraction of the model's size. The reference is in
/// `f32`, whose rounding error is 6e-8.
const SOURCE_TOLERANCE: f64 = 1e-6;
const SOURCE_DEGREES: f64 = 0.05;
/// Greatest distance of `f32` matrices at the times of baked frames, as a fraction of the model's
/// size.
const EXACT_TOLERANCE: f64 = 1e-5;
const EXACT_DEGREES: f64 = 0.5;
/// Greatest difference between the reported and the found error, beside a tenth of it, as a
/// fraction of the model's size: `f32` rounding on the way to the screen.
const ROUNDING: f64 = 2e-7;
/// Frames per clip that are compared, spread over the clip.
const FRAMES: u32 = 4;

/// Manifest keys for the fastest bakes: these tests look at vertices of the finest level alone.
const POSES_ALONE: &str = "lods = false\ntextures = [\"rgba8\"]\n";

/// Model of the shared set.
struct Subject {
    /// Name of the model's folder of expected results.
    name: String,
    manifest: Manifest,
    /// Index of each clip with expected results, and the folder of these results.
    clips: Vec<(usize, PathBuf)>,
    /// Additional keys of the manifest's model; its mode decides which frames are stored.
    keys: String,
}

impl Subject {
    /// `keys`: additional keys of the manifest's model.
    fn new(shared: &Path, results: &Path, keys: &str) -> Self {
        let name = name(results).to_owned();
        let path = shared.join("models").join(name.replace("__", "/"));
        let path = path.to_str().expect("UTF-8");
        let text = format!("[[model]]\nname = \"model\"\npath = {path:?}\n{POSES_ALONE}{keys}");
        let manifest = Manifest::parse(&shared.join("gpuskin.toml"), text).unwrap_or_else(|e| panic!("{e}"));
        let index = |folder: &PathBuf| gpuskin_tests::shared::name(folder).parse().expect("the index of a clip");
        let mut clips: Vec<(usize, PathBuf)> = entries(results).into_iter().map(|f| (index(&f), f)).collect();
        clips.sort();
        Self { name, manifest, clips, keys: keys.to_owned() }
    }

    /// Reads the model. Its clips are named by their indices.
    fn open(&self, encoding: Encoding) -> PoseSource<'_> {
        PoseSource::open(&self.manifest, "model", Some(encoding)).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    fn source(&self) -> PoseSource<'_> {
        self.open(if self.keys.contains("vertex") { Encoding::VatF32 } else { Encoding::MatrixF32 })
    }

    fn pose(&self, source: &PoseSource<'_>, clip: usize, path: PosePath, times: PoseTimes) -> EvaluatedPoses {
        source.pose(&clip.to_string(), &times, path).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    fn bake(&self, encoding: Encoding) -> (BakedModel, Model) {
        let options = BakeOptions { encoding: Some(encoding), ..Default::default() };
        let mut baked = bake(&self.manifest, &options).unwrap_or_else(|e| panic!("{}: {}", self.name, e.diagnostics));
        let model = baked.runtime_models().remove(0);
        (baked.models.remove(0), model)
    }
}

/// All models with expected results.
fn all() -> Vec<Subject> {
    all_with("")
}

fn all_with(keys: &str) -> Vec<Subject> {
    let shared = shared();
    let subjects: Vec<Subject> =
        entries(&shared.join("truth/expected")).iter().map(|results| Subject::new(&shared, results, keys)).collect();
    assert!(subjects.len() >= 24, "expected at least 24 models, found {}", subjects.len());
    subjects
}

fn importer_matches_the_reference_at_any_time() {
    let subjects = all();
    let folder = tempfile::tempdir().unwrap();
    let (mut clips, mut worst, mut degrees) = (0, 0.0_f64, 0.0_f64);
    for subject in subjects {
        let source = subject.source();
        for (clip, results) in &subject.clips {
            let expected = Frames::read(results);
            let times = PoseTimes::Seconds(expected.times.clone());
            subject.pose(&source, *clip, PosePath::Source, times).write(folder.path()).unwrap();
            let found = Frames::read(folder.path());
            assert_eq!(found.times, expected.times);
            assert_eq!(found.primitives, expected.primitives, "{} {clip}", subject.name);
            let far = Distance::between(&found.vertices, &expected.vertices);
            assert!(
                far.position <= SOURCE_TOLERANCE * expected.size && far.degrees <= SOURCE_DEGREES,
                "{} {clip}, size {}: {far:?}",
                subject.name,
                expected.size
            );
            let any_normals = |frames: &Frames| frames.vertices[0].iter().any(|v| v.1 != DVec3::ZERO);
            assert_eq!(any_normals(&found), any_normals(&expected), "{} {clip}", subject.name);
            (worst, degrees) = (worst.max(far.position / expected.size), degrees.max(far.degrees));
            clips += 1;
        }
    }
    note!("{clips} clips: positions within {worst:.1e} of the size, normals within {degrees:.1e} degrees");
    assert!(clips >= 46, "expected at least 46 clips, found {clips}");
}

/// Indices of a few frames of a clip, among them the first and the last.
fn some(stored: u32) -> Vec<u32> {
    let mut frames: Vec<u32> = (0..FRAMES).map(|i| i * (stored - 1) / (FRAMES - 1)).collect();
    frames.dedup();
    frames
}

fn exact_matrices_match_the_source_at_frames() {
    check_exact(Encoding::MatrixF32, PosePath::Cpu, all());
}

fn exact_matrices_on_the_gpu_match_the_source_at_frames() {
    check_exact(Encoding::MatrixF32, PosePath::Gpu, all());
}

/// Manifest keys for vertex mode at 8 frames per second: the comparison does not depend on the
/// rate, and vertices take long.
const VERTEX_KEYS: &str = "mode = \"vertex\"\nfps = 8\n";

fn exact_vertices_match_the_source_at_frames() {
    check_exact(Encoding::VatF32, PosePath::Cpu, all_with(VERTEX_KEYS));
}

fn exact_vertices_on_the_gpu_match_the_source_at_frames() {
    check_exact(Encoding::VatF32, PosePath::Gpu, all_with(VERTEX_KEYS));
}

fn check_exact(encoding: Encoding, path: PosePath, subjects: Vec<Subject>) {
    for subject in subjects {
        let (source, exact) = (subject.source(), subject.open(encoding));
        for (clip, results) in &subject.clips {
            let all = subject.pose(&source, *clip, PosePath::Source, PoseTimes::AllFrames);
            let frames = some(all.times.len() as u32);
            let size = Frames::read(results).size;
            let expected: Vec<_> = frames.iter().map(|&f| all.frames[f as usize].clone()).collect();
            let found = subject.pose(&exact, *clip, path, PoseTimes::Frames(frames.clone()));
            assert!(found.times.iter().zip(&frames).all(|(time, &f)| *time == all.times[f as usize]));
            let far = Distance::between(&found.frames, &expected);
            assert!(
                far.position <= EXACT_TOLERANCE * size && far.degrees <= EXACT_DEGREES,
                "{} {clip} {path:?}, size {size}: {far:?}",
                subject.name
            );
        }
    }
}

/// Instance at the origin, paused at a time of a clip.
fn standing(model: &Model, clip: usize, seconds: f64) -> InstanceRecord {
    let clip = Clip::new(clip as u16);
    Instance::<Dynamic>::at([0.0; 3])
        .play(clip)
        .repeat(Repeat::Once)
        .speed(0.0)
        .seek(seconds)
        .record(&model.meta, Time::ZERO)
}

/// Compares the reported with the found error of every clip of a model, in encodings. The frame with the greatest
/// reported error is among the compared ones.
fn check_errors(gpu: &Gpu, subject: &Subject, encodings: impl Iterator<Item = Encoding>) {
    let bakes: Vec<(BakedModel, Model)> = encodings.map(|encoding| subject.bake(encoding)).collect();
    let captures: Vec<_> =
        bakes.iter().map(|(_, model)| Capture::new(&gpu.device, &gpu.queue, model).unwrap()).collect();
    let source = subject.source();
    for clip in 0..bakes[0].1.meta.clips.len() {
        let compared: Vec<Vec<u32>> = bakes.iter().map(|bake| compared_frames(bake, clip)).collect();
        let mut frames = compared.concat();
        frames.sort_unstable();
        frames.dedup();
        let index = bakes[0].0.trace().plan.model.clips[clip].index;
        let source = subject.pose(&source, index, PosePath::Source, PoseTimes::Frames(frames.clone()));
        for ((bake, capture), compared) in bakes.iter().zip(&captures).zip(compared) {
            let at = |frame: u32| frames.binary_search(&frame).expect("each compared frame is evaluated");
            let times: Vec<f64> = compared.iter().map(|&frame| source.times[at(frame)]).collect();
            let expected: Vec<_> = compared.iter().map(|&frame| source.frames[at(frame)].clone()).collect();
            check_clip(subject, bake, capture, clip, &times, &expected);
        }
    }
}

/// Returns some frames of a clip, and that with the greatest reported error.
fn compared_frames((baked, model): &(BakedModel, Model), clip: usize) -> Vec<u32> {
    let grid = baked.trace().plan.grids[clip];
    let printed = model.meta.clips[clip].encoding_error;
    let mut frames = some(grid.frames());
    frames.extend((0..grid.frames()).find(|&f| (grid.time(f) - f64::from(printed.time)).abs() < 1e-5));
    frames
}

/// Compares the reported error of a clip with its distance from the source.
fn check_clip(
    subject: &Subject,
    (baked, model): &(BakedModel, Model),
    capture: &Capture,
    index: usize,
    times: &[f64],
    expected: &[Vec<(DVec3, DVec3)>],
) {
    let clip = &model.meta.clips[index];
    let printed = clip.encoding_error;
    let instances: Vec<_> = times.iter().map(|&t| (standing(model, index, t), Time::ZERO)).collect();
    let captured = capture.frames(&instances).unwrap();
    let vertex = |frame: &[gpuskin_rt::internals::render::CapturedVertex], i: u32| {
        let v = frame[i as usize];
        (DVec3::from(v.position.map(f64::from)), DVec3::from(v.normal.map(f64::from)))
    };
    let found: Vec<Vec<_>> = captured
        .iter()
        .map(|frame| baked.trace().baked_of_source.iter().map(|&i| vertex(frame, i)).collect())
        .collect();
    let found = Distance::between(&found, expected);

    let size = f64::from(clip.bounds.diagonal());
    let near = |printed: f64, found: f64, slack: f64| printed >= found * 0.9 - slack && printed <= found * 1.1 + slack;
    assert!(
        near(f64::from(printed.max), found.position, ROUNDING * size),
        "{} {} {}, size {size}: reported {printed:?}, found {found:?}",
        subject.name,
        clip.source,
        model.meta.encoding.name()
    );
    // The reported angle is the greatest of all frames; only some frames are compared here.
    let (degrees, printed) = (found.degrees, f64::from(printed.normal_degrees));
    assert!(
        degrees <= printed * 1.1 + SOURCE_DEGREES,
        "{} {}: found {degrees} degrees, reported {printed}",
        subject.name,
        clip.source
    );
}

fn reported_errors_match_the_gpu() {
    let gpu = gpu::open_compute(Backends::all()).expect("a device, which the test needs");
    check_errors_of(&gpu, &all(), |encoding| !encoding.is_vertex());
}

fn reported_vertex_errors_match_the_gpu() {
    let gpu = gpu::open(Backends::all()).expect("a device, which the test needs");
    check_errors_of(&gpu, &all_with(VERTEX_KEYS), Encoding::is_vertex);
}

/// Checks the errors of models in all encodings that are not exact and that `is_checked` accepts.
fn check_errors_of(gpu: &Gpu, subjects: &[Subject], is_checked: fn(Encoding) -> bool) {
    for subject in subjects {
        let start = Instant::now();
        let encodings = Encoding::ALL.into_iter().filter(|encoding| !encoding.is_exact() && is_checked(*encoding));
        check_errors(gpu, subject, encodings);
        note!("{}: {:.1} s", subject.name, start.elapsed().as_secs_f64());
    }
}

fn morph_targets_that_are_left_out_are_reported() {
    let mut count = 0;
    for subject in all_with("morphs = false\n").iter().filter(|s| s.name.starts_with("AnimatedMorphCube__")) {
        let baked = bake(&subject.manifest, &BakeOptions::default());
        let baked = baked.unwrap_or_else(|failed| panic!("{}: {}", subject.name, failed.diagnostics));
        assert!(baked.warnings.to_string().contains("morph"), "{}: {}", subject.name, baked.warnings);
        count += 1;
    }
    assert!(count > 0, "no model has morph targets");
}
