//! Images in a larger size: that of an image with which they share a texture, or whole blocks.

use gpuskin_rt::internals::Wrap;

use super::mips::{MipFilter, Tables};

/// Sampler of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sampling {
    /// Wrap modes along u and v.
    pub wrap: [Wrap; 2],
    /// Whether magnification uses the nearest texel.
    pub nearest: bool,
}

/// Returns the RGBA8 texels of an image in a size that is not smaller: what the sampler returns between its texels. Colours
/// are interpolated as linear light, also across the border of an image that repeats. `rgba`: texels and size of the image.
pub(super) fn enlarged(
    kind: MipFilter,
    (rgba, [own_width, own_height]): (&[u8], [u32; 2]),
    [width, height]: [u32; 2],
    sampling: Sampling,
) -> Vec<u8> {
    let tables = Tables::new();
    let [columns, rows] = [(width, own_width, sampling.wrap[0]), (height, own_height, sampling.wrap[1])].map(
        |(side, source, wrap)| -> Vec<_> {
            (0..side).map(|at| between(at, side, source, wrap, sampling.nearest)).collect()
        },
    );
    let texels = rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
    texels.flat_map(|(row, column)| tables.average(kind, rgba, own_width, column, row)).collect()
}

/// Returns the texels along one axis that a texel of a larger image is between, with their weights.
fn between(at: u32, side: u32, source: u32, wrap: Wrap, nearest: bool) -> [(u32, f32); 2] {
    let scale = f64::from(source) / f64::from(side);
    let place = (f64::from(at) + 0.5) * scale;
    if nearest {
        return [(place as u32, 1.0), (0, 0.0)];
    }
    let first = (place - 0.5).floor();
    let part = (place - 0.5 - first) as f32;
    let texel = |n: i64| match wrap {
        Wrap::Repeat => n.rem_euclid(i64::from(source)) as u32,
        // Beyond an edge, by less than a texel, a mirrored image has the texel of the edge.
        Wrap::Mirror | Wrap::Clamp => n.clamp(0, i64::from(source) - 1) as u32,
    };
    [(texel(first as i64), 1.0 - part), (texel(first as i64 + 1), part)]
}
