//! The ground truth: what an independent program makes of the shared models, against what is baked and drawn.

use std::path::{Path, PathBuf};
use std::time::Instant;

use glam::DVec3;
use gpuskin_build::{BakeOptions, BakedModel, Manifest, bake};
use gpuskin_build::internals::pose::{PosePath, PoseRequest, PoseTimes, EvaluatedPoses, pose};
use gpuskin_rt::render::Capture;
use gpuskin_rt::wgpu::Backends;
use gpuskin_rt::{Clip, Dynamic, Encoding, Instance, InstanceRecord, Model, Time};
use gpuskin_tests::frames::{Distance, Frames};
use gpuskin_tests::gpu::{self, Gpu};
use gpuskin_tests::shared::{entries, name, shared};

/// Of the size, against the reference's `f32`: its rounding is 6e-8.
const SOURCE_TOLERANCE: f64 = 1e-6;
const SOURCE_DEGREES: f64 = 0.05;
/// Of the size, for `f32` matrices at the baked frames' times.
const EXACT_TOLERANCE: f64 = 1e-5;
const EXACT_DEGREES: f64 = 0.5;
/// Of the size, between the printed error and the error found, beside a tenth of it: `f32` on the way to the screen.
const ROUNDING: f64 = 2e-7;
/// Frames of a clip that are looked at, spread over it.
const FRAMES: u32 = 4;

/// Models of the shared set that bone mode bakes without a feature, by the starts of their names, and what the warning
/// names.
const ASIDE: [(&str, &str); 1] = [("AnimatedMorphCube__", "morph")];

/// A model of the shared set.
struct Subject {
    /// As its folder of results is called.
    name: String,
    manifest: Manifest,
    /// Index of each clip with results, and their folder.
    clips: Vec<(usize, PathBuf)>,
    /// Keys of the manifest's model: which frames there are follows from its mode.
    keys: String,
}

impl Subject {
    /// `keys`: more of the manifest's model.
    fn new(shared: &Path, results: &Path, keys: &str) -> Self {
        let name = name(results).to_owned();
        let path = shared.join("models").join(name.replace("__", "/"));
        let text = format!("[[model]]\nname = \"model\"\npath = {:?}\n{keys}", path.to_str().expect("UTF-8"));
        let manifest = Manifest::parse(&shared.join("gpuskin.toml"), text).unwrap_or_else(|e| panic!("{e}"));
        let index = |folder: &PathBuf| gpuskin_tests::shared::name(folder).parse().expect("the index of a clip");
        let mut clips: Vec<(usize, PathBuf)> = entries(results).into_iter().map(|f| (index(&f), f)).collect();
        clips.sort();
        Self { name, manifest, clips, keys: keys.to_owned() }
    }

    fn pose(&self, clip: usize, path: PosePath, times: PoseTimes, encoding: Encoding) -> EvaluatedPoses {
        let clip = clip.to_string();
        let request = PoseRequest { model: "model".into(), clip, times, path, encoding: Some(encoding) };
        pose(&self.manifest, &request).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    fn source(&self, clip: usize, times: PoseTimes) -> EvaluatedPoses {
        let exact = if self.keys.contains("vertex") { Encoding::VatF32 } else { Encoding::MatrixF32 };
        self.pose(clip, PosePath::Source, times, exact)
    }

    fn bake(&self, encoding: Encoding) -> (BakedModel, Model) {
        let options = BakeOptions { encoding: Some(encoding), ..Default::default() };
        let mut baked = bake(&self.manifest, &options).unwrap_or_else(|e| panic!("{}: {}", self.name, e.diagnostics));
        let model = baked.runtime_models().remove(0);
        (baked.models.remove(0), model)
    }
}

/// All models with results; `None` without the shared folder.
fn all() -> Option<Vec<Subject>> {
    all_with("")
}

fn all_with(keys: &str) -> Option<Vec<Subject>> {
    let shared = shared()?;
    let subjects: Vec<Subject> =
        entries(&shared.join("truth/expected")).iter().map(|results| Subject::new(&shared, results, keys)).collect();
    assert!(subjects.len() >= 24, "only {} models", subjects.len());
    Some(subjects)
}

/// Those that bones show. The others are named.
fn subjects() -> Option<Vec<Subject>> {
    let mut subjects = all()?;
    subjects.retain(|subject| {
        let aside = ASIDE.iter().find(|(start, _)| subject.name.starts_with(start));
        if let Some((_, reason)) = aside {
            println!("left out: {}: {reason}", subject.name);
        }
        aside.is_none()
    });
    Some(subjects)
}

#[test]
fn the_importer_agrees_with_the_reference_at_any_time() {
    let Some(subjects) = all() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut clips, mut worst, mut degrees) = (0, 0.0_f64, 0.0_f64);
    for subject in subjects {
        for (clip, results) in &subject.clips {
            let expected = Frames::read(results);
            subject.source(*clip, PoseTimes::Seconds(expected.times.clone())).write(folder.path()).unwrap();
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
    println!("{clips} clips: positions within {worst:.1e} of the size, normals within {degrees:.1e} degrees");
    assert!(clips >= 46, "only {clips} clips");
}

/// Numbers of a few frames of a clip, its ends among them.
fn some(stored: u32) -> Vec<u32> {
    let mut frames: Vec<u32> = (0..FRAMES).map(|i| i * (stored - 1) / (FRAMES - 1)).collect();
    frames.dedup();
    frames
}

#[test]
fn exact_matrices_are_drawn_as_the_source_at_frames() {
    let Some(subjects) = subjects() else { return };
    check_exact(Encoding::MatrixF32, subjects);
}

/// Frames a second at which vertices are baked here: what is compared does not depend on it, and they are many.
const VERTEX_KEYS: &str = "mode = \"vertex\"\nfps = 8\n";

#[test]
fn exact_vertices_are_drawn_as_the_source_at_frames() {
    let Some(subjects) = all_with(VERTEX_KEYS) else { return };
    check_exact(Encoding::VatF32, subjects);
}

fn check_exact(encoding: Encoding, subjects: Vec<Subject>) {
    let on_gpu = gpu::open(Backends::all()).is_some();
    for subject in subjects {
        for (clip, results) in &subject.clips {
            let all = subject.source(*clip, PoseTimes::AllFrames);
            let frames = some(all.times.len() as u32);
            let size = Frames::read(results).size;
            let expected: Vec<_> = frames.iter().map(|&f| all.frames[f as usize].clone()).collect();
            for path in [PosePath::Cpu, PosePath::Gpu] {
                if path == PosePath::Gpu && !on_gpu {
                    continue;
                }
                let found = subject.pose(*clip, path, PoseTimes::Frames(frames.clone()), encoding);
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
}

/// An instance at the origin that stands still at a time of a clip.
fn standing(model: &Model, clip: usize, seconds: f64) -> InstanceRecord {
    let clip = Clip::new(clip as u16);
    Instance::<Dynamic>::at([0.0; 3]).play(clip).once().speed(0.0).seek(seconds).record(&model.meta, Time::ZERO)
}

/// Printed over found, for every clip of a model. The printed worst moment is among the frames that are looked at.
fn check_errors(gpu: &Gpu, subject: &Subject, encoding: Encoding) {
    let (baked, model) = subject.bake(encoding);
    let capture = Capture::new(&gpu.device, &gpu.queue, &model).unwrap();
    for (index, clip) in model.meta.clips.iter().enumerate() {
        let grid = baked.trace().plan.grids[index];
        let printed = clip.encoding_error;
        let mut frames = some(grid.frames());
        frames.extend((0..grid.frames()).find(|&f| (grid.time(f) - f64::from(printed.time)).abs() < 1e-5));
        let source = subject.source(baked.trace().plan.model.clips[index].index, PoseTimes::Frames(frames));
        let instances: Vec<_> = source.times.iter().map(|&t| (standing(&model, index, t), Time::ZERO)).collect();
        let captured = capture.frames(&instances).unwrap();
        let vertex = |frame: &[gpuskin_rt::render::CapturedVertex], i: u32| {
            let v = frame[i as usize];
            (DVec3::from(v.position.map(f64::from)), DVec3::from(v.normal.map(f64::from)))
        };
        let found: Vec<Vec<_>> = captured
            .iter()
            .map(|frame| baked.trace().baked_of_source.iter().map(|&i| vertex(frame, i)).collect())
            .collect();
        let found = Distance::between(&found, &source.frames);

        let size = f64::from(clip.bounds.diagonal());
        let near =
            |printed: f64, found: f64, slack: f64| printed >= found * 0.9 - slack && printed <= found * 1.1 + slack;
        assert!(
            near(f64::from(printed.max), found.position, ROUNDING * size),
            "{} {} {}, size {size}: printed {printed:?}, found {found:?}",
            subject.name,
            clip.source,
            encoding.name()
        );
        // Of all frames, and these are some.
        let (degrees, printed) = (found.degrees, f64::from(printed.normal_degrees));
        assert!(
            degrees <= printed * 1.1 + SOURCE_DEGREES,
            "{} {}: {degrees}, printed {printed}",
            subject.name,
            clip.source
        );
    }
}

#[test]
fn printed_errors_are_those_on_the_gpu() {
    let Some(subjects) = subjects() else { return };
    let Some(gpu) = gpu::open_compute(Backends::all()) else { return };
    for subject in subjects {
        let start = Instant::now();
        for encoding in Encoding::ALL.into_iter().filter(|e| !e.is_exact() && !e.is_vertex()) {
            check_errors(&gpu, &subject, encoding);
        }
        println!("{}: {:.1} s", subject.name, start.elapsed().as_secs_f64());
    }
}

#[test]
fn printed_errors_of_vertices_are_those_on_the_gpu() {
    let Some(subjects) = all_with(VERTEX_KEYS) else { return };
    let Some(gpu) = gpu::open(Backends::all()) else { return };
    for subject in subjects {
        let start = Instant::now();
        for encoding in Encoding::ALL.into_iter().filter(|e| !e.is_exact() && e.is_vertex()) {
            check_errors(&gpu, &subject, encoding);
        }
        println!("{}: {:.1} s", subject.name, start.elapsed().as_secs_f64());
    }
}

#[test]
fn what_stands_aside_says_why() {
    let Some(subjects) = all() else { return };
    for (start, reason) in &ASIDE {
        let mut count = 0;
        for subject in subjects.iter().filter(|s| s.name.starts_with(start)) {
            let baked = bake(&subject.manifest, &BakeOptions::default());
            let baked = baked.unwrap_or_else(|failed| panic!("{}: {}", subject.name, failed.diagnostics));
            assert!(baked.warnings.to_string().contains(reason), "{}: {}", subject.name, baked.warnings);
            count += 1;
        }
        assert!(count > 0, "{start} has gone: remove it from the list");
    }
}
