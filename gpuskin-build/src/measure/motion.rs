//! Test whether a clip's motion errors are within limits, without evaluating every vertex.

use rayon::prelude::*;

use super::bone_matrices::BoneMatrices;
use super::bounds::ErrorBounds;
use super::clip::{ClipWork, errors_squared};
use super::mesh::{MeasuredMesh, PointGroup};
use super::normal_bounds::NormalBounds;
use super::normals::WidestAngle;
use super::{DrawnModel, MeasuredTimes};
use crate::frames::FrameGrid;
use crate::model::Model;
use crate::vector_math::Lanes;
use gpuskin_rt::internals::ClipRecord;

/// Clips to test, and the limits.
#[derive(Clone, Copy, Debug)]
pub struct MotionQuery<'a> {
    /// Indices of clips.
    pub clips: &'a [usize],
    /// Limit of the motion error, in metres.
    pub limit: f64,
    /// Limit of the angle between normals between frames, in degrees.
    pub normal: f64,
}

/// For each clip, whether its motion errors as defined by [`super::measure`] are within the limits.
/// Skips sample times and vertices whose upper bounds are within the limit. `mesh`: that of `drawn`.
pub fn motion_within(
    model: &Model,
    mesh: &MeasuredMesh,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &DrawnModel<'_>,
    search: MotionQuery<'_>,
) -> Vec<bool> {
    let clip = |i: usize| ClipWork::new(model, i, grids[i], records[i], mesh, drawn, MeasuredTimes::All);
    search.clips.par_iter().map(|&i| clip(i).within(search)).collect()
}

impl ClipWork<'_> {
    /// Whether the motion errors of the clip are within the limits.
    fn within(&self, search: MotionQuery<'_>) -> bool {
        let limit = search.limit as f32;
        let squared = limit * limit;
        let at = |bones: &[BoneMatrices], counts: &dyn Fn(usize) -> bool| {
            let bounds = ErrorBounds::new(self.mesh, bones);
            let fits = |group: &PointGroup| {
                group.fours().all(|(points, fours)| {
                    let mut off = Lanes::default();
                    errors_squared(fours, &group.bones, bones, &mut off);
                    points.iter().zip(off).all(|(point, off)| off <= squared || !counts(point.vertex as usize))
                })
            };
            let groups = &self.mesh.groups;
            let still = groups.iter().all(|group| group.morph_bound(bones).is_none());
            let within = |group: &PointGroup| bounds.of(group, bones) < limit || fits(&group.posed(bones));
            still && bounds.of_all(self.mesh) < limit || groups.iter().all(within)
        };
        let chord_squared = squared_chord(search.normal);
        let still: Vec<bool> = self.mesh.groups.iter().map(|group| !self.jumps(group)).collect();
        let normals = |bones: &[BoneMatrices]| {
            let bounds = NormalBounds::new(self.mesh, bones, self.drawn.normals);
            self.mesh.groups.iter().zip(&still).filter(|(_, still)| **still).all(|(group, _)| {
                let mut widest = WidestAngle::new(chord_squared);
                if self.may_turn(group, bones, &bounds, &widest) {
                    self.look_at_normals(&group.posed(bones), bones, &bounds, &mut widest);
                }
                widest.chord_squared <= chord_squared
            })
        };
        // Vertices moved by STEP tracks jump between frames, and are excluded there. Normals at frames are not a
        // matter of motion.
        self.sample_times.frames.iter().all(|sample| at(&self.bones(sample), &|_| true))
            && self.sample_times.between.iter().all(|sample| {
                let bones = self.bones(sample);
                at(&bones, &|v| !self.stepped.moves(v)) && normals(&bones)
            })
    }
}

/// Returns the squared distance between the tips of two unit vectors at an angle, in degrees.
fn squared_chord(degrees: f64) -> f32 {
    let chord = 2.0 * libm::sin(degrees.clamp(0.0, 180.0).to_radians() / 2.0);
    (chord * chord) as f32
}
