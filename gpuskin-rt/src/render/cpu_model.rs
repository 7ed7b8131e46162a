//! Vertices of a model on the CPU, in any pose.

use std::borrow::Cow;

use glam::{BVec3, Vec3};

use super::Error;
use super::payload::{load, slice, words};
use crate::layers::LayerBlend;
use crate::morph::MorphLists;
use crate::skin::{self, SkinnedVertex};
use crate::vertex::{Vertex, unpack};
use crate::{Affine3, ClipInfo, ClipRecord, FramePair, Metadata, Model, PoseBlend, Texels};
#[cfg(feature = "testing")]
use crate::{InstanceRecord, Time};

/// Model in memory, skinned by the CPU reference: what the GPU draws, for tools and tests.
///
/// ```no_run
/// # use gpuskin_rt::*;
/// # fn example<Soldier: BakedModel>(run: Clip<Soldier>) -> Result<(), Error> {
/// let model = tools::CpuModel::new(Soldier::MODEL)?;
/// let instance = Instance::at([0.0; 3]).play(run).record(&Soldier::MODEL.meta, Time::ZERO);
/// let vertices = model.vertices(&instance, 0.5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CpuModel<'m> {
    meta: &'m Metadata,
    vertices: Vec<Vertex>,
    /// Deltas of morph targets.
    morphs: Vec<u32>,
    #[cfg(feature = "testing")]
    indices: Vec<u32>,
    animation: Cow<'m, [u8]>,
    pub(crate) records: Vec<ClipRecord>,
}

impl<'m> CpuModel<'m> {
    /// Loads a model.
    ///
    /// # Errors
    /// If a file of the model is missing or comes from another bake, or the model contradicts itself.
    pub fn new(model: &'m Model) -> Result<Self, Error> {
        let (meta, wrong) = (&model.meta, |reason| Error::model(&model.meta.name, reason));
        let file = load(meta, &model.mesh)?;
        let morphs = words(slice(meta, &file, meta.mesh.morphs, "mesh.bin")?);
        let words = words(slice(meta, &file, meta.mesh.vertices, "mesh.bin")?);
        let mut vertices = Vec::new();
        for words in words.chunks_exact(meta.mesh.format.words()) {
            let vertex = unpack(words, meta.mesh.format, &meta.mesh.range);
            let used = vertex.joints.iter().zip(vertex.weights).filter(|(_, weight)| *weight > 0.0);
            if used.map(|(joint, _)| *joint).any(|joint| joint >= meta.texture.rows) {
                return Err(wrong("a vertex refers to a bone that does not exist"));
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
        let records: Vec<ClipRecord> = meta.clips.iter().map(ClipInfo::record).collect();
        let texels = Texels::new(meta.encoding, meta.texture, &animation);
        texels
            .filter(|texels| texels.holds(&records, meta.texture.rows as usize))
            .ok_or_else(|| wrong("the animation does not match the metadata"))?;
        #[cfg(feature = "testing")]
        let indices = indices(meta, &file)?;
        Ok(Self {
            meta,
            vertices,
            morphs,
            #[cfg(feature = "testing")]
            indices,
            animation,
            records,
        })
    }

    /// Returns all vertices of an instance at `time`, in the order of the vertex buffer. World space.
    #[cfg(feature = "testing")]
    pub fn vertices(&self, instance: &InstanceRecord, time: impl Into<Time>) -> Vec<SkinnedVertex> {
        let model = self.blended(instance.pose_blend(&self.records, time.into()));
        model.into_iter().map(|vertex| skin::in_world(instance, vertex)).collect()
    }

    /// Returns the triangles of a material in the finest level of detail, as indices of [`CpuModel::vertices`].
    #[cfg(feature = "testing")]
    pub fn triangles(&self, material: u32) -> Vec<[u32; 3]> {
        let parts = self.meta.mesh.parts.iter().filter(|part| part.material == material);
        let indices = parts.flat_map(|part| {
            let first = part.first_index as usize;
            self.indices.get(first..first + part.index_count as usize).unwrap_or_default()
        });
        let indices: Vec<u32> = indices.copied().collect();
        indices.as_chunks().0.to_vec()
    }

    /// [`CpuModel::new`] has checked the bytes: checking them for each pose takes time for all clips.
    fn texels(&self) -> Texels<'_> {
        Texels::trusted(self.meta.encoding, self.meta.texture, &self.animation)
    }

    /// Returns, per bone, the corners of the bounding box of the vertices that it moves, in bind
    /// pose; `None` if it moves none.
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

    /// Skin matrices of all bones, interpolated between two frames; empty for a vertex-mode model.
    pub(crate) fn bones(&self, frames: FramePair) -> Vec<Affine3> {
        self.texels().pose(frames)
    }

    /// Skins all vertices, interpolated between two frames.
    pub(crate) fn vertices_between(&self, frames: FramePair) -> Vec<SkinnedVertex> {
        self.blended(frames.into())
    }

    pub(super) fn vertex(&self, index: u32) -> &Vertex {
        &self.vertices[index as usize]
    }

    /// Returns the positions of all vertices. Model space, metres.
    pub(super) fn positions(&self, blend: PoseBlend, over: Option<&LayerBlend<'_>>) -> Vec<Vec3> {
        let texels = self.texels();
        if self.meta.encoding.is_vertex() {
            return self.vertices.iter().map(|vertex| skin::baked(&texels, blend, vertex).position).collect();
        }
        let bones = match over {
            Some(over) => texels.pose_over(blend, over),
            None => texels.pose(blend),
        };
        let morphs = MorphLists::new(&self.morphs);
        let position = |(index, vertex): (usize, &Vertex)| {
            let vertex = skin::morphed(&bones, &morphs, index, vertex);
            skin::blend(&bones, &vertex).point(vertex.position)
        };
        self.vertices.iter().enumerate().map(position).collect()
    }

    fn blended(&self, blend: PoseBlend) -> Vec<SkinnedVertex> {
        let texels = self.texels();
        let is_vertex = self.meta.encoding.is_vertex();
        let bones = if is_vertex { Vec::new() } else { texels.pose(blend) };
        let morphs = MorphLists::new(&self.morphs);
        let skinned = |(index, vertex): (usize, &Vertex)| match is_vertex {
            true => skin::baked(&texels, blend, vertex),
            false => {
                let vertex = skin::morphed(&bones, &morphs, index, vertex);
                skin::skin(&skin::blend(&bones, &vertex), &vertex, self.meta.normals)
            }
        };
        self.vertices.iter().enumerate().map(skinned).collect()
    }
}

/// Indices of the finest level of detail.
pub(super) fn indices(meta: &Metadata, file: &[u8]) -> Result<Vec<u32>, Error> {
    let bytes = slice(meta, file, meta.mesh.indices, "mesh.bin")?;
    let narrow = |bytes: &[u8; 2]| u32::from(u16::from_le_bytes(*bytes));
    let indices: Vec<u32> = match meta.mesh.wide_indices {
        true => bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect(),
        false => bytes.as_chunks().0.iter().map(narrow).collect(),
    };
    match indices.iter().all(|index| *index < meta.mesh.vertex_count) {
        true => Ok(indices),
        false => Err(Error::model(&meta.name, "a triangle refers to a vertex that does not exist")),
    }
}
