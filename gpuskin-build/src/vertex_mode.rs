//! Bake of `mode = "vertex"`: evaluates position, normal and tangent of each vertex in each frame.
//! Skins with all of their influences, rigid nodes and morph targets are all handled alike.
//!
//! | stage | input | output |
//! |---|---|---|
//! | `mesh` | [`Model`](crate::model::Model) | [`VertexMesh`]: vertices grouped by equal motion, and their static attributes |
//! | `evaluate` | a clip and a time | `PosedModel`: any vertex in `f64` |
//! | `encode` | all frames | texels |
//! | `rest` | a clip and a time | the rest mesh |
//! | `measure` | texels | their error, at every source vertex |
//!
//! Positions are in the texture; the vertex buffer holds texture coordinates. The rest mesh
//! (`rest`) is stored in addition, for programs that draw the mesh without its animation; gpuskin
//! does not read it. The rest pose of the file defines the size of the model, and the tangents and
//! normals that the file does not have.

mod encode;
mod evaluate;
mod measure;
mod mesh;
mod rest_mesh;
#[cfg(test)]
mod tests;

pub(crate) use encode::encode;
pub(crate) use evaluate::Evaluator;
pub(crate) use measure::{measure, motion_within};
pub(crate) use mesh::VertexMesh;
pub(crate) use rest_mesh::{RestMesh, rest_mesh};
