//! Terrain: heights of the ground, on which instances move. CPU reference of `shaders/terrain.wgsl`. Does not need wgpu.
//!
//! Heights between samples are bilinear. The slope at a place is the difference of the heights one sample before and
//! behind it, so that it has no jumps: bilinear heights alone bend where cells meet.

use core::fmt;
use std::sync::Arc;

#[cfg(any(feature = "wgpu", test))]
use glam::DQuat;
use glam::{DVec2, DVec3};

/// Heights of the ground on a grid, and how much instances tilt with its slope.
///
/// A clone shares the heights.
///
/// ```
/// # use gpuskin_rt::Terrain;
/// // A valley along z: three samples along x, two along z, 10 m apart.
/// let valley = Terrain::new([-10.0, 0.0], 10.0, 3, vec![4.0, 0.0, 4.0, 4.0, 0.0, 4.0])?;
/// assert_eq!(valley.height([5.0, 3.0]), 2.0);
/// # Ok::<(), gpuskin_rt::TerrainError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Terrain {
    grid: Arc<Grid>,
    tilt: f32,
}

#[derive(Debug)]
pub(crate) struct Grid {
    /// World coordinates x and z of the first sample, metres.
    corner: [f32; 2],
    /// Distance between samples, metres.
    spacing: f32,
    /// Samples along x.
    width: usize,
    /// In rows along x; metres.
    heights: Vec<f32>,
}

impl Terrain {
    /// Makes a terrain from heights in rows along x, the row with the smallest z first; metres. `corner`: world coordinates
    /// x and z of the first sample, metres. `spacing`: distance between samples, metres. `width`: samples in a row. Beyond
    /// its edges, the ground is as high as at the edge.
    ///
    /// # Errors
    /// If a number is not finite, if `spacing` is not above zero, if the heights are not whole rows, or if there are
    /// fewer than two rows or columns.
    pub fn new(
        corner: impl Into<[f32; 2]>,
        spacing: f32,
        width: usize,
        heights: Vec<f32>,
    ) -> Result<Self, TerrainError> {
        let corner = corner.into();
        if !corner.into_iter().all(f32::is_finite) {
            return Err(TerrainError::Corner(corner));
        }
        if !(spacing > 0.0 && spacing.is_finite()) {
            return Err(TerrainError::Spacing(spacing));
        }
        if width < 2 || heights.len() < 2 * width || !heights.len().is_multiple_of(width) {
            return Err(TerrainError::Size { width, heights: heights.len() });
        }
        if let Some(sample) = heights.iter().position(|height| !height.is_finite()) {
            return Err(TerrainError::Height { sample, height: heights[sample] });
        }
        Ok(Self { grid: Arc::new(Grid { corner, spacing, width, heights }), tilt: 0.0 })
    }

    /// Sets how much instances tilt with the slope, within 0..=1: at 0 they stay upright, at 1 their y axis is the
    /// ground's normal. A number that is not finite becomes 0.
    pub fn tilted(mut self, tilt: f32) -> Self {
        self.tilt = if tilt.is_finite() { tilt.clamp(0.0, 1.0) } else { 0.0 };
        self
    }

    /// Returns the height of the ground at world coordinates x and z, metres.
    pub fn height(&self, at: impl Into<[f32; 2]>) -> f32 {
        self.grid.height(DVec2::from(at.into().map(f64::from))) as f32
    }

    /// Returns the normal of the ground at world coordinates x and z, metres: a unit vector that points up.
    pub fn normal(&self, at: impl Into<[f32; 2]>) -> [f32; 3] {
        normal(self.grid.slope(DVec2::from(at.into().map(f64::from)))).as_vec3().into()
    }

    /// Samples along x and z.
    #[cfg(feature = "wgpu")]
    pub(crate) fn size(&self) -> [u32; 2] {
        [self.grid.width, self.grid.heights.len() / self.grid.width]
            .map(|samples| samples.try_into().unwrap_or(u32::MAX))
    }

    #[cfg(feature = "wgpu")]
    pub(crate) fn heights(&self) -> &[f32] {
        &self.grid.heights
    }

    /// Identity of the heights.
    #[cfg(feature = "wgpu")]
    pub(crate) fn grid(&self) -> &Arc<Grid> {
        &self.grid
    }

    #[cfg(feature = "wgpu")]
    pub(crate) fn uniform(&self) -> TerrainUniform {
        let Grid { corner, spacing, .. } = *self.grid;
        TerrainUniform { corner, samples_per_metre: spacing.recip(), tilt: self.tilt * 0.5 / spacing }
    }

    /// Returns position and rotation over the ground of an instance in the world.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn over_ground(&self, position: DVec3, rotation: DQuat) -> (DVec3, DQuat) {
        let height = self.grid.height(DVec2::new(position.x, position.z));
        let upright = match self.tilt > 0.0 {
            true => DQuat::from_rotation_arc(rotation * DVec3::Y, DVec3::Y) * rotation,
            false => rotation,
        };
        (position - DVec3::Y * height, upright)
    }

    /// Returns position and rotation in the world of an instance over the ground.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn in_world(&self, position: DVec3, rotation: DQuat) -> (DVec3, DQuat) {
        let at = DVec2::new(position.x, position.z);
        let position = position + DVec3::Y * self.grid.height(at);
        if self.tilt == 0.0 {
            return (position, rotation);
        }
        let up = normal(self.grid.slope(at) * f64::from(self.tilt));
        (position, DQuat::from_rotation_arc(DVec3::Y, up) * rotation)
    }
}

/// Two terrains are equal if they share their heights and tilt instances alike.
impl PartialEq for Terrain {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.grid, &other.grid) && self.tilt == other.tilt
    }
}

/// Returns the normal of ground with a slope: rise per metre along x and z.
fn normal(slope: DVec2) -> DVec3 {
    DVec3::new(-slope.x, 1.0, -slope.y).normalize()
}

impl Grid {
    fn height(&self, at: DVec2) -> f64 {
        self.between(self.samples(at))
    }

    /// Rise per metre along x and z.
    fn slope(&self, at: DVec2) -> DVec2 {
        let at = self.samples(at);
        let along = |by: DVec2| self.between(at + by) - self.between(at - by);
        DVec2::new(along(DVec2::X), along(DVec2::Y)) / (2.0 * f64::from(self.spacing))
    }

    /// Returns a place in samples from the first one.
    fn samples(&self, at: DVec2) -> DVec2 {
        (at - DVec2::from(self.corner.map(f64::from))) / f64::from(self.spacing)
    }

    /// Height between samples.
    fn between(&self, at: DVec2) -> f64 {
        let most = DVec2::new((self.width - 1) as f64, (self.heights.len() / self.width - 1) as f64);
        let at = at.clamp(DVec2::ZERO, most);
        let cell = at.floor().min(most - 1.0);
        let t = at - cell;
        // Not negative, and less than the number of samples.
        let first = cell.y as usize * self.width + cell.x as usize;
        let along = |first: usize| {
            let [a, b] = [self.heights[first], self.heights[first + 1]].map(f64::from);
            a + (b - a) * t.x
        };
        along(first) + (along(first + self.width) - along(first)) * t.y
    }
}

/// CPU layout of `GpuskinTerrain` in `shaders/terrain.wgsl`.
#[cfg(any(feature = "wgpu", test))]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct TerrainUniform {
    /// World coordinates x and z of the first sample, metres.
    pub(crate) corner: [f32; 2],
    pub(crate) samples_per_metre: f32,
    /// Share of the slope with which instances tilt, over twice the distance of samples in metres.
    pub(crate) tilt: f32,
}

/// Heights that are no terrain.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TerrainError {
    /// A coordinate of the corner is not finite.
    Corner([f32; 2]),
    /// The distance between samples is not finite, or not above zero.
    Spacing(f32),
    /// The heights are not whole rows, or less than two rows of two.
    Size {
        /// Samples in a row.
        width: usize,
        /// Number of heights.
        heights: usize,
    },
    /// A height is not finite.
    Height {
        /// Number of the sample.
        sample: usize,
        /// Height of the sample, metres.
        height: f32,
    },
}

impl fmt::Display for TerrainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corner([x, z]) => write!(f, "terrain: the corner is at {x}, {z}; both must be finite"),
            Self::Spacing(spacing) => {
                write!(f, "terrain: samples are {spacing} metres apart; the distance must be finite and above zero")
            }
            Self::Size { width, heights } => write!(
                f,
                "terrain: {heights} heights in rows of {width}; there must be whole rows, at least two, of at least two \
                 heights"
            ),
            Self::Height { sample, height } => {
                write!(f, "terrain: the height of sample {sample} is {height}; all heights must be finite")
            }
        }
    }
}

impl std::error::Error for TerrainError {}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    /// Hills whose heights are known everywhere.
    fn hills(spacing: f32) -> Terrain {
        let height = |x: f64, z: f64| 3.0 * (0.05 * x).sin() + 2.0 * (0.04 * z).cos();
        let at = |i: usize| f64::from(spacing) * i as f64 - 50.0;
        let side = (100.0 / spacing) as usize + 1;
        let heights = (0..side * side).map(|i| height(at(i % side), at(i / side)) as f32).collect();
        Terrain::new([-50.0, -50.0], spacing, side, heights).unwrap()
    }

    #[test]
    fn heights_and_slopes_come_close_to_those_of_smooth_hills() {
        let hills = hills(0.5);
        for i in 0..200 {
            let (x, z) = (f64::from(i) * 0.47 - 47.0, f64::from(i) * 0.31 - 30.0);
            let height = 3.0 * (0.05 * x).sin() + 2.0 * (0.04 * z).cos();
            let slope = DVec2::new(0.15 * (0.05 * x).cos(), -0.08 * (0.04 * z).sin());
            assert!((f64::from(hills.height([x as f32, z as f32])) - height).abs() < 1e-3, "{x} {z}");
            let found = Vec3::from(hills.normal([x as f32, z as f32])).as_dvec3();
            assert!(found.angle_between(normal(slope)) < 1e-3, "{x} {z}: {found}");
        }
    }

    #[test]
    fn ground_goes_on_beyond_the_edges() {
        let hills = hills(2.0);
        for at in [[-500.0, 3.0], [9e9, -7.0], [1.0, -60.0], [2.0, f32::MAX], [f32::NEG_INFINITY, 0.0]] {
            let edge = at.map(|c: f32| c.clamp(-50.0, 50.0));
            assert_eq!(hills.height(at), hills.height(edge));
            assert!(Vec3::from(hills.normal(at)).is_normalized());
        }
        assert_eq!(hills.normal([400.0, 400.0]), [0.0, 1.0, 0.0]);
        assert!(hills.height([f32::NAN, 0.0]).is_finite());
    }

    #[test]
    fn places_over_the_ground_return_to_the_world() {
        let rotation = DQuat::from_rotation_y(0.8);
        for tilt in [0.0, 0.5, 1.0] {
            let hills = hills(2.0).tilted(tilt);
            let (position, tilted) = hills.in_world(DVec3::new(7.3, 0.5, -20.1), rotation);
            let (back, upright) = hills.over_ground(position, tilted);
            assert!(back.distance(DVec3::new(7.3, 0.5, -20.1)) < 1e-12 && upright.angle_between(rotation) < 1e-7);
            let up = Vec3::from(hills.normal([7.3, -20.1])).as_dvec3();
            let angle = (tilted * DVec3::Y).angle_between(DVec3::Y) / up.angle_between(DVec3::Y);
            assert!((angle - f64::from(tilt)).abs() < 0.02, "{tilt}: {angle}");
        }
    }

    #[test]
    fn broken_heights_are_refused() {
        let new = |corner, spacing, width, heights| Terrain::new(corner, spacing, width, heights).unwrap_err();
        assert!(matches!(new([f32::NAN, 0.0], 1.0, 2, vec![0.0; 4]), TerrainError::Corner(_)));
        for spacing in [0.0, -1.0, f32::INFINITY, f32::NAN] {
            assert!(matches!(new([0.0; 2], spacing, 2, vec![0.0; 4]), TerrainError::Spacing(_)));
        }
        for (width, heights) in [(0, 4), (1, 4), (2, 2), (2, 5), (4, 4), (usize::MAX / 2 + 1, 4), (2, 0)] {
            let error = new([0.0; 2], 1.0, width, vec![0.0; heights]);
            assert_eq!(error, TerrainError::Size { width, heights });
        }
        let error = new([0.0; 2], 1.0, 2, vec![0.0, 1.0, f32::NAN, 2.0]);
        assert_eq!(error.to_string(), "terrain: the height of sample 2 is NaN; all heights must be finite");
        let tilts = [f32::NAN, -3.0, 7.0].map(|tilt| hills(10.0).tilted(tilt).tilt);
        assert_eq!(tilts, [0.0, 0.0, 1.0]);
    }
}
