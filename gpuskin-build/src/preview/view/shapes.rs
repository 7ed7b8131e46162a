//! Lines and text over a picture, as triangles in clip space.

use bytemuck::{Pod, Zeroable};
use glam::Vec2;

use crate::preview::font;

/// Linear RGBA.
pub(super) type Color = [f32; 4];

/// Vertex of a shape. Same layout as the inputs of `shape` in `view.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ShapeVertex {
    position: [f32; 2],
    color: Color,
}

/// Shapes over a picture. Positions are in pixels from its upper left corner.
#[derive(Clone, Debug)]
pub(super) struct Shapes {
    size: Vec2,
    pub(super) vertices: Vec<ShapeVertex>,
}

impl Shapes {
    pub(super) fn new(size: [u32; 2]) -> Self {
        Self { size: Vec2::new(size[0] as f32, size[1] as f32), vertices: Vec::new() }
    }

    /// Adds a line of `width` pixels.
    pub(super) fn line(&mut self, from: Vec2, to: Vec2, width: f32, color: Color) {
        let along = (to - from).normalize_or_zero();
        let side = Vec2::new(-along.y, along.x) * (0.5 * width);
        self.quad([from - side, from + side, to - side, to + side], color);
    }

    /// Adds a square with edges of `size` pixels.
    pub(super) fn dot(&mut self, center: Vec2, size: f32, color: Color) {
        self.rectangle(center - Vec2::splat(0.5 * size), Vec2::splat(size), color);
    }

    /// Adds a line of text with its upper left corner at `at`, and a shadow that keeps it readable.
    pub(super) fn text(&mut self, at: Vec2, scale: f32, color: Color, text: &str) {
        let at = at.round();
        self.glyphs(at + Vec2::splat(scale), scale, [1.0, 1.0, 1.0, 0.6], text);
        self.glyphs(at, scale, color, text);
    }

    fn glyphs(&mut self, at: Vec2, scale: f32, color: Color, text: &str) {
        for (index, c) in text.chars().enumerate() {
            let left = at.x + (index as u32 * font::ADVANCE) as f32 * scale;
            if left > self.size.x {
                return;
            }
            for (row, bits) in (0_u8..).zip(font::glyph(c)) {
                let lit = |column: u32| bits >> (font::COLUMNS - 1 - column) & 1 == 1;
                let mut column = 0;
                while column < font::COLUMNS {
                    let run = (column..font::COLUMNS).take_while(|&column| lit(column)).count() as u32;
                    if run > 0 {
                        let corner = Vec2::new(left + column as f32 * scale, at.y + f32::from(row) * scale);
                        self.rectangle(corner, Vec2::new(run as f32, 1.0) * scale, color);
                    }
                    column += run.max(1);
                }
            }
        }
    }

    fn rectangle(&mut self, corner: Vec2, size: Vec2, color: Color) {
        let [x, y] = [Vec2::new(size.x, 0.0), Vec2::new(0.0, size.y)];
        self.quad([corner, corner + x, corner + y, corner + size], color);
    }

    fn quad(&mut self, corners: [Vec2; 4], color: Color) {
        let vertex = |i: usize| {
            let p = corners[i] / self.size;
            ShapeVertex { position: [2.0 * p.x - 1.0, 1.0 - 2.0 * p.y], color }
        };
        let vertices = [0, 1, 2, 2, 1, 3].map(vertex);
        self.vertices.extend(vertices);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_in_clip_space() {
        let mut shapes = Shapes::new([100, 50]);
        shapes.line(Vec2::new(0.0, 25.0), Vec2::new(100.0, 25.0), 2.0, [1.0; 4]);
        let corners: Vec<[f32; 2]> = shapes.vertices.iter().map(|v| v.position).collect();
        assert_eq!(corners.len(), 6);
        assert!(corners.iter().all(|[x, y]| x.abs() == 1.0 && (y.abs() - 0.04).abs() < 1e-6), "{corners:?}");
    }

    #[test]
    fn text_is_one_rectangle_per_run_of_pixels() {
        let mut shapes = Shapes::new([100, 50]);
        // The glyph of `-` has one run of three pixels; it is drawn with its shadow.
        shapes.text(Vec2::ZERO, 1.0, [0.0, 0.0, 0.0, 1.0], "-");
        assert_eq!(shapes.vertices.len(), 2 * 6);
        shapes.text(Vec2::new(200.0, 0.0), 1.0, [0.0; 4], "outside");
        assert_eq!(shapes.vertices.len(), 2 * 6);
    }
}
