//! `matrix-f32`, `matrix-f16`, `matrix-unorm`: the three rows of the skin matrix. The fourth is constant and not stored.

use gpuskin_rt::{TexelFormat, ValueRange};

use super::{Misfit, EncodedTexture};
use crate::sample::Rows;

/// Greatest half.
const GREATEST_HALF: f64 = 65_504.0;

pub(super) fn floats(texels: &mut EncodedTexture, first_frame: u32, poses: &[Vec<Rows>]) -> Vec<Misfit> {
    let most = if texels.encoding.format() == TexelFormat::Rgba16Float { GREATEST_HALF } else { f64::from(f32::MAX) };
    each(poses, |frame, bone, rows| {
        texels.put_floats(first_frame + frame, bone, rows.iter().flatten().copied());
        rows.iter().flatten().all(|v| v.abs() <= most)
    })
}

/// In 16-bit fractions of the model's ranges.
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

/// Calls for every bone of every frame; the first that is not encoded well is out of range.
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

/// The ranges of `matrix-unorm`: of the translation along each axis, and of all elements of the 3x3.
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
    /// Widens them to hold these poses.
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

    /// The least ranges in `f32` that hold everything, but for rounding of their own; zero where there is nothing.
    pub fn finish(&self) -> ValueRange {
        if self.min[3] > self.max[3] {
            return ValueRange::default();
        }
        let min = self.min.map(|v| v as f32);
        let extent = [0, 1, 2, 3].map(|i| (self.max[i] - f64::from(min[i])).max(0.0) as f32);
        ValueRange { min, extent }
    }
}
