//! `gpuskin.toml`: which models to bake, and how.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use gpuskin_rt::Encoding;
use miette::NamedSource;

/// A manifest, checked: names are unique and make distinct Rust identifiers, values are in range.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The file.
    pub path: PathBuf,
    /// The folder that paths in it start from.
    pub folder: PathBuf,
    /// Its text, for diagnostics.
    pub source: Arc<NamedSource<String>>,
    /// Where payloads go.
    pub storage: Storage,
    /// Models, in the order of the file.
    pub models: Vec<ModelEntry>,
}

/// Where the bytes of a model end up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Storage {
    /// In the executable up to 4 MiB a file, beside it above.
    #[default]
    Auto,
    /// In the executable.
    Embed,
    /// Beside the executable.
    File,
}

/// Frames a second.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Fps {
    /// The uniform rate of the clip's own keys, else 30.
    #[default]
    Source,
    /// This many.
    Rate(f64),
}

/// The axis of a source that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum UpAxis {
    /// As glTF has it.
    #[default]
    Y,
    /// As exported by tools that forget to convert.
    Z,
}

/// A value and where it stands in the manifest, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Range<usize>,
}

/// One `[[model]]`.
#[derive(Clone, Debug)]
pub struct ModelEntry {
    /// Its name; `soldier` becomes `models::Soldier`, `models::SOLDIER` and `clips::SOLDIER_...`.
    pub name: At<String>,
    /// The glTF file, as written.
    pub path: At<String>,
    /// Files whose clips are added, matched by the names of nodes, as written.
    pub animations: Vec<At<String>>,
    /// Only meshes under nodes of these names. Empty: all.
    pub include: Vec<At<String>>,
    /// No meshes under nodes of these names.
    pub exclude: Vec<At<String>>,
    /// How bones stand in the texture.
    pub encoding: At<Encoding>,
    /// Frame rate of clips that do not say their own.
    pub fps: Fps,
    /// Metres per unit of the source.
    pub scale: f64,
    /// Which way is up in the source.
    pub up: UpAxis,
    /// Clips to bake, in the order of the file; `None`: all of them under their own names.
    pub clips: Option<Vec<ClipEntry>>,
}

/// One `[model.clips.<name>]`.
#[derive(Clone, Debug)]
pub struct ClipEntry {
    /// Its name in Rust.
    pub name: At<String>,
    /// Its name in the glTF file, where it differs.
    pub source: Option<At<String>>,
    /// Whether it starts over; `None`: when its ends meet.
    pub looped: Option<At<bool>>,
    /// Frame rate; `None`: the model's.
    pub fps: Option<Fps>,
}
