//! `gpuskin.toml`: which models to bake, and how.

mod keys;
mod limits;
mod play;
mod read;
mod rest;
mod section;
mod textures;
mod values;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gpuskin_rt::{Encoding, Normals};
use miette::NamedSource;
use serde::Serialize;

use crate::diagnostic::{DiagnosticCode, Diagnostic, Diagnostics};
pub use crate::limits::Limits;
pub use play::{EventEntry, MaskEntry, PartEntry, RootMotion};
pub(crate) use read::named_source;
pub use rest::{RestFrame, RestMoment};
pub use textures::Textures;
#[cfg(not(feature = "textures"))]
pub(crate) use textures::needs_feature;

/// A manifest, checked: names are unique and make distinct Rust identifiers, values are in range.
///
/// What is serialised of it, and of its parts, is what a bake depends on: `crate::keep` makes keys of it.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest {
    /// The file.
    #[serde(skip)]
    pub path: PathBuf,
    /// The folder that paths in it start from.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Its text, for diagnostics.
    #[serde(skip)]
    pub source: Arc<NamedSource<String>>,
    /// Where payloads go.
    pub storage: Storage,
    /// What glTF files may take.
    pub limits: Limits,
    /// Folders that URIs inside of glTF files may reach, beside the file's own; as written.
    pub roots: Vec<PathBuf>,
    /// Models, in the order of the file.
    #[serde(skip)]
    pub models: Vec<ModelEntry>,
}

/// A manifest larger than this is something else.
const LARGEST: u64 = 16 << 20;

impl Manifest {
    /// Reads and checks a manifest.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of its lines.
    pub fn load(path: &Path) -> Result<Self, Diagnostics> {
        strict(Self::recover(path))
    }

    /// Checks the text of a manifest. `path` is where it stands: paths in it start from there.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of its lines.
    pub fn parse(path: &Path, text: impl Into<String>) -> Result<Self, Diagnostics> {
        strict(read::manifest(path, text.into()))
    }

    /// As [`load`](Self::load), with what could be read beside what is wrong: the models that nothing is wrong with, or
    /// `None` where the text is no TOML.
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
    let unreadable =
        |why: String| Diagnostic::error(DiagnosticCode::ManifestUnreadable, format!("the manifest {} {why}", path.display()));
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            unreadable("does not exist".into()).help("paths start at the folder that the command runs in")
        }
        _ => unreadable(format!("cannot be read: {error}")),
    })?;
    if !metadata.is_file() {
        return Err(unreadable("is not a file".into()).help("name the gpuskin.toml itself"));
    }
    if metadata.len() > LARGEST {
        return Err(unreadable(format!("has {} bytes: that is no manifest", metadata.len())));
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

/// Where the bytes of a model end up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub enum Fps {
    /// As [`Fps::Source`]; more where an encoding is chosen and the motion tolerance asks for it.
    #[default]
    Enough,
    /// The uniform rate of the clip's own keys, else 30.
    Source,
    /// This share of it: 0.5 is half the frames.
    Share(f64),
    /// The lowest rate whose motion error meets the tolerance.
    Auto,
    /// This many.
    Rate(f64),
}

/// How much may be lost of positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Tolerance {
    /// Of the rest pose's diagonal.
    Relative(f64),
    /// Metres.
    Absolute(f64),
}

impl Tolerance {
    /// In metres, for a model of this diagonal.
    pub fn metres(self, diagonal: f64) -> f64 {
        match self {
            Self::Relative(share) => share * diagonal,
            Self::Absolute(metres) => metres,
        }
    }
}

/// What a model may lose. `None`: what [`Tolerances::ENCODING`] and so on say, where something is chosen by it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tolerances {
    /// Of positions at the frames' own times.
    pub encoding: Option<At<Tolerance>>,
    /// Of positions between frames.
    pub motion: Option<At<Tolerance>>,
    /// Of normals, degrees.
    pub normal: Option<At<f64>>,
}

impl Tolerances {
    /// 0.1 mm on a character of 2 m.
    pub const ENCODING: Tolerance = Tolerance::Relative(5e-5);
    /// 1 cm on a character of 2 m.
    pub const MOTION: Tolerance = Tolerance::Relative(5e-3);
    /// Degrees.
    pub const NORMAL: f64 = 1.0;
}

/// What devices can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum DeviceClass {
    /// Compute shaders and storage buffers.
    Compute,
    /// Neither.
    WebGl2,
}

/// What is baked of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum Mode {
    /// Skin matrices of its bones.
    #[default]
    Bone,
    /// Its vertices, morph targets included.
    Vertex,
    /// What takes fewer bytes on the GPU.
    Auto,
}

/// Levels of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum Lods {
    /// Down to a few dozen triangles, where they are drawn: in encodings that compute shaders play.
    #[default]
    Auto,
    /// At most so many below the finest, in whatever encoding; 0 is none.
    Most(usize),
}

/// The axis of a source that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum UpAxis {
    /// As glTF has it.
    #[default]
    Y,
    /// As exported by tools that forget to convert.
    Z,
}

/// A value and where it stands in the manifest, in bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Range<usize>,
}

/// One `[[model]]`.
#[derive(Clone, Debug, Serialize)]
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
    /// What rows of the texture are, where no encoding says so.
    pub mode: Mode,
    /// Texels across the texture; `None`: as suits its size.
    pub width: Option<u32>,
    /// The pose that the mesh stands still in, where vertices are baked; `None`: as the file shows it.
    pub rest_frame: Option<RestFrame>,
    /// How bones or vertices stand in the texture; `None`: the smallest that meets the tolerances.
    pub encoding: Option<At<Encoding>>,
    /// What may be lost.
    pub tolerances: Tolerances,
    /// Devices that it is baked for, without repetition; at least one.
    pub devices: Vec<DeviceClass>,
    /// Influences that a vertex keeps, 1 to 4.
    pub influences: usize,
    /// How bones turn normals.
    pub normals: Normals,
    /// Its levels of detail.
    pub lods: Lods,
    /// What its textures are baked to.
    pub textures: Textures,
    /// Frame rate of clips that do not say their own.
    pub fps: Fps,
    /// Metres per unit of the source.
    pub scale: f64,
    /// Which way is up in the source.
    pub up: UpAxis,
    /// The node whose motion is root motion; `None`: in each clip the topmost above all bones that it moves.
    pub root: Option<At<String>>,
    /// Bones that layers act on, in the order of the file.
    pub masks: Vec<MaskEntry>,
    /// Meshes that an instance may leave off, in the order of the file.
    pub parts: Vec<PartEntry>,
    /// Nodes that stay bones though they move no vertex.
    pub sockets: Vec<At<String>>,
    /// Clips to bake, in the order of the file; `None`: all of them under their own names.
    pub clips: Option<Vec<ClipEntry>>,
}

impl ModelEntry {
    /// Whether bones can come out of it.
    pub fn wants_bones(&self) -> bool {
        self.encoding.as_ref().map_or(self.mode != Mode::Vertex, |at| !at.value.is_vertex())
    }

    /// Whether vertices can come out of it.
    pub fn wants_vertices(&self) -> bool {
        let in_mode = match self.mode {
            Mode::Bone => false,
            Mode::Vertex => true,
            Mode::Auto => !self.needs_locals() && self.sockets.is_empty(),
        };
        self.encoding.as_ref().map_or(in_mode, |at| at.value.is_vertex())
    }

    /// Whether it has layers to play, for which each bone's own motion must be known.
    pub fn needs_locals(&self) -> bool {
        !self.masks.is_empty() || self.clips.iter().flatten().any(|clip| clip.additive.is_some())
    }

    /// What the manifest says of a clip.
    pub fn clip(&self, name: &str) -> Option<&ClipEntry> {
        self.clips.iter().flatten().find(|clip| clip.name.value == name)
    }
}

/// One `[model.clips.<name>]`.
#[derive(Clone, Debug, Serialize)]
pub struct ClipEntry {
    /// Its name in Rust.
    pub name: At<String>,
    /// Its name in the glTF file, where it differs.
    pub source: Option<At<String>>,
    /// Whether it starts over; `None`: when its ends meet.
    pub looped: Option<At<bool>>,
    /// Frame rate; `None`: the model's.
    pub fps: Option<Fps>,
    /// What happens in it.
    pub events: Vec<EventEntry>,
    /// Whether its motion as a whole is taken out of its poses.
    pub root_motion: Option<At<RootMotion>>,
    /// The name of the clip whose first frame it adds to, which may be its own; `None`: it is a pose of its own.
    pub additive: Option<At<String>>,
}
