//! Morph targets of models in bone mode. CPU reference of `shaders/morphs.wgsl` and `shaders/morph_pass.wgsl`.
//!
//! The weight of a morph target is one axis of the translation of a bone that moves no vertex by itself:
//! three targets per bone. Weights are therefore encoded, interpolated, faded and layered as bones are.
//! The translation is the weight times [`MorphInfo::scale`](crate::MorphInfo::scale), in metres, so that a
//! position error of such a bone is about a position error of a vertex.
//!
//! Vertices that targets move come first in the mesh. A texture of four words per texel, [`ACROSS`] texels wide, has their
//! deltas; vertices with equal deltas share a list of them.
//!
//! | words, rounded up to whole texels | content |
//! |---|---|
//! | 8 | for each of [`MAX_LODS`] levels of detail: number of moved vertices that it or a coarser one draws |
//! | one per vertex | its list: number of deltas, 11 bits; index of the first one's texel, 21 bits |
//! | one per moved vertex | indices of the moved vertices: those of coarser levels of detail first |
//! | four per delta | deltas of the lists |
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

use core::cmp::Reverse;

use glam::Vec3;

use crate::MAX_LODS;
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

/// Returns the number of palette matrices for the sums of a pose's deltas, 24 bytes per moved vertex, or 36 with tangents.
#[cfg(any(test, feature = "wgpu"))]
pub(crate) fn sum_matrices(moved: u32, tangents: bool) -> u32 {
    if tangents { moved.div_ceil(4) * 3 } else { moved.div_ceil(2) }
}

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

    /// Returns the number of moved vertices that a level of detail or a coarser one draws; level 0 is the finest.
    pub fn moved(&self, level: usize) -> u32 {
        self.word(level.min(MAX_LODS - 1))
    }

    /// Iterates over the deltas of a vertex.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = MorphDelta> + use<'a> {
        let word = self.word(MAX_LODS + vertex);
        let (count, first) = (word & ((1 << COUNT_BITS) - 1), (word >> COUNT_BITS) as usize);
        let list = self.texels.get(first..).unwrap_or_default();
        list.iter().take(count as usize).map(|texel| MorphDelta::unpack(*texel))
    }

    fn word(&self, at: usize) -> u32 {
        self.texels.get(at / 4).map_or(0, |texel| texel[at % 4])
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

    /// Makes the words of the texture, at most [`MAX_TEXELS`] texels.
    ///
    /// `lists`: at most 2,047 deltas each. `of`: for each vertex, the index of its list plus 1; 0: none. Vertices up to the
    /// last one with a list count as moved. `coarsest`: the coarsest level of detail that draws a vertex, below [`MAX_LODS`].
    pub fn pack(lists: &[&[MorphDelta]], of: &[u32], coarsest: impl Fn(usize) -> usize) -> Vec<u32> {
        let moved = of.iter().rposition(|list| *list != 0).map_or(0, |last| last + 1);
        let drawn = |level: usize| (0..moved).filter(|vertex| coarsest(*vertex) >= level).count() as u32;
        let mut words: Vec<u32> = (0..MAX_LODS).map(drawn).collect();
        words.resize(words.len() + of.len().next_multiple_of(4), 0);
        let mut order: Vec<u32> = (0..moved as u32).collect();
        order.sort_by_key(|vertex| Reverse(coarsest(*vertex as usize)));
        words.extend(order);
        words.resize(words.len().next_multiple_of(4), 0);
        let add = |deltas: &&[MorphDelta]| {
            let list = ((words.len() / 4) as u32) << COUNT_BITS | deltas.len() as u32;
            deltas.iter().for_each(|delta| words.extend(delta.pack()));
            list
        };
        let lists: Vec<u32> = lists.iter().map(add).collect();
        for (word, list) in words[MAX_LODS..].iter_mut().zip(of) {
            *word = list.checked_sub(1).map_or(0, |list| lists[list as usize]);
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
        let lists = [&[delta(1, 1.0), delta(5, 0.5)][..], &[delta(2, 2.0)], &[delta(7, 1.0)]];
        let of = [1, 3, 0, 2, 1, 0, 0];
        let coarsest = [0, 2, 7, 1, 2, 5, 5];
        let words = MorphLists::pack(&lists, &of, |vertex| coarsest[vertex]);
        let packed = MorphLists::new(&words);
        for (vertex, list) in of.into_iter().enumerate() {
            let found: Vec<u32> = packed.of(vertex).map(|delta| delta.row).collect();
            let expected = list.checked_sub(1).map_or(&[][..], |list| lists[list as usize]);
            assert_eq!(found, expected.iter().map(|delta| delta.row).collect::<Vec<_>>(), "vertex {vertex}");
        }
        assert!(MorphLists::default().is_empty());
        // Five vertices count as moved. Those of coarser levels come first.
        assert_eq!([0, 1, 2, 3, 7, 99].map(|level| packed.moved(level)), [5, 4, 3, 1, 1, 1]);
        assert_eq!(words[MAX_LODS + 8..][..5], [2, 1, 4, 3, 0]);
    }

    #[test]
    fn damaged_lists_end() {
        // The first list is longer than the texture, and the second one starts beyond the end.
        let words = [[9; 4], [9; 4], [3 << 11 | 2000, 900 << 11 | 1, 0, 0], [0; 4]];
        let lists = MorphLists::new(words.as_flattened());
        assert_eq!([0, 1, 2, 1000].map(|vertex| lists.of(vertex).count()), [1, 0, 0, 0]);
        assert_eq!(MorphLists::new(&[]).of(2).count(), 0);
    }

    #[test]
    fn a_vertex_moves_by_the_sum_of_its_deltas() {
        let vertex = Vertex {
            position: Vec3::ONE,
            normal: Vec3::Z,
            tangent: Vec4::new(1.0, 0.0, 0.0, -1.0),
            uv: Vec2::ZERO,
            second_uv: Vec2::ZERO,
            joints: [0; 8],
            weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            part: 0,
            color: Vec4::ONE,
        };
        let [a, b] = [delta(4, 1.0), delta(8, 0.5)];
        let words = MorphLists::pack(&[&[a, b]], &[1], |_| 0);
        let moved = MorphLists::new(&words).morphed(0, &vertex, |row| if row == 4 { 0.5 } else { -2.0 });
        assert!(moved.position.distance(Vec3::ONE + a.position * 0.5 - b.position * 2.0) < 2e-4);
        assert!(moved.normal.distance(Vec3::Z + a.normal * 0.5 - b.normal * 2.0) < 0.03);
        assert_eq!(moved.tangent.w, -1.0);
    }
}
