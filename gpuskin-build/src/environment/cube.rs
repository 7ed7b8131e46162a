//! Cube maps, with a pyramid of mean radiance.

use rayon::prelude::*;

use super::panorama::Panorama;

/// Maximum number of samples along a side of a texel.
const MAX_TAPS: u32 = 32;

/// Texel of a face: a part of the sphere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    /// Mean radiance.
    pub(super) radiance: [f32; 3],
    /// Steradians.
    pub(super) solid_angle: f32,
    /// Unit vector to the centre.
    pub(super) direction: [f32; 3],
}

/// Cube map with all coarser resolutions down to one texel per face.
#[derive(Debug)]
pub(super) struct Cube {
    /// Patches by face, row and column, from one texel per face to the finest.
    levels: Vec<Vec<Patch>>,
}

impl Cube {
    /// Samples a panorama. `size`: texels along a side of a face, a power of two.
    pub(super) fn of(panorama: &Panorama, size: u32) -> Self {
        // A quarter of the panorama's width is the width of a face.
        let taps = panorama.width.div_ceil(4 * size).clamp(1, MAX_TAPS);
        let finest: Vec<Patch> = (0..6 * size * size)
            .into_par_iter()
            .map(|index| {
                let (face, row, column) = place(index, size);
                let mut sum = [0.0; 3];
                for tap in 0..taps * taps {
                    let at = |texel: u32, tap: u32| {
                        let step = f64::from(texel * taps + tap) + 0.5;
                        2.0 * step / f64::from(size * taps) - 1.0
                    };
                    let direction = direction(face, at(column, tap % taps), at(row, tap / taps));
                    let color = panorama.sample(direction);
                    (0..3).for_each(|c| sum[c] += color[c]);
                }
                let radiance = sum.map(|c| (c / f64::from(taps * taps)) as f32);
                patch(face, row, column, size, radiance)
            })
            .collect();
        let mut levels = vec![finest];
        let mut side = size;
        while side > 1 {
            let finer = &levels[levels.len() - 1];
            let coarser = (0..6 * (side / 2) * (side / 2)).map(|index| {
                let (face, row, column) = place(index, side / 2);
                let mut sums = [0.0; 4];
                for child in children(index, side / 2).map(|child| finer[child as usize]) {
                    let weight = f64::from(child.solid_angle);
                    (0..3).for_each(|c| sums[c] += weight * f64::from(child.radiance[c]));
                    sums[3] += weight;
                }
                patch(face, row, column, side / 2, [0, 1, 2].map(|c| (sums[c] / sums[3]) as f32))
            });
            let coarser = coarser.collect();
            levels.push(coarser);
            side /= 2;
        }
        levels.reverse();
        Self { levels }
    }

    /// Patches by level, from one texel per face to the finest.
    pub(super) fn levels(&self) -> &[Vec<Patch>] {
        &self.levels
    }

    /// Radiance of the finest texels, by face, row and column.
    pub(super) fn finest(&self) -> Vec<[f32; 3]> {
        self.patches().iter().map(|patch| patch.radiance).collect()
    }

    /// The finest texels.
    pub(super) fn patches(&self) -> &[Patch] {
        &self.levels[self.levels.len() - 1]
    }
}

/// Returns the four texels of the next finer level that a texel covers. `side`: that of its own level.
pub(super) fn children(index: u32, side: u32) -> [u32; 4] {
    let (face, row, column) = place(index, side);
    let first = (face * 2 * side + 2 * row) * 2 * side + 2 * column;
    [first, first + 1, first + 2 * side, first + 2 * side + 1]
}

/// Returns the unit vectors to the centres of all texels, by face, row and column.
pub(super) fn directions(side: u32) -> impl IndexedParallelIterator<Item = [f64; 3]> {
    (0..6 * side * side).into_par_iter().map(move |index| {
        let (face, row, column) = place(index, side);
        let at = |texel: u32| (2.0 * f64::from(texel) + 1.0) / f64::from(side) - 1.0;
        direction(face, at(column), at(row))
    })
}

/// Face, row and column of a texel.
fn place(index: u32, side: u32) -> (u32, u32, u32) {
    (index / (side * side), index / side % side, index % side)
}

/// Unit vector to a point of a face; s to the right, t down, -1..1. Faces and axes are those of cube maps.
fn direction(face: u32, s: f64, t: f64) -> [f64; 3] {
    let v = match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    };
    let length = libm::sqrt(1.0 + s * s + t * t);
    v.map(|c| c / length)
}

fn patch(face: u32, row: u32, column: u32, side: u32, radiance: [f32; 3]) -> Patch {
    let edge = |texel: u32| 2.0 * f64::from(texel) / f64::from(side) - 1.0;
    // Solid angle of the rectangle from the centre of a face to a point.
    let to = |s: f64, t: f64| libm::atan2(s * t, libm::sqrt(s * s + t * t + 1.0));
    let [left, right, top, bottom] = [column, column + 1, row, row + 1].map(edge);
    let solid_angle = to(right, bottom) - to(left, bottom) - to(right, top) + to(left, top);
    let direction = direction(face, 0.5 * (left + right), 0.5 * (top + bottom));
    Patch { radiance, solid_angle: solid_angle as f32, direction: direction.map(|c| c as f32) }
}
