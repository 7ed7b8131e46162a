//! Vertices moved by STEP tracks, which jump in the source but are interpolated when drawn, or jump there at
//! another time.

use std::iter::successors;

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
        // Root motion is taken out of these nodes, at all times.
        let parent = |node: &usize| model.nodes[*node].parent;
        let displaced = clip.root.map_or(Vec::new(), |root| successors(Some(root.node), parent).collect());
        let mut nodes = vec![false; model.nodes.len()];
        let mut tracks = 0;
        for channel in clip.channels.iter().filter(|channel| channel.curve.interpolation == Interpolation::Step) {
            let curve = &channel.curve;
            if jumps(&curve.values)
                && !(holds && !displaced.contains(&channel.node) && grid.has_jumps(&curve.times, &curve.values))
            {
                (nodes[channel.node], tracks) = (true, tracks + 1);
            }
        }
        for &node in &model.order {
            nodes[node] |= model.nodes[node].parent.is_some_and(|p| nodes[p]);
        }
        let mut morphed = vec![false; model.nodes.len()];
        let morphs = clip.morphs.iter().filter(|c| morphs && c.curve.interpolation == Interpolation::Step);
        for channel in morphs {
            let curve = &channel.curve;
            let keys: Vec<&[f64]> = curve.values.chunks(curve.targets).collect();
            if jumps(&keys) && !(holds && grid.has_jumps(&curve.times, &keys)) {
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

/// Whether the values of keys differ.
fn jumps<T: PartialEq>(keys: &[T]) -> bool {
    keys.iter().any(|key| *key != keys[0])
}
