//! Axes of the source file: up and forward.

use glam::DVec3;
use serde::Serialize;

/// Axis of the source file that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum UpAxis {
    /// The y axis, as glTF defines.
    #[default]
    Y,
    /// The z axis, as written by exporters that do not convert.
    Z,
}

/// Axis of the source file along which the model looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ForwardAxis {
    /// +x.
    X,
    /// -x.
    NegX,
    /// +y.
    Y,
    /// -y, forward of Blender's scenes.
    NegY,
    /// +z, as glTF defines.
    Z,
    /// -z.
    NegZ,
}

impl UpAxis {
    /// Returns the unit vector.
    pub(crate) fn vector(self) -> DVec3 {
        match self {
            Self::Y => DVec3::Y,
            Self::Z => DVec3::Z,
        }
    }

    /// Returns the direction in which a model looks if the manifest does not name one: the axis
    /// that points along +z once the up axis points along +y.
    pub(crate) fn default_forward(self) -> ForwardAxis {
        match self {
            Self::Y => ForwardAxis::Z,
            Self::Z => ForwardAxis::NegY,
        }
    }
}

impl ForwardAxis {
    /// Returns the unit vector.
    pub(crate) fn vector(self) -> DVec3 {
        match self {
            Self::X => DVec3::X,
            Self::NegX => DVec3::NEG_X,
            Self::Y => DVec3::Y,
            Self::NegY => DVec3::NEG_Y,
            Self::Z => DVec3::Z,
            Self::NegZ => DVec3::NEG_Z,
        }
    }
}
