//! Baked model: metadata and files for the game, and a trace to its source.

use gpuskin_rt::internals::vertex::{self, Vertex};
use gpuskin_rt::internals::{Data, MeshInfo, Metadata, Model, Payload, Texels};

use super::budgets::ErrorBudgets;
use super::choose::Candidate;
use super::loops::ClipLoop;
use super::plan::BakePlan;
use crate::geometry::Dropped;
use crate::measure::{ClipErrors, ErrorCurve, SourceMesh};

/// A baked model: its metadata, with clips, errors and sizes, and its variants for other devices.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct BakedModel {
    /// Metadata that the runtime loads: clips with their errors, bones, textures, mesh sections.
    pub meta: Metadata,
    /// Payloads with their paths under `gpuskin/`: animation, mesh, colour textures. The bytes of
    /// embedded payloads are not stored here.
    #[doc(hidden)]
    pub payloads: Vec<(String, Payload)>,
    /// Whether web programs contain no payloads, also embedded ones: [`Storage::Fetch`](crate::manifest::Storage).
    #[doc(hidden)]
    pub fetched: bool,
    /// Errors of each clip, more detailed than in the metadata.
    #[doc(hidden)]
    pub errors: Vec<ClipErrors>,
    /// Error of each clip over time.
    #[doc(hidden)]
    pub curves: Vec<ErrorCurve>,
    /// Source vertices beside the drawn ones, in bone mode.
    #[doc(hidden)]
    pub source: SourceMesh,
    /// Bones of the sockets, ascending; none in vertex mode.
    #[doc(hidden)]
    pub sockets: Vec<u32>,
    /// Number of vertices that are always visible, and of those of each part; empty if there are no parts.
    #[doc(hidden)]
    pub part_vertices: Vec<u32>,
    /// Tolerances of the errors.
    #[doc(hidden)]
    pub budgets: ErrorBudgets,
    /// Whether each clip loops, and how far its ends are apart.
    #[doc(hidden)]
    pub loops: Vec<ClipLoop>,
    /// Influences dropped beyond four per vertex.
    #[doc(hidden)]
    pub dropped: Dropped,
    /// Encodings that were evaluated: none if one was named, all with [`BakeOptions::explain`](super::BakeOptions::explain).
    #[doc(hidden)]
    pub candidates: Vec<Candidate>,
    /// Variants of the model for other classes of devices.
    #[serde(skip)]
    pub others: Vec<BakedModel>,
    /// Trace to the source; `None` for a model from a cache.
    #[serde(skip)]
    #[doc(hidden)]
    pub trace: Option<Trace>,
}

/// Mapping from a baked model to its source.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Source model, its frames, and the location of each frame.
    pub plan: BakePlan,
    /// Index of the baked vertex for each source vertex, in the order of primitives and vertices.
    pub baked_of_source: Vec<u32>,
}

impl BakedModel {
    /// Returns the trace to the source.
    ///
    /// # Panics
    /// If the model comes from a cache. [`bake`](super::bake()) returns no such models.
    #[doc(hidden)]
    pub fn trace(&self) -> &Trace {
        self.trace.as_ref().expect("only models from a cache have no trace")
    }

    /// Returns the model in the form that the runtime loads, with its payloads in memory. `file`
    /// returns the bytes of a payload.
    pub(crate) fn runtime(&self, mut file: impl FnMut(&str) -> Vec<u8>) -> Model {
        self.runtime_with(&mut file)
    }

    fn runtime_with(&self, file: &mut dyn FnMut(&str) -> Vec<u8>) -> Model {
        let load = |(name, payload): &(String, Payload)| {
            let data = Data::Bytes(file(name).into());
            Payload { data, ..payload.clone() }
        };
        let mut loaded = self.payloads.iter().map(load);
        let mut next = || loaded.next().expect("a model has an animation and a mesh");
        let (animation, mesh) = (next(), next());
        let textures = loaded.collect();
        let others = self.others.iter().map(|other| other.runtime_with(file)).collect();
        Model { meta: self.meta.clone(), animation, mesh, textures, others }
    }

    /// Returns the animation texture of a model made by [`BakedModel::runtime`], as the vertex
    /// shader reads it.
    pub(crate) fn texels<'a>(&self, model: &'a Model) -> Texels<'a> {
        let level = model.animation.levels[0];
        let bytes = &bytes(&model.animation)[level.offset as usize..][..level.len as usize];
        Texels::new(self.meta.encoding, self.meta.texture, bytes).expect("the file has the size that its shape needs")
    }

    /// Returns the vertices of a model made by [`BakedModel::runtime`], as the vertex shader
    /// unpacks them.
    pub(crate) fn vertices(&self, model: &Model) -> Vec<Vertex> {
        let MeshInfo { format, range, vertices, .. } = &self.meta.mesh;
        let bytes = &bytes(&model.mesh)[vertices.offset as usize..][..vertices.len as usize];
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
        words.chunks_exact(format.words()).map(|w| vertex::unpack(w, *format, range)).collect()
    }

    /// Returns the words with the deltas of the morph targets of a model made by [`BakedModel::runtime`].
    pub(crate) fn morphs(&self, model: &Model) -> Vec<u32> {
        let range = self.meta.mesh.morphs;
        let bytes = &bytes(&model.mesh)[range.offset as usize..][..range.len as usize];
        bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect()
    }
}

fn bytes(payload: &Payload) -> &[u8] {
    match &payload.data {
        Data::Bytes(bytes) => bytes,
        Data::File { .. } => &[],
    }
}
