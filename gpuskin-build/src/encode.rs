//! Encoding of poses into texels, with one module per encoding. `gpuskin_rt::Texels`, the CPU
//! reference of the shaders, decodes them.

mod local;
mod matrix;
mod packed;
mod pivot;
mod texture;
mod trs;

use glam::Vec3;
use gpuskin_rt::internals::{AnimationTexture, ClipRecord, Encoding, ValueRange};

use crate::frames::FrameGrid;
use crate::model::Model;
use crate::sample::Rows;

pub use local::TooLarge;
pub use matrix::Ranges;
use texture::width;
pub use texture::{EncodedTexture, Misfit, bit_set, shape};

/// Encodes an animation in `local-packed`, from curves instead of skinning matrices. `texture`
/// gives the frames; its dimensions are set here. `tolerance` is the maximum error of any drawn
/// vertex at any frame, in metres.
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

/// Builds an [`EncodedTexture`] clip by clip.
pub struct Encoder {
    texels: EncodedTexture,
    /// Pivot of each bone, in bind space. `[bone]`
    pivots: Vec<Vec3>,
}

impl Encoder {
    /// Creates an encoder with all texels zero. `ranges` are the value ranges of all poses, for
    /// encodings that need them.
    pub fn new(encoding: Encoding, mut texture: AnimationTexture, model: &Model, ranges: ValueRange) -> Self {
        texture.range = ranges;
        let bytes = vec![0; texture.byte_len(encoding) as usize];
        Self { texels: EncodedTexture { encoding, texture, bytes }, pivots: pivot::pivots(model) }
    }

    /// Encodes the skinning matrices of all bones in the frames of a clip, which start at
    /// `first_frame`. Returns the first misfit of each kind.
    pub fn clip(&mut self, first_frame: u32, poses: &[Vec<Rows>]) -> Vec<Misfit> {
        let texels = &mut self.texels;
        match texels.encoding {
            Encoding::MatrixF32 | Encoding::MatrixF16 => matrix::floats(texels, first_frame, poses),
            Encoding::MatrixUnorm => matrix::fractions(texels, first_frame, poses),
            Encoding::TrsF16 => trs::halves(texels, first_frame, poses),
            Encoding::Fixed16 => trs::fixed(texels, first_frame, poses),
            Encoding::TrsPacked => packed::clip(texels, first_frame, poses, &self.pivots),
            Encoding::LocalPacked
            | Encoding::VatF32
            | Encoding::VatF16
            | Encoding::VatUnorm8
            | Encoding::VatUnorm16
            | Encoding::VatUnorm24
            | Encoding::VatPacked
            | Encoding::VatPackedFine => unreachable!("{:?} does not store skinning matrices", texels.encoding),
        }
    }

    /// Returns the texels of all frames.
    pub fn finish(self) -> EncodedTexture {
        self.texels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat4, DQuat, DVec3};
    use gpuskin_rt::internals::{FramePair, MAX_SIDE};

    fn poses(scale: DVec3) -> Vec<Vec<Rows>> {
        let bone = |frame: usize, bone: usize| {
            let angle = frame as f64 * 0.2 + bone as f64;
            let q = DQuat::from_axis_angle(DVec3::new(1.0, bone as f64, 0.3).normalize(), angle);
            crate::sample::rows(&DMat4::from_scale_rotation_translation(scale, q, DVec3::new(0.5, 1.0, -angle)))
        };
        (0..40).map(|f| (0..5).map(|b| bone(f, b)).collect()).collect()
    }

    /// Returns the greatest error of a matrix element after encoding and decoding, and the misfits.
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
    fn every_encoding_decodes_within_its_rounding_error() {
        for layers in [1, 4] {
            let limit = |encoding| match encoding {
                Encoding::MatrixF32 => 1e-6,
                // Values within a range of 18, in 65,535 steps.
                Encoding::MatrixUnorm => 2e-4,
                Encoding::TrsPacked => 5e-5,
                // Quaternion components in steps of 1/256.
                Encoding::Fixed16 => 0.02,
                // Half floats have 11 bits: values up to 16 are rounded by up to 2^-8.
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
    fn values_out_of_range_are_reported() {
        let far = vec![vec![[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 128.0], [0.0, 0.0, 1.0, 0.0]]; 5]];
        assert_eq!(worst(Encoding::Fixed16, &far, 1).1, [Misfit::OutOfRange { bone: 0 }]);
        let farther = vec![vec![[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1e5], [0.0, 0.0, 1.0, 0.0]]; 5]];
        for encoding in [Encoding::MatrixF16, Encoding::TrsF16] {
            assert_eq!(worst(encoding, &farther, 1).1, [Misfit::OutOfRange { bone: 0 }], "{encoding:?}");
        }
    }

    #[test]
    fn textures_hold_all_frames_within_device_limits() {
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
