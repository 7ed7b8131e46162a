//! `trs-packed`: rotation about the bone's own position, that position, and a uniform scale, in 128
//! bits. CPU reference of `shaders/trs_packed.wgsl`.
//!
//! | word of a texel | from bit 0 up |
//! |---|---|
//! | 0, 1, 2 | a component of the quaternion 18 bits, steps from -1/sqrt(2) to 1/sqrt(2) around 131071; low 14 bits of x, y, z of the position |
//! | 3 | scale 18 bits; upper 4 bits of x, y, z of the position; index of the omitted component of the quaternion, the greatest, 2 bits |
//!
//! Components of position and scale are fractions of a range per bone and clip, `min + extent * k /
//! 262143`. Two range frames before the first frame of the clip store it, one texel each:
//!
//! | word | range frame 0 | range frame 1, two upper halves of an `f32` each |
//! |---|---|---|
//! | 0 | least x of the position, `f32` | extents of x and y |
//! | 1 | least y | extents of z and of the scale |
//! | 2 | least z | x and y of the pivot |
//! | 3 | least scale | z of the pivot |
//!
//! The pivot p is the bone's position in the bind pose, in metres. A skinning matrix that rotates
//! by R, scales by s and moves p to q is `x -> s R (x - p) + q`: the rounding error of R is
//! multiplied by the distance to the bone, not to the origin.

use core::f32::consts::FRAC_1_SQRT_2;

use glam::{DVec3, DVec4, Vec3, Vec4};

/// Number of range frames before the first frame of a clip.
pub const RANGE_FRAMES: u32 = 2;

const STEPS: u32 = (1 << 18) - 1;
const LOW: u32 = (1 << 14) - 1;
/// Number of steps of a quaternion component on either side of zero.
const HALF: u32 = STEPS / 2;

/// Ranges of a bone's position and scale in a clip, and its pivot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// Least position, metres.
    pub place_min: Vec3,
    /// Greatest position minus least position, metres.
    pub place_extent: Vec3,
    /// Least scale.
    pub scale_min: f32,
    /// Greatest scale minus least scale.
    pub scale_extent: f32,
    /// Position of the bone in the bind pose. Model space, metres.
    pub pivot: Vec3,
}

/// A bone's skinning matrix, decomposed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// Rotation: unit quaternion x, y, z, w.
    pub rotation: DVec4,
    /// Position to which the pivot moves. Model space, metres.
    pub place: DVec3,
    /// Uniform scale; negative if the matrix mirrors.
    pub scale: f64,
}

/// Returns the upper 16 bits of a float, rounded up: 8 bits of precision.
fn half_above(value: f32) -> u32 {
    let bits = value.to_bits();
    (bits >> 16) + u32::from(bits & 0xffff != 0)
}

fn high(word: u32) -> f32 {
    f32::from_bits(word & 0xffff_0000)
}

/// Rounds a pivot to the precision of [`Range::texels`].
pub fn round_pivot(pivot: Vec3) -> Vec3 {
    pivot.map(|c| f32::from_bits(c.to_bits() & 0xffff_0000))
}

impl Range {
    /// Returns the smallest range that contains the members of a clip.
    pub fn of(members: impl Iterator<Item = Trs>, pivot: Vec3) -> Self {
        let start = (DVec3::INFINITY, DVec3::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY);
        let (least, greatest, least_scale, greatest_scale) =
            members.fold(start, |(a, b, c, d), m| (a.min(m.place), b.max(m.place), c.min(m.scale), d.max(m.scale)));
        let extent =
            |least: f32, greatest: f64| f32::from_bits(half_above((greatest - f64::from(least)).max(0.0) as f32) << 16);
        let (place_min, scale_min) = (least.as_vec3(), least_scale as f32);
        Self {
            place_min,
            place_extent: Vec3::new(
                extent(place_min.x, greatest.x),
                extent(place_min.y, greatest.y),
                extent(place_min.z, greatest.z),
            ),
            scale_min,
            scale_extent: extent(scale_min, greatest_scale),
            pivot: round_pivot(pivot),
        }
    }

    /// Packs the range into the texels of the two range frames.
    pub fn texels(&self) -> [[u32; 4]; 2] {
        let pair = |low: f32, high: f32| low.to_bits() >> 16 | high.to_bits() & 0xffff_0000;
        let (e, p) = (self.place_extent, self.pivot);
        [
            [self.place_min.x, self.place_min.y, self.place_min.z, self.scale_min].map(f32::to_bits),
            [pair(e.x, e.y), pair(e.z, self.scale_extent), pair(p.x, p.y), pair(p.z, 0.0)],
        ]
    }

    /// Unpacks the texels of the two range frames.
    pub fn from_texels([a, b]: [[u32; 4]; 2]) -> Self {
        let [x, y, z, scale_min] = a.map(f32::from_bits);
        Self {
            place_min: Vec3::new(x, y, z),
            place_extent: Vec3::new(high(b[0] << 16), high(b[0]), high(b[1] << 16)),
            scale_min,
            scale_extent: high(b[1]),
            pivot: Vec3::new(high(b[2] << 16), high(b[2]), high(b[3] << 16)),
        }
    }
}

/// Packs a bone of a frame into a texel.
pub fn pack(trs: &Trs, range: &Range) -> [u32; 4] {
    let step = |value: f64, min: f32, extent: f32| {
        let fraction = (value - f64::from(min)) / f64::from(extent);
        if extent > 0.0 { (fraction.clamp(0.0, 1.0) * f64::from(STEPS)).round() as u32 } else { 0 }
    };
    let q = trs.rotation.to_array();
    let missing = (1..4).fold(0, |most, i| if q[i].abs() > q[most].abs() { i } else { most });
    let sign = if q[missing] < 0.0 { -1.0 } else { 1.0 };
    let place: [u32; 3] = [0, 1, 2].map(|i| step(trs.place[i], range.place_min[i], range.place_extent[i]));
    let mut words = [0; 4];
    for (k, i) in (0..4).filter(|&i| i != missing).enumerate() {
        let steps = (q[i] * sign * f64::from(HALF) * core::f64::consts::SQRT_2).round();
        let component = (steps + f64::from(HALF)).clamp(0.0, f64::from(STEPS)) as u32;
        words[k] = component | (place[k] & LOW) << 18;
        words[3] |= place[k] >> 14 << (18 + 4 * k);
    }
    words[3] |= step(trs.scale, range.scale_min, range.scale_extent) | (missing as u32) << 30;
    words
}

/// Unpacks a texel: rotation as a quaternion x, y, z, w; position; scale.
pub fn unpack(words: [u32; 4], range: &Range) -> (Vec4, Vec3, f32) {
    let c = [0, 1, 2].map(|k| ((words[k] & STEPS) as f32 - HALF as f32) * (FRAC_1_SQRT_2 / HALF as f32));
    let greatest = (1.0 - c[0] * c[0] - c[1] * c[1] - c[2] * c[2]).max(0.0).sqrt();
    let rotation = match words[3] >> 30 {
        0 => Vec4::new(greatest, c[0], c[1], c[2]),
        1 => Vec4::new(c[0], greatest, c[1], c[2]),
        2 => Vec4::new(c[0], c[1], greatest, c[2]),
        _ => Vec4::new(c[0], c[1], c[2], greatest),
    };
    let fraction = |steps: u32| steps as f32 * (1.0 / STEPS as f32);
    let place = [0, 1, 2].map(|k| fraction(words[k] >> 18 | (words[3] >> (18 + 4 * k) & 15) << 14));
    (
        rotation,
        range.place_min + range.place_extent * Vec3::from(place),
        range.scale_min + range.scale_extent * fraction(words[3] & STEPS),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members() -> Vec<Trs> {
        let quaternions =
            [[0.1, -0.7, 0.2, 0.4], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 1e-9], [0.5; 4], [-0.5, 0.5, -0.5, 0.5]];
        let member = |(i, q): (usize, [f64; 4])| Trs {
            rotation: DVec4::from(q).normalize(),
            place: DVec3::new(-3.0 + i as f64, 0.7 * i as f64, 1e-3),
            scale: -1.0 + 0.1 * i as f64,
        };
        quaternions.into_iter().enumerate().map(member).collect()
    }

    #[test]
    fn packed_bones_round_trip_within_one_step() {
        let members = members();
        let range = Range::of(members.iter().copied(), Vec3::new(0.3, 1.2, -0.1));
        let read = Range::from_texels(range.texels());
        assert_eq!(read, range);
        assert!(range.pivot.distance(Vec3::new(0.3, 1.2, -0.1)) < 1e-2);
        for trs in members {
            let (q, place, scale) = unpack(pack(&trs, &range), &read);
            let expected = trs.rotation.as_vec4();
            let nearest = if q.dot(expected) < 0.0 { -q } else { q };
            assert!(nearest.distance(expected) < 7e-6, "{q} {expected}");
            assert!(place.distance(trs.place.as_vec3()) < 1.5e-5, "{place} {}", trs.place);
            assert!((scale - trs.scale as f32).abs() < 2e-6);
        }
    }

    #[test]
    fn constant_bone_is_exact() {
        let trs = Trs { rotation: DVec4::W, place: DVec3::new(0.1, 0.2, 0.3), scale: 1.0 };
        let range = Range::of([trs; 3].into_iter(), Vec3::ZERO);
        assert_eq!(unpack(pack(&trs, &range), &range), (Vec4::W, trs.place.as_vec3(), 1.0));
    }
}
