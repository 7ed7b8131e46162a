//! Textures of poses, which a render pass draws where there is no compute: where poses lie in them, and the
//! CPU layout of `shaders/pose_places.wgsl`. Does not need wgpu.
//!
//! A texture has layers, a layer has rows of blocks, and a block is the pose of an instance: a column per
//! matrix, and three texels above each other in it, the rows of the matrix. Lists of instances begin at a
//! new row.

use bytemuck::{Pod, Zeroable};

use crate::Time;

/// Width of a texture of poses in texels: what every device can bind, and the most matrices per instance.
pub const POSE_WIDTH: u32 = 2048;
/// Texels above each other in a block.
pub const BLOCK_HEIGHT: u32 = 3;

/// Size of a texture of poses. At least two layers: OpenGL has no arrays of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoseTextureSize {
    /// Binary logarithm of the number of rows of blocks of a layer.
    pub layer_shift: u32,
    /// Number of layers.
    pub layers: u32,
}

impl PoseTextureSize {
    /// Binary logarithm of the greatest number of rows of blocks of a layer.
    pub const MAX_LAYER_SHIFT: u32 = 9;

    /// Least size with this many rows of blocks.
    pub fn of_rows(rows: u32) -> Self {
        let half = rows.div_ceil(2).max(1);
        let layer_shift = (u32::BITS - (half - 1).leading_zeros()).min(Self::MAX_LAYER_SHIFT);
        Self { layer_shift, layers: rows.div_ceil(1 << layer_shift).max(2) }
    }

    /// Number of rows of blocks of all layers.
    pub fn rows(self) -> u32 {
        self.layers << self.layer_shift
    }

    /// Height of a layer, texels.
    pub fn height(self) -> u32 {
        BLOCK_HEIGHT << self.layer_shift
    }

    /// Bytes of a layer.
    pub fn layer_bytes(self) -> u64 {
        u64::from(self.height()) * u64::from(POSE_WIDTH) * 16
    }
}

/// Places of the poses of a list of instances. CPU layout of `GpuskinPosePlaces`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PosePlaces {
    /// Current time: [`Time::words`].
    pub time: [u32; 2],
    /// Time of the previous poses.
    pub previous_time: [u32; 2],
    /// Row of blocks of the first instance, counted through all layers.
    pub first_row: u32,
    /// Blocks per row.
    pub columns: u32,
    /// Matrices per block.
    pub stride: u32,
    /// Matrices from an instance's pose to its previous pose; 0 if that is not kept.
    pub previous: u32,
    /// Binary logarithm of the number of rows of blocks of a layer.
    pub layer_shift: u32,
    /// Not used, zero.
    pub reserved_0: u32,
    /// Not used, zero.
    pub reserved_1: [u32; 2],
}

impl PosePlaces {
    /// Creates places for poses of `bones` matrices; with `keeps_previous`, of twice as many. `times`: current and
    /// previous time.
    pub fn new(bones: u32, keeps_previous: bool, times: [Time; 2]) -> Self {
        let keeps_previous = keeps_previous && bones * 2 <= POSE_WIDTH;
        let stride = bones.max(1) * if keeps_previous { 2 } else { 1 };
        let [time, previous_time] = times.map(Time::words);
        Self {
            time,
            previous_time,
            columns: (POSE_WIDTH / stride).max(1),
            stride,
            previous: if keeps_previous { bones } else { 0 },
            ..Self::default()
        }
    }

    /// Number of rows that `instances` instances take.
    pub fn rows(&self, instances: u32) -> u32 {
        instances.div_ceil(self.columns)
    }

    /// Number of times that each instance has a pose for.
    pub fn pose_times(&self) -> u32 {
        if self.previous > 0 { 2 } else { 1 }
    }

    /// Returns those of the first `instances` instances that lie in a layer.
    pub fn instances_in(&self, layer: u32, instances: u32) -> core::ops::Range<u32> {
        let number = |row: u64| {
            let number = row.saturating_sub(self.first_row.into()) * u64::from(self.columns);
            number.min(instances.into()) as u32
        };
        let first = u64::from(layer) << self.layer_shift;
        number(first)..number(first + (1 << self.layer_shift))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_texture_has_at_least_the_rows() {
        for rows in (0..2100).chain([50_000]) {
            let size = PoseTextureSize::of_rows(rows);
            assert!(size.rows() >= rows && size.layers >= 2, "{rows}: {size:?}");
            assert!(size.height() <= POSE_WIDTH, "{rows}: {size:?}");
            assert!(
                rows < 2 || size.rows() < rows * 2 || size.rows() < rows + (1 << size.layer_shift),
                "{rows}: {size:?}"
            );
        }
    }

    #[test]
    fn every_instance_lies_in_one_layer() {
        for (bones, first_row, instances) in [(1, 0, 5_000_000), (64, 100, 40_000), (1024, 511, 3), (1024, 512, 2_000)]
        {
            let places = PosePlaces { first_row, ..PosePlaces::new(bones, true, [Time::ZERO; 2]) };
            let size = PoseTextureSize::of_rows(first_row + places.rows(instances));
            let places = PosePlaces { layer_shift: size.layer_shift, ..places };
            assert_eq!(places.pose_times(), 2);
            assert!(places.columns * places.stride <= POSE_WIDTH);
            let mut next = 0;
            for layer in 0..size.layers {
                let range = places.instances_in(layer, instances);
                assert_eq!(range.start.max(next), range.start);
                let layer_of = |number: u32| (first_row + number / places.columns) >> size.layer_shift;
                assert!(range.clone().all(|number| layer_of(number) == layer));
                next = range.end;
            }
            assert_eq!(next, instances);
        }
    }

    #[test]
    fn previous_poses_are_left_out_where_a_row_is_too_short() {
        let places = PosePlaces::new(1025, true, [Time::ZERO; 2]);
        assert_eq!((places.pose_times(), places.stride, places.previous), (1, 1025, 0));
    }
}
