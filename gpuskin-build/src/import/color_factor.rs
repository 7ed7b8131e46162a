//! Product of an image and a factor.

use crate::color::to_linear;

/// Multiplies RGBA8 texels by a factor of linear RGBA, 0..1. Colours are sRGB, alpha is linear.
pub(super) fn multiply(mut rgba: Vec<u8>, factor: [f32; 4]) -> Vec<u8> {
    let tables: [[u8; 256]; 4] = std::array::from_fn(|channel| {
        std::array::from_fn(|stored| {
            let value = stored as f32 / 255.0;
            let product = if channel == 3 { value * factor[3] } else { to_stored(to_linear(value) * factor[channel]) };
            (product * 255.0).round() as u8
        })
    });
    for texel in rgba.as_chunks_mut::<4>().0 {
        *texel = std::array::from_fn(|channel| tables[channel][usize::from(texel[channel])]);
    }
    rgba
}

/// Converts linear light in 0..1 to an sRGB value (IEC 61966-2-1).
fn to_stored(v: f32) -> f32 {
    if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * libm::powf(v, 1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_of_one_changes_nothing() {
        let texels: Vec<u8> = (0..=255).flat_map(|v| [v; 4]).collect();
        assert_eq!(multiply(texels.clone(), [1.0; 4]), texels);
    }

    /// 0.5 is stored as 188: (188 / 255) is 0.502 of linear light.
    #[test]
    fn colours_are_multiplied_as_linear_light() {
        assert_eq!(multiply(vec![255; 4], [0.5, 0.0, 1.0, 0.5]), [188, 0, 255, 128]);
        assert_eq!(multiply(vec![188; 4], [0.5; 4]), [137, 137, 137, 94]);
    }
}
