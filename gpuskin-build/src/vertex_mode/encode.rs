//! Encoding of all frames of all clips into texels.

use glam::DVec3;
use gpuskin_rt::internals::encoding::vat::{self, VertexSample};
use gpuskin_rt::internals::{AnimationTexture, ClipRecord, Encoding, TexelFormat, ValueRange};
use rayon::prelude::*;

use super::{Evaluator, VertexMesh};
use crate::encode::{EncodedTexture, Misfit};
use crate::frames::FrameGrid;
use crate::model::Model;

/// Greatest finite `f16`.
const MAX_HALF: f64 = 65_504.0;
/// Maximum of a coordinate: less than the greatest `f32`, so that extents are finite, too.
const GREATEST: f64 = f32::MAX as f64 / 4.0;

/// Returns the texels, and per clip the first vertex outside of the range of the encoding.
pub(crate) fn encode(
    model: &Model,
    mesh: &VertexMesh,
    encoding: Encoding,
    mut texture: AnimationTexture,
    grids: &[FrameGrid],
    records: &[ClipRecord],
) -> (EncodedTexture, Vec<(usize, Misfit)>) {
    if encoding.has_model_range() {
        texture.range = reach(model, mesh, grids);
    }
    let bytes = vec![0; texture.byte_len(encoding) as usize];
    let mut texels = EncodedTexture { encoding, texture, bytes };
    let mut misfits = Vec::new();
    for (index, (clip, (grid, record))) in model.clips.iter().zip(grids.iter().zip(records)).enumerate() {
        let evaluator = Evaluator::in_place(model, clip, grid);
        let frame = |row: u32| {
            let pose = evaluator.at(grid.time_of(row));
            frame_bytes(encoding, &mesh.at(model, &pose).collect::<Vec<_>>(), &texture.range)
        };
        let frames: Vec<(Vec<u8>, Option<usize>)> = (0..grid.stored).into_par_iter().map(frame).collect();
        for (frame, (bytes, _)) in (record.first_frame..).zip(&frames) {
            // Frames are contiguous in bytes, also across rows of the texture.
            let at = texture.byte_offset(encoding, frame, 0, 0) as usize;
            texels.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        }
        let out = frames.iter().find_map(|(_, out)| *out);
        misfits.extend(out.map(|row| (index, Misfit::OutOfRange { bone: mesh.bone(model, row) })));
    }
    (texels, misfits)
}

/// Returns the texels of a frame, and the first row that is out of range.
fn frame_bytes(encoding: Encoding, samples: &[VertexSample], of_model: &ValueRange) -> (Vec<u8>, Option<usize>) {
    let most = if encoding.format() == TexelFormat::Rgba16Float { MAX_HALF } else { GREATEST };
    let out = samples.iter().position(|s| !s.position.abs().cmple(DVec3::splat(most)).all());
    let range = match encoding.range_rows() {
        0 => *of_model,
        _ => vat::range_of(samples.iter().map(|s| s.position)),
    };
    let mut bytes = vat::range_bytes(encoding, &range);
    bytes.reserve(samples.len() * encoding.bytes());
    samples.iter().for_each(|sample| bytes.extend(vat::vertex_bytes(encoding, sample, &range)));
    (bytes, out)
}

/// Returns the range of positions in all frames of all clips.
fn reach(model: &Model, mesh: &VertexMesh, grids: &[FrameGrid]) -> ValueRange {
    let mut ends = Vec::new();
    for (clip, grid) in model.clips.iter().zip(grids) {
        let evaluator = Evaluator::in_place(model, clip, grid);
        let of_frame = |row: u32| {
            let pose = evaluator.at(grid.time_of(row));
            let empty = [DVec3::INFINITY, DVec3::NEG_INFINITY];
            mesh.at(model, &pose).fold(empty, |[a, b], s| [a.min(s.position), b.max(s.position)])
        };
        let of_frames: Vec<[DVec3; 2]> = (0..grid.stored).into_par_iter().map(of_frame).collect();
        ends.extend(of_frames.into_iter().flatten());
    }
    vat::range_of(ends.into_iter())
}
