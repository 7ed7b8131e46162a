//! Upper bounds of the angles between source normals and drawn normals at a sample time, without
//! evaluating each normal.
//!
//! A blend M of source matrices and the blend M - E of drawn matrices turn the normals n and n'. With
//! B = E M^-1, the drawn normal is along (1 - B^T)^-1 M^-T n'. The angle that B makes has a sine of at
//! most |B|, which is at most |E| over the least stretch of M. The angle between M^-T n and M^-T n' has a
//! sine of at most |n - n'| times the greatest stretch over the least.
//!
//! The bounds of E are those of [`super::bounds`]. Where bones scale evenly, the least stretch of a blend
//! follows from the greatest angle between two of them: for any direction v, |M v|^2 is the sum of
//! w_i w_j (S_i v . S_j v).

use gpuskin_rt::internals::Normals;

use super::bone_matrices::BoneMatrices;
use super::mesh::{MeasuredMesh, PointGroup};

/// Factor that covers rounding errors, and scales that are even but for [`UNEVEN`].
const ROUNDING: f32 = 1.005;
/// Greatest sine that is bounded.
const MAX_SINE: f32 = 0.5;
/// Greatest deviation from an even scale, as a fraction of its square.
const UNEVEN: f32 = 1e-3;

/// Bounds of angles at a sample time.
pub(super) struct NormalBounds {
    /// `[bone]`
    scales: Vec<BoneScale>,
    /// Bounds of each of [`MeasuredMesh::pairs`].
    pairs: Vec<BonePair>,
}

/// Scale of a bone, and its error.
struct BoneScale {
    /// Negative if the bone mirrors, NaN if it scales unevenly.
    scale: f32,
    /// Upper bound of the greatest stretch of the difference between source and drawn.
    difference: f32,
}

/// Images of a direction under two bones.
struct BonePair {
    /// Least product; NaN if unknown.
    nearest: f32,
    /// Greatest squared distance.
    spread: f32,
}

impl NormalBounds {
    /// `drawn`: transform of drawn normals; there are no bounds for [`Normals::Plain`].
    pub(super) fn new(mesh: &MeasuredMesh, bones: &[BoneMatrices], drawn: Normals) -> Self {
        let scale = |bone: &BoneMatrices| if drawn == Normals::Plain { f32::NAN } else { even_scale(&bone.source) };
        let of = |bone: &BoneMatrices| BoneScale { scale: scale(bone), difference: greatest_stretch(&bone.difference) };
        let scales: Vec<BoneScale> = bones.iter().map(of).collect();
        let pair = |&pair: &[u32; 2]| {
            let [a, b] = pair.map(|bone| scales[bone as usize].scale);
            let [source, other] = pair.map(|bone| &bones[bone as usize].source);
            BonePair::new([a, b], source, other)
        };
        let pairs = mesh.pairs.iter().map(pair).collect();
        Self { scales, pairs }
    }

    /// Returns a chord: normals of the group that are closer to their drawn normals before both are turned are closer than
    /// `chord` afterwards. At most 0 if unknown.
    pub(super) fn least_packed(&self, group: &PointGroup, chord: f32) -> f32 {
        let Some([turned, stretch]) = self.turned(group) else { return 0.0 };
        let rest = chord / ROUNDING - arc(turned);
        rest.min(MAX_SINE) / (arc(MAX_SINE) / MAX_SINE * stretch)
    }

    /// Returns the greatest sine by which the matrices of a group differ, and the greatest factor by which they stretch
    /// angles; `None` if unknown.
    fn turned(&self, group: &PointGroup) -> Option<[f32; 2]> {
        let (mut least, mut greatest, mut difference) = (f32::INFINITY, 0.0_f32, 0.0_f32);
        // Least product of two bones' images of a direction, and greatest squared distance of two images.
        let (mut nearest, mut spread) = (f32::INFINITY, 0.0_f32);
        for &bone in &group.bones {
            let BoneScale { scale, difference: own } = self.scales[bone as usize];
            if scale.is_nan() || own.is_nan() {
                return None;
            }
            (least, greatest) = (least.min(scale.abs()), greatest.max(scale.abs()));
            difference = difference.max(own);
        }
        for &pair in &group.pairs {
            let BonePair { nearest: product, spread: apart } = self.pairs[pair as usize];
            if product.is_nan() {
                return None;
            }
            (nearest, spread) = (nearest.min(product), spread.max(apart));
        }
        let count = group.bones.len() as f32;
        let stretch = ((least * least + (count - 1.0) * nearest.min(least * least)) / count).sqrt();
        // Lost weights blend the differences of the bones to one of them, and their sum scales that one.
        let [weights, lost, sum, _] = group.slack;
        let turned = (weights * difference + lost * spread.sqrt() + sum * greatest) / stretch;
        (turned < MAX_SINE).then_some([turned, greatest / stretch])
    }
}

impl BonePair {
    /// `scales`: of the matrices.
    fn new([scale, other]: [f32; 2], a: &[[f32; 4]; 3], b: &[[f32; 4]; 3]) -> Self {
        let scales = scale * other;
        if scales <= 0.0 {
            return Self { nearest: f32::NAN, spread: f32::INFINITY };
        }
        // The trace of a rotation is 1 plus twice the cosine of its angle.
        let product = 0.5 * (product(a, b) - scales) - 5.0 * UNEVEN * scales;
        Self { nearest: product, spread: scale * scale + other * other - 2.0 * product }
    }
}

/// Returns an upper bound of the arc of a sine up to [`MAX_SINE`].
fn arc(sine: f32) -> f32 {
    sine * (1.0 + 0.2 * sine * sine)
}

/// Returns the scale of a matrix, negative if it mirrors, or NaN if it is not even.
fn even_scale(matrix: &[[f32; 4]; 3]) -> f32 {
    let column = |c: usize| glam::Vec3::new(matrix[0][c], matrix[1][c], matrix[2][c]);
    let [x, y, z] = [0, 1, 2].map(column);
    let lengths = [x, y, z].map(glam::Vec3::length_squared);
    let squared = (lengths[0] + lengths[1] + lengths[2]) / 3.0;
    let even = lengths.iter().all(|length| (length - squared).abs() <= UNEVEN * squared);
    let right = [x.dot(y), y.dot(z), z.dot(x)].iter().all(|product| product.abs() <= UNEVEN * squared);
    if even && right { squared.sqrt().copysign(x.dot(y.cross(z))) } else { f32::NAN }
}

/// Returns an upper bound of the lengths to which a matrix stretches unit vectors, from the mean and the variance
/// of the squares of its singular values.
fn greatest_stretch(matrix: &[[f32; 4]; 3]) -> f32 {
    let of = |a: usize, b: usize| {
        let [a, b] = [&matrix[a], &matrix[b]];
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    };
    let [x, y, z] = [of(0, 0), of(1, 1), of(2, 2)];
    let [xy, yz, zx] = [of(0, 1), of(1, 2), of(2, 0)];
    let mean = (x + y + z) / 3.0;
    let squares = x * x + y * y + z * z + 2.0 * (xy * xy + yz * yz + zx * zx);
    let variance = (squares / 3.0 - mean * mean).max(0.0);
    (mean + (2.0 * variance).sqrt()).sqrt()
}

/// Returns the sum of the products of all elements but the translations.
fn product(a: &[[f32; 4]; 3], b: &[[f32; 4]; 3]) -> f32 {
    let row = |r: usize| a[r][0] * b[r][0] + a[r][1] * b[r][1] + a[r][2] * b[r][2];
    row(0) + row(1) + row(2)
}
