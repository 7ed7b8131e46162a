//! Model of a bake report: drawn by the runtime, with WebGPU, on a canvas of the report's page.
//!
//! | module | contents |
//! |---|---|
//! | `viewer` | the class `Viewer` that the page's script uses |
//! | `subject` | the model that is shown, and its overlays |
//! | `surface` | the model with displaced vertices, or with colours per vertex |
//! | `difference` | source minus drawn position of each vertex |
//! | `bone_difference` | the same for a model in bone mode |
//! | `unpack` | vertices and animation of the model |
//! | `lines` | a pipeline for lines |
//! | `gpu` | device, canvas and render targets |
//!
//! The page owns time, camera and controls; each call of `Viewer.draw` draws one frame of what it is given. On
//! other targets than the web, the crate is empty.

#[cfg(target_family = "wasm")]
mod bone_difference;
#[cfg(target_family = "wasm")]
mod difference;
#[cfg(target_family = "wasm")]
mod gpu;
#[cfg(target_family = "wasm")]
mod lines;
#[cfg(target_family = "wasm")]
mod subject;
#[cfg(target_family = "wasm")]
mod surface;
#[cfg(target_family = "wasm")]
mod unpack;
#[cfg(target_family = "wasm")]
mod viewer;
