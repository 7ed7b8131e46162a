//! Morph targets of models in bone mode. CPU reference of `shaders/morphs.wgsl`.
//!
//! The weight of a morph target is one axis of the translation of a bone that moves no vertex by itself:
//! three targets per bone. Weights are therefore encoded, interpolated, faded and layered as bones are.
//! The translation is the weight times [`MorphInfo::scale`](crate::MorphInfo::scale), in metres, so that a
//! position error of such a bone is about a position error of a vertex.
//!
//! A texture of four words per texel, [`ACROSS`] texels wide, has the deltas:
//!
//! | texels | content |
//! |---|---|
//! | first | a word per vertex: number of its deltas, 11 bits; index of the first one's texel, 21 bits |
//! | rest | deltas, one per texel and pair of vertex and target |
//!
//! | word of a delta | from bit 0 up |
//! |---|---|
//! | 0 | position x, y: signed 16 bits each, -1..1 |
//! | 1 | position z: signed 16 bits; index of the bone times 3 plus the axis: 12 bits; lower 4 bits of the exponent of normal and tangent |
//! | 2 | normal x, y, z: signed 10 bits each, -1..1 |
//! | 3 | tangent x, y, z: signed 8 bits each; upper 2 bits of the exponent of normal and tangent; exponent of the position: 6 bits |
//!
//! An exponent e stands for the factor 2^(e - 40). With t the translation of the bone along the axis, a
//! vertex moves by t times the position, before it is skinned.

use glam::Vec3;

use crate::vertex::Vertex;

/// Width of the texture in texels.
pub const ACROSS: usize = 1024;
/// Greatest number of texels: a square that every device supports is twice as large.
pub const MAX_TEXELS: usize = ACROSS * 2048;
/// Bits of the number of deltas of a vertex.
const COUNT_BITS: u32 = 11;
/// Exponent that stands for a factor of 1.
const ONE: i32 = 40;
/// Greatest exponent.
const MOST: i32 = 63;

/// Deltas of one vertex and one morph target, per metre of the bone's translation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MorphDelta {
    /// Index of the bone times 3, plus the axis of its translation.
    pub row: u32,
    /// Delta of the position.
    pub position: Vec3,
    /// Delta of the normal.
    pub normal: Vec3,
    /// Delta of the tangent.
    pub tangent: Vec3,
}

impl MorphDelta {
    /// Packs the delta.
    pub fn pack(&self) -> [u32; 4] {
        let (of_position, position) = scaled(self.position);
        let (of_others, others) = scaled(self.normal.abs().max(self.tangent.abs()));
        let [normal, tangent] = if others == Vec3::ZERO {
            [Vec3::ZERO; 2]
        } else {
            [self.normal, self.tangent].map(|delta| delta / factor(of_others))
        };
        let p = position.to_array().map(|v| snorm(v, 16));
        let n = normal.to_array().map(|v| snorm(v, 10));
        let t = tangent.to_array().map(|v| snorm(v, 8));
        [
            p[0] | p[1] << 16,
            p[2] | (self.row & 0xfff) << 16 | (of_others & 15) << 28,
            n[0] | n[1] << 10 | n[2] << 20,
            t[0] | t[1] << 8 | t[2] << 16 | (of_others >> 4) << 24 | of_position << 26,
        ]
    }

    /// Unpacks a delta.
    pub fn unpack([a, b, c, d]: [u32; 4]) -> Self {
        let of_others = factor(b >> 28 | (d >> 24 & 3) << 4);
        let vector = |x: u32, y: u32, z: u32, bits: u32| Vec3::from([x, y, z].map(|word| high_snorm(word, bits)));
        Self {
            row: b >> 16 & 0xfff,
            position: vector(a << 16, a, b << 16, 16) * factor(d >> 26),
            normal: vector(c << 22, c << 12, c << 2, 10) * of_others,
            tangent: vector(d << 24, d << 16, d << 8, 8) * of_others,
        }
    }
}

/// Returns the least exponent whose factor is at least the greatest component, and the vector over the factor.
fn scaled(v: Vec3) -> (u32, Vec3) {
    let most = v.abs().max_element();
    if !(most > 0.0 && most.is_finite()) {
        return (0, Vec3::ZERO);
    }
    // The exponent of a float, rounded down.
    let down = (most.to_bits() >> 23) as i32 - 127;
    let up = down + i32::from(most.to_bits() & 0x7f_ffff != 0);
    let exponent = (up + ONE).clamp(0, MOST) as u32;
    (exponent, v / factor(exponent))
}

/// Factor of an exponent.
fn factor(exponent: u32) -> f32 {
    f32::from_bits((exponent + (127 - ONE) as u32) << 23)
}

fn snorm(value: f32, bits: u32) -> u32 {
    let top = ((1_i32 << (bits - 1)) - 1) as f32;
    (value.clamp(-1.0, 1.0) * top).round() as i32 as u32 & ((1 << bits) - 1)
}

/// Decodes the signed number in the upper `bits` bits as -1..1.
fn high_snorm(word: u32, bits: u32) -> f32 {
    let top = ((1_i32 << (bits - 1)) - 1) as f32;
    ((word as i32 >> (32 - bits)) as f32 / top).max(-1.0)
}

/// Deltas of the vertices of a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct MorphLists<'a> {
    texels: &'a [[u32; 4]],
}

impl<'a> MorphLists<'a> {
    /// Wraps the words of the texture, four per texel; a last incomplete texel is ignored.
    pub fn new(words: &'a [u32]) -> Self {
        Self { texels: words.as_chunks::<4>().0 }
    }

    /// Whether no target moves any vertex.
    pub fn is_empty(&self) -> bool {
        self.texels.is_empty()
    }

    /// Iterates over the deltas of a vertex.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = MorphDelta> + use<'a> {
        let word = self.texels.get(vertex / 4).map_or(0, |lists| lists[vertex % 4]);
        let (count, first) = (word & ((1 << COUNT_BITS) - 1), (word >> COUNT_BITS) as usize);
        let list = self.texels.get(first..).unwrap_or_default();
        list.iter().take(count as usize).map(|texel| MorphDelta::unpack(*texel))
    }

    /// Returns a vertex before skinning. `translation`: component `row % 3` of the translation of bone `row / 3`.
    pub fn morphed(&self, index: usize, vertex: &Vertex, translation: impl Fn(u32) -> f32) -> Vertex {
        let mut morphed = *vertex;
        for delta in self.of(index) {
            let weight = translation(delta.row);
            morphed.position += delta.position * weight;
            morphed.normal += delta.normal * weight;
            morphed.tangent += (delta.tangent * weight).extend(0.0);
        }
        morphed
    }

    /// Makes the words of the texture from the deltas of each vertex, at most 2,047 of a vertex, in at most
    /// [`MAX_TEXELS`] texels.
    pub fn pack<'d>(vertices: impl ExactSizeIterator<Item = &'d [MorphDelta]>) -> Vec<u32> {
        let starts = vertices.len().div_ceil(4) * 4;
        let mut words = vec![0; starts];
        for (vertex, deltas) in vertices.enumerate().filter(|(_, deltas)| !deltas.is_empty()) {
            words[vertex] = ((words.len() / 4) as u32) << COUNT_BITS | deltas.len() as u32;
            deltas.iter().for_each(|delta| words.extend(delta.pack()));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use glam::{Vec2, Vec4};

    use super::*;

    fn delta(row: u32, scale: f32) -> MorphDelta {
        MorphDelta {
            row,
            position: Vec3::new(0.3, -1.0, 0.004) * scale,
            normal: Vec3::new(-0.7, 0.2, 0.1) * 3.0,
            tangent: Vec3::new(0.1, 0.5, -0.3),
        }
    }

    #[test]
    fn deltas_keep_their_precision_at_any_scale() {
        for (row, scale) in [(0, 1.0), (4095, 1e-5), (17, 1000.0), (3, 0.02)] {
            let delta = delta(row, scale);
            let found = MorphDelta::unpack(delta.pack());
            assert_eq!(found.row, row);
            // Half a step of 1/32767 of the factor, which is less than twice the greatest component.
            assert!(found.position.distance(delta.position) <= scale * 2.0 * 0.9 / 32_767.0, "{found:?}");
            assert!(found.normal.distance(delta.normal) <= 4.0 * 0.9 / 511.0, "{found:?}");
            assert!(found.tangent.distance(delta.tangent) <= 4.0 * 0.9 / 127.0, "{found:?}");
        }
        let none = MorphDelta { row: 9, ..MorphDelta::default() };
        assert_eq!(MorphDelta::unpack(none.pack()), none);
    }

    #[test]
    fn lists_find_the_deltas_of_each_vertex() {
        let deltas = [vec![], vec![delta(1, 1.0), delta(5, 0.5)], vec![], vec![], vec![delta(2, 2.0)], vec![]];
        let words = MorphLists::pack(deltas.iter().map(Vec::as_slice));
        let lists = MorphLists::new(&words);
        for (vertex, expected) in deltas.iter().enumerate() {
            let found: Vec<u32> = lists.of(vertex).map(|delta| delta.row).collect();
            assert_eq!(found, expected.iter().map(|delta| delta.row).collect::<Vec<_>>(), "vertex {vertex}");
        }
        assert_eq!(lists.of(1000).count(), 0);
        assert!(MorphLists::default().is_empty());
    }

    #[test]
    fn damaged_lists_end() {
        // The first list is longer than the texture, and the second one starts beyond the end.
        let words = [[1 << 11 | 2000, 900 << 11 | 1, 0, 0], [0; 4], [0; 4]];
        let lists = MorphLists::new(words.as_flattened());
        assert_eq!((lists.of(0).count(), lists.of(1).count()), (2, 0));
    }

    #[test]
    fn a_vertex_moves_by_the_sum_of_its_deltas() {
        let vertex = Vertex {
            position: Vec3::ONE,
            normal: Vec3::Z,
            tangent: Vec4::new(1.0, 0.0, 0.0, -1.0),
            uv: Vec2::ZERO,
            joints: [0; 8],
            weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            part: 0,
            color: Vec4::ONE,
        };
        let [a, b] = [delta(4, 1.0), delta(8, 0.5)];
        let words = MorphLists::pack([&[a, b][..]].into_iter());
        let moved = MorphLists::new(&words).morphed(0, &vertex, |row| if row == 4 { 0.5 } else { -2.0 });
        assert!(moved.position.distance(Vec3::ONE + a.position * 0.5 - b.position * 2.0) < 2e-4);
        assert!(moved.normal.distance(Vec3::Z + a.normal * 0.5 - b.normal * 2.0) < 0.03);
        assert_eq!(moved.tangent.w, -1.0);
    }
}
