//! A model's vertices on the CPU, in any pose.

use std::borrow::Cow;

use glam::{BVec3, Vec3};

use super::Error;
use super::geometry::{load, slice};
use crate::skin::{self, SkinnedVertex};
use crate::vertex::{Vertex, unpack};
use crate::{ClipInfo, ClipRecord, FramePair, Metadata, Model, SkinMatrix, Texels};

/// What was read of a model.
pub(crate) struct Posed<'m> {
    meta: &'m Metadata,
    vertices: Vec<Vertex>,
    animation: Cow<'m, [u8]>,
    pub(crate) records: Vec<ClipRecord>,
}

impl<'m> Posed<'m> {
    pub(crate) fn new(model: &'m Model) -> Result<Self, Error> {
        let (meta, wrong) = (&model.meta, |reason| Error::model(&model.meta.name, reason));
        let file = load(meta, &model.mesh)?;
        let words = words(slice(meta, &file, meta.mesh.vertices, "mesh.bin")?);
        let mut vertices = Vec::new();
        for words in words.chunks_exact(meta.mesh.format.words()) {
            let vertex = unpack(words, meta.mesh.format, &meta.mesh.range);
            let used = vertex.joints.iter().zip(vertex.weights).filter(|(_, weight)| *weight > 0.0);
            if used.map(|(joint, _)| *joint).any(|joint| joint >= meta.texture.rows) {
                return Err(wrong("a vertex hangs on a bone that it has not"));
            }
            vertices.push(vertex);
        }
        let animation = load(meta, &model.animation)?;
        let level = model.animation.levels.first().copied().unwrap_or_default();
        slice(meta, &animation, level, "the animation texture")?;
        let (start, end) = (level.offset as usize, (level.offset + level.len) as usize);
        let animation = match animation {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[start..end]),
            Cow::Owned(bytes) => Cow::Owned(bytes[start..end].to_vec()),
        };
        let records = meta.clips.iter().map(ClipInfo::record).collect();
        let posed = Self { meta, vertices, animation, records };
        posed.texels().ok_or_else(|| wrong("its animation is not that of its constants"))?;
        Ok(posed)
    }

    fn texels(&self) -> Option<Texels<'_>> {
        let texels = Texels::new(self.meta.encoding, self.meta.texture, &self.animation);
        texels.filter(|texels| texels.holds(&self.records, self.meta.texture.rows as usize))
    }

    /// The corners of a box around what each bone moves, as it was modelled; `None` where it moves nothing.
    pub(crate) fn corners(&self) -> Vec<Option<[Vec3; 8]>> {
        let mut boxes = vec![None; self.meta.texture.rows as usize];
        for vertex in &self.vertices {
            for (joint, _) in vertex.joints.iter().zip(vertex.weights).filter(|(_, weight)| *weight > 0.0) {
                let (least, greatest) = boxes[*joint as usize].get_or_insert((vertex.position, vertex.position));
                (*least, *greatest) = (least.min(vertex.position), greatest.max(vertex.position));
            }
        }
        let corner = |i: usize, (least, greatest): (Vec3, Vec3)| {
            Vec3::select(BVec3::new(i & 1 != 0, i & 2 != 0, i & 4 != 0), greatest, least)
        };
        boxes.into_iter().map(|found| found.map(|found| core::array::from_fn(|i| corner(i, found)))).collect()
    }

    /// The skin matrices of all bones between two frames, where the model has some.
    pub(crate) fn bones(&self, frames: FramePair) -> Vec<SkinMatrix> {
        self.texels().map(|texels| texels.pose(frames)).unwrap_or_default()
    }

    /// All vertices between two frames.
    pub(crate) fn vertices(&self, frames: FramePair) -> Vec<SkinnedVertex> {
        // It was there when this was made.
        let Some(texels) = self.texels() else { return Vec::new() };
        let is_vertex = self.meta.encoding.is_vertex();
        let bones = if is_vertex { Vec::new() } else { texels.pose(frames) };
        let shown = |vertex: &Vertex| match is_vertex {
            true => skin::baked(&texels, frames, vertex),
            false => skin::skin(&skin::blend(&bones, vertex), vertex, self.meta.normals),
        };
        self.vertices.iter().map(shown).collect()
    }
}

/// Little-endian words.
pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
