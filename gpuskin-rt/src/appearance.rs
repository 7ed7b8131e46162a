//! Appearance of an instance: tint, hidden parts, custom data and variant, in the words of its place and playback
//! records. CPU reference of `shaders/appearance.wgsl`.

use bytemuck::{Pod, Zeroable};

use crate::bit_fields::INVISIBLE;

/// Appearance of an instance, as the shaders read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Appearance {
    /// Tint: linear RGBA, 0..255 for 0..1, multiplied with the base colour.
    pub tint: [u8; 4],
    /// Bits 1-16: hidden parts. Bits 17-30: hidden attachments. Bit 31: the whole instance is
    /// hidden.
    #[doc(hidden)]
    pub hidden: u32,
    /// Custom data for the game's own shaders.
    pub custom: [u32; 2],
    /// Variant of the model's materials: [`ModelVariant::index`](crate::ModelVariant::index), 0..=255. 0 is the model's own
    /// look, as is a variant that the model does not have.
    pub variant: u32,
}

impl Appearance {
    /// Bit of [`Appearance::hidden`] that hides the instance.
    #[doc(hidden)]
    pub const INVISIBLE_BIT: u32 = INVISIBLE.mask();
    /// Greatest number of parts per model.
    #[doc(hidden)]
    pub const MAX_PARTS: usize = 16;

    /// Greatest number of attachments per crowd.
    #[doc(hidden)]
    pub const MAX_ATTACHMENTS: usize = 14;

    /// Returns the part number that vertices of an attachment carry: the bit of
    /// [`Appearance::hidden`] that hides it.
    #[cfg(feature = "wgpu")]
    pub(crate) const fn attachment_number(slot: usize) -> u32 {
        (1 + Self::MAX_PARTS + slot) as u32
    }

    /// Shows or hides the parts and attachments of the given bits.
    pub(crate) fn show(&mut self, bits: u32, visible: bool) {
        self.hidden = if visible { self.hidden & !bits } else { self.hidden | bits };
    }

    /// Returns the bit of a part in [`Appearance::hidden`]; 0 if the part does not exist.
    #[doc(hidden)]
    pub const fn part_bit(part: u8) -> u32 {
        if (part as usize) < Self::MAX_PARTS { 2 << part } else { 0 }
    }
}

impl Default for Appearance {
    /// White tint, every part visible.
    fn default() -> Self {
        Self { tint: [255; 4], hidden: 0, custom: [0; 2], variant: 0 }
    }
}

/// Packs a tint for [`Appearance::tint`]; NaN becomes 1.
pub(crate) fn packed_tint(tint: [f32; 4]) -> [u8; 4] {
    tint.map(|c| if c.is_nan() { 255 } else { (c.clamp(0.0, 1.0) * 255.0).round() as u8 })
}
