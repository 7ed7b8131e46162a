//! API for tools, servers and animators: transforms of nodes and bones on the CPU, and test tools.
//!
//! | item | use |
//! |---|---|
//! | [`LocalTracks`] | node-to-parent transforms: the basis of a game's own animator |
//! | [`Affine3`] | transform that [`Sockets`](crate::Sockets) returns |
//! | `CpuModel` (feature `testing`) | skins whole models on the CPU: reference for the GPU's result |
//! | `Capture` (feature `testing`) | reads skinned vertices back from the GPU |
//! | `DrawCounts` (feature `testing`) | number of instances that the GPU drew, per level of detail |
//! | `time_grid_errors` (feature `testing`) | error of shared poses, metres |

pub use crate::local::LocalTracks;
#[cfg(feature = "testing")]
pub use crate::render::{Capture, CaptureFrame, CapturedVertex, CpuModel, DrawCounts, time_grid_errors};
#[cfg(feature = "testing")]
pub use crate::skin::SkinnedVertex;
pub use crate::skin_matrix::Affine3;
