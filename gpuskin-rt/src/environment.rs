//! Light of an environment, baked from a panorama.

use crate::list::Str;
use crate::model::Payload;

/// Light from all directions, baked from a panorama: constants of the generated module `environments`.
///
/// [`Ambient::environment`](crate::Ambient::environment) is its diffuse light,
/// [`CrowdRenderer::set_environment`](crate::CrowdRenderer::set_environment) draws its reflections.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    /// Name in the manifest.
    #[doc(hidden)]
    pub name: Str,
    /// Hash of the file; a file with another hash comes from another bake.
    #[doc(hidden)]
    pub content_hash: [u8; 16],
    /// Texels along a side of a face of the finest mip level.
    #[doc(hidden)]
    pub size: u32,
    /// Radiance as coefficients of real orthonormal spherical harmonics, linear RGB, as
    /// [`Ambient::harmonics`](crate::Ambient::harmonics) takes them.
    #[doc(hidden)]
    pub radiance: [[f32; 3]; 9],
    /// Cube map, file `environment.ktx2`: RGB9E5, per mip level the faces +x, -x, +y, -y, +z, -z. Level k of n
    /// is filtered for the roughness r with r * (2 - r) = k / (n - 1).
    #[doc(hidden)]
    pub map: Payload,
}

impl Environment {
    /// Returns the name of the file, as [`provide_file`](crate::provide_file) takes it, if it is not part of the
    /// program.
    pub fn side_file(&self) -> Option<&str> {
        self.map.side_file()
    }

    /// Returns the number of mip levels of a cube with this many texels along a side: down to 8 x 8.
    #[doc(hidden)]
    pub const fn levels(size: u32) -> u32 {
        if size < 8 { 1 } else { size.ilog2() - 2 }
    }
}
