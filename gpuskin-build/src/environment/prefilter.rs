//! Reflections of rough surfaces: the environment, filtered by the lobe of GGX around each direction.
//!
//! The eye is assumed to look along the normal (B. Karis 2013, "Real Shading in Unreal Engine 4"): the weight of a
//! direction is D * dot(n, l), normalised. The sum runs over the whole sphere in patches that are small where
//! the lobe is narrow and near, and large where it is flat; nothing is random.

use rayon::prelude::*;

use super::cube::{self, Cube, Patch};

/// Share of the lobe in a patch, times the squared width of the patch in units of the scale on which the lobe changes
/// there. A patch with more is divided.
const TOLERANCE: f64 = 3e-5;
/// Level of the pyramid at which the search starts.
const FIRST: usize = 2;

/// Roughness of a mip level. `level`: 0 for the finest, 1 for the coarsest; the inverse of the function in
/// `shaders/environment.wgsl`.
pub(super) fn roughness(level: f64) -> f64 {
    1.0 - libm::sqrt(1.0 - level)
}

/// Returns the texels of a mip level, by face, row and column.
pub(super) fn filter(cube: &Cube, side: u32, level: f64) -> Vec<[f32; 3]> {
    let alpha = roughness(level) * roughness(level);
    cube::directions(side).map(|normal| lobe(cube, normal, alpha)).collect()
}

/// Returns the mean radiance in the lobe around a normal.
pub(super) fn lobe(cube: &Cube, normal: [f64; 3], alpha: f64) -> [f32; 3] {
    let levels = cube.levels();
    let a2 = alpha * alpha;
    let mut sums = [0.0; 4];
    let mut pending: Vec<(usize, u32)> = (0..levels[FIRST].len() as u32).map(|index| (FIRST, index)).collect();
    while let Some((level, index)) = pending.pop() {
        let Patch { radiance, solid_angle, direction } = levels[level][index as usize];
        let cosine: f64 = direction.iter().zip(normal).map(|(d, n)| f64::from(*d) * n).sum();
        // Width of a patch at the centre of a face, the widest.
        let width = 2.0 / f64::from(1_u32 << level);
        if cosine < -width {
            continue;
        }
        let solid_angle = f64::from(solid_angle);
        if level + 1 < levels.len() {
            // The nearest point of the patch, as a chord.
            let near = (libm::sqrt((2.0 - 2.0 * cosine).max(0.0)) - 0.75 * width).max(0.0);
            let near_cosine = 1.0 - 0.5 * near * near;
            // The sum over the sphere is about 4 pi / alpha^2.
            let share = weight(near_cosine, a2) * solid_angle * a2 * (0.25 / core::f64::consts::PI);
            // The lobe has the width 2 alpha, because a half vector turns half as far as its light. It ends at the
            // horizon.
            let ratio = width / (2.0 * alpha + near).min(near_cosine.max(width));
            if share * ratio * ratio > TOLERANCE {
                pending.extend(cube::children(index, 1 << level).map(|child| (level + 1, child)));
                continue;
            }
        }
        let weight = weight(cosine, a2) * solid_angle;
        (0..3).for_each(|c| sums[c] += weight * f64::from(radiance[c]));
        sums[3] += weight;
    }
    [0, 1, 2].map(|c| (sums[c] / sums[3]) as f32)
}

/// D * dot(n, l) without its constants, from the cosine of normal and light.
fn weight(cosine: f64, a2: f64) -> f64 {
    // dot(n, h)^2 is (1 + dot(n, l)) / 2.
    let f = 0.5 * (1.0 + cosine) * (a2 - 1.0) + 1.0;
    cosine.max(0.0) / (f * f)
}
