//! Bit fields in the words of instances, declared once: constants for Rust, and functions for WGSL.

use core::fmt::Write;

/// Bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitField {
    name: &'static str,
    shift: u32,
    bits: u32,
}

impl BitField {
    /// Number of bits.
    pub(crate) const fn bits(self) -> u32 {
        self.bits
    }

    /// Mask of the field in its word.
    pub(crate) const fn mask(self) -> u32 {
        self.most() << self.shift
    }

    /// Greatest value of the field.
    pub(crate) const fn most(self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    /// Returns the value in a word.
    pub(crate) const fn of(self, word: u32) -> u32 {
        word >> self.shift & self.most()
    }

    /// Returns a word with a value alone. Further bits of the value are lost.
    pub(crate) const fn word(self, value: u32) -> u32 {
        (value & self.most()) << self.shift
    }

    /// Returns a word with another value.
    pub(crate) const fn with(self, word: u32, value: u32) -> u32 {
        word & !self.mask() | self.word(value)
    }
}

macro_rules! bit_fields {
    ($($(#[$doc:meta])* $constant:ident, $name:literal: $shift:literal, $bits:literal;)*) => {
        $($(#[$doc])* pub(crate) const $constant: BitField = BitField { name: $name, shift: $shift, bits: $bits };)*
        const ALL: &[BitField] = &[$($constant),*];
    };
}

// Name in WGSL: shift, number of bits.
bit_fields! {
    /// Word 4 of a playback record, and the first half-word of a fading clip: index of the clip.
    CLIP, "clip": 0, 14;
    /// Word 4 of a playback record, and the first half-word of a fading clip: the clip plays once.
    ONCE, "once": 14, 1;
    /// Word 4 of a playback record, and the first half-word of a fading clip: the clip reverses at its ends.
    PING_PONG, "ping_pong": 15, 1;
    /// Word 4 of a playback record: lower bits of the number of the layer set, 0 for none.
    LAYER_SET_LOW, "layer_set_low": 16, 16;
    /// Last half-word of a playback record: upper bits of the number of the layer set.
    LAYER_SET_HIGH, "layer_set_high": 3, 4;
    /// Word 2 of a playback record: mantissa of the playback rate.
    RATE, "rate_mantissa": 0, 26;
    /// Word 2 of a playback record: left shift of the mantissa.
    RATE_SHIFT, "rate_shift": 26, 5;
    /// Word 2 of a playback record: the clip plays backwards.
    RATE_SIGN, "rate_sign": 31, 1;
    /// Second half-word of a fading clip: mantissa of its rate.
    FADING_RATE, "fading_rate_mantissa": 0, 10;
    /// Second half-word of a fading clip: left shift of the mantissa.
    FADING_RATE_SHIFT, "fading_rate_shift": 10, 5;
    /// Second half-word of a fading clip: the clip plays backwards.
    FADING_RATE_SIGN, "fading_rate_sign": 15, 1;
    /// Second half-word of a fade: mantissa of the progress per second.
    FADE_RATE, "fade_rate_mantissa": 0, 11;
    /// Second half-word of a fade: left shift of the mantissa.
    FADE_RATE_SHIFT, "fade_rate_shift": 11, 5;
    /// Last half-word of a playback record: curve of the fade.
    FADE_CURVE, "fade_curve": 0, 2;
    /// Last half-word of a playback record: the instance is paused.
    PAUSED, "paused": 2, 1;
    /// Last half-word of a playback record: number of the variant of the model's materials.
    MODEL_VARIANT, "model_variant": 7, 8;
    /// Word 4 of a layer: index of the mask plus 1.
    MASK, "mask": 16, 9;
    /// Word 4 of a layer: curve of the weight.
    WEIGHT_CURVE, "weight_curve": 25, 2;
    /// Last half-word of a layer: fade-out at the end of the clip.
    FADE_OUT, "layer_fade_out": 3, 9;
    /// Word 28 of a layer set: kind of the live bones.
    LIVE_KIND, "live_kind": 0, 2;
    /// Word 28 of a layer set: curve of the weight of live bones.
    LIVE_CURVE, "live_curve": 2, 2;
    /// Last word of a place record: the whole instance is hidden.
    INVISIBLE, "invisible": 31, 1;
}

/// Returns a WGSL function for each field, which takes its value from a word: `gpuskin_get_clip`.
pub(crate) fn wgsl() -> String {
    let mut text = String::from("// Bit fields: gpuskin-rt/src/bit_fields.rs.\n");
    for BitField { name, shift, bits } in ALL {
        let most = u32::MAX >> (32 - bits);
        let _ = writeln!(
            text,
            "fn gpuskin_get_{name}(word: u32) -> u32 {{\n    return (word >> {shift}u) & {most:#x}u;\n}}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_word_do_not_overlap() {
        for word in [
            &[CLIP, ONCE, PING_PONG, LAYER_SET_LOW][..],
            &[CLIP, ONCE, PING_PONG, MASK, WEIGHT_CURVE],
            &[FADE_CURVE, PAUSED, LAYER_SET_HIGH, MODEL_VARIANT],
            &[FADE_CURVE, PAUSED, FADE_OUT],
            &[RATE, RATE_SHIFT, RATE_SIGN],
            &[FADING_RATE, FADING_RATE_SHIFT, FADING_RATE_SIGN],
            &[FADE_RATE, FADE_RATE_SHIFT],
            &[LIVE_KIND, LIVE_CURVE],
        ] {
            let mut taken = 0;
            for field in word {
                assert_eq!(taken & field.mask(), 0, "{field:?}");
                taken |= field.mask();
            }
        }
    }

    #[test]
    fn values_are_set_and_read() {
        let word = MASK.with(u32::MAX, 0x155);
        assert_eq!((MASK.of(word), CLIP.of(word), WEIGHT_CURVE.of(word)), (0x155, 0x3fff, 3));
        assert_eq!(LAYER_SET_LOW.word(u32::MAX), LAYER_SET_LOW.mask());
        assert_eq!(INVISIBLE.mask(), 1 << 31);
    }

    #[test]
    fn wgsl_has_a_function_per_field() {
        let text = wgsl();
        let low = "fn gpuskin_get_layer_set_low(word: u32) -> u32 {\n    return (word >> 16u) & 0xffffu;\n}";
        assert!(text.contains(low));
        assert_eq!(text.matches("fn ").count(), ALL.len());
    }
}
