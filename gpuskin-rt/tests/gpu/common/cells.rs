//! Instances in separate squares of a grid, so that a picture shows the pixels that each one
//! covers.

use glam::Vec3;
use gpuskin_rt::internals::Camera;

use super::Picture;

/// Side of a square in metres, and number of squares per row.
pub const CELL: f32 = 8.0;
pub const ROW: u32 = 14;
/// Side of a square, pixels.
pub const PIXELS: u32 = 36;
pub const COUNT: u32 = ROW * ROW;

/// Returns the position of an instance.
pub fn middle(i: u32) -> Vec3 {
    Vec3::new((i % ROW) as f32 + 0.5, (i / ROW) as f32 + 0.5, 0.0) * CELL
}

/// Returns a camera that sees all squares.
pub fn camera() -> Camera {
    let half = CELL * ROW as f32 / 2.0;
    Camera::orthographic_look_at([half, half, 50.0], [half, half, 0.0], half, half, 100.0)
}

/// Returns least and greatest covered pixel in the square of an instance, from its lower left.
fn covered(picture: &Picture, i: u32) -> Option<[u32; 4]> {
    let (left, bottom) = (i % ROW * PIXELS, i / ROW * PIXELS);
    let background = picture.at(left, picture.side - 1 - bottom);
    let mut bounds: Option<[u32; 4]> = None;
    for (x, y) in (0..PIXELS).flat_map(|y| (0..PIXELS).map(move |x| (x, y))) {
        if picture.at(left + x, picture.side - 1 - bottom - y) != background {
            let [a, b, c, d] = bounds.unwrap_or([x, y, x, y]);
            bounds = Some([a.min(x), b.min(y), c.max(x), d.max(y)]);
        }
    }
    bounds
}

/// Asserts that every instance covers the pixels of its vertices. A few corners may differ: those
/// whose tips cover no pixel centre.
pub fn check(picture: &Picture, vertices: impl Fn(u32) -> Vec<Vec3>) {
    let to_pixels = PIXELS as f32 / CELL;
    let mut far = 0;
    for i in 0..COUNT {
        let expected = vertices(i);
        let corner = middle(i) - Vec3::splat(CELL / 2.0);
        let points = || expected.iter().map(|v| (v - corner) * to_pixels);
        let (least, greatest) = (points().reduce(Vec3::min).unwrap(), points().reduce(Vec3::max).unwrap());
        let found = covered(picture, i).unwrap_or_else(|| panic!("instance {i} is not drawn"));
        for (found, expected) in found.into_iter().zip([least.x, least.y, greatest.x - 1.0, greatest.y - 1.0]) {
            let off = (found as f32 - expected).abs();
            assert!(off < 8.0, "instance {i}: {found}, expected {expected}");
            far += u32::from(off > 2.0);
        }
    }
    assert!(far < COUNT * 4 / 5, "{far} sides of {COUNT} instances are off");
}
