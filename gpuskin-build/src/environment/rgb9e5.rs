//! Texels with nine bits per channel and a common exponent (`EXT_texture_shared_exponent`).

const MANTISSA: i32 = 9;
const BIAS: i32 = 15;
/// Greatest number of the format.
pub(super) const MAX: f32 = 65_408.0;

/// Encodes a colour; numbers above [`MAX`] become `MAX`.
pub(super) fn encode(color: [f32; 3]) -> u32 {
    let color = color.map(|c| c.clamp(0.0, MAX));
    let greatest = color.into_iter().fold(0.0, f32::max);
    // Exponent of the number, from its bits; 0 and subnormal numbers have the least one.
    let exponent = |x: f32| ((x.to_bits() >> 23) as i32 - 127).max(-BIAS - 1);
    let step = |shared: i32| libm::ldexp(1.0, shared - BIAS - MANTISSA);
    let round = |c: f32, shared: i32| (f64::from(c) / step(shared) + 0.5) as u32;
    let mut shared = exponent(greatest) + 1 + BIAS;
    if round(greatest, shared) == 1 << MANTISSA {
        shared += 1;
    }
    let [r, g, b] = color.map(|c| round(c, shared));
    r | g << MANTISSA | b << (2 * MANTISSA) | (shared as u32) << (3 * MANTISSA)
}
