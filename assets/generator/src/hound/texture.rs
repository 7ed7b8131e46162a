//! Texture of the hound: a side view for the fur of both sides, and swatches below it.

use crate::math::{lerp, noise, smoothstep};
use crate::mesh::Rect;
use crate::paint::{Canvas, Color, band, line, mix, rgb, shade, spot};
use glam::{DVec2, DVec3};

pub(crate) const SIZE: f64 = 512.0;
/// Side view: z from -0.86 to 0.76 m towards the right, y from 1.02 m down to 0.
const SIDE: Rect = Rect::new(0.0, 0.0, 512.0, 336.0);
pub(crate) const EAR: Rect = Rect::new(0.0, 340.0, 128.0, 128.0);
pub(crate) const EYE: Rect = Rect::new(132.0, 340.0, 64.0, 64.0);
pub(crate) const COLLAR: Rect = Rect::new(200.0, 340.0, 256.0, 48.0);

const Z: [f64; 2] = [-0.86, 0.76];
const TOP: f64 = 1.02;

/// Texture coordinates of a point of the fur.
pub(crate) fn side(p: DVec3) -> DVec2 {
    SIDE.uv((p.z - Z[0]) / (Z[1] - Z[0]), (TOP - p.y) / TOP, SIZE)
}

/// Strands of fur: streaks along a slanted direction.
fn strands(z: f64, y: f64) -> f64 {
    let (a, b) = (z * 0.9 + y * 0.45, y * 0.9 - z * 0.45);
    noise(a * 26.0, b * 150.0, 41) * 0.6 + noise(a * 60.0, b * 260.0, 42) * 0.4
}

fn fur(u: f64, v: f64) -> Color {
    let (z, y) = (lerp(Z[0], Z[1], u), TOP * (1.0 - v));
    let tan = rgb(0xA87442);
    let dark = rgb(0x352822);
    let cream = rgb(0xCDAE80);
    let ragged = 0.05 * (noise(z * 14.0, y * 14.0, 43) - 0.5) + 0.03 * (strands(z, y) - 0.5);
    let yy = y + ragged;
    let mut c = tan;
    // A dark saddle over back, neck and tail; pale belly, chest, and inside of the legs.
    let saddle =
        0.615 + 0.12 * smoothstep(0.15, 0.45, z) + 0.10 * smoothstep(-0.20, -0.42, z) * smoothstep(-0.55, -0.45, z);
    c = mix(c, dark, smoothstep(saddle - 0.02, saddle + 0.03, yy) * smoothstep(0.47, 0.40, z + ragged));
    c = mix(
        c,
        dark,
        smoothstep(-0.47, -0.53, z) * smoothstep(0.585 + 0.65 * (z + 0.58), 0.615 + 0.65 * (z + 0.58), yy),
    );
    c = mix(c, cream, smoothstep(0.50, 0.45, yy) * band(z, -0.24, 0.05, 0.05) * 0.8);
    c = mix(c, cream, smoothstep(0.17, 0.10, yy) * 0.55);
    c = mix(c, cream, spot(z, yy, (0.36, 0.58), (0.08, 0.16), 0.6) * 0.8);
    // Mask and crown.
    c = mix(c, dark, smoothstep(0.545, 0.60, z + ragged) * 0.92);
    c = mix(c, dark, smoothstep(0.935, 0.955, yy) * band(z, 0.40, 0.56, 0.02) * 0.7);
    c = mix(c, cream, spot(z, yy, (0.500, 0.865), (0.035, 0.030), 0.8) * 0.5);
    c *= lerp(0.72, 1.22, strands(z, y));
    // Rim of the eye, line of the mouth, nose, toes.
    c = shade(c, spot(z, y, (0.549, 0.905), (0.025, 0.020), 0.6), 0.75);
    c = mix(c, tan, spot(z, y, (0.528, 0.936), (0.014, 0.009), 0.6) * 0.9);
    let mouth = 0.8455 + 0.010 * smoothstep(0.60, 0.54, z);
    c = mix(c, rgb(0x140E0C), line(y, mouth, 0.0035, 0.004) * band(z, 0.545, 0.70, 0.01));
    c = mix(c, rgb(0x121010), spot(z, y, (0.710, 0.872), (0.022, 0.024), 0.25));
    for toe in [0.262, -0.363] {
        c = shade(c, line(y - 0.02, 0.0, 0.022, 0.01) * line(z, toe - 0.018, 0.002, 0.003), 0.6);
        c = mix(c, rgb(0x1E1816), spot(z, y, (toe + 0.008, 0.014), (0.010, 0.010), 0.4));
    }
    // Darker below.
    shade(c, smoothstep(0.56, 0.44, y) * band(z, -0.3, 0.3, 0.1), 0.25)
}

/// Paints the whole texture, as a PNG file.
pub(crate) fn paint() -> Vec<u8> {
    let mut c = Canvas::new(SIZE as usize, rgb(0x352822));
    c.fill(SIDE, fur);
    c.fill(EAR, |u, v| {
        let x = libm::fabs(u - 0.5) * 2.0;
        let inner = mix(rgb(0x7A503C), rgb(0x352822), smoothstep(0.4, 0.8, x).max(smoothstep(0.6, 0.95, v)));
        inner * lerp(0.8, 1.15, noise(u * 40.0, v * 12.0, 44))
    });
    c.fill(EYE, |_, v| {
        // v runs from the rim to the middle.
        let iris = mix(rgb(0x160E0A), rgb(0xC0822A), smoothstep(0.38, 0.48, v));
        mix(iris, rgb(0x080606), smoothstep(0.72, 0.80, v))
    });
    c.fill(COLLAR, |u, v| {
        let leather = rgb(0x8A1F1A) * lerp(0.8, 1.1, noise(u * 60.0, v * 10.0, 45));
        shade(leather, line(v, 0.12, 0.03, 0.04).max(line(v, 0.88, 0.03, 0.04)), 0.5)
    });
    c.png()
}
