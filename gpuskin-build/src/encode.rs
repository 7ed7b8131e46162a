//! `Poses -> Texels`: one module an encoding. How they are read back stands in `gpuskin_rt::Texels`, the twin of the
//! shaders.

mod local;
mod matrix;
mod packed;
mod pivot;
mod trs;

use glam::Vec3;
use gpuskin_rt::{AnimationTexture, ClipRecord, Encoding, MAX_LAYERS, MAX_SIDE, TexelFormat, ValueRange};
use half::f16;

use crate::frames::FrameGrid;
use crate::model::Model;
use crate::sample::Rows;

pub use local::TooLarge;
pub use matrix::Ranges;

/// An animation texture and its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedTexture {
    /// How bones stand in it.
    pub encoding: Encoding,
    /// Its shape.
    pub texture: AnimationTexture,
    /// All layers, rows top down, little-endian.
    pub bytes: Vec<u8>,
}

impl EncodedTexture {
    /// The texture as the vertex shader sees it.
    pub fn view(&self) -> gpuskin_rt::Texels<'_> {
        gpuskin_rt::Texels::new(self.encoding, self.texture, &self.bytes).expect("as many bytes as the shape needs")
    }

    /// Writes bytes of a bone's texels in a frame, from the first on. Linear bytes do not see where a row of the texture
    /// ends.
    fn put(&mut self, frame: u32, bone: usize, bytes: impl IntoIterator<Item = u8>) {
        let at = self.texture.byte_offset(self.encoding, frame, bone as u32, 0) as usize;
        self.bytes[at..].iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
    }

    /// Writes floats, in the precision of the format.
    fn put_floats(&mut self, frame: u32, bone: usize, values: impl IntoIterator<Item = f64>) {
        let values = values.into_iter();
        match self.encoding.format() {
            TexelFormat::Rgba16Float => self.put(frame, bone, values.flat_map(|v| f16::from_f64(v).to_le_bytes())),
            _ => self.put(frame, bone, values.flat_map(|v| (v as f32).to_le_bytes())),
        }
    }
}

/// The animation of `local-packed`, which is made of curves instead of skin matrices: frames as `texture` has them, words in
/// rows of its width. `tolerance`: metres that any vertex may be off at any frame, as drawn.
pub fn local_packed(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    mut texture: AnimationTexture,
    tolerance: f64,
) -> Result<EncodedTexture, TooLarge> {
    let encoding = Encoding::LocalPacked;
    let mut bytes = local::encode(model, grids, records, tolerance)?;
    let texels = (bytes.len() / encoding.format().bytes()) as u64;
    texture.width = width(texels);
    texture.height = texels.div_ceil(u64::from(texture.width)) as u32;
    (texture.layers, texture.frames_per_layer) = (1, texture.frames);
    bytes.resize(texture.byte_len(encoding) as usize, 0);
    Ok(EncodedTexture { encoding, texture, bytes })
}

/// A bone that an encoding cannot hold as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// It is scaled unevenly, or sheared.
    Uneven {
        /// Index of the bone.
        bone: usize,
    },
    /// A number is out of the encoding's range.
    OutOfRange {
        /// Index of the bone.
        bone: usize,
    },
}

/// Makes [`Texels`], clip by clip.
pub struct Encoder {
    texels: EncodedTexture,
    /// Of each bone.
    pivots: Vec<Vec3>,
}

impl Encoder {
    /// All texels start as zero. `ranges`: of all poses, where the encoding needs them.
    pub fn new(encoding: Encoding, mut texture: AnimationTexture, model: &Model, ranges: ValueRange) -> Self {
        texture.range = ranges;
        let bytes = vec![0; texture.byte_len(encoding) as usize];
        Self { texels: EncodedTexture { encoding, texture, bytes }, pivots: pivot::pivots(model) }
    }

    /// Encodes the skin matrices of all bones in the frames of a clip, from this one on. The first bone that does not fit,
    /// of each kind, is reported.
    pub fn clip(&mut self, first_frame: u32, poses: &[Vec<Rows>]) -> Vec<Misfit> {
        let texels = &mut self.texels;
        match texels.encoding {
            Encoding::MatrixF32 | Encoding::MatrixF16 => matrix::floats(texels, first_frame, poses),
            Encoding::MatrixUnorm => matrix::fractions(texels, first_frame, poses),
            Encoding::TrsF16 => trs::halves(texels, first_frame, poses),
            Encoding::Fixed16 => trs::fixed(texels, first_frame, poses),
            Encoding::TrsPacked => packed::clip(texels, first_frame, poses, &self.pivots),
            other => unreachable!("{other:?} is not made of skin matrices"),
        }
    }

    /// All frames.
    pub fn finish(self) -> EncodedTexture {
        self.texels
    }
}

/// Least width of a texture: rows of a cache line and more.
const LEAST_WIDTH: u32 = 64;

/// Width of a texture that holds so many texels and is about square.
fn width(texels: u64) -> u32 {
    let mut width = LEAST_WIDTH;
    while width < MAX_SIDE && texels > u64::from(width) * u64::from(width) {
        width *= 2;
    }
    width
}

/// The shape that holds so many frames of so many rows: as wide as asked for or about square, then in layers. `None`: it
/// does not fit.
pub fn shape(encoding: Encoding, frames: u32, rows: u32, wanted: Option<u32>) -> Option<AnimationTexture> {
    let frame = u64::from(rows) * u64::from(encoding.texels());
    let total = frame * u64::from(frames);
    let width = wanted.unwrap_or(width(total));
    let frames_per_layer = (u64::from(width) * u64::from(MAX_SIDE) / frame).min(u64::from(frames)) as u32;
    let layers = if frames_per_layer == 0 { return None } else { frames.div_ceil(frames_per_layer) };
    // Layers of even length waste less than full ones and a rest.
    let frames_per_layer = frames.div_ceil(layers);
    let height = (frame * u64::from(frames_per_layer)).div_ceil(u64::from(width)) as u32;
    let range = ValueRange::default();
    (layers <= MAX_LAYERS).then_some(AnimationTexture { width, height, layers, frames_per_layer, frames, rows, range })
}

/// So many bits, 32 a word, the first in the lowest.
pub fn bit_set(count: usize, has: impl Fn(usize) -> bool) -> Vec<u32> {
    let word = |w: usize| (0..32.min(count - w * 32)).fold(0, |word, bit| word | u32::from(has(w * 32 + bit)) << bit);
    (0..count.div_ceil(32)).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat4, DQuat, DVec3};
    use gpuskin_rt::FramePair;

    fn poses(scale: DVec3) -> Vec<Vec<Rows>> {
        let bone = |frame: usize, bone: usize| {
            let angle = frame as f64 * 0.2 + bone as f64;
            let q = DQuat::from_axis_angle(DVec3::new(1.0, bone as f64, 0.3).normalize(), angle);
            crate::sample::rows(&DMat4::from_scale_rotation_translation(scale, q, DVec3::new(0.5, 1.0, -angle)))
        };
        (0..40).map(|f| (0..5).map(|b| bone(f, b)).collect()).collect()
    }

    /// Greatest difference of any matrix element after a round trip, and what did not fit.
    fn worst(encoding: Encoding, poses: &[Vec<Rows>], layers: u32) -> (f64, Vec<Misfit>) {
        let first = encoding.range_frames();
        let mut texture = shape(encoding, first + poses.len() as u32, 5, None).unwrap();
        if layers > 1 {
            texture.layers = layers;
            texture.frames_per_layer = texture.frames.div_ceil(layers);
        }
        let mut ranges = Ranges::default();
        ranges.include(poses);
        texture.range = ranges.finish();
        let bytes = vec![0; texture.byte_len(encoding) as usize];
        let pivots = (0..5).map(|b| Vec3::new(0.1 * b as f32, 1.0, -0.2)).collect();
        let mut encoder = Encoder { texels: EncodedTexture { encoding, texture, bytes }, pivots };
        let misfits = encoder.clip(first, poses);
        let texels = encoder.finish();
        let mut worst: f64 = 0.0;
        for (f, pose) in poses.iter().enumerate() {
            for (b, rows) in pose.iter().enumerate() {
                let frame = first + f as u32;
                let decoded = texels.view().bone(FramePair { a: frame, b: frame, t: 0.0, first }, b as u32);
                for (row, decoded) in rows.iter().zip(decoded.rows) {
                    for (value, decoded) in row.iter().zip(decoded.to_array()) {
                        worst = worst.max((value - f64::from(decoded)).abs());
                    }
                }
            }
        }
        (worst, misfits)
    }

    #[test]
    fn every_encoding_reads_back_within_its_rounding() {
        for layers in [1, 4] {
            let limit = |encoding| match encoding {
                Encoding::MatrixF32 => 1e-6,
                // Numbers within 18 in 65,535 steps.
                Encoding::MatrixUnorm => 2e-4,
                Encoding::TrsPacked => 5e-5,
                // A quaternion in steps of 1/256.
                Encoding::Fixed16 => 0.02,
                // Halves have 11 bits: values up to 16 round by 2^-8.
                _ => 1.0 / 256.0,
            };
            for encoding in Encoding::ALL.into_iter().filter(|e| !e.needs_compute() && !e.is_vertex()) {
                for scale in [DVec3::splat(1.2), DVec3::splat(-0.7)] {
                    let (worst, misfits) = worst(encoding, &poses(scale), layers);
                    assert!(worst < limit(encoding) && misfits.is_empty(), "{encoding:?}: {worst}");
                }
                let (worst, misfits) = worst(encoding, &poses(DVec3::new(1.0, 3.0, 0.1)), layers);
                assert_eq!(worst < limit(encoding) * 2.0, encoding.holds_shear(), "{encoding:?}: {worst}");
                let uneven = if encoding.holds_shear() { vec![] } else { vec![Misfit::Uneven { bone: 0 }] };
                assert_eq!(misfits, uneven, "{encoding:?}");
            }
        }
    }

    #[test]
    fn numbers_out_of_range_are_told() {
        let far = vec![vec![[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 128.0], [0.0, 0.0, 1.0, 0.0]]; 5]];
        assert_eq!(worst(Encoding::Fixed16, &far, 1).1, [Misfit::OutOfRange { bone: 0 }]);
        let farther = vec![vec![[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1e5], [0.0, 0.0, 1.0, 0.0]]; 5]];
        for encoding in [Encoding::MatrixF16, Encoding::TrsF16] {
            assert_eq!(worst(encoding, &farther, 1).1, [Misfit::OutOfRange { bone: 0 }], "{encoding:?}");
        }
    }

    #[test]
    fn shapes_hold_their_frames_and_no_more_than_devices_have() {
        let s = shape(Encoding::MatrixF16, 200, 40, None).unwrap();
        assert_eq!((s.width, s.layers, s.frames_per_layer), (256, 1, 200));
        assert!(s.height <= 256 && s.width * s.height >= 200 * 40 * 3);
        let s = shape(Encoding::MatrixF32, 30_000, 100, None).unwrap();
        assert_eq!((s.width, s.layers), (2048, 3));
        assert!(s.height <= MAX_SIDE && s.frames_per_layer * s.layers >= 30_000);
        assert!(u64::from(s.frames_per_layer) * 300 <= u64::from(s.width) * u64::from(s.height));
        let s = shape(Encoding::TrsF16, 1, 1, None).unwrap();
        assert_eq!((s.width, s.height, s.layers), (64, 1, 1));
        assert_eq!(shape(Encoding::MatrixF32, 400_000, 1024, None), None);
    }
}
