//! `fixed16`: a sign, 7 integer bits and 8 fraction bits, split over two bytes, high byte first.
//! CPU reference of `shaders/fixed16.wgsl`.

/// Encodes a number, rounded to nearest; `None` if it is NaN, or its magnitude is 127.998 or more.
pub fn fixed16(value: f64) -> Option<[u8; 2]> {
    let magnitude = (value.abs() * 256.0).round();
    let sign = u16::from(value < 0.0 && magnitude > 0.0) << 15;
    (magnitude <= 32_767.0).then(|| (magnitude as u16 | sign).to_be_bytes())
}

/// Decodes a number.
pub fn from_fixed16([high, low]: [u8; 2]) -> f32 {
    let magnitude = f32::from(high & 0x7f) + f32::from(low) / 256.0;
    if high & 0x80 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed16_round_trips_in_steps_of_1_256() {
        for value in [0.0, 1.0, -1.0, 0.70703125, -127.99609375, 3.25] {
            assert_eq!(f64::from(from_fixed16(fixed16(value).unwrap())), value);
        }
        assert_eq!(from_fixed16(fixed16(0.1).unwrap()), 26.0 / 256.0);
        assert_eq!(fixed16(-1e-9), Some([0, 0]));
        assert_eq!([fixed16(128.0), fixed16(-128.0), fixed16(f64::NAN), fixed16(f64::INFINITY)], [None; 4]);
    }
}
