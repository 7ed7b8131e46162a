//! Vertices and animation of a loaded model.

use gpuskin_rt::Model;
use gpuskin_rt::internals::vertex::{self, Vertex};
use gpuskin_rt::internals::{Data, Payload, Texels};

/// Returns the bytes of a file of a model.
fn bytes(payload: &Payload) -> Option<&[u8]> {
    let Data::Bytes(bytes) = &payload.data else { return None };
    Some(bytes)
}

/// Returns the vertices of a model.
pub(crate) fn unpacked(model: &Model) -> Option<Vec<Vertex>> {
    let mesh = &model.meta.mesh;
    let range = mesh.vertices;
    let bytes = bytes(&model.mesh)?.get(range.offset as usize..)?.get(..range.len as usize)?;
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    Some(words.chunks_exact(mesh.format.words()).map(|words| vertex::unpack(words, mesh.format, &mesh.range)).collect())
}

/// Returns the animation texture of a model, if it is whole.
pub(crate) fn texels(model: &Model) -> Option<Texels<'_>> {
    let range = model.animation.levels.first()?;
    let level = bytes(&model.animation)?.get(range.offset as usize..)?.get(..range.len as usize)?;
    Texels::new(model.meta.encoding, model.meta.texture, level)
}
