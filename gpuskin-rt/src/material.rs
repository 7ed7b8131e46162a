//! Materials and their textures, as the baker tells the runtime of them.

use crate::{List, Str};

/// What a surface looks like: glTF's metallic-roughness model.
///
/// The renderer's own material shows the base colour and emitted light; the rest is for a game's pipelines.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct Material {
    /// Its name in the glTF file; may be empty.
    pub name: Str,
    /// Linear RGBA, times the texture and the colour of the vertex.
    pub base_color: [f32; 4],
    /// Base colour and alpha; sRGB.
    pub base_color_texture: Option<MaterialTexture>,
    /// 0..1, times the blue channel of [`Material::orm_texture`].
    pub metallic: f32,
    /// 0..1, times the green channel of [`Material::orm_texture`].
    pub roughness: f32,
    /// 0..1: how much of the occlusion in the red channel of [`Material::orm_texture`] shows.
    pub occlusion_strength: f32,
    /// Occlusion, roughness and metallic in red, green and blue; linear. What the material has no texture for is 1.
    pub orm_texture: Option<MaterialTexture>,
    /// Tangent-space normals, x and y of them to be multiplied by this.
    pub normal_scale: f32,
    /// Tangent-space normals, -1..1 as 0..1, y up; linear.
    pub normal_texture: Option<MaterialTexture>,
    /// Linear RGB, times the texture; above 1 where the file says so (`KHR_materials_emissive_strength`).
    pub emissive: [f32; 3],
    /// Emitted light; sRGB.
    pub emissive_texture: Option<MaterialTexture>,
    /// Seen from behind, too.
    pub double_sided: bool,
    /// Fragments below this alpha are not drawn.
    pub alpha_cutoff: Option<f32>,
    /// Shown in its base colour, whatever the light (`KHR_materials_unlit`).
    pub unlit: bool,
}

impl Material {
    /// Whether light comes from it, beside the base colour of what is not lit.
    pub fn emits(&self) -> bool {
        !self.unlit && self.emissive.iter().any(|c| *c > 0.0)
    }

    /// All textures that it has.
    pub fn textures(&self) -> impl Iterator<Item = &MaterialTexture> {
        [&self.base_color_texture, &self.orm_texture, &self.normal_texture, &self.emissive_texture]
            .into_iter()
            .flatten()
    }
}

/// A texture of a material and how it is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct MaterialTexture {
    /// Index into [`Metadata::textures`](crate::Metadata::textures).
    pub texture: u32,
    /// Along u and v.
    pub wrap: [Wrap; 2],
    /// Nearest texel instead of filtering.
    pub nearest: bool,
}

/// What stands beyond the edge of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub enum Wrap {
    /// The texture again.
    Repeat,
    /// Its mirror image.
    Mirror,
    /// Its edge.
    Clamp,
}

/// A texture of materials with its mips: the same in one or several formats, a file each.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ColorTexture {
    /// Texels across.
    pub width: u32,
    /// Texels down.
    pub height: u32,
    /// Mip levels, each half the size of the one before, rounded down.
    pub levels: u32,
    /// Red, green and blue are sRGB numbers, which samplers turn into light; else they are numbers as they stand.
    pub srgb: bool,
    /// Formats, best first: a device takes the first that it can read. A file each, in this order.
    pub formats: List<ColorFormat>,
}

impl ColorTexture {
    /// Texels across and down a mip level.
    pub fn level_size(&self, level: u32) -> [u32; 2] {
        [self.width, self.height].map(|side| side.checked_shr(level).unwrap_or(0).max(1))
    }
}

/// How the texels of a [`ColorTexture`] stand in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub enum ColorFormat {
    /// Four bytes a texel. Every device reads it.
    Rgba8,
    /// BC7, one byte a texel: desktops.
    Bc7,
    /// ASTC in blocks of 4 x 4, one byte a texel: phones, and Apple's computers.
    Astc,
    /// ETC2 with EAC alpha, one byte a texel: older phones.
    Etc2,
}

impl ColorFormat {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bc7, Self::Astc, Self::Etc2, Self::Rgba8];

    /// As it is called in `gpuskin.toml` and in file names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rgba8 => "rgba8",
            Self::Bc7 => "bc7",
            Self::Astc => "astc",
            Self::Etc2 => "etc2",
        }
    }

    /// The format of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Texels along the side of a block; 1 where texels stand alone.
    pub const fn block_side(self) -> u32 {
        match self {
            Self::Rgba8 => 1,
            Self::Bc7 | Self::Astc | Self::Etc2 => 4,
        }
    }

    /// Bytes of a block, or of a texel that stands alone.
    pub const fn block_bytes(self) -> u32 {
        match self {
            Self::Rgba8 => 4,
            Self::Bc7 | Self::Astc | Self::Etc2 => 16,
        }
    }

    /// Blocks across and down an image of so many texels.
    pub fn blocks(self, size: [u32; 2]) -> [u32; 2] {
        size.map(|side| side.div_ceil(self.block_side()))
    }

    /// Bytes of an image of so many texels, whole blocks.
    pub fn image_bytes(self, size: [u32; 2]) -> u64 {
        let [across, down] = self.blocks(size).map(u64::from);
        across * down * u64::from(self.block_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_take_whole_blocks() {
        assert_eq!(ColorFormat::Rgba8.image_bytes([5, 3]), 60);
        assert_eq!(ColorFormat::Bc7.image_bytes([5, 3]), 32);
        assert_eq!(ColorFormat::Astc.image_bytes([1, 1]), 16);
        assert!(ColorFormat::ALL.into_iter().all(|format| ColorFormat::from_name(format.name()) == Some(format)));
    }

    #[test]
    fn mips_end_at_one_texel() {
        let formats = vec![].into();
        let texture = ColorTexture { width: 20, height: 3, levels: 5, srgb: true, formats };
        assert_eq!(
            [0, 1, 2, 4, 5, 40].map(|l| texture.level_size(l)),
            [[20, 3], [10, 1], [5, 1], [1, 1], [1, 1], [1, 1]]
        );
    }
}
