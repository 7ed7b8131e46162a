//! Angles between source normals and drawn normals, four at a time.

use glam::Vec3;
use gpuskin_rt::internals::Normals;

use super::bone_matrices::BoneMatrices;
use super::mesh::FourNormals;
use crate::vector_math::{Lanes, add_lanes, cross_of, dot_of, multiply_lanes, scale_lanes};

/// Index of the matrices of a bone, and of the weights of a normal.
pub(super) const SOURCE: usize = 0;
pub(super) const DRAWN: usize = 1;

/// Matrices that transform four normals, without normalising: columns, in one lane per normal.
#[derive(Default)]
pub(super) struct NormalMatrices([[Lanes; 3]; 3]);

impl NormalMatrices {
    #[inline(never)]
    pub(super) fn set(
        &mut self,
        weights: &[[Lanes; 2]],
        of: &[u32],
        bones: &[BoneMatrices],
        which: usize,
        how: Normals,
    ) {
        let [mut a, mut b, mut c] = [[Lanes::default(); 3]; 3];
        for (weights, &bone) in weights.iter().zip(of) {
            let bone = &bones[bone as usize];
            let [x, y, z] = if which == SOURCE { &bone.source } else { &bone.drawn };
            let weight = weights[which];
            add_scaled(&mut a, weight, [x[0], y[0], z[0]]);
            add_scaled(&mut b, weight, [x[1], y[1], z[1]]);
            add_scaled(&mut c, weight, [x[2], y[2], z[2]]);
        }
        let Self([first, second, third]) = self;
        if how == Normals::Plain {
            (*first, *second, *third) = (a, b, c);
            return;
        }
        // Cofactor matrix, as in `Affine3::normal`.
        let (p, q, r) = (cross_of(&b, &c), cross_of(&c, &a), cross_of(&a, &b));
        // Determinant: the first row of the matrix times the first row of its cofactors.
        let determinant = dot_of(&[a[0], b[0], c[0]], &[p[0], q[0], r[0]]);
        let sign = |i: usize| if determinant[i] < 0.0 { -1.0 } else { 1.0 };
        let sign = [sign(0), sign(1), sign(2), sign(3)];
        let signed =
            |v: [Lanes; 3]| [multiply_lanes(v[0], sign), multiply_lanes(v[1], sign), multiply_lanes(v[2], sign)];
        (*first, *second, *third) = (signed(p), signed(q), signed(r));
    }

    #[inline(always)]
    fn of(&self, v: &[Lanes; 3]) -> [Lanes; 3] {
        let Self([a, b, c]) = self;
        [dot_of(&[a[0], b[0], c[0]], v), dot_of(&[a[1], b[1], c[1]], v), dot_of(&[a[2], b[2], c[2]], v)]
    }
}

#[inline(always)]
fn add_scaled(sum: &mut [Lanes; 3], lanes: Lanes, by: [f32; 3]) {
    sum[0] = add_lanes(sum[0], scale_lanes(lanes, by[0]));
    sum[1] = add_lanes(sum[1], scale_lanes(lanes, by[1]));
    sum[2] = add_lanes(sum[2], scale_lanes(lanes, by[2]));
}

/// Greatest chord between the tips of two unit normals.
pub(super) struct WidestAngle {
    pub(super) chord_squared: f32,
    /// Lower bound below which a squared sine certainly belongs to a shorter chord.
    sine_squared: f32,
}

/// Range of squared lengths whose products are exact enough in `f32`.
const LENGTHS: std::ops::Range<f32> = 1e-30..1e30;

impl WidestAngle {
    pub(super) fn new(chord_squared: f32) -> Self {
        // Rounding changes a sine by less than 1e-6. For angles above 90 degrees, any sine must be
        // checked.
        let sine = (chord_squared * (1.0 - 0.25 * chord_squared)).sqrt() - 2e-6;
        let sine_squared = if chord_squared >= 2.0 { 2.0 } else { sine.max(0.0) * sine.max(0.0) * 0.9999 };
        Self { chord_squared, sine_squared }
    }

    /// Checks four normals against their drawn normals.
    pub(super) fn look(&mut self, source: &NormalMatrices, drawn: &NormalMatrices, normals: &FourNormals) {
        let mut found = Angles::default();
        found.set(source, drawn, normals);
        let Angles { along, across, lengths } = found;
        let less =
            |i: usize| along[i] > 0.0 && across[i] < self.sine_squared * lengths[i] && LENGTHS.contains(&lengths[i]);
        if less(0) && less(1) && less(2) && less(3) {
            return;
        }
        let (source, drawn) = (source.of(&normals.source), drawn.of(&normals.drawn));
        for i in 0..4 {
            let at = |lanes: &[Lanes; 3]| Vec3::new(lanes[0][i], lanes[1][i], lanes[2][i]);
            let chord_squared = greater_chord(self.chord_squared, at(&source), at(&drawn));
            if chord_squared > self.chord_squared {
                *self = Self::new(chord_squared);
            }
        }
    }
}

/// Products of four pairs of vectors.
#[derive(Default)]
struct Angles {
    along: Lanes,
    /// Squared length of the cross product.
    across: Lanes,
    /// Product of the squared lengths.
    lengths: Lanes,
}

impl Angles {
    #[inline(never)]
    fn set(&mut self, source: &NormalMatrices, drawn: &NormalMatrices, normals: &FourNormals) {
        let (a, b) = (source.of(&normals.source), drawn.of(&normals.drawn));
        let cross = cross_of(&a, &b);
        self.along = dot_of(&a, &b);
        self.across = dot_of(&cross, &cross);
        self.lengths = multiply_lanes(dot_of(&a, &a), dot_of(&b, &b));
    }
}

/// Squared length of a source normal below which its surface is not visible: bones that hide parts have a scale close to 0.
/// Normals are scaled by areas, so this is a scale of 1e-5. Rotations of such bones are noise.
const HIDDEN: f64 = 1e-20;

/// Returns the greater of a squared chord and the squared chord between a source normal and a drawn normal after
/// normalising. Computed in `f64`, because the difference of nearly equal vectors loses precision.
fn greater_chord(known: f32, a: Vec3, b: Vec3) -> f32 {
    let (a, b) = (a.as_dvec3(), b.as_dvec3());
    if a.length_squared() < HIDDEN {
        return known;
    }
    let lengths = a.length_squared() * b.length_squared();
    let squared = (2.0 - 2.0 * a.dot(b) / lengths.sqrt()) as f32;
    // Rejects negative values from rounding, and NaN.
    if squared > known && lengths < f64::INFINITY { squared } else { known }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_of_hidden_parts_do_not_count() {
        // Scales of 1e-6 and 1e-3, as areas.
        assert_eq!(greater_chord(0.5, Vec3::X * 1e-12, Vec3::Y * 1e-12), 0.5);
        assert_eq!(greater_chord(0.5, Vec3::X * 1e-6, Vec3::Y * 1e-6), 2.0);
        // A part that should be hidden, or should not.
        assert_eq!(greater_chord(0.5, Vec3::X, Vec3::Y * 1e-12), 2.0);
    }
}
