//! Reversal of the filters that meshopt compression applies to numbers before packing.
//!
//! Not done with the `meshopt` crate: its SSE code for octahedral bytes uses an approximate square
//! root, which differs between processors, and the same file must give the same bytes everywhere.

/// Filter to reverse after decoding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

impl Filter {
    /// Reverses the filter for one element, whose length was checked by [`super::meshopt::Stream`].
    pub(super) fn apply(self, element: &mut [u8]) {
        match self {
            Filter::None => {}
            Filter::Octahedral if element.len() == 4 => {
                let v = [0, 1, 2].map(|i| f64::from(element[i] as i8));
                let out = octahedral(v).map(|x| round(x * 127.0) as i8 as u8);
                element[..3].copy_from_slice(&out);
            }
            Filter::Octahedral => {
                let v = [0, 1, 2].map(|i| f64::from(short(element, i)));
                let out = octahedral(v).map(|x| round(x * 32767.0) as i16);
                out.iter().enumerate().for_each(|(i, x)| set_short(element, i, *x));
            }
            Filter::Quaternion => quaternion(element),
            Filter::Exponential => {
                for number in element.as_chunks_mut::<4>().0 {
                    let word = i32::from_le_bytes([number[0], number[1], number[2], number[3]]);
                    // The word has an 8-bit signed exponent above a 24-bit signed mantissa.
                    let value = libm::ldexp(f64::from(word << 8 >> 8), word >> 24);
                    number.copy_from_slice(&(value as f32).to_le_bytes());
                }
            }
            Filter::Color if element.len() == 4 => {
                let [y, co, cg, a] = [0, 1, 2, 3].map(|i| i32::from(element[i]));
                let out = color(y, i32::from(co as u8 as i8), i32::from(cg as u8 as i8), a, 255.0);
                element.copy_from_slice(&out.map(|x| x as u8));
            }
            Filter::Color => {
                let unsigned = |i: usize| i32::from(short(element, i) as u16);
                let out = color(
                    unsigned(0),
                    i32::from(short(element, 1)),
                    i32::from(short(element, 2)),
                    unsigned(3),
                    65535.0,
                );
                out.iter().enumerate().for_each(|(i, x)| set_short(element, i, *x as u16 as i16));
            }
        }
    }
}

fn short(element: &[u8], i: usize) -> i16 {
    i16::from_le_bytes([element[2 * i], element[2 * i + 1]])
}

fn set_short(element: &mut [u8], i: usize, value: i16) {
    element[2 * i..][..2].copy_from_slice(&value.to_le_bytes());
}

/// Rounds half away from zero. NaN stays NaN, and becomes 0 when cast to an integer.
fn round(x: f64) -> f64 {
    if x >= 0.0 { (x + 0.5).floor() } else { (x - 0.5).ceil() }
}

/// Decodes a unit vector from its octahedral x and y. The third component is the fixed-point value
/// of 1.0.
fn octahedral([x, y, one]: [f64; 3]) -> [f64; 3] {
    let z = one - x.abs() - y.abs();
    let fold = z.min(0.0);
    let x = x + if x >= 0.0 { fold } else { -fold };
    let y = y + if y >= 0.0 { fold } else { -fold };
    let length = (x * x + y * y + z * z).sqrt();
    [x, y, z].map(|c| c / length)
}

/// Decodes a unit quaternion from three components. The fourth is the fixed-point value of
/// sqrt(1/2), with the index of the dropped greatest component in its lowest two bits.
fn quaternion(element: &mut [u8]) {
    let last = short(element, 3);
    let scale = std::f64::consts::FRAC_1_SQRT_2 / f64::from(last | 3);
    let [x, y, z] = [0, 1, 2].map(|i| f64::from(short(element, i)) * scale);
    let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    let dropped = usize::from(last as u16 & 3);
    for (i, value) in [w, x, y, z].into_iter().enumerate() {
        set_short(element, (dropped + i) % 4, round(value * 32767.0) as i16);
    }
}

/// Decodes RGBA from luminance, chrominance and alpha. The highest set bit of alpha gives the bit
/// width of all components.
fn color(y: i32, co: i32, cg: i32, a: i32, max: f64) -> [f64; 4] {
    let mut all = a;
    for shift in [1, 2, 4, 8] {
        all |= all >> shift;
    }
    let alpha = ((a << 1) & all) | (a & 1);
    let scale = max / f64::from(all.max(1));
    [y + co - cg, y + cg, y - co - cg, alpha].map(|x| (f64::from(x) * scale + 0.5).floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_reversed() {
        let normals = [[0.6, -0.48, 0.64, 0.0], [-0.36, 0.48, -0.8, 1.0], [0.0, 0.0, -1.0, 0.0], [1.0, 0.0, 0.0, 0.0]];
        for (v, normal) in meshopt::encode_filter_oct::<u16>(&normals, 16).into_iter().zip(&normals) {
            let mut bytes: Vec<u8> = v.iter().flat_map(|x| x.to_le_bytes()).collect();
            Filter::Octahedral.apply(&mut bytes);
            let near = |k: usize| (f32::from(short(&bytes, k)) / 32767.0 - normal[k]).abs() < 2e-4;
            assert!((0..3).all(near), "{bytes:?}");
        }
        for (mut bytes, normal) in meshopt::encode_filter_oct::<u8>(&normals, 8).into_iter().zip(&normals) {
            Filter::Octahedral.apply(&mut bytes);
            let near = |k: usize| (f32::from(bytes[k] as i8) / 127.0 - normal[k]).abs() < 2e-2;
            assert!((0..3).all(near), "{bytes:?}");
        }
        let turns = [[0.5, -0.5, 0.5, 0.5], [0.0, 0.6, 0.0, -0.8], [1.0, 0.0, 0.0, 0.0], [0.1, 0.7, -0.1, 0.7]];
        for (i, v) in meshopt::encode_filter_quat(&turns, 16).into_iter().enumerate() {
            let mut bytes: Vec<u8> = v.iter().flat_map(|x| x.to_le_bytes()).collect();
            Filter::Quaternion.apply(&mut bytes);
            let dot: f32 = (0..4).map(|k| f32::from(short(&bytes, k)) / 32767.0 * turns[i][k]).sum();
            assert!((dot.abs() - 1.0).abs() < 2e-4, "{dot}");
        }
        let numbers = [[1.0, -23.5], [-0.125, 1e-20], [3e30, 0.0]];
        for (i, v) in meshopt::encode_filter_exp(&numbers, 24, meshopt::EncodeExpMode::Separate).into_iter().enumerate()
        {
            let mut bytes: Vec<u8> = v.iter().flat_map(|x| x.to_le_bytes()).collect();
            Filter::Exponential.apply(&mut bytes);
            for k in 0..2 {
                let found = f32::from_le_bytes(bytes[4 * k..][..4].try_into().expect("four"));
                assert!((found - numbers[i][k]).abs() <= numbers[i][k].abs() * 1e-6, "{found}");
            }
        }
        let colors = [[1.0, 0.0, 0.25, 0.5], [0.4, 0.4, 0.4, 1.0]];
        for (i, mut v) in meshopt::encode_filter_color::<u8>(&colors, 8).into_iter().enumerate() {
            Filter::Color.apply(&mut v);
            for k in 0..4 {
                assert!((f32::from(v[k]) / 255.0 - colors[i][k]).abs() < 1e-2, "{v:?}");
            }
        }
    }

    #[test]
    fn filters_accept_any_bytes() {
        for filter in [Filter::Octahedral, Filter::Quaternion, Filter::Exponential, Filter::Color] {
            for length in [4, 8] {
                if (filter, length) == (Filter::Quaternion, 4) {
                    continue;
                }
                for byte in 0..=255 {
                    filter.apply(&mut vec![byte; length]);
                }
            }
        }
    }
}
