//! Whether a clip's motion error is within a limit, without looking at every vertex: a box around the vertices of each bone
//! bounds what the bone's own error does to them.

use glam::Vec3;
use rayon::prelude::*;

use super::bones::{Bone, ClipWork, Mesh, error_squared, transform};
use super::{Drawn, Times};
use crate::frames::FrameGrid;
use crate::model::Model;
use crate::plain::dot;
use gpuskin_rt::ClipRecord;

/// What to ask of which clips.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// Indices of clips.
    pub clips: &'a [usize],
    /// Metres.
    pub limit: f64,
    /// What vertices lose beside their bones' error, metres: the encoding error, or about.
    pub slack: f64,
}

/// For each clip, whether its motion error is within the limit. Moments at which the boxes leave no doubt are skipped, so
/// this is nearly as good as [`super::measure`], and far cheaper.
pub fn motion_within(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &Drawn<'_>,
    search: Search<'_>,
) -> Vec<bool> {
    let mesh = Mesh::new(model, drawn);
    let boxes = boxes(&mesh, model.bones.len());
    let within =
        |&i: &usize| ClipWork::new((model, i), grids[i], records[i], &mesh, drawn, Times::All).within(&boxes, &search);
    search.clips.par_iter().map(within).collect()
}

/// Corners of the boxes around the drawn vertices of each bone; none of bones without any.
fn boxes(mesh: &Mesh, bones: usize) -> Vec<Option<[Vec3; 8]>> {
    let mut boxes = vec![None; bones];
    for entry in mesh.entries.iter().filter(|entry| entry.drawn[3] > 0.0) {
        let [x, y, z, w] = entry.drawn;
        let p = Vec3::new(x, y, z) / w;
        let (least, greatest) = boxes[entry.bone as usize].get_or_insert((p, p));
        (*least, *greatest) = (least.min(p), greatest.max(p));
    }
    let corners = |(least, greatest): (Vec3, Vec3)| {
        [0, 1, 2, 3, 4, 5, 6, 7].map(|i| {
            let side = |axis: usize| if i >> axis & 1 == 0 { least[axis] } else { greatest[axis] };
            Vec3::new(side(0), side(1), side(2))
        })
    };
    boxes.into_iter().map(|bounds| bounds.map(corners)).collect()
}

impl ClipWork<'_> {
    fn within(&self, boxes: &[Option<[Vec3; 8]>], search: &Search<'_>) -> bool {
        let limit = (search.limit * search.limit) as f32;
        let sure = (search.limit - search.slack).max(0.0) as f32;
        let sure = sure * sure;
        self.instants.iter().all(|moment| {
            let bones = self.bones(moment);
            let moves = |(bone, corners): (&Bone, &Option<[Vec3; 8]>)| {
                corners.iter().flatten().any(|c| {
                    let error = transform(&bone.difference, &[c.x, c.y, c.z, 1.0]);
                    let error = dot(error, error);
                    error > sure || error.is_nan()
                })
            };
            if !bones.iter().zip(boxes).any(moves) {
                return true;
            }
            // Vertices that STEP tracks move jump between frames.
            self.mesh.vertices.iter().enumerate().all(|(v, vertex)| {
                let counts = moment.frame || !self.stepped.moves(v);
                !counts || error_squared(self.mesh.entries(vertex), &bones) <= limit
            })
        })
    }
}
