//! How an instance looks, apart from its pose: 16 bytes beside its record. Twin of `shaders/look.wgsl`.

use bytemuck::{Pod, Zeroable};

/// What the shaders read of an instance beside its record: one attribute of four words, stepped per instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct InstanceLook {
    /// Linear RGBA, which base colours are multiplied by: 0..255 for 0..1.
    pub tint: [u8; 4],
    /// Bits 1-16: parts that it does not wear. Bits 17-30: attachments that it does not hold. Bit 31: nothing of it is drawn.
    pub hidden: u32,
    /// For the game's own shaders.
    pub custom: [u32; 2],
}

impl InstanceLook {
    /// Bit of [`InstanceLook::hidden`]: the instance is not drawn.
    pub const INVISIBLE_BIT: u32 = 1 << 31;
    /// Parts that a model can have.
    pub const MAX_PARTS: usize = 16;

    /// Attachments that a crowd can have.
    pub const MAX_ATTACHMENTS: usize = 14;

    /// What the vertices of an attachment have as their part: the bit of [`InstanceLook::hidden`] that hides them.
    #[cfg(feature = "wgpu")]
    pub(crate) const fn attachment_number(slot: usize) -> u32 {
        (1 + Self::MAX_PARTS + slot) as u32
    }

    /// Shows what the bits stand for, or hides it.
    pub(crate) fn show(&mut self, bits: u32, visible: bool) {
        self.hidden = if visible { self.hidden & !bits } else { self.hidden | bits };
    }

    /// Bit of a part in [`InstanceLook::hidden`]; none of what is no part.
    pub const fn part_bit(part: u8) -> u32 {
        if (part as usize) < Self::MAX_PARTS { 2 << part } else { 0 }
    }
}

impl Default for InstanceLook {
    /// As modelled, wearing everything.
    fn default() -> Self {
        Self { tint: [255; 4], hidden: 0, custom: [0; 2] }
    }
}

/// A tint as [`InstanceLook::tint`] has it; white where it is not a number.
pub(crate) fn packed_tint(tint: [f32; 4]) -> [u8; 4] {
    tint.map(|c| if c.is_nan() { 255 } else { (c.clamp(0.0, 1.0) * 255.0).round() as u8 })
}
