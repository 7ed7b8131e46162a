//! Environments: `panorama -> irradiance and a prefiltered cube map`.
//!
//! | module | input | output |
//! |---|---|---|
//! | `panorama` | image file | radiance of an equirectangular panorama |
//! | `cube` | panorama | cube map with a pyramid of mean radiance and solid angle |
//! | `harmonics` | cube map | radiance as spherical harmonics |
//! | `prefilter` | cube map | mip levels, each filtered for a roughness |
//! | `rgb9e5` | radiance | texels |
//!
//! Directions are in the space of the game: y up. The centre of the panorama is -z, its right half +x.

mod cube;
mod harmonics;
mod panorama;
mod prefilter;
mod rgb9e5;
#[cfg(test)]
mod tests;

use gpuskin_rt::internals::Environment;
use ktx2::Format;
use serde::{Deserialize, Serialize};

use crate::container::{self, HASH_LEN, Ktx2};
use crate::diagnostic::Diagnostic;
use crate::limits::Limits;
use cube::Cube;
use panorama::Panorama;

/// Light of an environment, as the runtime stores it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EnvironmentLight {
    /// Coefficients of real orthonormal spherical harmonics, as `Ambient::harmonics` takes them.
    pub(crate) radiance: [[f32; 3]; 9],
    /// Texels along a side of a face of the finest mip level.
    pub(crate) size: u32,
    /// Mip levels in RGB9E5, largest first, each with its six faces.
    pub(crate) levels: Vec<Vec<u8>>,
}

impl EnvironmentLight {
    /// Makes the light of a panorama. `size`: texels along a side of a face, a power of two of at least 64;
    /// `intensity`: factor of all radiance.
    pub(crate) fn bake(bytes: &[u8], limits: &Limits, size: u32, intensity: f64) -> Result<Self, Diagnostic> {
        let panorama = Panorama::decode(bytes, limits)?.scaled(intensity);
        let cube = Cube::of(&panorama, size);
        let radiance = harmonics::of(&cube).map(|color| color.map(|c| c as f32));
        let last = Environment::levels(size) - 1;
        let level = |level: u32| {
            let texels = match level {
                0 => cube.finest(),
                _ => prefilter::filter(&cube, size >> level, f64::from(level) / f64::from(last)),
            };
            texels.into_iter().flat_map(|color| rgb9e5::encode(color).to_le_bytes()).collect()
        };
        Ok(Self { radiance, size, levels: (0..=last).map(level).collect() })
    }

    /// Returns the bytes that a cache stores.
    pub(crate) fn to_cache(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(self).ok()
    }

    /// Reads what [`Self::to_cache`] wrote; `None` if it is not of this size.
    pub(crate) fn from_cache(bytes: &[u8], size: u32) -> Option<Self> {
        let light: Self = postcard::from_bytes(bytes).ok()?;
        let right = |(level, texels): (usize, &Vec<u8>)| texels.len() as u64 == 24 * u64::from(size >> level).pow(2);
        let complete = light.levels.len() == Environment::levels(size) as usize;
        (light.size == size && complete && light.levels.iter().enumerate().all(right)).then_some(light)
    }

    /// Writes the cube map, and returns the content hash in it.
    pub(crate) fn file(&self) -> (Ktx2, [u8; HASH_LEN]) {
        let mut hasher = blake3::Hasher::new();
        hasher.update(bytemuck::cast_slice(&self.radiance));
        self.levels.iter().for_each(|level| _ = hasher.update(level));
        let mut hash = [0; HASH_LEN];
        hash.copy_from_slice(&hasher.finalize().as_bytes()[..HASH_LEN]);
        let texture = container::TextureFile {
            format: Format::E5B9G9R9_UFLOAT_PACK32,
            texel_bytes: 4,
            width: self.size,
            height: self.size,
            layers: 1,
            faces: 6,
            levels: &self.levels,
        };
        (container::write(&texture, &hash), hash)
    }
}
