//! Vertex animation: positions, normals and tangents of all vertices in every frame. CPU reference
//! of `shaders/vat*.wgsl`.
//!
//! A row of the animation texture is a vertex; vertices that differ only in texture coordinates
//! share a row.
//!
//! | encoding | texels | content |
//! |---|---|---|
//! | `vat-f32`, `vat-f16` | 2 | x, y, z of the position in metres and the tangent; x, y, z of the normal and zero |
//! | `vat-unorm8`, `-16`, `-24` | 1, 2, 3 and 1 | fractions of x, y, z and the tangent in 8, 16 or 24 bits, split over bytes, high byte first; octahedral normal, x and y in 16 bits, high byte first |
//! | `vat-packed` | 1 | four words of 16 bits, below |
//! | `vat-packed-fine` | 1 | four words of 32 bits, below |
//!
//! | word of `vat-packed` | from bit 0 up |
//! |---|---|
//! | 0, 1, 2 | x, y, z: 16 bits |
//! | 3 | octahedral normal, x and y: 8 bits each, 0..254 for -1..1 |
//!
//! | word of `vat-packed-fine` | from bit 0 up |
//! |---|---|
//! | 0 | x: 24 bits; bits 0-7 of the tangent |
//! | 1 | y: 24 bits; bits 8-15 of the tangent |
//! | 2 | z: 24 bits; 8 bits zero |
//! | 3 | octahedral normal, x and y: 16 bits each, 0..65534 for -1..1 |
//!
//! Fractions refer to a range, `min + extent * k / (2^bits - 1)`: of the model in `vat-unorm`, of
//! each frame in the packed encodings. There, the first rows of a frame hold the range instead of
//! vertices: least x, y, z and extents of x, y, z as `f32`, two per texel of 64 bits, otherwise
//! three per texel.
//!
//! A tangent is stored as one number: its angle around the normal, measured along a diamond instead
//! of a circle, -2..2 from the second axis of [`basis`] through the first. It is perpendicular to
//! the normal. The sign of the bitangent does not change over time and is in the vertex buffer.
//! `vat-packed` stores no tangents.

use glam::{DVec2, DVec3, Vec3};
use half::f16;

use super::{Encoding, Texels};
use crate::playback::FramePair;
use crate::{TexelFormat, ValueRange};

/// Steps of an octahedral component on either side of zero: with 8 and with 16 bits.
const COARSE_OCTAHEDRAL: i32 = 127;
const FINE_OCTAHEDRAL: i32 = 32_767;
/// Bit widths of x, y and z in `vat-packed` and `vat-packed-fine`.
const PACKED_BITS: u32 = 16;
const FINE_BITS: u32 = 24;
/// Range of the tangent's number, minimum and extent: -2..2.
pub const TANGENT_RANGE: [f32; 2] = [-2.0, 4.0];

/// A vertex of a frame, as it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BakedVertex {
    /// Position. Model space, metres.
    pub position: Vec3,
    /// Normal of unit length.
    pub normal: Vec3,
    /// Tangent of unit length; undefined if the model has no tangents.
    pub tangent: Vec3,
}

/// A vertex of a frame, as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VertexSample {
    /// Position. Model space, metres.
    pub position: DVec3,
    /// Normal of unit length.
    pub normal: DVec3,
    /// Tangent: not zero, and not parallel to the normal; otherwise an arbitrary perpendicular one
    /// is written.
    pub tangent: DVec3,
}

impl BakedVertex {
    /// Interpolates between two frames. The length of directions is arbitrary.
    fn blend(a: Self, b: Self, t: f32) -> Self {
        Self {
            position: a.position * (1.0 - t) + b.position * t,
            normal: a.normal * (1.0 - t) + b.normal * t,
            tangent: a.tangent * (1.0 - t) + b.tangent * t,
        }
    }

    /// Interpolates between two frames (t = 0 is the first): positions linearly; directions have
    /// unit length, or are zero.
    pub fn lerp(a: Self, b: Self, t: f32) -> Self {
        let Self { position, normal, tangent } = Self::blend(a, b, t);
        Self { position, normal: normal.normalize_or_zero(), tangent: tangent.normalize_or_zero() }
    }
}

/// Returns the number of bytes per component of a position in `vat-unorm`: a texel each, before that of
/// the normal.
const fn splits(encoding: Encoding) -> usize {
    encoding.texels() as usize - 1
}

/// Returns two axes perpendicular to a unit normal and to each other (Duff et al. 2017, "Building
/// an Orthonormal Basis, Revisited").
pub fn basis(n: Vec3) -> [Vec3; 2] {
    let sign = if n.z >= 0.0 { 1.0 } else { -1.0 };
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    [Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x), Vec3::new(b, sign + n.y * n.y * a, -n.y)]
}

/// Encodes a tangent around a normal as -2..2. The normal must be the decoded one.
fn diamond(normal: Vec3, tangent: DVec3) -> f64 {
    let axes = basis(normal).map(|axis| axis.as_dvec3().dot(tangent));
    let [u, v] = axes.map(|c| c / (axes[0].abs() + axes[1].abs()));
    match u.is_finite() && v.is_finite() {
        true if v >= 0.0 => 1.0 - u,
        true => u - 1.0,
        false => 0.0,
    }
}

fn from_diamond(normal: Vec3, d: f32) -> Vec3 {
    let u = 1.0 - d.abs();
    let v = if d >= 0.0 { 1.0 - u.abs() } else { u.abs() - 1.0 };
    let [first, second] = basis(normal);
    (first * u + second * v).normalize()
}

/// Decodes a unit vector from the octahedral map with `steps` steps on either side of zero. Integer
/// arithmetic up to the last step: the side of the fold does not depend on rounding.
fn from_octahedral(e: [i32; 2], steps: i32) -> Vec3 {
    let z = steps - e[0].abs() - e[1].abs();
    let fold = (-z).max(0);
    let [x, y] = e.map(|c| c - if c >= 0 { fold } else { -fold });
    Vec3::new(x as f32, y as f32, z as f32).normalize()
}

/// Encodes a unit vector on the octahedral map: of the four points around the exact one, the point
/// whose vector is nearest (Cigolle et al. 2014, "A Survey of Efficient Representations for
/// Independent Unit Vectors", `oct-P`).
fn octahedral(v: DVec3, steps: i32) -> [i32; 2] {
    let p = v.truncate() / (v.x.abs() + v.y.abs() + v.z.abs()).max(f64::MIN_POSITIVE);
    let sign = |f: f64| if f >= 0.0 { 1.0 } else { -1.0 };
    let folded = DVec2::new((1.0 - p.y.abs()) * sign(p.x), (1.0 - p.x.abs()) * sign(p.y));
    let [x, y] = (if v.z >= 0.0 { p } else { folded } * f64::from(steps)).floor().to_array().map(|c| c as i32);
    let around = [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]].map(|e| e.map(|c| c.clamp(-steps, steps)));
    let off = |e: [i32; 2]| from_octahedral(e, steps).as_dvec3().distance_squared(v);
    around.into_iter().fold(around[0], |best, e| if off(e) < off(best) { e } else { best })
}

/// Converts between signed steps and whole numbers from zero up.
fn unsigned(e: [i32; 2], steps: i32) -> [u32; 2] {
    e.map(|c| (c + steps) as u32)
}

fn signed(e: [u32; 2], steps: i32) -> [i32; 2] {
    e.map(|c| c as i32 - steps)
}

fn greatest(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

fn step(value: f64, lane: usize, range: &ValueRange, bits: u32) -> u32 {
    let fraction = (value - f64::from(range.min[lane])) / f64::from(range.extent[lane]);
    if range.extent[lane] > 0.0 { (fraction.clamp(0.0, 1.0) * f64::from(greatest(bits))).round() as u32 } else { 0 }
}

/// Returns the range of some positions, minimal up to rounding; the last component is the range of
/// tangents.
pub fn range_of(positions: impl Iterator<Item = DVec3>) -> ValueRange {
    let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (least, most) = positions.fold(empty, |(least, most), p| (least.min(p), most.max(p)));
    let min = if least.x <= most.x { least.as_vec3() } else { Vec3::ZERO };
    let extent = (most - min.as_dvec3()).max(DVec3::ZERO).as_vec3();
    ValueRange { min: min.extend(TANGENT_RANGE[0]).to_array(), extent: extent.extend(TANGENT_RANGE[1]).to_array() }
}

/// # Panics
/// Always.
fn no_vertices<T>(encoding: Encoding) -> T {
    panic!("encoding {} stores bones, not vertices", encoding.name())
}

/// Returns the bytes of the range rows of a frame; none for encodings without.
pub fn range_bytes(encoding: Encoding, range: &ValueRange) -> Vec<u8> {
    let (min, extent) = ([0, 1, 2].map(|i| range.min[i]), [0, 1, 2].map(|i| range.extent[i]));
    let floats = match encoding {
        Encoding::VatPacked => [min, extent].concat(),
        Encoding::VatPackedFine => [&min[..], &[0.0], &extent, &[0.0]].concat(),
        Encoding::VatF32
        | Encoding::VatF16
        | Encoding::VatUnorm8
        | Encoding::VatUnorm16
        | Encoding::VatUnorm24
        | Encoding::MatrixF32
        | Encoding::MatrixF16
        | Encoding::MatrixUnorm
        | Encoding::TrsF16
        | Encoding::TrsPacked
        | Encoding::Fixed16
        | Encoding::LocalPacked => Vec::new(),
    };
    floats.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// Returns the bytes of a vertex in a frame. `range`: that of the frame or of the model, depending
/// on the encoding.
pub fn vertex_bytes(encoding: Encoding, sample: &VertexSample, range: &ValueRange) -> Vec<u8> {
    let VertexSample { position, normal, tangent } = *sample;
    match encoding {
        Encoding::VatF32 => {
            let n = normal.as_vec3();
            let floats = [position.as_vec3().extend(diamond(n, tangent) as f32), n.extend(0.0)];
            floats.iter().flat_map(|v| v.to_array()).flat_map(f32::to_le_bytes).collect()
        }
        Encoding::VatF16 => {
            let n = normal.to_array().map(f16::from_f64);
            let d = diamond(Vec3::from(n.map(f16::to_f32)), tangent);
            let [x, y, z] = position.to_array().map(f16::from_f64);
            [x, y, z, f16::from_f64(d), n[0], n[1], n[2], f16::ZERO].into_iter().flat_map(f16::to_le_bytes).collect()
        }
        Encoding::VatPacked => {
            let [x, y, z] = [0, 1, 2].map(|i| step(position[i], i, range, PACKED_BITS));
            let [u, v] = unsigned(octahedral(normal, COARSE_OCTAHEDRAL), COARSE_OCTAHEDRAL);
            [x, y, z, u | v << 8].into_iter().flat_map(|w| (w as u16).to_le_bytes()).collect()
        }
        Encoding::VatPackedFine => {
            let e = octahedral(normal, FINE_OCTAHEDRAL);
            let d = step(diamond(from_octahedral(e, FINE_OCTAHEDRAL), tangent), 3, range, 16);
            let [x, y, z] = [0, 1, 2].map(|i| step(position[i], i, range, FINE_BITS));
            let [u, v] = unsigned(e, FINE_OCTAHEDRAL);
            [x | d << 24, y | d >> 8 << 24, z, u | v << 16].into_iter().flat_map(u32::to_le_bytes).collect()
        }
        Encoding::VatUnorm8 | Encoding::VatUnorm16 | Encoding::VatUnorm24 => {
            let e = octahedral(normal, FINE_OCTAHEDRAL);
            let d = diamond(from_octahedral(e, FINE_OCTAHEDRAL), tangent);
            let splits = splits(encoding);
            let lanes = [position.x, position.y, position.z, d];
            let lanes = [0, 1, 2, 3].map(|i| step(lanes[i], i, range, splits as u32 * 8).to_be_bytes());
            let mut bytes: Vec<u8> = (4 - splits..4).flat_map(|k| lanes.map(|lane| lane[k])).collect();
            bytes.extend(unsigned(e, FINE_OCTAHEDRAL).iter().flat_map(|c| (*c as u16).to_be_bytes()));
            bytes
        }
        Encoding::MatrixF32
        | Encoding::MatrixF16
        | Encoding::MatrixUnorm
        | Encoding::TrsF16
        | Encoding::TrsPacked
        | Encoding::Fixed16
        | Encoding::LocalPacked => no_vertices(encoding),
    }
}

impl Texels<'_> {
    /// Returns a vertex between two frames, in model space. `row`: its row of the texture.
    ///
    /// # Panics
    /// If a frame or the row is not in the texture, or its rows are bones.
    #[doc(hidden)]
    pub fn vertex(&self, frames: FramePair, row: u32) -> BakedVertex {
        BakedVertex::lerp(self.stored_vertex(frames.a, row), self.stored_vertex(frames.b, row), frames.t)
    }

    /// Returns a vertex of a frame as it is stored: directions have unit length up to rounding.
    ///
    /// # Panics
    /// In the cases of [`Texels::vertex`].
    #[doc(hidden)]
    pub fn stored_vertex(&self, frame: u32, row: u32) -> BakedVertex {
        let encoding = self.encoding();
        let with = |position, normal, d| BakedVertex { position, normal, tangent: from_diamond(normal, d) };
        let ValueRange { min, extent } = self.frame_range(frame);
        let value =
            |steps: u32, lane: usize, bits: u32| min[lane] + extent[lane] * (steps as f32 / greatest(bits) as f32);
        let fine = |e| from_octahedral(signed(e, FINE_OCTAHEDRAL), FINE_OCTAHEDRAL);
        match encoding {
            Encoding::VatF32 | Encoding::VatF16 => {
                let (place, normal) = (self.floats(frame, row, 0), self.floats(frame, row, 1));
                with(place.truncate(), normal.truncate(), place.w)
            }
            Encoding::VatPacked => {
                let words = self.integers(frame, row, 0);
                let e = [words[3] & 0xff, words[3] >> 8];
                let normal = from_octahedral(signed(e, COARSE_OCTAHEDRAL), COARSE_OCTAHEDRAL);
                let position = Vec3::from([0, 1, 2].map(|i| value(words[i], i, PACKED_BITS)));
                BakedVertex { position, normal, tangent: Vec3::X }
            }
            Encoding::VatPackedFine => {
                let words = self.integers(frame, row, 0);
                let normal = fine([words[3] & 0xffff, words[3] >> 16]);
                let position = Vec3::from([0, 1, 2].map(|i| value(words[i] & 0xff_ffff, i, FINE_BITS)));
                let d = words[0] >> 24 | words[1] >> 24 << 8;
                with(position, normal, TANGENT_RANGE[0] + TANGENT_RANGE[1] * (d as f32 / 65_535.0))
            }
            Encoding::VatUnorm8 | Encoding::VatUnorm16 | Encoding::VatUnorm24 => {
                let splits = splits(encoding) as u32;
                let mut steps = [0; 4];
                for k in 0..splits {
                    let texel = self.integers(frame, row, k);
                    steps = [0, 1, 2, 3].map(|i| steps[i] << 8 | texel[i]);
                }
                let [x, y, z, d] = [0, 1, 2, 3].map(|i| value(steps[i], i, splits * 8));
                let n = self.integers(frame, row, splits);
                with(Vec3::new(x, y, z), fine([n[0] << 8 | n[1], n[2] << 8 | n[3]]), d)
            }
            Encoding::MatrixF32
            | Encoding::MatrixF16
            | Encoding::MatrixUnorm
            | Encoding::TrsF16
            | Encoding::TrsPacked
            | Encoding::Fixed16
            | Encoding::LocalPacked => no_vertices(encoding),
        }
    }

    /// Returns the range that the integers of a frame refer to.
    fn frame_range(&self, frame: u32) -> ValueRange {
        let float = |words: [u32; 2]| f32::from_bits(words[0] | words[1] << 16);
        let [min, extent] = match self.encoding().format() {
            TexelFormat::Rgba16Uint => {
                let pair = |row| {
                    let [a, b, c, d] = self.integers(frame, row, 0);
                    [float([a, b]), float([c, d])]
                };
                let [a, b, c] = [0, 1, 2].map(pair);
                [[a[0], a[1], b[0], 0.0], [b[1], c[0], c[1], 0.0]]
            }
            TexelFormat::Rgba32Uint => [0, 1].map(|row| self.integers(frame, row, 0).map(f32::from_bits)),
            _ => return self.texture().range,
        };
        ValueRange { min, extent }
    }
}

#[cfg(test)]
mod tests;
