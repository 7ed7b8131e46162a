//! The manifest `gpuskin.toml`: the models to bake, and their settings.

mod animations;
mod axes;
pub(crate) mod entry;
mod environments;
mod files;
mod gameplay;
mod keys;
mod limits;
mod read;
mod reference;
mod rest_frame;
mod section;
mod textures;
mod values;
mod variants;

use std::path::Path;

use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
pub use crate::limits::Limits;
pub use axes::{ForwardAxis, UpAxis};
pub(crate) use entry::matched;
pub use entry::{
    AnimationEntry, At, BASE, BoneEntry, ClipEntry, DeviceClass, EnvironmentEntry, EventEntry, Feature, Fps,
    InfluenceLimit, Lods, LoopWish, Manifest, MaskEntry, MaterialImage, Mode, ModelEntry, PartEntry, Rename, RestFrame,
    RestTime, RootMotion, Storage, Textures, Tolerance, Tolerances, VariantEntry,
};
pub(crate) use files::EXPORT;
#[cfg(feature = "cli")]
pub(crate) use files::is_other_model;
pub(crate) use read::named_source;
pub use reference::{json_schema, key_tables};
#[cfg(not(feature = "textures"))]
pub(crate) use textures::needs_feature;

/// Maximum size of a manifest, in bytes.
const MAX_BYTES: u64 = 16 << 20;

impl Manifest {
    /// Reads the manifest `gpuskin.toml` at a path, and checks it.
    ///
    /// # Errors
    /// Returns all errors of the manifest, in the order of its lines.
    pub fn load(path: &Path) -> Result<Self, Diagnostics> {
        strict(Self::recover(path))
    }

    /// Reads a manifest from text, and checks it. Paths in the manifest are relative to the folder of `path`.
    ///
    /// # Errors
    /// Returns all errors of the manifest, in the order of its lines.
    pub fn parse(path: &Path, text: impl Into<String>) -> Result<Self, Diagnostics> {
        strict(read::manifest(path, text.into()))
    }

    /// Reads a manifest like [`load`](Self::load), but also returns the part without errors: all
    /// valid models, or `None` if the text is not TOML.
    #[doc(hidden)]
    pub fn recover(path: &Path) -> (Option<Self>, Diagnostics) {
        match text(path) {
            Ok(text) => read::manifest(path, text),
            Err(diagnostic) => (None, diagnostic.into()),
        }
    }
}

fn strict((manifest, diagnostics): (Option<Manifest>, Diagnostics)) -> Result<Manifest, Diagnostics> {
    manifest.filter(|_| !diagnostics.has_errors()).ok_or(diagnostics)
}

fn text(path: &Path) -> Result<String, Diagnostic> {
    let unreadable = |why: String| {
        Diagnostic::error(DiagnosticCode::ManifestUnreadable, format!("the manifest {} {why}", path.display()))
    };
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            unreadable("does not exist".into()).help("paths are relative to the folder in which the command runs")
        }
        _ => unreadable(format!("cannot be read: {error}")),
    })?;
    if !metadata.is_file() {
        return Err(unreadable("is not a file".into()).help("give the path of a gpuskin.toml file"));
    }
    if metadata.len() > MAX_BYTES {
        return Err(unreadable(format!("has {} bytes; at most {MAX_BYTES} bytes are supported", metadata.len())));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(format!("cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let source = read::named_source(path, &String::from_utf8_lossy(error.as_bytes()));
        Diagnostic::error(DiagnosticCode::ManifestSyntax, "the manifest is not UTF-8 text")
            .help("save it as UTF-8")
            .at(&source, at..at)
    })
}
