//! Test whether a clip's motion error is within a limit, without evaluating every vertex.

use rayon::prelude::*;

use super::bounds::ErrorBounds;
use super::clip::{ClipWork, errors_squared};
use super::mesh::{MeasuredMesh, PointGroup};
use super::{DrawnModel, MeasuredTimes};
use crate::frames::FrameGrid;
use crate::model::Model;
use crate::vector_math::Lanes;
use gpuskin_rt::internals::ClipRecord;

/// Clips to test, and the limit.
#[derive(Clone, Copy, Debug)]
pub struct MotionQuery<'a> {
    /// Indices of clips.
    pub clips: &'a [usize],
    /// Limit of the motion error, in metres.
    pub limit: f64,
}

/// For each clip, whether its motion error as defined by [`super::measure`] is within the limit.
/// Skips sample times and vertices whose upper bounds are within the limit.
pub fn motion_within(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &DrawnModel<'_>,
    search: MotionQuery<'_>,
) -> Vec<bool> {
    let mesh = MeasuredMesh::new(model, drawn);
    let clip = |i: usize| ClipWork::new(model, i, grids[i], records[i], &mesh, drawn, MeasuredTimes::All);
    search.clips.par_iter().map(|&i| clip(i).within(search.limit as f32)).collect()
}

impl ClipWork<'_> {
    /// Whether the motion error of the clip is within `limit`, in metres.
    fn within(&self, limit: f32) -> bool {
        let squared = limit * limit;
        let at = |sample, counts: &dyn Fn(usize) -> bool| {
            let bones = self.bones(sample);
            let bounds = ErrorBounds::new(self.mesh, &bones);
            let fits = |group: &PointGroup| {
                group.fours().all(|(points, fours)| {
                    let mut off = Lanes::default();
                    errors_squared(fours, &group.bones, &bones, &mut off);
                    points.iter().zip(off).all(|(point, off)| off <= squared || !counts(point.vertex as usize))
                })
            };
            bounds.of_all(self.mesh) < limit || self.mesh.groups.iter().all(|g| bounds.of(g) < limit || fits(g))
        };
        // Vertices moved by STEP tracks jump between frames, and are excluded there.
        self.sample_times.frames.iter().all(|sample| at(sample, &|_| true))
            && self.sample_times.between.iter().all(|sample| at(sample, &|v| !self.stepped.moves(v)))
    }
}
