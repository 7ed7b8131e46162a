//! Encoding `local-packed`: local tracks in as few bits as a tolerance allows, and the hierarchy
//! that composes them. `gpuskin_rt::local`, the CPU reference of the palette pass, decodes them.
//!
//! ```text
//! Model --skeleton--> joints --code, budget--> tracks within the tolerance --write--> words
//! ```

mod affine;
mod budget;
mod clip;
mod samples;
mod skeleton;
mod track;
mod write;

use gpuskin_rt::internals::ClipRecord;
use gpuskin_rt::internals::local::layout::MAX_NODES;
use rayon::prelude::*;

use crate::displacement::Displacement;
use crate::frames::FrameGrid;
use crate::model::{Model, Trs};
use clip::{LocalClip, RestTransform};
use samples::Samples;
use skeleton::{ClipCurves, Skeleton};

/// Reason why a model cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// The skeleton needs this number of nodes, which is above the limit.
    Nodes(usize),
    /// The tracks take more than 256 MiB.
    Words,
}

/// Fraction of the tolerance available to the animation. The rest covers the rounding of vertices,
/// and vertices that are not sampled.
const SHARE: f64 = 0.8;

/// Encodes all clips into little-endian words. `tolerance` is the maximum error of any drawn vertex
/// at any frame, in metres.
pub fn encode(model: &Model, grids: &[FrameGrid], records: &[ClipRecord], tolerance: f64) -> Result<Vec<u8>, TooLarge> {
    let tolerance = (tolerance * SHARE).max(f64::MIN_POSITIVE);
    let skeleton = Skeleton::new(model);
    if skeleton.joints.len() > MAX_NODES as usize {
        return Err(TooLarge::Nodes(skeleton.joints.len()));
    }
    let sources: Vec<LocalClip> =
        (0..grids.len()).into_par_iter().map(|i| source(model, &skeleton, i, &grids[i])).collect();
    let rests = rests(&skeleton, &sources);
    let samples = Samples::new(model);
    let clips: Vec<clip::EncodedClip> =
        sources.par_iter().map(|s| budget::fit(&skeleton, &rests, &samples, s, tolerance)).collect();
    let words = write::words(model, &skeleton, &rests, records, &clips).ok_or(TooLarge::Words)?;
    Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
}

/// Samples a clip at its frames.
fn source(model: &Model, skeleton: &Skeleton, clip: usize, grid: &FrameGrid) -> LocalClip {
    let curves = ClipCurves::new(model, &model.clips[clip], grid);
    let displacement = Displacement::new(model, &model.clips[clip], grid);
    let joints = skeleton.joints.len();
    let (mut locals, mut globals) = (vec![Vec::new(); joints], vec![Vec::new(); joints]);
    for time in (0..grid.stored).map(|row| grid.time_of(row)) {
        let root = displacement.as_ref().map(|displacement| displacement.undone(time));
        let pose = skeleton.pose(model, &curves, root.as_ref(), time);
        for (j, global) in skeleton.globals(pose.iter().copied()).into_iter().enumerate() {
            globals[j].push(global);
        }
        pose.into_iter().enumerate().for_each(|(j, local)| locals[j].push(local));
    }
    let held = skeleton.held(model, &curves, displacement.is_some());
    LocalClip { locals, globals, held }
}

/// Returns the rest transform of each joint: the most frequent one among its rest pose and the
/// values that clips hold constant, so that a value common to all clips is stored once.
fn rests(skeleton: &Skeleton, sources: &[LocalClip]) -> Vec<RestTransform> {
    let held = |values: &[Trs]| -> (bool, bool, bool) {
        let first = &values[0];
        (
            values.iter().all(|v| v.rotation.dot(first.rotation).abs() > 1.0 - 1e-13),
            values.iter().all(|v| v.translation.abs_diff_eq(first.translation, 1e-9)),
            values.iter().all(|v| v.scale.abs_diff_eq(first.scale, 1e-9)),
        )
    };
    let joint = |j: usize| {
        let own = RestTransform::of(&skeleton.joints[j].rest);
        let (mut rotations, mut translations, mut scales) =
            (ValueCounts(vec![]), ValueCounts(vec![]), ValueCounts(vec![]));
        for locals in sources.iter().map(|s| &s.locals[j]) {
            let value = RestTransform::of(&locals[0]);
            let (rotation, translation, scale) = held(locals);
            if rotation {
                rotations.add(value.rotation);
            }
            if translation {
                translations.add(value.translation);
            }
            if scale {
                scales.add(value.scale);
            }
        }
        RestTransform {
            rotation: rotations.winner(own.rotation),
            translation: translations.winner(own.translation),
            scale: scales.winner(own.scale),
        }
    };
    (0..skeleton.joints.len()).map(joint).collect()
}

/// Counts how often each value was added, in the order of first addition.
struct ValueCounts<T>(Vec<(T, usize)>);

impl<T: PartialEq + Copy> ValueCounts<T> {
    fn add(&mut self, value: T) {
        match self.0.iter_mut().find(|(v, _)| *v == value) {
            Some((_, count)) => *count += 1,
            None => self.0.push((value, 1)),
        }
    }

    fn winner(self, otherwise: T) -> T {
        let mut best = (otherwise, 0);
        for (value, count) in self.0 {
            if count > best.1 {
                best = (value, count);
            }
        }
        best.0
    }
}

#[cfg(test)]
mod tests;
