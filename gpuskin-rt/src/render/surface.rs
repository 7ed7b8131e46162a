//! Surfaces: properties of a mesh part that select its pipelines.

use crate::{Material, MeshPart};

/// Properties of a mesh part and its material that select a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Surface {
    pub(super) double_sided: bool,
    pub(super) masked: bool,
    pub(super) flat: bool,
    pub(super) shading: Shading,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shading {
    Lit,
    Emissive,
    Unlit,
}

impl Surface {
    pub(crate) fn of(part: &MeshPart, material: &Material) -> Self {
        let masked = material.alpha_cutoff.is_some();
        let shading = match material {
            _ if material.unlit => Shading::Unlit,
            _ if material.emits() => Shading::Emissive,
            _ => Shading::Lit,
        };
        Self { double_sided: material.double_sided, masked, flat: part.flat && shading != Shading::Unlit, shading }
    }

    pub(super) fn emits(self) -> bool {
        self.shading == Shading::Emissive
    }
}
