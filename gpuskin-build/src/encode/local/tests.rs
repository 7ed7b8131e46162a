use std::path::PathBuf;

use gpuskin_rt::internals::FramePair;
use gpuskin_rt::internals::Time;
use gpuskin_rt::internals::local::LocalTracks;
use gpuskin_rt::internals::playback::frame_pair;

use super::*;
use crate::bake::{BakeOptions, plan};
use crate::frames::Hold;
use crate::manifest::Manifest;
use crate::measure::playback_at;
use crate::model::{Interpolation, Property};
use crate::pose_extent::rest_diagonal;
use crate::sample::Sampler;

/// Returns the folder of shared models; panics if it is missing.
fn shared_models() -> PathBuf {
    let beside = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("GPUSKIN_SHARED").map_or_else(beside, PathBuf::from).join("models");
    assert!(folder.is_dir(), "no models at {}; set GPUSKIN_SHARED to the shared folder", folder.display());
    folder
}

fn records(grids: &[FrameGrid]) -> Vec<ClipRecord> {
    let mut first_frame = 0;
    let record = |grid: &FrameGrid| {
        let record = ClipRecord { first_frame, intervals: grid.intervals, stored: grid.stored, held: grid.held_bits() };
        first_frame += grid.stored;
        record
    };
    grids.iter().map(record).collect()
}

struct Errors {
    encoding: f64,
    beyond: f64,
    motion: f64,
}

/// Returns errors over all vertices with all their influences: maximum at frames, fraction above
/// `limit` at frames, and maximum at frames and between them.
fn errors(model: &Model, grids: &[FrameGrid], words: &[u8], limit: f64) -> Errors {
    let tracks = LocalTracks::new(words).expect("valid words");
    let (mut encoding, mut motion, mut beyond, mut count) = (0.0_f64, 0.0_f64, 0_u64, 0_u64);
    for (c, grid) in grids.iter().enumerate() {
        let sampler = Sampler::in_place(model, &model.clips[c], grid);
        let samples: Vec<u32> = (0..=grid.intervals * 4).filter(|i| grid.duration > 0.0 || *i == 0).collect();
        let found: Vec<(bool, f64, u64, u64)> = samples
            .into_par_iter()
            .map(|i| {
                let seconds = grid.duration * f64::from(i) / f64::from(grid.intervals * 4);
                let frames = frame_pair(&playback_at(grid, seconds), &tracks.record(c), Time::ZERO);
                let (source, drawn) = (sampler.skin_matrices(seconds), tracks.pose(frames));
                let (mut worst, mut beyond, mut count) = (0.0_f64, 0, 0);
                for primitive in &model.primitives {
                    for (v, p) in primitive.positions.iter().enumerate() {
                        let mut d = [0.0; 3];
                        for &(b, w) in primitive.influences.of(v) {
                            for r in 0..3 {
                                let (s, t) = (source[b as usize][r], drawn[b as usize].rows[r].to_array());
                                let at = [p.x, p.y, p.z, 1.0];
                                d[r] += w * (0..4).map(|k| (s[k] - f64::from(t[k])) * at[k]).sum::<f64>();
                            }
                        }
                        let d = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
                        worst = worst.max(d);
                        beyond += u64::from(d > limit);
                        count += 1;
                    }
                }
                (i % 4 == 0, worst, beyond, count)
            })
            .collect();
        for (frame, worst, over, of) in found {
            motion = motion.max(worst);
            if frame {
                encoding = encoding.max(worst);
                beyond += over;
                count += of;
            }
        }
    }
    Errors { encoding, beyond: beyond as f64 / count as f64, motion }
}

#[test]
#[ignore = "needs the shared models; run by `cargo xtask test --only shared-models`"]
fn shared_characters_are_small_and_within_the_tolerance() {
    let models = shared_models();
    let folder = tempfile::tempdir().unwrap();
    let (mut bytes, mut samples) = (0, 0);
    for path in [
        "KnightCharacter/KnightCharacter.glb",
        "Knight/Knight.glb",
        "RobotExpressive/RobotExpressive.glb",
        "Fox/Fox.glb",
        "CesiumMan/CesiumMan.glb",
        "RiggedFigure/RiggedFigure.glb",
        "SynthHeavy/SynthHeavy.glb",
    ] {
        let manifest = folder.path().join("gpuskin.toml");
        let text = format!("[[model]]\nname = \"m\"\npath = {:?}\nencoding = \"trs-packed\"\n", models.join(path));
        std::fs::write(&manifest, text).unwrap();
        let plan =
            plan(&Manifest::load(&manifest).unwrap(), &BakeOptions::default()).unwrap().0.remove(0).trace.unwrap().plan;
        let diagonal = rest_diagonal(&plan.model);
        let tolerance = 5e-5 * diagonal;
        let started = std::time::Instant::now();
        let words = encode(&plan.model, &plan.grids, &plan.records, tolerance).unwrap();
        let took = started.elapsed();
        let frames: u32 = plan.grids.iter().map(|g| g.stored).sum();
        let of_model = frames as usize * plan.model.bones.len();
        let found = errors(&plan.model, &plan.grids, &words, tolerance);
        println!(
            "{path}: {} bones, {frames} frames, {:.2} bytes per bone per frame ({:.3} of matrix-f16), encoding {:.2e}, motion {:.2e} of the diagonal, {:.1?}",
            plan.model.bones.len(),
            words.len() as f64 / of_model as f64,
            words.len() as f64 / of_model as f64 / 24.0,
            found.encoding / diagonal,
            found.motion / diagonal,
            took,
        );
        assert!(found.encoding <= tolerance && found.beyond == 0.0, "{path}: {:.2e}", found.encoding / diagonal);
        bytes += words.len();
        samples += of_model;
    }
    let average = bytes as f64 / samples as f64;
    println!("{average:.2} bytes per bone per frame");
    assert!(average <= 8.0);
}

#[test]
fn awkward_hierarchies_decode_within_the_tolerance() {
    let model = skeleton::awkward();
    let grids = [FrameGrid::new(2.0, 10.0, false), FrameGrid::new(2.0, 3.0, false)];
    for tolerance in [0.3, 1e-2, 1e-4, 2e-6] {
        let words = encode(&model, &grids, &records(&grids), tolerance).unwrap();
        let found = errors(&model, &grids, &words, tolerance);
        assert!(found.encoding <= tolerance * 1.01 + 2e-6, "{tolerance}: {}", found.encoding);
    }
}

#[test]
fn step_tracks_are_held_between_frames() {
    let mut model = skeleton::awkward();
    let curves = model.clips.iter_mut().flat_map(|clip| &mut clip.channels).map(|channel| &mut channel.curve);
    for curve in curves.step_by(2) {
        // At frames of both grids, rounded as files round them.
        curve.times = (0..curve.times.len()).map(|key| f64::from(key as f32 / 3.0)).collect();
        curve.interpolation = Interpolation::Step;
    }
    let mut grids = [FrameGrid::new(2.0, 30.0, false), FrameGrid::new(2.0, 3.0, false)];
    let tolerance = 1e-4;
    let motion = |model: &Model, grids: &[FrameGrid]| {
        let words = encode(model, grids, &records(grids), tolerance).unwrap();
        errors(model, grids, &words, tolerance).motion
    };
    let mixed = motion(&model, &grids);
    // Between frames, children follow the rounding errors of their parents of both frames.
    assert!(mixed <= tolerance * 2.0, "{mixed}");
    // The test has something to see.
    let jumps = motion(&model, &[FrameGrid::new(2.0, 30.0, false), FrameGrid::new(2.0, 2.0, false)]);
    assert!(jumps > 0.05, "{jumps}");

    // Where all tracks are STEP, the clip is held in every encoding.
    model.clips.iter_mut().for_each(|clip| clip.channels.retain(|c| c.curve.interpolation == Interpolation::Step));
    for (grid, clip) in grids.iter_mut().zip(&model.clips) {
        *grid = grid.holding(Hold::longest(clip, false));
        assert!(grid.stepped);
    }
    let all = motion(&model, &grids);
    assert!(all <= tolerance * 1.01 + 2e-6, "{all}");
}

#[test]
fn extreme_numbers_do_not_panic() {
    let mut model = skeleton::awkward();
    let grids = [FrameGrid::new(2.0, 10.0, false), FrameGrid::new(2.0, 3.0, false)];
    for tolerance in [0.0, f64::MIN_POSITIVE, 1e300, f64::INFINITY, f64::NAN] {
        let words = encode(&model, &grids, &records(&grids), tolerance).unwrap();
        assert!(LocalTracks::new(&words).is_some(), "{tolerance}");
    }
    for factor in [1e-200, 1e200, 1e-30, 1e37] {
        for channel in model.clips.iter_mut().flat_map(|c| &mut c.channels).filter(|c| c.property != Property::Rotation)
        {
            channel.curve.values.iter_mut().for_each(|v| *v *= factor);
        }
        let words = encode(&model, &grids, &records(&grids), 1e-3).unwrap();
        assert!(LocalTracks::new(&words).is_some(), "{factor}");
    }
}

#[test]
fn bytes_do_not_depend_on_the_number_of_threads() {
    let model = skeleton::awkward();
    let grids = [FrameGrid::new(2.0, 10.0, false), FrameGrid::new(2.0, 3.0, false)];
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| encode(&model, &grids, &records(&grids), 1e-4).unwrap())
    };
    assert!(with(1) == with(3));
}

#[test]
fn truncated_and_changed_words_are_rejected_or_harmless() {
    let model = skeleton::awkward();
    let grids = [FrameGrid::new(2.0, 4.0, false), FrameGrid::new(2.0, 3.0, true)];
    let words = encode(&model, &grids, &records(&grids), 1e-3).unwrap();
    assert!(LocalTracks::new(&words).is_some());
    for end in 0..words.len() {
        assert!(LocalTracks::new(&words[..end]).is_none(), "{end}");
    }
    let mut accepted = 0;
    for at in (0..words.len()).step_by(4) {
        let word = u32::from_le_bytes(words[at..at + 4].try_into().unwrap());
        for change in [0, 1, 5, u32::MAX, word ^ 0x0100_0400, word.wrapping_add(1)] {
            let mut changed = words.clone();
            changed[at..at + 4].copy_from_slice(&change.to_le_bytes());
            if let Some(tracks) = LocalTracks::new(&changed) {
                for clip in 0..tracks.clip_count() {
                    let ClipRecord { first_frame: first, stored, .. } = tracks.record(clip);
                    tracks.pose(FramePair { a: first, b: first + stored - 1, t: 0.5, first });
                }
                accepted += 1;
            }
        }
    }
    assert!(accepted > 0);
}
