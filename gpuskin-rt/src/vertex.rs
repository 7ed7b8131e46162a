//! Baked vertices: layouts, packing and unpacking. CPU reference of `shaders/vertex_full.wgsl`,
//! `shaders/vertex_packed.wgsl` and `shaders/vertex_static.wgsl`.
//!
//! A vertex is a row of 32-bit words, fetched as one to six attributes of up to four words.
//! Fetching fewer attributes saves more than the few unpacking instructions cost. With eight influences and
//! a palette, only position, normal and texture coordinates are attributes: shaders load the other words
//! from the vertex buffer.
//!
//! | words, full | content |
//! |---|---|
//! | 0-2, 3-5, 6-7 | position, normal, texture coordinates: `f32` |
//! | 8-9 | joints: 16 bits each, of which 10 are used; in the upper 6 bits of the last one the part |
//! | 10-13 | weights: `f32` |
//! | 14 | eight influences only: joints 4, 5, 6: 10 bits each; joint 7: its lower and upper 5 bits are in bits 10-14 and 26-30 of word 8 |
//! | 15-18 | eight influences only: weights 4 to 7: `f32` |
//! | next four | tangent, if any: `f32`; with eight influences and second texture coordinates one word, as packed |
//! | next two | second texture coordinates, if any: `f32` |
//! | last | colour, if any: linear RGBA, 8 bits each, 0..255 for 0..1 |
//!
//! | word, packed | from bit 0 up |
//! |---|---|
//! | 0 | position x, y: 16 bits each, 0..65535 over the range |
//! | 1 | position z: 16 bits; bits 8-9 of the four joints: 2 bits each; part: 8 bits |
//! | 2 | normal, octahedral: signed 16 bits each |
//! | 3 | texture coordinates: 16 bits each, 0..65535 over the range |
//! | 4 | bits 0-7 of the four joints |
//! | 5 | narrow only: weights 1, 2, 3 in steps of 1/4096: 11, 11, 10 bits |
//! | 5-6 | wide only: weights 1, 2, 3 in steps of 1/65536: 16 bits each; 16 bits zero |
//! | 7 | eight influences only: bits 0-7 of joints 4 to 7 |
//! | 8-9 | eight influences only: weights 4 and 5, then 6 and 7, in steps of 1/65536: 14 bits each; bits 8-9 of the same joints: 2 bits each |
//! | next | tangent, if any: octahedral, x signed 16 bits, sign of the bitangent 1 bit (1 = negative), y signed 15 bits |
//! | next two | second texture coordinates, if any: `f32` |
//! | last | colour, if any: linear RGBA, 8 bits each, 0..255 for 0..1 |
//!
//! The greatest weight comes first. Packed vertices do not store it: it is one minus the others. The fifth
//! weight is at most 1/5, so that 14 bits hold it in steps of 1/65536.
//!
//! | word, static | from bit 0 up |
//! |---|---|
//! | 0 | texture coordinates: 16 bits each, 0..65535 over the range |
//! | 1 | row of the animation texture: 26 bits; part: 5 bits; sign of the bitangent, if any: 1 bit (1 = negative) |
//! | next two | second texture coordinates, if any: `f32` |
//! | last | colour, if any: linear RGBA, 8 bits each, 0..255 for 0..1 |
//!
//! The rest pose of static vertices is in a separate buffer: [`rest`].

pub mod rest;

use glam::{Vec2, Vec3, Vec4};

/// Maximum number of influences per vertex.
pub const MAX_INFLUENCES: usize = 8;

/// A vertex in the bind pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// Position in the space that inverse bind matrices start from, metres.
    pub position: Vec3,
    /// Normal of unit length.
    pub normal: Vec3,
    /// Tangent of unit length; `w` is the sign of the bitangent.
    pub tangent: Vec4,
    /// Texture coordinates, origin top left.
    pub uv: Vec2,
    /// Second texture coordinates: those of textures whose `second_uv` is set; zero if the format has none.
    pub second_uv: Vec2,
    /// Bone indices. In vertex mode, the first one is the row of the animation texture.
    pub joints: [u32; MAX_INFLUENCES],
    /// Weights of the bones; they sum to exactly 1.
    pub weights: [f32; MAX_INFLUENCES],
    /// Number of the part: 0 is always visible; n is entry n - 1 of
    /// [`Metadata::parts`](crate::Metadata::parts).
    pub part: u32,
    /// Colour: linear RGBA, 0..1, multiplied with the base colour.
    pub color: Vec4,
}

/// Layout of the vertices of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct VertexFormat {
    /// Precision of everything except tangent, second texture coordinates and colour.
    pub packing: Packing,
    /// Whether a tangent follows: four words at full precision, one word packed, one bit in vertex
    /// mode.
    pub tangent: bool,
    /// Whether second texture coordinates follow, two words.
    pub second_uv: bool,
    /// Whether a colour follows, one word; otherwise the colour is 1.
    pub color: bool,
}

/// Precision of the vertex attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub enum Packing {
    /// 56 bytes: `f32` positions, normals, texture coordinates and weights, 16-bit joints.
    Full,
    /// 24 bytes: 16-bit positions and texture coordinates within the model's range, octahedral
    /// 16-bit normals, 10-bit joints, 11/11/10-bit weights.
    Narrow,
    /// 28 bytes: like `Narrow` with 16-bit weights, for models in which 11-bit weights cause a
    /// visible error.
    Wide,
    /// 8 bytes, for vertex mode: the data that does not change over time, which is texture
    /// coordinates and the row of the animation texture.
    Static,
    /// 76 bytes: like `Full`, with up to eight influences.
    Full8,
    /// 40 bytes: like `Wide`, with up to eight influences.
    Wide8,
}

impl Packing {
    /// Maximum number of influences per vertex.
    pub const fn influences(self) -> usize {
        match self {
            Self::Full | Self::Narrow | Self::Wide => 4,
            Self::Full8 | Self::Wide8 => 8,
            Self::Static => 0,
        }
    }

    /// Whether all attributes have full precision.
    pub const fn is_full(self) -> bool {
        matches!(self, Self::Full | Self::Full8)
    }
}

/// Ranges of packed positions and texture coordinates: `value = min + extent * packed / 65535`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct VertexRange {
    /// Least position, metres.
    pub position_min: [f32; 3],
    /// Greatest position minus least position, metres.
    pub position_extent: [f32; 3],
    /// Least texture coordinate.
    pub uv_min: [f32; 2],
    /// Greatest texture coordinate minus least texture coordinate.
    pub uv_extent: [f32; 2],
}

/// Number of steps of a narrow weight: a power of two, so that sums and differences are exact.
const NARROW_STEPS: f32 = 4096.0;
/// Bits of the row in a static vertex.
const ROW: u32 = (1 << 26) - 1;
/// Number of steps of a wide weight.
const WIDE_STEPS: f32 = 65_536.0;
/// Maximum of the fifth to eighth weight, in steps of a wide weight.
const FIFTH_MOST: f32 = 16_383.0;

impl VertexFormat {
    /// Returns the number of 32-bit words per vertex.
    pub const fn words(self) -> usize {
        let without_color = match (self.packing, self.tangent) {
            (Packing::Full, false) => 14,
            (Packing::Full, true) => 18,
            (Packing::Narrow, false) => 6,
            (Packing::Narrow, true) | (Packing::Wide, false) => 7,
            (Packing::Wide, true) => 8,
            (Packing::Static, _) => 2,
            (Packing::Full8, false) => 19,
            // Six attributes of four words are not enough for more.
            (Packing::Full8, true) if self.second_uv => 20,
            (Packing::Full8, true) => 23,
            (Packing::Wide8, false) => 10,
            (Packing::Wide8, true) => 11,
        };
        without_color + self.uv_words() + self.color as usize
    }

    /// Number of words of the second texture coordinates.
    const fn uv_words(self) -> usize {
        if self.second_uv { 2 } else { 0 }
    }

    /// Returns the index of the first word of the second texture coordinates.
    pub(crate) const fn second_uv_word(self) -> usize {
        self.words() - self.uv_words() - self.color as usize
    }

    /// Whether a tangent takes four words, not one.
    pub(crate) const fn has_full_tangent(self) -> bool {
        match self.packing {
            Packing::Full => self.tangent,
            Packing::Full8 => self.tangent && !self.second_uv,
            _ => false,
        }
    }

    /// Returns the number of bytes per vertex.
    pub const fn stride(self) -> usize {
        self.words() * 4
    }
}

/// Encodes `value`, 0..1, in 16 bits.
fn unorm16(value: f32) -> u32 {
    (value.clamp(0.0, 1.0) * 65_535.0).round() as u32
}

/// Encodes `value`, -1..1, as a signed number of `bits` bits in the low bits of a word.
fn snorm(value: f32, bits: u32) -> u32 {
    let top = ((1_i32 << (bits - 1)) - 1) as f32;
    (value.clamp(-1.0, 1.0) * top).round() as i32 as u32 & ((1 << bits) - 1)
}

/// Decodes the signed number in the upper 16 bits as -1..1.
fn high_snorm16(word: u32) -> f32 {
    ((word as i32 >> 16) as f32 / 32_767.0).max(-1.0)
}

/// Maps a unit vector to the octahedral map, -1..1 each (Cigolle et al. 2014, "A Survey of
/// Efficient Representations for Independent Unit Vectors").
pub fn octahedral(v: Vec3) -> Vec2 {
    let p = v.truncate() / (v.x.abs() + v.y.abs() + v.z.abs()).max(f32::MIN_POSITIVE);
    if v.z >= 0.0 {
        return p;
    }
    let sign = |f: f32| if f >= 0.0 { 1.0 } else { -1.0 };
    Vec2::new((1.0 - p.y.abs()) * sign(p.x), (1.0 - p.x.abs()) * sign(p.y))
}

/// Returns the unit vector at a point of the octahedral map.
pub fn from_octahedral(e: Vec2) -> Vec3 {
    let z = 1.0 - e.x.abs() - e.y.abs();
    let fold = (-z).max(0.0);
    let x = e.x - if e.x >= 0.0 { fold } else { -fold };
    let y = e.y - if e.y >= 0.0 { fold } else { -fold };
    Vec3::new(x, y, z).normalize()
}

/// Packs a colour, red in the lowest bits.
pub fn color_word(color: Vec4) -> u32 {
    u32::from_le_bytes(color.to_array().map(|c| (c.clamp(0.0, 1.0) * 255.0).round() as u8))
}

/// Unpacks a colour. CPU reference of `gpuskin_unpack_color`.
fn unpack_color(words: &[u32], format: VertexFormat) -> Vec4 {
    if !format.color {
        return Vec4::ONE;
    }
    Vec4::from(words[format.words() - 1].to_le_bytes().map(f32::from)) / 255.0
}

/// Appends the words that end a vertex: second texture coordinates and colour.
fn push_last(words: &mut Vec<u32>, vertex: &Vertex, format: VertexFormat) {
    if format.second_uv {
        words.extend(vertex.second_uv.to_array().map(f32::to_bits));
    }
    words.extend(format.color.then(|| color_word(vertex.color)));
}

/// Unpacks second texture coordinates. CPU reference of `gpuskin_second_uv`.
fn unpack_second_uv(words: &[u32], format: VertexFormat) -> Vec2 {
    let first = format.second_uv_word();
    if format.second_uv {
        Vec2::new(f32::from_bits(words[first]), f32::from_bits(words[first + 1]))
    } else {
        Vec2::ZERO
    }
}

/// Packs a tangent and the sign of its bitangent.
fn tangent_word(tangent: Vec4) -> u32 {
    let e = octahedral(tangent.truncate());
    let negative = u32::from(tangent.w < 0.0);
    snorm(e.x, 16) | negative << 16 | snorm(e.y, 15) << 17
}

/// Unpacks a tangent and the sign of its bitangent.
fn tangent_of(word: u32) -> Vec4 {
    let y = ((word as i32 >> 17) as f32 / 16_383.0).max(-1.0);
    let sign = if word & 1 << 16 == 0 { 1.0 } else { -1.0 };
    from_octahedral(Vec2::new(high_snorm16(word << 16), y)).extend(sign)
}

fn in_range(value: f32, min: f32, extent: f32) -> u32 {
    if extent > 0.0 { unorm16((value - min) / extent) } else { 0 }
}

/// Packs a vertex into [`VertexFormat::words`] words. Sorts weights, greatest first.
pub fn pack(vertex: &Vertex, format: VertexFormat, range: &VertexRange) -> Vec<u32> {
    if format.packing == Packing::Static {
        let [u, v] = [0, 1].map(|i| in_range(vertex.uv[i], range.uv_min[i], range.uv_extent[i]));
        let negative = u32::from(format.tangent && vertex.tangent.w < 0.0);
        let mut words = vec![u | v << 16, vertex.joints[0] & ROW | vertex.part << 26 | negative << 31];
        push_last(&mut words, vertex, format);
        return words;
    }
    let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
    order.sort_by(|&a, &b| vertex.weights[b].total_cmp(&vertex.weights[a]));
    let joints = order.map(|i| if vertex.weights[i] > 0.0 { vertex.joints[i] } else { 0 });
    let weights = order.map(|i| vertex.weights[i]);
    let eight = format.packing.influences() == 8;
    let mut words = Vec::with_capacity(format.words());
    if format.packing.is_full() {
        words.extend(vertex.position.to_array().map(f32::to_bits));
        words.extend(vertex.normal.to_array().map(f32::to_bits));
        words.extend(vertex.uv.to_array().map(f32::to_bits));
        let spread = if eight { (joints[7] & 31) << 10 | (joints[7] >> 5 & 31) << 26 } else { 0 };
        words.extend([joints[0] | joints[1] << 16 | spread, joints[2] | joints[3] << 16 | vertex.part << 26]);
        words.extend(weights[..4].iter().map(|weight| weight.to_bits()));
        if eight {
            words.push(joints[4] | joints[5] << 10 | joints[6] << 20);
            words.extend(weights[4..].iter().map(|weight| weight.to_bits()));
        }
        if format.has_full_tangent() {
            words.extend(vertex.tangent.to_array().map(f32::to_bits));
        } else if format.tangent {
            words.push(tangent_word(vertex.tangent));
        }
        push_last(&mut words, vertex, format);
        return words;
    }
    let p = [0, 1, 2].map(|i| in_range(vertex.position[i], range.position_min[i], range.position_extent[i]));
    let t = [0, 1].map(|i| in_range(vertex.uv[i], range.uv_min[i], range.uv_extent[i]));
    let n = octahedral(vertex.normal);
    let low = |i: usize| (joints[i] & 0xff) << (8 * i);
    let high = |i: usize| (joints[i] >> 8 & 3) << (16 + 2 * i);
    words.push(p[0] | p[1] << 16);
    words.push(p[2] | high(0) | high(1) | high(2) | high(3) | vertex.part << 24);
    words.push(snorm(n.x, 16) | snorm(n.y, 16) << 16);
    words.push(t[0] | t[1] << 16);
    words.push(low(0) | low(1) | low(2) | low(3));
    let steps = |i: usize, steps: f32, most: f32| (weights[i] * steps).round().clamp(0.0, most) as u32;
    if format.packing == Packing::Narrow {
        let (a, b, c) =
            (steps(1, NARROW_STEPS, 2047.0), steps(2, NARROW_STEPS, 2047.0), steps(3, NARROW_STEPS, 1023.0));
        words.push(a | b << 11 | c << 22);
    } else {
        let k = |i| steps(i, WIDE_STEPS, 65_535.0);
        words.extend([k(1) | k(2) << 16, k(3)]);
    }
    if eight {
        let k = |i| steps(i, WIDE_STEPS, FIFTH_MOST) | (joints[i] >> 8 & 3) << 28;
        let pair = |i: usize| (k(i) & 0x3fff) | (k(i + 1) & 0x3fff) << 14 | k(i) >> 28 << 28 | k(i + 1) >> 28 << 30;
        words.push(u32::from_le_bytes([4, 5, 6, 7].map(|i: usize| joints[i] as u8)));
        words.extend([pair(4), pair(6)]);
    }
    if format.tangent {
        words.push(tangent_word(vertex.tangent));
    }
    push_last(&mut words, vertex, format);
    words
}

/// Unpacks a vertex as the shader does.
///
/// # Panics
/// If `words` is shorter than [`VertexFormat::words`].
pub fn unpack(words: &[u32], format: VertexFormat, range: &VertexRange) -> Vertex {
    let f = |i: usize| f32::from_bits(words[i]);
    let color = unpack_color(words, format);
    let second_uv = unpack_second_uv(words, format);
    let eight = format.packing.influences() == 8;
    if format.packing.is_full() {
        let (mut joints, mut weights) = ([0; 8], [0.0; 8]);
        joints[..4].copy_from_slice(&[words[8], words[8] >> 16, words[9], words[9] >> 16].map(|word| word & 0x3ff));
        weights[..4].copy_from_slice(&[f(10), f(11), f(12), f(13)]);
        if eight {
            let seventh = words[8] >> 10 & 31 | (words[8] >> 26 & 31) << 5;
            joints[4..].copy_from_slice(&[words[14] & 0x3ff, words[14] >> 10 & 0x3ff, words[14] >> 20, seventh]);
            weights[4..].copy_from_slice(&[f(15), f(16), f(17), f(18)]);
        }
        let tangent = if eight { 19 } else { 14 };
        return Vertex {
            position: Vec3::new(f(0), f(1), f(2)),
            normal: Vec3::new(f(3), f(4), f(5)),
            uv: Vec2::new(f(6), f(7)),
            second_uv,
            joints,
            weights,
            part: words[9] >> 26,
            tangent: match (format.tangent, format.has_full_tangent()) {
                (false, _) => Vec4::X,
                (true, true) => Vec4::from([0, 1, 2, 3].map(|i| f(tangent + i))),
                (true, false) => tangent_of(words[tangent]),
            },
            color,
        };
    }
    let unorm = |v: u32| (v & 0xffff) as f32 / 65_535.0;
    if format.packing == Packing::Static {
        let sign = if words[1] >> 31 == 0 { 1.0 } else { -1.0 };
        return Vertex {
            position: Vec3::ZERO,
            normal: Vec3::ZERO,
            tangent: if format.tangent { Vec4::new(1.0, 0.0, 0.0, sign) } else { Vec4::X },
            uv: Vec2::from(range.uv_min)
                + Vec2::from(range.uv_extent) * Vec2::new(unorm(words[0]), unorm(words[0] >> 16)),
            second_uv,
            joints: [words[1] & ROW, 0, 0, 0, 0, 0, 0, 0],
            weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            part: words[1] >> 26 & 31,
            color,
        };
    }
    let position = Vec3::new(unorm(words[0]), unorm(words[0] >> 16), unorm(words[1]));
    let uv = Vec2::new(unorm(words[3]), unorm(words[3] >> 16));
    let joint = |i: usize| words[4] >> (8 * i) & 0xff | (words[1] >> (16 + 2 * i) & 3) << 8;
    let (k, steps) = if format.packing == Packing::Narrow {
        ([words[5] & 2047, words[5] >> 11 & 2047, words[5] >> 22], NARROW_STEPS)
    } else {
        ([words[5] & 0xffff, words[5] >> 16, words[6] & 0xffff], WIDE_STEPS)
    };
    let [w1, w2, w3] = k.map(|k| k as f32 / steps);
    let (mut more_joints, mut more_weights) = ([0; 4], [0.0; 4]);
    if eight {
        let low = words[7].to_le_bytes();
        for (i, (joint, weight)) in more_joints.iter_mut().zip(&mut more_weights).enumerate() {
            let word = words[8 + i / 2];
            *joint = u32::from(low[i]) | (word >> (28 + i % 2 * 2) & 3) << 8;
            *weight = (word >> (i % 2 * 14) & 0x3fff) as f32 / WIDE_STEPS;
        }
    }
    let [w4, w5, w6, w7] = more_weights;
    let [j4, j5, j6, j7] = more_joints;
    let tangent = if format.tangent { tangent_of(words[format.second_uv_word() - 1]) } else { Vec4::X };
    Vertex {
        position: Vec3::from(range.position_min) + Vec3::from(range.position_extent) * position,
        normal: from_octahedral(Vec2::new(high_snorm16(words[2] << 16), high_snorm16(words[2]))),
        tangent,
        uv: Vec2::from(range.uv_min) + Vec2::from(range.uv_extent) * uv,
        second_uv,
        joints: [joint(0), joint(1), joint(2), joint(3), j4, j5, j6, j7],
        weights: [1.0 - w1 - w2 - w3 - w4 - w5 - w6 - w7, w1, w2, w3, w4, w5, w6, w7],
        part: words[1] >> 24,
        color,
    }
}

#[cfg(test)]
mod tests;
