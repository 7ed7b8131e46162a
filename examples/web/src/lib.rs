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
//! `cargo xtask web --serve` builds and shows it. On other targets this crate is empty.
#![cfg(target_family = "wasm")]

mod fetch;
mod gpu;
mod ground;
mod orbit;
mod page;
mod stage;
