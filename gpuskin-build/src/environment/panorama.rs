//! Panoramas: equirectangular images as Radiance HDR, PFM, PNG or JPEG.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, ImageReader};

use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::limits::Limits;

/// Maximum memory for decoding, in bytes: the largest image at 32 bits per channel.
const MAX_DECODE: u64 = 1 << 30;
/// Brightest radiance. Brighter numbers would overflow in the shaders.
const MAX_RADIANCE: f64 = 1e9;
const CONVERT: &str = "save the panorama as Radiance HDR (.hdr), PFM, PNG or JPEG";

/// Radiance from all directions, linear RGB, finite and not negative.
#[derive(Debug)]
pub(super) struct Panorama {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Rows from the zenith to the nadir. Columns from +z over -x, -z in the middle, and +x.
    texels: Vec<[f32; 3]>,
}

impl Panorama {
    pub(super) fn decode(bytes: &[u8], limits: &Limits) -> Result<Self, Diagnostic> {
        let panorama = match image::guess_format(bytes) {
            Ok(format @ (ImageFormat::Hdr | ImageFormat::Png | ImageFormat::Jpeg)) => image(bytes, format, limits)?,
            Ok(other) => return Err(invalid(format!("{other:?} images are not supported as panoramas"))),
            Err(_) if bytes.starts_with(b"PF") => portable_float_map(bytes, limits)?,
            Err(_) if bytes.is_empty() => return Err(invalid("the panorama is an empty file")),
            Err(_) => return Err(invalid("the panorama is not Radiance HDR, PFM, PNG or JPEG")),
        };
        panorama.check_texels()
    }

    /// Multiplies all radiance.
    pub(super) fn scaled(mut self, factor: f64) -> Self {
        let scaled = |c: &mut f32| *c = (f64::from(*c) * factor).min(MAX_RADIANCE) as f32;
        self.texels.as_flattened_mut().iter_mut().for_each(scaled);
        self
    }

    /// Returns the radiance from a direction by bilinear interpolation.
    pub(super) fn sample(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let around = libm::atan2(x, -z) / core::f64::consts::TAU + 0.5;
        let down = libm::atan2(libm::sqrt(x * x + z * z), y) / core::f64::consts::PI;
        let column = around * f64::from(self.width) - 0.5;
        let row = (down * f64::from(self.height) - 0.5).clamp(0.0, f64::from(self.height - 1));
        let (left, top) = (libm::floor(column), libm::floor(row));
        let (s, t) = (column - left, row - top);
        let width = i64::from(self.width);
        let columns = [left as i64, left as i64 + 1].map(|column| column.rem_euclid(width) as usize);
        let rows = [top as usize, (top as usize + 1).min(self.height as usize - 1)];
        let at = |row: usize, column: usize| self.texels[rows[row] * self.width as usize + columns[column]];
        let corners = [at(0, 0), at(0, 1), at(1, 0), at(1, 1)];
        let weights = [(1.0 - s) * (1.0 - t), s * (1.0 - t), (1.0 - s) * t, s * t];
        core::array::from_fn(|c| corners.iter().zip(weights).map(|(corner, w)| f64::from(corner[c]) * w).sum())
    }

    fn check_texels(self) -> Result<Self, Diagnostic> {
        let bad = |texel: &[f32; 3]| texel.iter().any(|c| !c.is_finite() || *c < 0.0);
        let count = self.texels.iter().filter(|texel| bad(texel)).count();
        let Some(first) = self.texels.iter().position(bad) else { return Ok(self) };
        let (x, y) = (first % self.width as usize, first / self.width as usize);
        let [r, g, b] = self.texels[first];
        let others = match count - 1 {
            0 => String::new(),
            1 => ", and so is another one".to_owned(),
            others => format!(", and so are {others} others"),
        };
        let message = format!(
            "a texel of the panorama is negative, infinite or NaN: {r} {g} {b} in column {x} and row {y}{others}"
        );
        Err(Diagnostic::error(DiagnosticCode::EnvironmentTexels, message))
    }
}

/// Checks the size of a panorama before it is decoded.
fn check_size(width: u32, height: u32, limits: &Limits) -> Result<(), Diagnostic> {
    if width == 0 || height == 0 || u64::from(width) != 2 * u64::from(height) {
        let message = format!("the panorama has {width} x {height} texels; it must be twice as wide as high");
        return Err(Diagnostic::error(DiagnosticCode::EnvironmentShape, message));
    }
    let texels = u64::from(width) * u64::from(height);
    if texels > limits.image {
        let message =
            format!("the panorama has {width} x {height} texels, {texels} in all; the limit is {}", limits.image);
        let help = "scale the panorama down: 2048 x 1024 texels suffice for reflections; or raise `image` in [limits]";
        return Err(Diagnostic::error(DiagnosticCode::LimitImage, message).help(help));
    }
    Ok(())
}

fn image(bytes: &[u8], format: ImageFormat, limits: &Limits) -> Result<Panorama, Diagnostic> {
    let broken = |error: image::ImageError| match error {
        image::ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            invalid("the panorama cannot be decoded: its file ends early")
        }
        error => invalid(format!("the panorama cannot be decoded: {error}")),
    };
    let reader = || ImageReader::with_format(Cursor::new(bytes), format);
    let (width, height) = reader().into_dimensions().map_err(broken)?;
    check_size(width, height, limits)?;
    let mut reader = reader();
    let mut most = image::Limits::default();
    most.max_alloc = Some(MAX_DECODE);
    reader.limits(most);
    let texels = match reader.decode().map_err(broken)? {
        DynamicImage::ImageRgb32F(image) => image.into_raw().as_chunks::<3>().0.to_vec(),
        other => {
            let linear: Vec<f32> = (0..=u16::MAX).map(linear).collect();
            let raw = other.into_rgb16().into_raw();
            raw.as_chunks::<3>().0.iter().map(|texel| texel.map(|c| linear[usize::from(c)])).collect()
        }
    };
    Ok(Panorama { width, height, texels })
}

/// Converts an sRGB value to linear light, 0..1.
fn linear(value: u16) -> f32 {
    let c = f64::from(value) / f64::from(u16::MAX);
    (if c <= 0.040_45 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }) as f32
}

/// Reads a PFM file in colour: a header in text, then rows from the bottom, three floats per texel.
fn portable_float_map(bytes: &[u8], limits: &Limits) -> Result<Panorama, Diagnostic> {
    let mut rest = bytes;
    let mut word = || {
        let end = rest.iter().position(u8::is_ascii_whitespace)?;
        let (word, after) = rest.split_at_checked(end)?;
        // Exactly one separator: what follows the last one is data.
        rest = &after[1..];
        std::str::from_utf8(word).ok().filter(|word| word.len() <= 20)
    };
    let header = (|| {
        let magic = word()? == "PF";
        let size: [u32; 2] = [word()?.parse().ok()?, word()?.parse().ok()?];
        let scale: f64 = word()?.parse().ok()?;
        (magic && scale.is_finite() && scale != 0.0).then_some((size, scale))
    })();
    let Some(([width, height], scale)) = header else {
        return Err(invalid("the header of the PFM panorama is damaged, or it has one channel instead of three"));
    };
    check_size(width, height, limits)?;
    let (words, odd) = rest.as_chunks::<4>();
    let count = 3 * width as usize * height as usize;
    if words.len() != count || !odd.is_empty() {
        let message = format!("the PFM panorama has {} bytes of texels; {} were expected", rest.len(), 4 * count);
        return Err(invalid(message));
    }
    // A negative scale stands for little-endian floats; its magnitude is a unit that programs ignore.
    let number = |bytes: &[u8; 4]| if scale < 0.0 { f32::from_le_bytes(*bytes) } else { f32::from_be_bytes(*bytes) };
    let values: Vec<f32> = words.iter().map(number).collect();
    let rows = values.as_chunks::<3>().0.chunks_exact(width as usize).rev();
    Ok(Panorama { width, height, texels: rows.flatten().copied().collect() })
}

fn invalid(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(DiagnosticCode::ImageInvalid, message).help(CONVERT)
}
