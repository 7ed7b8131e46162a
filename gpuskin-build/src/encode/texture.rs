//! Animation texture in memory: dimensions, bytes, and bones that an encoding cannot store.

use gpuskin_rt::internals::{AnimationTexture, Encoding, MAX_LAYERS, MAX_SIDE, TexelFormat, ValueRange};
use half::f16;

/// An animation texture with its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedTexture {
    /// Encoding of the bones or vertices.
    pub encoding: Encoding,
    /// Dimensions of the texture.
    pub texture: AnimationTexture,
    /// Bytes of all layers, top row first, little-endian.
    pub bytes: Vec<u8>,
}

impl EncodedTexture {
    /// Returns the texture as the vertex shader sees it.
    pub fn view(&self) -> gpuskin_rt::internals::Texels<'_> {
        gpuskin_rt::internals::Texels::new(self.encoding, self.texture, &self.bytes)
            .expect("the number of bytes matches the dimensions")
    }

    /// Writes bytes of a bone's texels in a frame, from the first texel on. The bytes are
    /// contiguous, also across rows of the texture.
    pub(super) fn put(&mut self, frame: u32, bone: usize, bytes: impl IntoIterator<Item = u8>) {
        let at = self.texture.byte_offset(self.encoding, frame, bone as u32, 0) as usize;
        self.bytes[at..].iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
    }

    /// Writes floats in the precision of the format.
    pub(super) fn put_floats(&mut self, frame: u32, bone: usize, values: impl IntoIterator<Item = f64>) {
        let values = values.into_iter();
        match self.encoding.format() {
            TexelFormat::Rgba16Float => self.put(frame, bone, values.flat_map(|v| f16::from_f64(v).to_le_bytes())),
            _ => self.put(frame, bone, values.flat_map(|v| (v as f32).to_le_bytes())),
        }
    }
}

/// A bone that an encoding cannot store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The bone has non-uniform scale or shear.
    Uneven {
        /// Index of the bone.
        bone: usize,
    },
    /// A value is out of the range of the encoding.
    OutOfRange {
        /// Index of the bone.
        bone: usize,
    },
}

/// Minimum width of a texture, in texels: a row then fills at least a cache line.
const MIN_WIDTH: u32 = 64;

/// Returns the width of an approximately square texture for a number of texels.
pub(super) fn width(texels: u64) -> u32 {
    let mut width = MIN_WIDTH;
    while width < MAX_SIDE && texels > u64::from(width) * u64::from(width) {
        width *= 2;
    }
    width
}

/// Returns the dimensions of a texture for a number of frames and rows: of the wanted width or
/// approximately square, then split into layers. Returns `None` if the frames do not fit.
pub fn shape(encoding: Encoding, frames: u32, rows: u32, wanted: Option<u32>) -> Option<AnimationTexture> {
    let frame = u64::from(rows) * u64::from(encoding.texels());
    let total = frame * u64::from(frames);
    let width = wanted.unwrap_or(width(total));
    let frames_per_layer = (u64::from(width) * u64::from(MAX_SIDE) / frame).min(u64::from(frames)) as u32;
    let layers = if frames_per_layer == 0 { return None } else { frames.div_ceil(frames_per_layer) };
    // Layers of equal height waste less than full layers and a remainder.
    let frames_per_layer = frames.div_ceil(layers);
    let height = (frame * u64::from(frames_per_layer)).div_ceil(u64::from(width)) as u32;
    let range = ValueRange::default();
    (layers <= MAX_LAYERS).then_some(AnimationTexture { width, height, layers, frames_per_layer, frames, rows, range })
}

/// Packs `count` bits into words of 32 bits, the first bit lowest.
pub fn bit_set(count: usize, has: impl Fn(usize) -> bool) -> Vec<u32> {
    let word = |w: usize| (0..32.min(count - w * 32)).fold(0, |word, bit| word | u32::from(has(w * 32 + bit)) << bit);
    (0..count.div_ceil(32)).map(word).collect()
}
