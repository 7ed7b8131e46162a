//! Images: PNG, JPEG and WebP, and KTX2 with Basis Universal textures, as `KHR_texture_basisu` has them.

use std::io::Cursor;

use basisu::{DecodeFlags, SourceFormat, TargetFormat, Transcoder};
use image::{ImageFormat, ImageReader, Limits};

use super::untrusted;
use crate::diagnostic::{Diagnostic, DiagnosticCode};

/// Maximum memory for decoding one image, in bytes: the largest image at 16 bits per channel, and a
/// copy of it.
const MAX_DECODE: u64 = 1 << 30;

pub(super) const CONVERT: &str =
    "convert the image to PNG, JPEG, WebP or KTX2 (Basis Universal), and export the file again";

/// An image file.
pub(super) struct Encoded<'a> {
    bytes: &'a [u8],
    /// `None` for KTX2.
    format: Option<ImageFormat>,
}

impl<'a> Encoded<'a> {
    /// Finds the format of an image by its first bytes.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Diagnostic> {
        let format = match image::guess_format(bytes) {
            Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP)) => Some(format),
            Ok(other) => return Err(invalid(format!("{other:?} images are not supported"))),
            Err(_) if bytes.starts_with(&ktx2_header::MAGIC) => None,
            Err(_) => return Err(invalid("the image is not PNG, JPEG, WebP or KTX2")),
        };
        Ok(Self { bytes, format })
    }

    /// Returns width and height in texels, as the header states them.
    pub(super) fn size(&self) -> Result<[u32; 2], Diagnostic> {
        match self.format {
            Some(format) => {
                let reader = ImageReader::with_format(Cursor::new(self.bytes), format);
                reader.into_dimensions().map(|(width, height)| [width, height]).map_err(broken)
            }
            None => ktx2_header::size(self.bytes),
        }
    }

    /// Decodes to RGBA8, rows from top to bottom. The size must have been checked.
    pub(super) fn rgba(&self) -> Result<Vec<u8>, Diagnostic> {
        let Some(format) = self.format else { return transcode(self.bytes) };
        let mut reader = ImageReader::with_format(Cursor::new(self.bytes), format);
        let mut limits = Limits::default();
        limits.max_alloc = Some(MAX_DECODE);
        reader.limits(limits);
        Ok(reader.decode().map_err(broken)?.into_rgba8().into_raw())
    }
}

fn transcode(bytes: &[u8]) -> Result<Vec<u8>, Diagnostic> {
    ktx2_header::check_length(bytes)?;
    let failed = || invalid("the KTX2 image cannot be decoded: it is damaged, or has no Basis Universal texture");
    let transcoded = untrusted::run(|| {
        let texture = Transcoder::new(bytes).ok()?;
        if !matches!(texture.source_format(), SourceFormat::Etc1s | SourceFormat::UastcLdr) {
            return None;
        }
        texture.transcode(0, TargetFormat::Rgba32, DecodeFlags::NONE).ok()
    });
    transcoded.flatten().ok_or_else(failed)
}

fn broken(error: image::ImageError) -> Diagnostic {
    invalid(format!("the image cannot be decoded: {error}"))
}

fn invalid(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(DiagnosticCode::ImageInvalid, message).help(CONVERT)
}

/// Header of KTX2 files.
mod ktx2_header {
    use ktx2::{Header, LevelIndex, SupercompressionScheme};

    use super::{Diagnostic, invalid};

    pub(super) const MAGIC: [u8; 12] = *b"\xABKTX 20\xBB\r\n\x1A\n";
    /// Size of a block of 4 x 4 texels, in bytes.
    const BLOCK: u64 = 16;

    fn truncated() -> Diagnostic {
        invalid("the KTX2 image is truncated")
    }

    fn read(bytes: &[u8]) -> Result<Header, Diagnostic> {
        bytes.first_chunk().and_then(|header| Header::from_bytes(header).ok()).ok_or_else(truncated)
    }

    /// Returns the size of a two-dimensional image; only those are allowed in glTF.
    pub(super) fn size(bytes: &[u8]) -> Result<[u32; 2], Diagnostic> {
        let header = read(bytes)?;
        if header.pixel_depth != 0 || header.layer_count > 1 || header.face_count != 1 {
            return Err(invalid("the KTX2 image is a cube, an array or a volume, not one image"));
        }
        Ok([header.pixel_width, header.pixel_height])
    }

    /// Checks the length of a level compressed with Zstandard, which the decoder trusts.
    pub(super) fn check_length(bytes: &[u8]) -> Result<(), Diagnostic> {
        let header = read(bytes)?;
        let level = bytes[Header::LENGTH..].first_chunk().ok_or_else(truncated)?;
        let blocks = [header.pixel_width, header.pixel_height].map(|side| u64::from(side.div_ceil(4)));
        let zstandard = header.supercompression_scheme == Some(SupercompressionScheme::Zstandard);
        let length = LevelIndex::from_bytes(level).uncompressed_byte_length;
        if zstandard && length != blocks[0] * blocks[1] * BLOCK {
            return Err(invalid(format!("the KTX2 image has {length} bytes, which does not suit its size")));
        }
        Ok(())
    }
}
