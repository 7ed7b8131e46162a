//! Textures: colours in sRGB 0..1, pixels from the upper left corner, PNG files.

use crate::math::{lerp, smoothstep};
use crate::mesh::Rect;
use glam::{DVec3, dvec3};

pub(crate) type Color = DVec3;

/// Colour from 0xRRGGBB.
pub(crate) fn rgb(hex: u32) -> Color {
    dvec3(f64::from(hex >> 16 & 255), f64::from(hex >> 8 & 255), f64::from(hex & 255)) / 255.0
}

pub(crate) fn mix(a: Color, b: Color, t: f64) -> Color {
    a + (b - a) * t.clamp(0.0, 1.0)
}

/// 1 within `half` of the line `x = at`, 0 beyond `half + soft`.
pub(crate) fn line(x: f64, at: f64, half: f64, soft: f64) -> f64 {
    1.0 - smoothstep(half, half + soft, libm::fabs(x - at))
}

/// 1 inside an ellipse around `(cx, cy)`, with a soft edge that takes the fraction `soft` of its
/// radius.
pub(crate) fn spot(x: f64, y: f64, (cx, cy): (f64, f64), (rx, ry): (f64, f64), soft: f64) -> f64 {
    let (dx, dy) = ((x - cx) / rx, (y - cy) / ry);
    1.0 - smoothstep(1.0 - soft, 1.0, libm::sqrt(dx * dx + dy * dy))
}

/// 1 for `x` between `a` and `b`, with soft edges.
pub(crate) fn band(x: f64, a: f64, b: f64, soft: f64) -> f64 {
    smoothstep(a - soft, a, x) * (1.0 - smoothstep(b, b + soft, x))
}

/// Square picture.
pub(crate) struct Canvas {
    pub(crate) size: usize,
    pixels: Vec<Color>,
}

impl Canvas {
    pub(crate) fn new(size: usize, background: Color) -> Self {
        Self { size, pixels: vec![background; size * size] }
    }

    /// Fills a rectangle; `color` gets (u, v) in 0..1.
    pub(crate) fn fill(&mut self, rect: Rect, color: impl Fn(f64, f64) -> Color) {
        for y in 0..rect.h as usize {
            for x in 0..rect.w as usize {
                let (u, v) = (x as f64 / (rect.w - 1.0), y as f64 / (rect.h - 1.0));
                let at = (rect.y as usize + y) * self.size + rect.x as usize + x;
                self.pixels[at] = color(u, v);
            }
        }
    }

    /// Returns an RGB PNG file. Written by hand around miniz_oxide, so that no Cargo feature
    /// enabled by another crate changes the bytes.
    pub(crate) fn png(&self) -> Vec<u8> {
        let stride = self.size * 3;
        let mut raw: Vec<u8> = Vec::with_capacity(stride * self.size);
        for p in &self.pixels {
            raw.extend(p.to_array().map(|c| libm::round(c.clamp(0.0, 1.0) * 255.0) as u8));
        }
        let mut filtered = Vec::with_capacity(raw.len() + self.size);
        for y in 0..self.size {
            filtered.push(4); // Paeth
            for i in 0..stride {
                let get =
                    |dx: usize, dy: usize| if i >= dx * 3 && y >= dy { raw[(y - dy) * stride + i - dx * 3] } else { 0 };
                filtered.push(raw[y * stride + i].wrapping_sub(paeth(get(1, 0), get(0, 1), get(1, 1))));
            }
        }
        let mut header = Vec::new();
        header.extend((self.size as u32).to_be_bytes());
        header.extend((self.size as u32).to_be_bytes());
        header.extend([8, 2, 0, 0, 0]); // 8 bits, RGB, the usual compression and filters, not interlaced
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        chunk(&mut out, b"IHDR", &header);
        chunk(&mut out, b"IDAT", &miniz_oxide::deflate::compress_to_vec_zlib(&filtered, 9));
        chunk(&mut out, b"IEND", &[]);
        out
    }
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let (a, b, c) = (i32::from(left), i32::from(up), i32::from(corner));
    let p = a + b - c;
    let (da, db, dc) = ((p - a).abs(), (p - b).abs(), (p - c).abs());
    if da <= db && da <= dc {
        left
    } else if db <= dc {
        up
    } else {
        corner
    }
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    out.extend((data.len() as u32).to_be_bytes());
    let from = out.len();
    out.extend(kind);
    out.extend(data);
    let crc = !out[from..].iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0xEDB8_8320 } else { c >> 1 })
    });
    out.extend(crc.to_be_bytes());
}

/// Darkens by `amount` (0..1) where `where_` is 1.
pub(crate) fn shade(c: Color, where_: f64, amount: f64) -> Color {
    c * lerp(1.0, 1.0 - amount, where_.clamp(0.0, 1.0))
}
