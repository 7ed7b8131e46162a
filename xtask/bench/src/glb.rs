//! GLB files: a document and its binary chunk.

use serde_json::Value;

pub(crate) fn file(document: &Value, mut bin: Vec<u8>) -> Vec<u8> {
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    bin.resize(bin.len().next_multiple_of(4), 0);
    let word = |n: usize| (n as u32).to_le_bytes();
    let all = 12 + 8 + text.len() + 8 + bin.len();
    [&b"glTF"[..], &word(2), &word(all), &word(text.len()), b"JSON", &text, &word(bin.len()), b"BIN\0", &bin].concat()
}

/// Returns the document and the binary chunk of a GLB file; `None` if it is none.
pub(crate) fn parts(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let chunk = |at: usize| {
        let len = u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?) as usize;
        file.get(at + 8..(at + 8).checked_add(len)?)
    };
    let document = chunk(12)?;
    Some((document, chunk(20 + document.len())?))
}
