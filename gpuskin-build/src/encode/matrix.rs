//! Encodings `matrix-f32`, `matrix-f16`, `matrix-unorm`: three rows of the skinning matrix. The
//! fourth row is constant and not stored.

use gpuskin_rt::internals::{TexelFormat, ValueRange};

use super::{EncodedTexture, Misfit};
use crate::sample::Rows;

/// Greatest finite `f16`.
const MAX_HALF: f64 = 65_504.0;

pub(super) fn floats(texels: &mut EncodedTexture, first_frame: u32, poses: &[Vec<Rows>]) -> Vec<Misfit> {
    let most = if texels.encoding.format() == TexelFormat::Rgba16Float { MAX_HALF } else { f64::from(f32::MAX) };
    each(poses, |frame, bone, rows| {
        texels.put_floats(first_frame + frame, bone, rows.iter().flatten().copied());
        rows.iter().flatten().all(|v| v.abs() <= most)
    })
}

/// Encodes matrices as 16-bit fractions of the model's value ranges.
pub(super) fn fractions(texels: &mut EncodedTexture, first_frame: u32, poses: &[Vec<Rows>]) -> Vec<Misfit> {
    let ValueRange { min, extent } = texels.texture.range;
    let fraction = |value: f64, lane: usize| {
        let fraction = (value - f64::from(min[lane])) / f64::from(extent[lane]);
        if extent[lane] > 0.0 { (fraction.clamp(0.0, 1.0) * 65_535.0).round() as u16 } else { 0 }
    };
    each(poses, |frame, bone, rows| {
        let values = rows.iter().enumerate().flat_map(|(axis, row)| {
            [(row[0], 3), (row[1], 3), (row[2], 3), (row[3], axis)].map(|(value, lane)| fraction(value, lane))
        });
        texels.put(first_frame + frame, bone, values.flat_map(u16::to_le_bytes));
        rows.iter().flatten().all(|v| v.is_finite() && v.abs() < f64::from(f32::MAX))
    })
}

/// Calls `encode` for every bone of every frame; the first bone for which it returns `false` is out
/// of range.
fn each(poses: &[Vec<Rows>], mut encode: impl FnMut(u32, usize, &Rows) -> bool) -> Vec<Misfit> {
    let mut out_of_range = None;
    for (frame, pose) in (0..).zip(poses) {
        for (bone, rows) in pose.iter().enumerate() {
            if !encode(frame, bone, rows) {
                out_of_range.get_or_insert(Misfit::OutOfRange { bone });
            }
        }
    }
    out_of_range.into_iter().collect()
}

/// Value ranges of `matrix-unorm`: translation along each axis, and all elements of the 3x3 part.
#[derive(Clone, Copy, Debug)]
pub struct Ranges {
    min: [f64; 4],
    max: [f64; 4],
}

impl Default for Ranges {
    fn default() -> Self {
        Self { min: [f64::INFINITY; 4], max: [f64::NEG_INFINITY; 4] }
    }
}

impl Ranges {
    /// Extends the ranges to include poses.
    pub fn include(&mut self, poses: &[Vec<Rows>]) {
        for rows in poses.iter().flatten() {
            for (axis, row) in rows.iter().enumerate() {
                for (value, lane) in [(row[0], 3), (row[1], 3), (row[2], 3), (row[3], axis)] {
                    self.min[lane] = self.min[lane].min(value);
                    self.max[lane] = self.max[lane].max(value);
                }
            }
        }
    }

    /// Returns the smallest `f32` ranges that include all values, up to rounding; zeros if there
    /// are none.
    pub fn finish(&self) -> ValueRange {
        if self.min[3] > self.max[3] {
            return ValueRange::default();
        }
        let min = self.min.map(|v| v as f32);
        let extent = [0, 1, 2, 3].map(|i| (self.max[i] - f64::from(min[i])).max(0.0) as f32);
        ValueRange { min, extent }
    }
}
