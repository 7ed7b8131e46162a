//! Encoding `trs-packed`: a rotation about the bone's pivot, the position of the pivot and a
//! uniform scale, quantised within ranges per bone and clip.

use glam::{DVec3, Vec3};
use gpuskin_rt::internals::encoding::packed::{Range, Trs, pack, round_pivot};

use super::{EncodedTexture, Misfit, trs};
use crate::sample::Rows;

pub(super) fn clip(texels: &mut EncodedTexture, first_frame: u32, poses: &[Vec<Rows>], pivots: &[Vec3]) -> Vec<Misfit> {
    let pivots: Vec<Vec3> = pivots.iter().map(|&p| round_pivot(p)).collect();
    let mut bones: Vec<Vec<Trs>> = vec![Vec::with_capacity(poses.len()); pivots.len()];
    let misfits = trs::each(poses, |frame, bone, trs| {
        let place = point(&poses[frame as usize][bone], pivots[bone].as_dvec3());
        bones[bone].push(Trs { rotation: trs.rotation, place, scale: trs.scale });
        let holds = |v: f64| v.abs() <= f64::from(f32::MAX) / 4.0;
        place.to_array().into_iter().all(holds) && holds(trs.scale)
    });
    for (bone, frames) in bones.iter().enumerate() {
        let range = Range::of(frames.iter().copied(), pivots[bone]);
        for (before, words) in [2, 1].into_iter().zip(range.texels()) {
            texels.put(first_frame - before, bone, words.into_iter().flat_map(u32::to_le_bytes));
        }
        for (frame, trs) in (first_frame..).zip(frames) {
            texels.put(frame, bone, pack(trs, &range).into_iter().flat_map(u32::to_le_bytes));
        }
    }
    misfits
}

/// Transforms a point by an affine matrix.
fn point(rows: &Rows, p: DVec3) -> DVec3 {
    DVec3::from(rows.map(|r| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3]))
}
