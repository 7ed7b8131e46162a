//! Vertices moved by STEP tracks, which jump in the source but are interpolated when drawn.

use crate::model::{Clip, Interpolation, Model};

/// STEP tracks of a clip, and the vertices that they move.
pub(crate) struct SteppedVertices {
    pub(crate) tracks: usize,
    /// Whether a STEP track moves the vertex; empty if there are no such tracks. `[source vertex]`
    vertices: Vec<bool>,
}

impl SteppedVertices {
    /// Finds the STEP tracks of a clip. `morphs` includes tracks of morph weights.
    pub(crate) fn new(model: &Model, clip: &Clip, morphs: bool) -> Self {
        let jumps = |interpolation, moves| interpolation == Interpolation::Step && moves;
        let mut nodes = vec![false; model.nodes.len()];
        let mut tracks = 0;
        for channel in &clip.channels {
            let curve = &channel.curve;
            if jumps(curve.interpolation, curve.values.iter().any(|v| *v != curve.values[0])) {
                (nodes[channel.node], tracks) = (true, tracks + 1);
            }
        }
        for &node in &model.order {
            nodes[node] |= model.nodes[node].parent.is_some_and(|p| nodes[p]);
        }
        let mut morphed = vec![false; model.nodes.len()];
        for channel in clip.morphs.iter().filter(|_| morphs) {
            let curve = &channel.curve;
            let moves = curve.values.chunks(curve.targets).any(|k| k != &curve.values[..curve.targets]);
            if jumps(curve.interpolation, moves) {
                (morphed[channel.node], tracks) = (true, tracks + 1);
            }
        }
        let mut vertices = Vec::new();
        for p in model.primitives.iter().filter(|_| tracks > 0) {
            let morphed = morphed[p.node] && !p.targets.is_empty();
            let on_node = |v| p.influences.of(v).iter().any(|&(bone, _)| nodes[model.bones[usize::from(bone)].node]);
            vertices.extend((0..p.positions.len()).map(|v| morphed || on_node(v)));
        }
        Self { tracks, vertices }
    }

    /// Returns the number of vertices that STEP tracks move.
    pub(crate) fn count(&self) -> usize {
        self.vertices.iter().filter(|&&moves| moves).count()
    }

    /// Whether a STEP track moves a source vertex.
    pub(crate) fn moves(&self, vertex: usize) -> bool {
        self.vertices.get(vertex).is_some_and(|moves| *moves)
    }
}
