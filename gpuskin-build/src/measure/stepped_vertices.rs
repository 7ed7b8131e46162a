//! Vertices moved by STEP tracks, which jump in the source but are interpolated when drawn, or jump there at
//! another time.

use crate::frames::FrameGrid;
use crate::model::{Clip, Interpolation, Model};

/// STEP tracks of a clip that are not drawn as they are, and the vertices that they move.
pub(crate) struct SteppedVertices {
    pub(crate) tracks: usize,
    /// Whether a STEP track moves the vertex; empty if there are no such tracks. `[source vertex]`
    vertices: Vec<bool>,
}

impl SteppedVertices {
    /// Finds the STEP tracks of a clip. `morphs` includes tracks of morph weights. `holds`: whether the encoding
    /// holds STEP tracks between frames, so that only those which jump between frames count.
    pub(crate) fn new(model: &Model, clip: &Clip, grid: &FrameGrid, morphs: bool, holds: bool) -> Self {
        let holds = holds || grid.stepped;
        let jumps = |interpolation, moves: bool, at_frames: bool| {
            interpolation == Interpolation::Step && moves && !(holds && at_frames)
        };
        let mut nodes = vec![false; model.nodes.len()];
        let mut tracks = 0;
        for channel in &clip.channels {
            let curve = &channel.curve;
            let moves = curve.values.iter().any(|v| *v != curve.values[0]);
            if jumps(curve.interpolation, moves, grid.has_jumps(&curve.times, &curve.values)) {
                (nodes[channel.node], tracks) = (true, tracks + 1);
            }
        }
        for &node in &model.order {
            nodes[node] |= model.nodes[node].parent.is_some_and(|p| nodes[p]);
        }
        let mut morphed = vec![false; model.nodes.len()];
        for channel in clip.morphs.iter().filter(|_| morphs) {
            let curve = &channel.curve;
            let keys: Vec<&[f64]> = curve.values.chunks(curve.targets).collect();
            let moves = keys.iter().any(|key| *key != keys[0]);
            if jumps(curve.interpolation, moves, grid.has_jumps(&curve.times, &keys)) {
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
