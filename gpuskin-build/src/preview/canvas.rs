//! An image in memory, with functions to draw text and copy other images into it.

use std::io::Cursor;
use std::path::Path;

use glam::Vec2;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

use super::font;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::output;

/// A colour, as stored (sRGB).
pub(super) type Rgb = [u8; 3];

/// An image, rows from top to bottom.
#[derive(Clone, Debug)]
pub(super) struct Canvas {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) pixels: Vec<Rgb>,
}

impl Canvas {
    pub(super) fn new(width: u32, height: u32, color: Rgb) -> Self {
        Self { width, height, pixels: vec![color; width as usize * height as usize] }
    }

    /// Sets a pixel; ignores positions outside of the image.
    fn set(&mut self, x: u32, y: u32, color: Rgb) {
        if x < self.width && y < self.height {
            self.pixels[y as usize * self.width as usize + x as usize] = color;
        }
    }

    /// Returns a pixel. Panics outside of the image.
    pub(super) fn get(&self, x: u32, y: u32) -> Rgb {
        self.pixels[y as usize * self.width as usize + x as usize]
    }

    /// Copies an image of RGBA pixels with `stride` bytes per row to `x, y`.
    pub(super) fn blit(&mut self, [x, y]: [u32; 2], [width, height]: [u32; 2], bytes: &[u8], stride: usize) {
        for (row, line) in (0..height).zip(bytes.chunks(stride)) {
            for (column, [r, g, b, _]) in (0..width).zip(line.as_chunks::<4>().0) {
                self.set(x + column, y + row, [*r, *g, *b]);
            }
        }
    }

    /// Draws two images of RGBA pixels with `stride` bytes per row on top of each other at `x, y`: red of
    /// the first, green and blue of the second. What differs is red or cyan.
    pub(super) fn overlay(
        &mut self,
        [x, y]: [u32; 2],
        [width, height]: [u32; 2],
        [first, second]: [&[u8]; 2],
        stride: usize,
    ) {
        for (row, lines) in (0..height).zip(first.chunks(stride).zip(second.chunks(stride))) {
            let pixels = lines.0.as_chunks::<4>().0.iter().zip(lines.1.as_chunks::<4>().0);
            for (column, ([r, ..], [_, g, b, _])) in (0..width).zip(pixels) {
                self.set(x + column, y + row, [*r, *g, *b]);
            }
        }
    }

    /// Fills a rectangle.
    pub(super) fn fill(&mut self, [x, y]: [u32; 2], [width, height]: [u32; 2], color: Rgb) {
        for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
            self.set(x + column, y + row, color);
        }
    }

    /// Draws a line of the given width, in pixels, within a rectangle. Its ends are relative to the rectangle's corner.
    pub(super) fn line(
        &mut self,
        ([left, top], [columns, rows]): ([u32; 2], [u32; 2]),
        [a, b]: [Vec2; 2],
        width: f32,
        color: Rgb,
    ) {
        if !(a.is_finite() && b.is_finite()) {
            return;
        }
        let reach = Vec2::splat(0.5 * width + 1.0);
        let size = Vec2::new(columns as f32, rows as f32);
        let [from, to] = [a.min(b) - reach, a.max(b) + reach].map(|at| at.clamp(Vec2::ZERO, size));
        for y in from.y as u32..(to.y.ceil() as u32).min(rows) {
            for x in from.x as u32..(to.x.ceil() as u32).min(columns) {
                let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                let along = ((p - a).dot(b - a) / (b - a).length_squared().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
                let cover = (0.5 * width + 0.5 - p.distance(a.lerp(b, along))).clamp(0.0, 1.0);
                let below = self.get(left + x, top + y);
                let mixed = [0, 1, 2].map(|i| {
                    let [below, color] = [below[i], color[i]].map(f32::from);
                    (below + (color - below) * cover).round() as u8
                });
                self.set(left + x, top + y, mixed);
            }
        }
    }

    /// Writes the image as a PNG file, atomically.
    pub(super) fn write(&self, path: &Path) -> Result<(), Diagnostic> {
        let failed = |e: String| {
            Diagnostic::error(DiagnosticCode::OutputFailed, format!("cannot write {}: {e}", path.display()))
        };
        let mut png = Cursor::new(Vec::new());
        let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Default, FilterType::Adaptive);
        encoder
            .write_image(self.pixels.as_flattened(), self.width, self.height, ExtendedColorType::Rgb8)
            .map_err(|e| failed(e.to_string()))?;
        output::replace_file(path, png.get_ref()).map_err(|e| failed(e.to_string()))
    }

    /// Draws a line of text with its upper left corner at `x, y`, clipped to the image. Returns the
    /// x coordinate of its end.
    pub(super) fn text(&mut self, [x, y]: [u32; 2], scale: u32, color: Rgb, text: &str) -> u32 {
        let mut left = x;
        for c in text.chars() {
            for (row, bits) in (0..).zip(font::glyph(c)) {
                for column in (0..font::COLUMNS).filter(|column| bits >> (font::COLUMNS - 1 - column) & 1 == 1) {
                    for (dy, dx) in (0..scale).flat_map(|dy| (0..scale).map(move |dx| (dy, dx))) {
                        self.set(left + column * scale + dx, y + row * scale + dy, color);
                    }
                }
            }
            left = left.saturating_add(font::ADVANCE * scale);
            if left >= self.width {
                break;
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_clipped_at_the_edge() {
        let mut canvas = Canvas::new(20, 12, [0; 3]);
        let end = canvas.text([1, 1], 1, [9; 3], "I");
        assert_eq!(end, 1 + font::ADVANCE);
        // The vertical bar of the I.
        assert_eq!(canvas.pixels[5 * 20 + 3], [9; 3]);
        assert_eq!(canvas.pixels[5 * 20 + 2], [0; 3]);
        canvas.text([15, 8], 3, [9; 3], "MMMMMMM");
        canvas.text([900, 900], 1, [9; 3], "M");
    }

    #[test]
    fn lines_stay_within_their_rectangle() {
        let mut canvas = Canvas::new(8, 4, [0; 3]);
        let cell = ([2, 0], [4, 4]);
        canvas.line(cell, [Vec2::new(-100.0, 1.5), Vec2::new(100.0, 1.5)], 1.0, [200; 3]);
        assert_eq!(canvas.pixels[8..16], [[0; 3], [0; 3], [200; 3], [200; 3], [200; 3], [200; 3], [0; 3], [0; 3]]);
        assert!(canvas.pixels[16..].iter().all(|pixel| *pixel == [0; 3]));
        canvas.line(cell, [Vec2::NAN, Vec2::ONE], 1.0, [200; 3]);
        canvas.line(cell, [Vec2::splat(2.5); 2], 1.0, [90; 3]);
        assert_eq!(canvas.pixels[2 * 8 + 4], [90; 3]);
    }

    #[test]
    fn overlaid_images_share_their_channels() {
        let mut canvas = Canvas::new(2, 1, [0; 3]);
        canvas.overlay([1, 0], [1, 1], [&[1, 2, 3, 255], &[4, 5, 6, 255]], 4);
        assert_eq!(canvas.pixels, [[0; 3], [1, 5, 6]]);
    }

    #[test]
    fn images_are_copied_to_their_position() {
        let mut canvas = Canvas::new(4, 3, [0; 3]);
        // Two rows of one pixel each, with padding.
        canvas.blit([2, 1], [1, 2], &[1, 2, 3, 255, 0, 0, 0, 0, 4, 5, 6, 255, 0, 0, 0, 0], 8);
        assert_eq!(canvas.pixels[4 + 2], [1, 2, 3]);
        assert_eq!(canvas.pixels[2 * 4 + 2], [4, 5, 6]);
        assert_eq!(canvas.pixels.iter().filter(|p| **p != [0; 3]).count(), 2);
    }
}
