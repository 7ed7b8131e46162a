//! Compressed buffer views: `EXT_meshopt_compression` and `KHR_meshopt_compression`.
//!
//! The `meshopt` crate decodes the streams; [`super::meshopt_filter`] then reverses the filters.

use super::document::Meshopt;
use super::meshopt_filter::Filter;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::suggest::quoted;

/// Maximum size of an element of a vertex stream, in bytes, as defined by the format.
const MAX_STRIDE: u64 = 256;

/// Encoding of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamMode {
    Attributes,
    Triangles,
    Indices,
}

/// A compressed buffer view with a checked header.
pub(super) struct Stream {
    mode: StreamMode,
    filter: Filter,
    stride: usize,
    count: usize,
}

impl Stream {
    /// Checks a header. `length` is the decompressed size in bytes according to the buffer view.
    pub(super) fn new(header: &Meshopt, length: u64) -> Result<Self, Diagnostic> {
        let (stride, count) = (header.byte_stride.0, header.count.0);
        let mode = match header.mode.as_str() {
            "ATTRIBUTES" => StreamMode::Attributes,
            "TRIANGLES" => StreamMode::Triangles,
            "INDICES" => StreamMode::Indices,
            other => {
                return Err(Diagnostic::error(
                    DiagnosticCode::GltfCompression,
                    format!("unknown mode {}", quoted(other)),
                ));
            }
        };
        let filter = match header.filter.as_deref() {
            None | Some("NONE") => Filter::None,
            Some("OCTAHEDRAL") => Filter::Octahedral,
            Some("QUATERNION") => Filter::Quaternion,
            Some("EXPONENTIAL") => Filter::Exponential,
            Some("COLOR") => Filter::Color,
            Some(other) => {
                return Err(Diagnostic::error(
                    DiagnosticCode::GltfCompression,
                    format!("unknown filter {}", quoted(other)),
                ));
            }
        };
        let fits = match (mode, filter) {
            (StreamMode::Attributes, Filter::None | Filter::Exponential) => {
                stride > 0 && stride <= MAX_STRIDE && stride.is_multiple_of(4)
            }
            (StreamMode::Attributes, Filter::Octahedral | Filter::Color) => stride == 4 || stride == 8,
            (StreamMode::Attributes, Filter::Quaternion) => stride == 8,
            (StreamMode::Triangles | StreamMode::Indices, Filter::None) => stride == 2 || stride == 4,
            (StreamMode::Triangles | StreamMode::Indices, _) => {
                return Err(Diagnostic::error(
                    DiagnosticCode::GltfCompression,
                    "a stream of indices cannot have a filter",
                ));
            }
        };
        if !fits {
            return Err(Diagnostic::error(
                DiagnosticCode::GltfCompression,
                format!("a stride of {stride} bytes is not allowed for this mode and filter"),
            ));
        }
        if mode == StreamMode::Triangles && !count.is_multiple_of(3) {
            return Err(Diagnostic::error(
                DiagnosticCode::GltfCompression,
                format!("{count} indices do not form whole triangles"),
            ));
        }
        if count.checked_mul(stride) != Some(length) || count == 0 {
            let message = format!("{count} elements of {stride} bytes are declared, but the view has {length} bytes");
            return Err(Diagnostic::error(DiagnosticCode::GltfCompression, message));
        }
        let fit = |n: u64| {
            usize::try_from(n).map_err(|_| {
                Diagnostic::error(DiagnosticCode::GltfCompression, "the decompressed data is larger than memory")
            })
        };
        Ok(Self { mode, filter, stride: fit(stride)?, count: fit(count)? })
    }

    /// Decompresses a stream. The caller has checked that the result is within the memory limit.
    pub(super) fn decode(&self, encoded: &[u8]) -> Result<Vec<u8>, Diagnostic> {
        let decoded = match (self.mode, self.stride) {
            (StreamMode::Attributes, stride) => attributes(encoded, self.count, stride),
            (StreamMode::Triangles, 2) => bytes(meshopt::decode_index_buffer::<u16>(encoded, self.count)),
            (StreamMode::Triangles, _) => bytes(meshopt::decode_index_buffer::<u32>(encoded, self.count)),
            (StreamMode::Indices, 2) => bytes(meshopt::decode_index_sequence::<u16>(encoded, self.count)),
            (StreamMode::Indices, _) => bytes(meshopt::decode_index_sequence::<u32>(encoded, self.count)),
        };
        let mut decoded = decoded.filter(|bytes| bytes.len() == self.count * self.stride).ok_or_else(|| {
            Diagnostic::error(DiagnosticCode::GltfCompression, "the data cannot be decompressed")
                .help("the file is damaged: export it again")
        })?;
        for element in decoded.chunks_exact_mut(self.stride) {
            self.filter.apply(element);
        }
        Ok(decoded)
    }
}

/// Returns the bytes of numbers on a little-endian machine, which is the byte order of glTF.
fn bytes<T: bytemuck::Pod>(decoded: meshopt::Result<Vec<T>>) -> Option<Vec<u8>> {
    decoded.ok().map(|list| bytemuck::cast_slice(&list).to_vec())
}

/// An element of `N` bytes: the crate derives the element size from the type.
#[derive(Clone)]
struct Element<const N: usize>([u8; N]);

impl<const N: usize> Default for Element<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

fn attributes(encoded: &[u8], count: usize, stride: usize) -> Option<Vec<u8>> {
    fn decode<const N: usize>(encoded: &[u8], count: usize) -> Option<Vec<u8>> {
        let elements: Vec<Element<N>> = meshopt::decode_vertex_buffer(encoded, count).ok()?;
        let mut bytes = Vec::with_capacity(count * N);
        for element in &elements {
            bytes.extend_from_slice(&element.0);
        }
        Some(bytes)
    }
    macro_rules! of_stride {
        ($($n:literal)*) => {
            match stride {
                $($n => decode::<$n>(encoded, count),)*
                _ => None,
            }
        };
    }
    of_stride! {
        4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124 128
        132 136 140 144 148 152 156 160 164 168 172 176 180 184 188 192 196 200 204 208 212 216 220 224 228 232 236
        240 244 248 252 256
    }
}

#[cfg(test)]
mod tests {
    use gltf::json::Index;
    use gltf::json::validation::USize64;

    use super::*;

    fn header(mode: &str, filter: Option<&str>, stride: u64, count: u64) -> Meshopt {
        Meshopt {
            buffer: Index::new(0),
            byte_offset: None,
            byte_length: USize64(0),
            byte_stride: USize64(stride),
            count: USize64(count),
            mode: mode.into(),
            filter: filter.map(Into::into),
        }
    }

    fn stream(mode: &str, filter: Option<&str>, stride: u64, count: u64) -> Stream {
        Stream::new(&header(mode, filter, stride, count), stride * count).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn invalid_headers_are_rejected() {
        let refused = |mode, filter, stride, count, length, part: &str| {
            let error = Stream::new(&header(mode, filter, stride, count), length).err().expect("refused");
            assert!(error.message().contains(part), "{error}");
        };
        refused("POINTS", None, 4, 1, 4, "mode `POINTS`");
        refused("ATTRIBUTES", Some("FOLDED"), 4, 1, 4, "filter `FOLDED`");
        for stride in [0, 3, 260, u64::MAX] {
            refused("ATTRIBUTES", None, stride, 1, stride, "stride");
        }
        refused("ATTRIBUTES", Some("QUATERNION"), 4, 1, 4, "stride of 4");
        refused("ATTRIBUTES", Some("OCTAHEDRAL"), 12, 1, 12, "stride of 12");
        refused("TRIANGLES", None, 1, 3, 3, "stride of 1");
        refused("TRIANGLES", None, 2, 4, 8, "4 indices");
        refused("INDICES", Some("OCTAHEDRAL"), 4, 4, 16, "cannot have a filter");
        refused("ATTRIBUTES", None, 16, u64::MAX / 8, 16, "the view has 16 bytes");
        refused("ATTRIBUTES", None, 16, 4, 63, "the view has 63 bytes");
        refused("ATTRIBUTES", None, 16, 0, 0, "0 elements");
    }

    #[test]
    fn streams_round_trip() {
        let numbers: Vec<[u8; 20]> = (0..100_u8).map(|i| [i.wrapping_mul(37); 20]).collect();
        let encoded = meshopt::encode_vertex_buffer(&numbers).expect("encodes");
        let attributes = stream("ATTRIBUTES", None, 20, 100);
        assert_eq!(attributes.decode(&encoded).expect("decodes"), numbers.concat());
        let indices: Vec<u32> = (0..60).flat_map(|i| [i, i + 1, i + 2]).collect();
        let triangles = meshopt::encode_index_buffer(&indices, 62).expect("encodes");
        let sequence = meshopt::encode_index_sequence(&indices, 62).expect("encodes");
        // The codec may rotate the corners of a triangle.
        let first = |mut t: [u32; 3]| {
            let least = (0..3).min_by_key(|i| t[*i]).expect("three");
            t.rotate_left(least);
            t
        };
        for stride in [2, 4] {
            let read = |mode, encoded: &[u8]| -> Vec<u32> {
                let bytes = stream(mode, None, stride, 180).decode(encoded).expect("decodes");
                let number = |b: &[u8]| b.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b));
                bytes.chunks_exact(stride as usize).map(number).collect()
            };
            assert_eq!(read("INDICES", &sequence), indices);
            let found = read("TRIANGLES", &triangles);
            let found: Vec<_> = found.as_chunks().0.iter().map(|t| first(*t)).collect();
            assert_eq!(found.concat(), indices);
        }
        for (stream, encoded) in [
            (attributes, &encoded),
            (stream("TRIANGLES", None, 2, 180), &triangles),
            (stream("INDICES", None, 4, 180), &sequence),
        ] {
            for end in 0..encoded.len() {
                assert!(stream.decode(&encoded[..end]).is_err(), "{end} of {} bytes", encoded.len());
            }
        }
    }
}
