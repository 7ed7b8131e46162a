//! Sampling and encoding on one core, in bone-samples per second, compared with a plain loop over
//! the `gltf` crate's readers.
//!
//! A bone-sample is one bone at one stored frame. Both samplers start from data in memory: our
//! model, and curves that the `gltf` crate has read. `ozz-animation-rs` is not compared: it needs a
//! nightly compiler, and reads archives that only the tools of the original make.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gpuskin_build::BakeOptions;
use gpuskin_build::Manifest;
use gpuskin_build::internals::bake::{UnencodedModel, unencoded_models};
use gpuskin_build::internals::sample::{Sampler, rows};
use gpuskin_rt::internals::Encoding;

use crate::Options;
use crate::bake::find_models;
use crate::context::text;
use crate::peer::Peer;
use crate::report::{heading, line, median, seconds};

/// Fewest bones of a character; models of the folder with fewer bones are left out.
const MIN_BONES: usize = 16;
/// Time for the samplers or the encodings of one model: they run once, and then again until the
/// time is over.
const TIME: Duration = Duration::from_millis(1000);
const MAX_ROUNDS: usize = 201;
/// Greatest difference between the matrices of both samplers, relative to their greatest element.
/// The `gltf` crate's sampler computes in `f32`, and its `slerp` is linear for small angles.
const AGREEMENT: f64 = 1e-4;

pub(crate) fn measure(options: &Options) -> Result<(), String> {
    heading("encode: bone-samples per second on one core");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|e| e.to_string())?;
    pool.install(|| {
        let manifest = Manifest::load(&options.manifest).map_err(|findings| text(&findings))?;
        of_manifest(&manifest, 0)?;
        let Some(folder) = &options.models else { return Ok(()) };
        let mut files: Vec<PathBuf> = Vec::new();
        find_models(folder, &mut files).map_err(|e| format!("{}: {e}", folder.display()))?;
        files.sort();
        for file in files {
            let name =
                file.file_stem().unwrap_or_default().to_string_lossy().replace(|c: char| !c.is_alphanumeric(), "_");
            let model = format!("[[model]]\nname = \"{}\"\npath = '{}'\n", name.to_lowercase(), file.display());
            let manifest = Manifest::parse(&folder.join("gpuskin.toml"), model).map_err(|findings| text(&findings))?;
            of_manifest(&manifest, MIN_BONES)?;
        }
        Ok(())
    })
}

fn of_manifest(manifest: &Manifest, least_bones: usize) -> Result<(), String> {
    let all = |encoding| unencoded_models(manifest, &BakeOptions::default(), encoding);
    let mut of_encodings = Vec::new();
    // Bone encodings only.
    for encoding in Encoding::ALL.into_iter().filter(|encoding| !encoding.is_vertex()) {
        match all(encoding) {
            Ok(drafts) => of_encodings.push(drafts),
            // Models of the folder that cannot be baked are listed by `bake`.
            Err(_) if least_bones > 0 => return Ok(()),
            Err(failed) => return Err(text(&failed.diagnostics)),
        }
    }
    for (i, entry) in manifest.models.iter().enumerate() {
        let drafts: Vec<&UnencodedModel> = of_encodings.iter().map(|drafts| &drafts[i]).collect();
        if drafts[0].plan.model.bones.len() >= least_bones {
            sampling(drafts[0], &manifest.folder.join(&entry.path.value))?;
            encoding(&drafts);
        }
    }
    Ok(())
}

/// Number of stored frames times bones.
fn bone_samples(draft: &UnencodedModel) -> f64 {
    let frames: u32 = draft.plan.grids.iter().map(|grid| grid.stored).sum();
    f64::from(frames) * draft.plan.model.bones.len() as f64
}

/// Measures both samplers alternately.
fn sampling(draft: &UnencodedModel, path: &Path) -> Result<(), String> {
    let (model, samples) = (&draft.plan.model, bone_samples(draft));
    let (bones, clips) = (model.bones.len(), model.clips.len());
    line(&model.name, format!("{bones} bones, {clips} clips, {samples:.0} bone-samples"));
    let peer = match Peer::read(path, model) {
        Ok(_) if model.clips.iter().any(|clip| clip.file.is_some()) => Err("clips come from other files".to_owned()),
        read => read,
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    repeat(|| {
        ours.push(seconds(|| sample(draft)).0);
        if let Ok(peer) = &peer {
            theirs.push(seconds(|| sample_peer(draft, peer)).0);
        }
    });
    let rate = |times| samples / median(times) / 1e6;
    let ours = rate(ours);
    match peer {
        Ok(peer) => {
            let (theirs, (apart, greatest)) = (rate(theirs), difference(draft, &peer));
            line(
                "  sampling in f64; the gltf crate's in f32",
                format!("{ours:7.3} M/s, {theirs:7.3} M/s: {:.2} x", ours / theirs),
            );
            line("  greatest difference of a matrix element", format!("{apart:.1e}, elements up to {greatest:.1}"));
            if apart > AGREEMENT * greatest || apart.is_nan() {
                return Err(format!("{}: both samplers must make the same matrices", model.name));
            }
        }
        Err(reason) => line("  sampling in f64", format!("{ours:7.3} M/s (not compared: {reason})")),
    }
    Ok(())
}

/// Measures sampling and encoding to bytes, all encodings alternately.
fn encoding(drafts: &[&UnencodedModel]) {
    let mut times = vec![Vec::new(); drafts.len()];
    let mut bytes = vec![Ok(0); drafts.len()];
    repeat(|| {
        for ((draft, times), bytes) in drafts.iter().zip(&mut times).zip(&mut bytes) {
            let (time, made) = seconds(|| black_box(draft.encode()));
            times.push(time);
            *bytes = made.map(|bytes| bytes.len());
        }
    });
    for ((draft, times), bytes) in drafts.iter().zip(times).zip(bytes) {
        let (samples, time) = (bone_samples(draft), median(times));
        let figures = match bytes {
            Ok(bytes) => format!(
                "{:7.3} M/s {:9.1} ms {:6.2} B per bone-sample",
                samples / time / 1e6,
                time * 1e3,
                bytes as f64 / samples
            ),
            Err(finding) => finding.message().to_owned(),
        };
        line(&format!("  sampling and encoding: {}", draft.plan.encoding.name()), figures);
    }
}

fn repeat(mut round: impl FnMut()) {
    let start = Instant::now();
    for done in 0..MAX_ROUNDS {
        if done > 0 && start.elapsed() > TIME {
            break;
        }
        round();
    }
}

fn sample(draft: &UnencodedModel) {
    let plan = &draft.plan;
    for (clip, grid) in plan.model.clips.iter().zip(&plan.grids) {
        let sampler = Sampler::new(&plan.model, Some(clip));
        (0..grid.stored).for_each(|frame| drop(black_box(sampler.skin_matrices(grid.time_of(frame)))));
    }
}

fn sample_peer(draft: &UnencodedModel, peer: &Peer) {
    let plan = &draft.plan;
    for (clip, grid) in plan.model.clips.iter().zip(&plan.grids) {
        (0..grid.stored).for_each(|frame| drop(black_box(peer.skin_matrices(clip.index, grid.time_of(frame)))));
    }
}

/// Greatest difference between elements of both samplers' matrices, and the greatest element.
fn difference(draft: &UnencodedModel, peer: &Peer) -> (f64, f64) {
    let plan = &draft.plan;
    let (mut apart, mut greatest) = (0.0_f64, 0.0_f64);
    for (clip, grid) in plan.model.clips.iter().zip(&plan.grids) {
        let sampler = Sampler::new(&plan.model, Some(clip));
        for time in (0..grid.stored).map(|frame| grid.time_of(frame)) {
            let theirs = peer.skin_matrices(clip.index, time);
            for (ours, theirs) in sampler.skin_matrices(time).iter().zip(&theirs) {
                let theirs = rows(&theirs.as_dmat4());
                for (a, b) in ours.iter().flatten().zip(theirs.iter().flatten()) {
                    let d = (a - b).abs();
                    // A NaN is kept.
                    if d > apart || d.is_nan() {
                        apart = d;
                    }
                    greatest = greatest.max(a.abs());
                }
            }
        }
    }
    (apart, greatest)
}
