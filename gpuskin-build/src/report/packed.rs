//! Data within a page: base64 of gzip.

use std::io::Write;

use base64::Engine;
use flate2::Compression;
use flate2::write::GzEncoder;

pub(super) fn gzip(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("memory can be written")
}

pub(super) fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
