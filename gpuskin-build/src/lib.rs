//! Bakes animated glTF models into animation textures and Rust constants.
//!
//! # Build scripts
//!
//! A build script calls [`build`]. The game then writes `gpuskin_rt::include_baked!()`, which
//! brings the modules `models`, `clips` and `bones` into scope:
//!
//! ```no_run
//! // In the `main` of build.rs:
//! gpuskin_build::build("gpuskin.toml");
//! ```
//!
//! [`try_build`] returns errors as a value. [`bake_into`] bakes outside of build scripts, into any
//! folder and with any [`Cache`].
//!
//! # Command line
//!
//! `cli::main` is the whole command line `gpuskin`, for the xtask of a project (feature `cli`).
//!
//! # Tools
//!
//! A tool loads a [`Manifest`], calls [`bake`](fn@bake), and uses the files in memory or writes
//! them with [`write_folder`]. [`Baked`] also has the input files, the warnings and a
//! [`BakedModel`] per model with errors and sizes. Errors and warnings are [`Diagnostics`].
//!
//! ```no_run
//! use gpuskin_build::{BakeOptions, Manifest, bake, write_folder};
//!
//! let manifest = Manifest::load("gpuskin.toml".as_ref()).expect("a valid manifest");
//! let baked = bake(&manifest, &BakeOptions::default()).expect("models that can be baked");
//! write_folder(&baked.files, "baked".as_ref()).expect("a folder that can be written");
//! ```
//!
//! The manifest format, the encodings and all diagnostic codes are documented in the repository.

#[cfg(feature = "cli")]
mod analysis;
mod bake;
mod bake_job;
mod baker;
mod build_script;
#[cfg_attr(not(feature = "textures"), allow(dead_code, reason = "parts are used only with the feature `textures`"))]
mod cache;
mod checked_manifest;
#[cfg(feature = "cli")]
pub mod cli;
mod codegen;
mod color;
mod container;
mod diagnostic;
mod displacement;
mod encode;
mod environment;
mod fbx_names;
mod frames;
mod fs;
mod geometry;
#[cfg(feature = "gpu")]
mod gpu;
mod identifier_case;
mod import;
mod limits;
mod loop_close;
mod loop_guess;
mod manifest;
mod measure;
mod model;
mod model_cache;
mod models_by_name;
mod name_collisions;
mod output;
mod pose;
mod pose_extent;
#[cfg(feature = "gpu")]
mod preview;
mod report;
mod retarget;
mod root_motion;
mod sample;
mod shard;
mod stamp;
mod suggest;
mod units;
mod vector_math;
mod vertex_mode;

// Build scripts.
pub use build_script::{BuildError, Built, bake_into, build, try_build};
pub use cache::{Cache, SharedMode};

// Tools.
pub use bake::{BakeFailure, BakeOptions, Baked, BakedEnvironment, BakedModel, Progress, Stage, bake};
pub use diagnostic::{Diagnostic, DiagnosticCode, DiagnosticSubject, Diagnostics, NodeRef, Style};
pub use manifest::Manifest;
pub use output::{Difference, compare_folder, write_folder};

/// Internals for the tests, fuzz targets and benchmarks of this repository. Semantic versioning
/// does not cover them: they change without notice.
#[doc(hidden)]
pub mod internals {
    /// Stages of a bake.
    pub mod bake {
        pub use crate::bake::*;
    }
    /// Labels of diagnostics.
    pub mod diagnostic {
        pub use crate::diagnostic::*;
    }
    /// A GPU without a window.
    #[cfg(feature = "gpu")]
    pub mod gpu {
        pub use crate::gpu::*;
    }
    /// glTF import.
    pub mod import {
        pub use crate::import::*;
    }
    /// Settings of the manifest.
    pub mod manifest {
        pub use crate::manifest::*;
    }
    /// Imported models.
    pub mod model {
        pub use crate::model::*;
    }
    /// Evaluation of source and baked poses.
    pub mod pose {
        pub use crate::pose::*;
    }
    /// Contact sheets.
    #[cfg(feature = "gpu")]
    pub mod preview {
        pub use crate::preview::*;
    }
    /// Sampling of curves.
    pub mod sample {
        pub use crate::sample::*;
    }
    #[cfg(feature = "cli")]
    pub use crate::cli::inspect_bytes;
}
