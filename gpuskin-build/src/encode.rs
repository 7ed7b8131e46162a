//! `Poses -> Texels`: one module an encoding. How they are read back stands in `gpuskin_rt::Texels`, the twin of the
//! shaders.

mod matrix;
mod trs;

use gpuskin_rt::{AnimationTexture, Encoding, MAX_LAYERS, MAX_SIDE, TexelFormat};
use half::f16;

use crate::sample::Rows;

/// Texels of one bone in one frame, four channels each, at most three.
type BoneTexels = [[f64; 4]; 3];

/// An animation texture and its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Texels {
    /// How bones stand in it.
    pub encoding: Encoding,
    /// Its shape.
    pub texture: AnimationTexture,
    /// All layers, rows top down, little-endian.
    pub bytes: Vec<u8>,
}

impl Texels {
    /// The texture as the vertex shader sees it.
    pub fn view(&self) -> gpuskin_rt::Texels<'_> {
        gpuskin_rt::Texels::new(self.encoding, self.texture, &self.bytes).expect("as many bytes as the shape needs")
    }
}

/// Makes [`Texels`], frame by frame.
pub struct Encoder {
    texels: Texels,
    continuity: trs::Continuity,
    unfaithful: Option<usize>,
}

impl Encoder {
    /// All texels start as zero.
    pub fn new(encoding: Encoding, texture: AnimationTexture) -> Self {
        let bytes = vec![0; texture.byte_len(encoding) as usize];
        let continuity = trs::Continuity::new(texture.rows as usize);
        Self { texels: Texels { encoding, texture, bytes }, continuity, unfaithful: None }
    }

    /// Encodes the skin matrices of all bones in a frame.
    pub fn frame(&mut self, frame: u32, pose: &[Rows]) {
        let Texels { encoding, texture, bytes } = &mut self.texels;
        for (bone, rows) in pose.iter().enumerate() {
            let texels: BoneTexels = match encoding {
                Encoding::TrsF16 => {
                    let trs = trs::decompose(rows);
                    if trs.residual > trs::FAITHFUL && self.unfaithful.is_none() {
                        self.unfaithful = Some(bone);
                    }
                    trs::texels(&trs, bone, &mut self.continuity)
                }
                _ => matrix::texels(rows),
            };
            // Linear bytes do not see where a row of the texture ends.
            let at = texture.byte_offset(*encoding, frame, bone as u32, 0) as usize;
            write(&mut bytes[at..], encoding.format(), &texels[..encoding.texels() as usize]);
        }
    }

    /// A bone whose matrix the encoding has no way to express, among the frames since the last call.
    pub fn take_unfaithful(&mut self) -> Option<usize> {
        self.unfaithful.take()
    }

    /// All frames.
    pub fn finish(self) -> Texels {
        self.texels
    }
}

fn write(out: &mut [u8], format: TexelFormat, texels: &[[f64; 4]]) {
    for (i, &value) in texels.iter().flatten().enumerate() {
        match format {
            TexelFormat::Rgba16Float => out[i * 2..][..2].copy_from_slice(&f16::from_f64(value).to_le_bytes()),
            TexelFormat::Rgba32Float => out[i * 4..][..4].copy_from_slice(&(value as f32).to_le_bytes()),
        }
    }
}

/// Least width of a texture: rows of a cache line and more.
const LEAST_WIDTH: u32 = 64;

/// The shape that holds so many frames of so many bones: about square, then in layers. `None`: it does not fit.
pub fn shape(encoding: Encoding, frames: u32, rows: u32) -> Option<AnimationTexture> {
    let frame = u64::from(rows) * u64::from(encoding.texels());
    let total = frame * u64::from(frames);
    let mut width = LEAST_WIDTH;
    while width < MAX_SIDE && total > u64::from(width) * u64::from(width) {
        width *= 2;
    }
    let frames_per_layer = (u64::from(width) * u64::from(MAX_SIDE) / frame).min(u64::from(frames)) as u32;
    let layers = if frames_per_layer == 0 { return None } else { frames.div_ceil(frames_per_layer) };
    // Layers of even length waste less than full ones and a rest.
    let frames_per_layer = frames.div_ceil(layers);
    let height = (frame * u64::from(frames_per_layer)).div_ceil(u64::from(width)) as u32;
    (layers <= MAX_LAYERS).then_some(AnimationTexture { width, height, layers, frames_per_layer, frames, rows })
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

    /// Greatest difference of any matrix element after a round trip.
    fn worst(encoding: Encoding, poses: &[Vec<Rows>], layers: u32) -> f64 {
        let mut texture = shape(encoding, poses.len() as u32, 5).unwrap();
        if layers > 1 {
            texture.layers = layers;
            texture.frames_per_layer = texture.frames.div_ceil(layers);
        }
        let mut encoder = Encoder::new(encoding, texture);
        poses.iter().enumerate().for_each(|(f, pose)| encoder.frame(f as u32, pose));
        let texels = encoder.finish();
        let mut worst: f64 = 0.0;
        for (f, pose) in poses.iter().enumerate() {
            for (b, rows) in pose.iter().enumerate() {
                let decoded = texels.view().bone(FramePair { a: f as u32, b: f as u32, t: 0.0 }, b as u32);
                for (row, decoded) in rows.iter().zip(decoded.rows) {
                    for (value, decoded) in row.iter().zip(decoded.to_array()) {
                        worst = worst.max((value - f64::from(decoded)).abs());
                    }
                }
            }
        }
        worst
    }

    #[test]
    fn every_encoding_reads_back_within_its_rounding() {
        for layers in [1, 4] {
            let even = poses(DVec3::splat(1.2));
            assert!(worst(Encoding::MatrixF32, &even, layers) < 1e-6);
            // Halves have 11 bits: values up to 16 round by 2^-8.
            assert!(worst(Encoding::MatrixF16, &even, layers) <= 1.0 / 256.0);
            assert!(worst(Encoding::TrsF16, &even, layers) <= 1.0 / 256.0);
            assert!(worst(Encoding::TrsF16, &poses(DVec3::splat(-0.7)), layers) <= 1.0 / 256.0);
            assert!(worst(Encoding::MatrixF16, &poses(DVec3::new(1.0, 3.0, 0.1)), layers) <= 1.0 / 256.0);
            assert!(worst(Encoding::TrsF16, &poses(DVec3::new(1.0, 3.0, 0.1)), layers) > 0.5);
        }
    }

    #[test]
    fn shapes_hold_their_frames_and_no_more_than_devices_have() {
        let s = shape(Encoding::MatrixF16, 200, 40).unwrap();
        assert_eq!((s.width, s.layers, s.frames_per_layer), (256, 1, 200));
        assert!(s.height <= 256 && s.width * s.height >= 200 * 40 * 3);
        let s = shape(Encoding::MatrixF32, 30_000, 100).unwrap();
        assert_eq!((s.width, s.layers), (2048, 3));
        assert!(s.height <= MAX_SIDE && s.frames_per_layer * s.layers >= 30_000);
        assert!(u64::from(s.frames_per_layer) * 300 <= u64::from(s.width) * u64::from(s.height));
        let s = shape(Encoding::TrsF16, 1, 1).unwrap();
        assert_eq!((s.width, s.height, s.layers), (64, 1, 1));
        assert_eq!(shape(Encoding::MatrixF32, 400_000, 1024), None);
    }
}
