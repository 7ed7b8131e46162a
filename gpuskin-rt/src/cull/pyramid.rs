//! Occlusion culling: a depth pyramid, and the test of a box against it. CPU reference and WGSL
//! source of `shaders/pyramid.wgsl` and `shaders/occlusion.wgsl`. Does not need wgpu.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec2, Vec3};

/// A box is compared with the finest pyramid level in which it covers at most this many texels per
/// axis.
pub const TEXELS_ACROSS: u32 = 4;
/// Bound on the rounding error of a sum of products, relative to the sum of their absolute values:
/// 16 units in the last place. The depth of a point in this test and in the draw differ by at most
/// 12.
pub const ROUNDING: f32 = 1.0 / (1 << 20) as f32;

/// Uniform of the second culling pass, group 1, binding 0. CPU layout of `GpuskinPyramid` in
/// `shaders/occlusion.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PyramidUniform {
    /// Width and height of the depth image, pixels.
    pub size: [f32; 2],
    /// Number of pyramid levels; with 0, nothing is occluded.
    pub mip_levels: u32,
    /// Sign that makes depths grow with distance: 1, or -1 for reversed depth.
    pub depth_sign: f32,
    /// Tolerance of stored depths: one step of the depth format.
    pub depth_tolerance: f32,
    /// Unused, zero.
    pub reserved: [f32; 3],
}

/// Uniform of the pass that makes a pyramid level, binding 2. CPU layout of `GpuskinMip` in
/// `shaders/pyramid.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MipUniform {
    /// Width and height of the level, texels.
    pub size: [u32; 2],
    /// Width and height of its source, texels.
    pub source_size: [u32; 2],
}

/// Depth pyramid: the farthest depth of every 2x2, 4x4, ... pixels. CPU reference of the pyramid
/// that the second culling pass reads.
#[derive(Clone, Debug)]
pub struct DepthPyramid {
    parameters: PyramidUniform,
    /// Level `i` covers 2^(i+1) pixels per axis; the last level is a single texel. Rows from the
    /// top.
    mip_levels: Vec<DepthMip>,
}

#[derive(Clone, Debug)]
struct DepthMip {
    size: [usize; 2],
    /// Depths, multiplied by [`PyramidUniform::away`].
    farthest: Vec<f32>,
}

impl DepthMip {
    /// Returns the depth of a texel; coordinates beyond the edge are clamped.
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

/// Returns the number of pyramid levels for a depth image of the given size, down to a single
/// texel.
pub fn pyramid_mip_levels(width: u32, height: u32) -> u32 {
    width.max(height).max(2).next_power_of_two().ilog2()
}

impl DepthPyramid {
    /// Builds the pyramid of a depth image of the given width, row by row from the top. `reversed`:
    /// depth is 1 near and 0 far away. `None` if the image is empty or its last row is incomplete.
    pub fn new(width: u32, depth: &[f32], reversed: bool) -> Option<Self> {
        let across = width as usize;
        if depth.is_empty() || across == 0 || !depth.len().is_multiple_of(across) {
            return None;
        }
        let depth_sign = if reversed { -1.0 } else { 1.0 };
        let height = depth.len() / across;
        let picture =
            DepthMip { size: [across, height], farthest: depth.iter().map(|depth| depth * depth_sign).collect() };
        let mip_levels = pyramid_mip_levels(width, height as u32);
        let size = [width as f32, height as f32];
        let parameters = PyramidUniform { size, mip_levels, depth_sign, ..PyramidUniform::default() };
        let above = |level: &DepthMip| Some(level.next());
        let mip_levels = std::iter::successors(Some(picture.next()), above).take(mip_levels as usize).collect();
        Some(Self { parameters, mip_levels })
    }

    /// Returns whether every pixel that a box covers was drawn nearer than the nearest corner of
    /// the box. The box is given by its centre and its half edges; `view_proj` is that of the depth
    /// image. A box that reaches behind the camera is never occluded.
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
            nearest = nearest.min(self.parameters.depth_sign * seen.z - (off_z + seen.z.abs() * off_w) / clip.w);
        }
        let size = Vec2::from(self.parameters.size);
        let from = Vec2::new(0.5 + 0.5 * least.x, 0.5 - 0.5 * greatest.y) * size - 0.5;
        let to = Vec2::new(0.5 + 0.5 * greatest.x, 0.5 - 0.5 * least.y) * size + 0.5;
        // Not Vec2::clamp, which asserts. NaN becomes 0; a comparison below then fails, so the box
        // is not occluded.
        let pixel = |at: Vec2| [(at.x, size.x), (at.y, size.y)].map(|(at, size)| at.floor().max(0.0).min(size - 1.0));
        let [first, last] = [from, to].map(|at| pixel(at).map(|at| at as usize));
        let few = |level: usize| {
            [0, 1].iter().all(|&axis| (last[axis] >> level) - (first[axis] >> level) < TEXELS_ACROSS as usize)
        };
        let level = (1..self.mip_levels.len()).find(|level| few(*level)).unwrap_or(self.mip_levels.len());
        let texels = &self.mip_levels[level - 1];
        let span = |axis: usize| first[axis] >> level..=last[axis] >> level;
        span(1).all(|y| span(0).all(|x| nearest > texels.at(x, y) + self.parameters.depth_tolerance))
    }
}

/// Compute entry point of [`pyramid`]: one thread per texel, 8x8 texels per workgroup.
pub const PYRAMID_ENTRY_POINT: &str = "gpuskin_write_mip";
/// Number of threads per workgroup of [`pyramid`], per axis.
pub const PYRAMID_GROUP_SIZE: u32 = 8;

/// Source of a pyramid level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PyramidSource {
    /// The next finer level.
    Mip,
    /// A depth image.
    Depth {
        /// Number of samples per pixel.
        samples: u32,
        /// Whether depth is 1 near and 0 far away.
        reversed: bool,
    },
}

/// Returns the WGSL of the pass that makes a pyramid level. Group 0: the source, the level, and
/// [`MipUniform`].
pub fn pyramid(before: PyramidSource) -> String {
    let (samples, away) = match before {
        PyramidSource::Mip => (1, ""),
        PyramidSource::Depth { samples, reversed } => (samples, if reversed { "-" } else { "" }),
    };
    let kind = if samples > 1 { "texture_multisampled_2d" } else { "texture_2d" };
    // One load per sample of a pixel, or one load of a single-sampled texel.
    let texels = (0..samples.max(1)).map(|i| format!("{away}textureLoad(gpuskin_picture, at, {i}).x"));
    let farthest = texels.reduce(|so_far, texel| format!("max({so_far}, {texel})")).unwrap_or_default();
    format!(
        "@group(0) @binding(0) var gpuskin_picture: {kind}<f32>;\n\n\
         fn gpuskin_source_depth(at: vec2<u32>) -> f32 {{\n    return {farthest};\n}}\n\n{}",
        include_str!("../../shaders/pyramid.wgsl")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cull::in_view;

    /// Pseudo-random numbers, 0..1.
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

    /// Returns a camera that looks along -z from `eye`, 90 degrees; depth is 0 at `near`, or 1 if
    /// reversed.
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
    fn pyramid_ends_at_a_single_texel() {
        assert_eq!(
            [(1, 1), (2, 2), (3, 1), (4, 4), (5, 2), (1920, 1080)].map(|(w, h)| pyramid_mip_levels(w, h)),
            [1, 1, 2, 2, 3, 11]
        );
        for (width, height) in [(1, 1), (2, 2), (3, 1), (5, 7), (640, 3)] {
            let pyramid = DepthPyramid::new(width, &vec![0.5; (width * height) as usize], false).unwrap();
            assert_eq!(pyramid.mip_levels.last().unwrap().size, [1, 1], "{width} x {height}");
        }
        assert!(DepthPyramid::new(0, &[], false).is_none() && DepthPyramid::new(2, &[0.0; 3], false).is_none());
    }

    #[test]
    fn texel_has_depth_of_its_farthest_pixel() {
        let mut random = Random(5);
        for (width, height) in [(7, 5), (16, 9), (33, 64)] {
            let depth: Vec<f32> = (0..width * height).map(|_| random.unit()).collect();
            let pyramid = DepthPyramid::new(width as u32, &depth, true).unwrap();
            for (shift, level) in (1..).zip(&pyramid.mip_levels) {
                for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                    assert!(level.at(x >> shift, y >> shift) >= -depth[y * width + x]);
                }
                let texels = level.farthest.iter();
                assert!(
                    texels.clone().all(|texel| depth.contains(&-texel)),
                    "a pyramid depth is not the depth of a pixel"
                );
            }
        }
    }

    /// No point of an occluded box is nearer than the depth at its pixel; and most boxes behind a
    /// wall are occluded.
    #[test]
    fn occluded_box_is_behind_every_pixel() {
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
                    assert!(
                        if reversed { seen.z < drawn } else { seen.z > drawn },
                        "occluded point {seen} is nearer than depth {drawn}"
                    );
                }
            }
        }
        assert!(hidden > 1000 && shown > 1000, "{hidden} hidden, {shown} shown");
    }

    #[test]
    fn boxes_behind_camera_and_nan_boxes_are_not_occluded() {
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
