//! Occlusion: a pyramid of depths, and whether it hides a box. Twin of `shaders/pyramid.wgsl` and `shaders/hidden.wgsl`, and
//! their texts. Needs no wgpu.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec2, Vec3};

/// A box is compared with texels of the finest level that has so many of them across it, or fewer.
pub const TEXELS_ACROSS: u32 = 4;
/// What sums of products are off at most, of the sum of their sizes: 16 units in the last place. Two of the same place, that
/// of a box here and that of a vertex where it is drawn, differ by 12 at most.
pub const ROUNDING: f32 = 1.0 / (1 << 20) as f32;

/// Group 1, binding 0 of the second culling pass. Twin of `GpuskinPyramid` in `shaders/hidden.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PyramidUniform {
    /// Pixels of the picture, across and down.
    pub size: [f32; 2],
    /// Levels; with none of them nothing is hidden.
    pub levels: u32,
    /// What depths are multiplied by, so that they grow with the distance: 1, or -1 where depth is reversed.
    pub away: f32,
    /// How far a depth may be from what was stored: a step of the format.
    pub slack: f32,
    /// Not used, zero.
    pub reserved: [f32; 3],
}

/// Binding 2 of the pass that makes a level. Twin of `GpuskinLevel` in `shaders/pyramid.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct LevelUniform {
    /// Texels of the level, across and down.
    pub size: [u32; 2],
    /// Of what stands before it, likewise.
    pub before: [u32; 2],
}

/// What is farthest of every 2x2, 4x4, ... pixels of a picture: the twin of what the second culling pass looks at.
#[derive(Clone, Debug)]
pub struct DepthPyramid {
    parameters: PyramidUniform,
    /// Of 2x2 pixels, of 4x4 and so on, to a single texel; rows from the top.
    levels: Vec<Level>,
}

#[derive(Clone, Debug)]
struct Level {
    size: [usize; 2],
    /// Depths, multiplied by [`PyramidUniform::away`].
    farthest: Vec<f32>,
}

impl Level {
    /// What it has, or the last of a row or column that is shorter.
    fn at(&self, x: usize, y: usize) -> f32 {
        self.farthest[y.min(self.size[1] - 1) * self.size[0] + x.min(self.size[0] - 1)]
    }

    fn next(&self) -> Self {
        let size = self.size.map(|side| side.div_ceil(2));
        let texels = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [x, y]));
        let farthest = |[x, y]: [usize; 2]| {
            let row = |y| self.at(x * 2, y).max(self.at(x * 2 + 1, y));
            row(y * 2).max(row(y * 2 + 1))
        };
        Self { size, farthest: texels.map(farthest).collect() }
    }
}

/// Levels of a pyramid over a picture of so many pixels, to that of one texel.
pub fn pyramid_levels(width: u32, height: u32) -> u32 {
    width.max(height).max(2).next_power_of_two().ilog2()
}

impl DepthPyramid {
    /// Of a picture so many pixels wide, row by row from the top; `reversed`: depth is 1 near and 0 far away. `None` where
    /// the last row is incomplete, or there is none.
    pub fn new(width: u32, depth: &[f32], reversed: bool) -> Option<Self> {
        let across = width as usize;
        if depth.is_empty() || across == 0 || !depth.len().is_multiple_of(across) {
            return None;
        }
        let away = if reversed { -1.0 } else { 1.0 };
        let height = depth.len() / across;
        let picture = Level { size: [across, height], farthest: depth.iter().map(|depth| depth * away).collect() };
        let levels = pyramid_levels(width, height as u32);
        let size = [width as f32, height as f32];
        let parameters = PyramidUniform { size, levels, away, ..PyramidUniform::default() };
        let above = |level: &Level| Some(level.next());
        let levels = std::iter::successors(Some(picture.next()), above).take(levels as usize).collect();
        Some(Self { parameters, levels })
    }

    /// Whether all that a box covers was drawn nearer than its nearest corner: its middle, and the halves of its edges.
    /// `view_proj`: that of the picture. A box that reaches behind the eye is not hidden.
    pub fn hides(&self, view_proj: &[[f32; 4]; 4], middle: Vec3, edges: [Vec3; 3]) -> bool {
        let view_proj = Mat4::from_cols_array_2d(view_proj);
        let rows = view_proj.transpose();
        let most = edges.iter().fold(middle.abs(), |sum, edge| sum + edge.abs());
        let [off_z, off_w] =
            [rows.z_axis.abs(), rows.w_axis.abs()].map(|row| ROUNDING * (row.truncate().dot(most) + row.w));
        let (mut least, mut greatest, mut nearest) = (Vec2::splat(3e38), Vec2::splat(-3e38), 3e38_f32);
        for i in 0..8 {
            let [x, y, z] = [0, 1, 2].map(|axis| edges[axis] * if i >> axis & 1 == 0 { -1.0 } else { 1.0 });
            let clip = view_proj * (middle + (x + y + z)).extend(1.0);
            if clip.w.is_nan() || clip.w <= off_w {
                return false;
            }
            let seen = clip.truncate() / clip.w;
            (least, greatest) = (least.min(seen.truncate()), greatest.max(seen.truncate()));
            nearest = nearest.min(self.parameters.away * seen.z - (off_z + seen.z.abs() * off_w) / clip.w);
        }
        let size = Vec2::from(self.parameters.size);
        let from = Vec2::new(0.5 + 0.5 * least.x, 0.5 - 0.5 * greatest.y) * size - 0.5;
        let to = Vec2::new(0.5 + 0.5 * greatest.x, 0.5 - 0.5 * least.y) * size + 0.5;
        // Not Vec2::clamp, which asserts; NaN becomes 0, as nothing is then hidden below.
        let pixel = |at: Vec2| [(at.x, size.x), (at.y, size.y)].map(|(at, size)| at.floor().max(0.0).min(size - 1.0));
        let [first, last] = [from, to].map(|at| pixel(at).map(|at| at as usize));
        let few = |level: usize| {
            [0, 1].iter().all(|&axis| (last[axis] >> level) - (first[axis] >> level) < TEXELS_ACROSS as usize)
        };
        let level = (1..self.levels.len()).find(|level| few(*level)).unwrap_or(self.levels.len());
        let texels = &self.levels[level - 1];
        let span = |axis: usize| first[axis] >> level..=last[axis] >> level;
        span(1).all(|y| span(0).all(|x| nearest > texels.at(x, y) + self.parameters.slack))
    }
}

/// Compute entry point of [`pyramid`]: a thread a texel, 8x8 of them a workgroup.
pub const PYRAMID: &str = "gpuskin_write_level";
/// Threads of a workgroup of [`pyramid`], each way.
pub const PYRAMID_GROUP: u32 = 8;

/// What a level of the pyramid is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Before {
    /// The level before it.
    Level,
    /// The depths of a picture.
    Depth {
        /// Samples of a pixel.
        samples: u32,
        /// Depth is 1 near and 0 far away.
        reversed: bool,
    },
}

/// WGSL of the pass that makes a level. Group 0: what stands before it, the level itself, and [`LevelUniform`].
pub fn pyramid(before: Before) -> String {
    let (samples, away) = match before {
        Before::Level => (1, ""),
        Before::Depth { samples, reversed } => (samples, if reversed { "-" } else { "" }),
    };
    let kind = if samples > 1 { "texture_multisampled_2d" } else { "texture_2d" };
    // The samples of a pixel, or the one level of a view.
    let texels = (0..samples.max(1)).map(|i| format!("{away}textureLoad(gpuskin_picture, at, {i}).x"));
    let farthest = texels.reduce(|so_far, texel| format!("max({so_far}, {texel})")).unwrap_or_default();
    format!(
        "@group(0) @binding(0) var gpuskin_picture: {kind}<f32>;\n\n\
         fn gpuskin_before(at: vec2<u32>) -> f32 {{\n    return {farthest};\n}}\n\n{}",
        include_str!("../../shaders/pyramid.wgsl")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cull::in_view;

    /// Numbers that look random, 0..1.
    struct Random(u64);

    impl Random {
        fn unit(&mut self) -> f32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 40) as f32 / 16_777_216.0
        }

        fn vector(&mut self) -> Vec3 {
            Vec3::from([0; 3].map(|_| self.unit() * 2.0 - 1.0))
        }
    }

    /// Looks along -z from `eye`, 90 degrees, depth 0 at `near`, or 1.
    fn camera(eye: Vec3, near: f32, reversed: bool) -> [[f32; 4]; 4] {
        let (far, one) = (200.0, 1.0_f32);
        let (a, b) = if reversed {
            (near / (far - near), far * near / (far - near))
        } else {
            (far / (near - far), far * near / (near - far))
        };
        let columns = [[one, 0.0, 0.0, 0.0], [0.0, one, 0.0, 0.0], [0.0, 0.0, a, -1.0], [0.0, 0.0, b, 0.0]];
        (Mat4::from_cols_array_2d(&columns) * Mat4::from_translation(-eye)).to_cols_array_2d()
    }

    #[test]
    fn levels_end_at_a_texel() {
        assert_eq!(
            [(1, 1), (2, 2), (3, 1), (4, 4), (5, 2), (1920, 1080)].map(|(w, h)| pyramid_levels(w, h)),
            [1, 1, 2, 2, 3, 11]
        );
        for (width, height) in [(1, 1), (2, 2), (3, 1), (5, 7), (640, 3)] {
            let pyramid = DepthPyramid::new(width, &vec![0.5; (width * height) as usize], false).unwrap();
            assert_eq!(pyramid.levels.last().unwrap().size, [1, 1], "{width} x {height}");
        }
        assert!(DepthPyramid::new(0, &[], false).is_none() && DepthPyramid::new(2, &[0.0; 3], false).is_none());
    }

    #[test]
    fn a_texel_is_as_far_as_its_farthest_pixel() {
        let mut random = Random(5);
        for (width, height) in [(7, 5), (16, 9), (33, 64)] {
            let depth: Vec<f32> = (0..width * height).map(|_| random.unit()).collect();
            let pyramid = DepthPyramid::new(width as u32, &depth, true).unwrap();
            for (shift, level) in (1..).zip(&pyramid.levels) {
                for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                    assert!(level.at(x >> shift, y >> shift) >= -depth[y * width + x]);
                }
                let texels = level.farthest.iter();
                assert!(texels.clone().all(|texel| depth.contains(&-texel)), "it is a pixel's");
            }
        }
    }

    /// No point of a box that is hidden is nearer than what was drawn at its pixel; and most boxes behind a wall are hidden.
    #[test]
    fn what_is_hidden_is_behind_every_pixel() {
        let mut random = Random(9);
        let (mut hidden, mut shown) = (0, 0);
        for (width, height, reversed) in [(61_usize, 35_usize, false), (64, 64, true), (200, 11, false)] {
            let eye = random.vector() * 1000.0;
            let view_proj = camera(eye, 0.1, reversed);
            let project = |p: Vec3| Mat4::from_cols_array_2d(&view_proj).project_point3(p);
            // A wall with holes and steps.
            let depth: Vec<f32> = (0..width * height)
                .map(|i| {
                    let away = if random.unit() < 0.02 { 150.0 } else { 4.0 + (i % width / 20) as f32 * 3.0 };
                    project(eye - Vec3::Z * away).z
                })
                .collect();
            let pyramid = DepthPyramid::new(width as u32, &depth, reversed).unwrap();
            for _ in 0..4_000 {
                let away = 0.2 + random.unit() * 40.0;
                let middle = eye + random.vector() * Vec3::new(away, away, 0.0) - Vec3::Z * away;
                let edges =
                    [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| (axis + random.vector() * 0.2) * (0.1 + random.unit()));
                if !in_view(&view_proj, middle, edges) {
                    continue;
                }
                if !pyramid.hides(&view_proj, middle, edges) {
                    shown += 1;
                    continue;
                }
                hidden += 1;
                for _ in 0..50 {
                    let within = random.vector();
                    let seen = project(middle + edges[0] * within.x + edges[1] * within.y + edges[2] * within.z);
                    let pixel = [(0.5 + 0.5 * seen.x) * width as f32, (0.5 - 0.5 * seen.y) * height as f32];
                    let outside = |at: f32, size: usize| at < 0.0 || at >= size as f32;
                    if outside(pixel[0], width) || outside(pixel[1], height) {
                        continue;
                    }
                    let drawn = depth[pixel[1] as usize * width + pixel[0] as usize];
                    assert!(if reversed { seen.z < drawn } else { seen.z > drawn }, "{seen} is before {drawn}");
                }
            }
        }
        assert!(hidden > 1000 && shown > 1000, "{hidden} hidden, {shown} shown");
    }

    #[test]
    fn nothing_behind_the_eye_and_no_nonsense_is_hidden() {
        let pyramid = DepthPyramid::new(8, &[0.0; 64], false).unwrap();
        let view_proj = camera(Vec3::ZERO, 0.1, false);
        let edges = |length: f32| [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis * length);
        assert!(pyramid.hides(&view_proj, Vec3::Z * -9.0, edges(1.0)));
        for (middle, length) in [(-0.5, 1.0), (0.5, 0.4), (-9.0, f32::NAN), (f32::NAN, 1.0), (-9.0, f32::INFINITY)] {
            assert!(!pyramid.hides(&view_proj, Vec3::Z * middle, edges(length)), "{middle}, {length}");
        }
        assert!(!pyramid.hides(&[[0.0; 4]; 4], Vec3::Z * -9.0, edges(1.0)));
    }
}
