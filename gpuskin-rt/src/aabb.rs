//! Axis-aligned bounding boxes.

/// An axis-aligned bounding box, metres. Empty if `min` is greater than `max`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct Aabb {
    /// Least corner.
    pub min: [f32; 3],
    /// Greatest corner.
    pub max: [f32; 3],
}

impl Aabb {
    /// An empty box.
    #[doc(hidden)]
    pub const EMPTY: Self = Self { min: [f32::INFINITY; 3], max: [f32::NEG_INFINITY; 3] };

    /// Returns the length of the diagonal in metres; 0 if the box is empty.
    #[doc(hidden)]
    pub fn diagonal(&self) -> f32 {
        let d = glam::Vec3::from(self.max) - glam::Vec3::from(self.min);
        if d.min_element() < 0.0 { 0.0 } else { d.length() }
    }

    /// Returns the smallest box that contains both boxes.
    #[doc(hidden)]
    pub fn union(self, other: Self) -> Self {
        let (min, max) = (glam::Vec3::from(self.min), glam::Vec3::from(self.max));
        Self { min: min.min(other.min.into()).into(), max: max.max(other.max.into()).into() }
    }
}
