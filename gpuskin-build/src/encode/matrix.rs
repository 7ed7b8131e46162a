//! `matrix-f32`, `matrix-f16`: the three rows of the skin matrix. The fourth is constant and not stored.

use super::BoneTexels;
use crate::sample::Rows;

pub(super) fn texels(rows: &Rows) -> BoneTexels {
    *rows
}
