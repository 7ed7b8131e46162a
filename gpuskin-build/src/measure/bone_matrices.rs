//! Matrices of a bone at a sample time: source, drawn, and their difference.

use gpuskin_rt::internals::Affine3;

use crate::sample::Rows;

/// Matrices of a bone at a sample time, as rows: source, source minus drawn, and drawn.
pub(super) struct BoneMatrices {
    pub(super) source: [[f32; 4]; 3],
    pub(super) difference: [[f32; 4]; 3],
    pub(super) drawn: [[f32; 4]; 3],
}

impl BoneMatrices {
    pub(super) fn new(source: &Rows, drawn: &Affine3) -> Self {
        let drawn = drawn.rows.map(|r| r.to_array());
        let difference = |r: usize, c: usize| (source[r][c] - f64::from(drawn[r][c])) as f32;
        Self {
            source: source.map(|row| row.map(|v| v as f32)),
            difference: [0, 1, 2].map(|r| [0, 1, 2, 3].map(|c| difference(r, c))),
            drawn,
        }
    }
}
