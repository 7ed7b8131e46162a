//! `mode = "vertex"`: what moves the vertices of a model, evaluated once and for all. Skins with all of their influences,
//! rigid nodes and morph targets come out alike: where each vertex is in each frame, with its normal and tangent.
//!
//! | stage | | |
//! |---|---|---|
//! | `mesh` | [`Model`](crate::model::Model) | [`VertexMesh`]: which vertices move alike, and what does not move of them |
//! | `evaluate` | a clip at a time | [`Moment`]: any vertex in `f64` |
//! | `encode` | all frames | texels |
//! | `rest` | a moment | the mesh that stands still |
//! | `measure` | texels | what they lost, over every source vertex |
//!
//! Positions stand in the texture, and the vertex buffer holds texture coordinates. Where the mesh stands still (`rest`) is kept
//! beside them, for who draws it without its animation: nothing of ours reads it. The file's own rest pose is what sizes are
//! relative to, and where tangents and normals that the file has not are made.

mod encode;
mod evaluate;
mod measure;
mod mesh;
mod rest;
#[cfg(test)]
mod tests;

pub(crate) use encode::encode;
pub(crate) use evaluate::Evaluator;
pub(crate) use measure::{measure, motion_within};
pub(crate) use mesh::VertexMesh;
pub(crate) use rest::{StillMesh, still};
