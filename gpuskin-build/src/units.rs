//! Formatting of numbers with units.

use gpuskin_rt::internals::{Encoding, TexelFormat};

/// Formats a length in metres with a suitable unit, such as `0.412 mm`.
pub fn length(metres: f32) -> String {
    let size = f64::from(metres.abs());
    let (unit, name) = match size {
        0.0 => return "0".to_owned(),
        _ if !size.is_finite() => return metres.to_string(),
        _ if size < 1e-4 => (1e-6, "um"),
        _ if size < 1e-2 => (1e-3, "mm"),
        _ if size < 1.0 => (1e-2, "cm"),
        _ if size < 1e6 => (1.0, "m"),
        _ => return format!("{metres:.2e} m"),
    };
    format!("{} {name}", digits(f64::from(metres) / unit))
}

/// Formats a tolerance for the manifest that a distance in metres satisfies: rounded up to two
/// significant digits.
pub fn tolerance(metres: f32) -> String {
    let millimetres = (f64::from(metres) * 1e3).max(1e-6);
    if !millimetres.is_finite() {
        return "inf".to_owned();
    }
    let mut unit = 1e-7;
    while millimetres >= unit * 100.0 {
        unit *= 10.0;
    }
    let decimals = if unit >= 1.0 { 0 } else { (-libm::log10(unit)).round() as usize };
    format!("{:.decimals$} mm", (millimetres / unit).ceil() * unit)
}

/// Formats a number with three significant digits.
pub fn digits(number: f64) -> String {
    match number.abs() {
        size if size < 0.9995 => format!("{number:.3}"),
        size if size < 9.995 => format!("{number:.2}"),
        size if size < 99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// Formats a byte count: `1.2 MiB`.
pub fn bytes(count: u64) -> String {
    match count {
        0..10_240 => format!("{count} B"),
        10_240..1_048_576 => format!("{} KiB", digits(count as f64 / 1024.0)),
        _ => format!("{} MiB", digits(count as f64 / 1_048_576.0)),
    }
}

/// Returns the name of the texel format of an encoding, as in the WebGPU specification but for case.
pub fn texel_format(encoding: Encoding) -> &'static str {
    match encoding.format() {
        TexelFormat::R32Uint => "R32Uint",
        TexelFormat::Rgba8Uint => "RGBA8Uint",
        TexelFormat::Rgba16Uint => "RGBA16Uint",
        TexelFormat::Rgba32Uint => "RGBA32Uint",
        TexelFormat::Rgba16Float => "RGBA16F",
        TexelFormat::Rgba32Float => "RGBA32F",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatted_tolerances_are_not_below_the_error() {
        for (metres, text) in [
            (1.23e-4, "0.13 mm"),
            (0.0499, "50 mm"),
            (0.0501, "51 mm"),
            (9.99e-3, "10.0 mm"),
            (3.0, "3000 mm"),
            (f32::INFINITY, "inf"),
            (f32::NAN, "0.0000010 mm"),
        ] {
            assert_eq!(tolerance(metres), text);
        }
    }

    #[test]
    fn lengths_have_three_digits_and_a_unit() {
        for (metres, text) in [
            (0.0, "0"),
            (6.1e-8, "0.061 um"),
            (4.12e-5, "41.2 um"),
            (5.1e-4, "0.510 mm"),
            (-5.1e-4, "-0.510 mm"),
            (0.0123, "1.23 cm"),
            (0.999_999, "100 cm"),
            (12.34, "12.3 m"),
            (3e38, "3.00e38 m"),
            (f32::NAN, "NaN"),
        ] {
            assert_eq!(length(metres), text);
        }
    }
}
