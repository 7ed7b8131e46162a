//! Demo page: the crowd of `examples/crowd` on WebGPU, or on WebGL2 where a browser lacks WebGPU.
//!
//! | module | contents |
//! |---|---|
//! | `page` | the page's elements, its controls and its loop; loss of the device |
//! | `gpu` | choice of the API at run time: `?api=webgpu` and `?api=webgl2` force one |
//! | `fetch` | baked files: `CrowdRenderer::side_files`, `provide_file` |
//! | `stage` | passes of a frame |
//! | `ground` | the ground: a pipeline of the game's own |
//! | `orbit` | camera that a mouse or fingers move |
//!
//! | `measure` | what the browser test measures, on the page and natively (feature `measure`) |
//!
//! `cargo xtask web --serve` builds and shows it. On other targets, only `measure` exists.

#[cfg(target_family = "wasm")]
mod fetch;
#[cfg(target_family = "wasm")]
mod gpu;
#[cfg(target_family = "wasm")]
mod ground;
#[cfg(any(not(target_family = "wasm"), feature = "measure"))]
pub mod measure;
#[cfg(all(target_family = "wasm", feature = "measure"))]
mod measure_page;
#[cfg(target_family = "wasm")]
mod orbit;
#[cfg(target_family = "wasm")]
mod page;
#[cfg(target_family = "wasm")]
mod stage;
