//! Settings of the manifest as values: models, clips and what they name.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use gpuskin_rt::internals::{ColorFormat, Encoding, Normals};
use miette::NamedSource;
use serde::Serialize;

use super::axes::{ForwardAxis, UpAxis};
use crate::limits::Limits;

/// A checked manifest: names are unique and map to distinct Rust identifiers, and values are in
/// range.
///
/// The serialised fields of the manifest and its parts are the inputs of a bake: the cache key is
/// computed from them.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest {
    /// Path of the manifest.
    #[serde(skip)]
    #[doc(hidden)]
    pub path: PathBuf,
    /// Folder to which paths in the manifest are relative.
    #[serde(skip)]
    #[doc(hidden)]
    pub folder: PathBuf,
    /// Text of the manifest, for diagnostics.
    #[serde(skip)]
    #[doc(hidden)]
    pub source: Arc<NamedSource<String>>,
    /// Storage of the baked files.
    #[doc(hidden)]
    pub storage: Storage,
    /// Limits for glTF files.
    #[doc(hidden)]
    pub limits: Limits,
    /// Folders, besides a glTF file's own, that URIs in glTF files may lead to; as written.
    #[doc(hidden)]
    pub roots: Vec<PathBuf>,
    /// Models, in the order of the file.
    #[serde(skip)]
    #[doc(hidden)]
    pub models: Vec<ModelEntry>,
    /// Environments, in the order of the file.
    #[serde(skip)]
    #[doc(hidden)]
    pub environments: Vec<EnvironmentEntry>,
}

/// An environment to bake from a panorama.
#[derive(Clone, Debug)]
pub struct EnvironmentEntry {
    /// Name in Rust.
    pub name: At<String>,
    /// Path of the panorama, relative to the folder of the manifest.
    pub path: At<String>,
    /// Texels along a side of a face of the cube map, a power of two.
    pub size: u32,
    /// Factor from the panorama's numbers to radiance.
    pub intensity: f64,
}

/// Storage of the baked files of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum Storage {
    /// Files up to 4 MiB are embedded in the executable; larger files are stored beside it.
    #[default]
    Auto,
    /// Files are embedded in the executable.
    Embed,
    /// Files are stored beside the executable.
    File,
    /// Like [`Storage::Auto`], but a web program contains no files: its page fetches them.
    Fetch,
}

/// Frame rate, in frames per second.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub enum Fps {
    /// Like [`Fps::Source`], but higher if the encoding is chosen automatically and the motion
    /// tolerance needs it.
    #[default]
    Enough,
    /// The uniform rate of the clip's own keys, or 30 if they are not uniform.
    Source,
    /// A fraction of the rate of [`Fps::Source`]: 0.5 halves the number of frames.
    Share(f64),
    /// The lowest rate whose motion error is within the tolerance.
    Auto,
    /// A fixed rate, in frames per second.
    Rate(f64),
}

/// Tolerance of positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Tolerance {
    /// Fraction of the bounding box diagonal of the rest pose.
    Relative(f64),
    /// Length in metres.
    Absolute(f64),
}

impl Tolerance {
    /// Returns the tolerance in metres, for a model with this diagonal in metres.
    pub fn metres(self, diagonal: f64) -> f64 {
        match self {
            Self::Relative(share) => share * diagonal,
            Self::Absolute(metres) => metres,
        }
    }
}

impl Tolerances {
    /// Default of [`Self::encoding`]: 0.1 mm on a character with a diagonal of 2 m.
    pub const ENCODING: Tolerance = Tolerance::Relative(5e-5);
    /// Default of [`Self::motion`]: 1 cm on a character with a diagonal of 2 m.
    pub const MOTION: Tolerance = Tolerance::Relative(5e-3);
    /// Default of [`Self::normal`], in degrees.
    pub const NORMAL: f64 = 1.0;
}

/// Tolerances of a model. For `None`, an automatic choice uses [`Tolerances::ENCODING`],
/// [`Tolerances::MOTION`] and [`Tolerances::NORMAL`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tolerances {
    /// Tolerance of positions at the times of frames.
    pub encoding: Option<At<Tolerance>>,
    /// Tolerance of positions between frames.
    pub motion: Option<At<Tolerance>>,
    /// Tolerance of normals, in degrees.
    pub normal: Option<At<f64>>,
}

/// Capabilities of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum DeviceClass {
    /// Device with compute shaders and storage buffers.
    Compute,
    /// Device without compute shaders and storage buffers.
    WebGl2,
}

/// Data that is baked for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum Mode {
    /// Skinning matrices of the bones.
    #[default]
    Bone,
    /// Vertices, including morph targets.
    Vertex,
    /// Bones or vertices, whichever takes fewer bytes on the GPU.
    Auto,
}

/// A feature of the runtime that only `local-packed` supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Feature {
    /// Layers with masks.
    Layers,
    /// Bones whose pose the game computes.
    LiveBones,
    /// Levels of detail.
    LevelsOfDetail,
    /// Culling by frustum and occlusion.
    Culling,
}

/// Levels of detail (LODs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum Lods {
    /// LODs down to at most 64 triangles, for encodings that compute shaders play.
    #[default]
    Auto,
    /// At most this many LODs below the finest, down to about 12 triangles, for any encoding; 0 disables LODs.
    Most(usize),
}

/// Number of influences per vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum InfluenceLimit {
    /// Per vertex, the fewest that meet the tolerance, up to 8.
    #[default]
    Auto,
    /// At most this many, 1 to 8.
    Most(usize),
}

/// A value and its location in the manifest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Location in the text of the manifest, in bytes.
    pub span: Range<usize>,
}

/// A `[[model]]` table.
#[derive(Clone, Debug, Serialize)]
pub struct ModelEntry {
    /// Name of the model; `soldier` becomes `models::Soldier`, `models::SOLDIER` and
    /// `clips::SOLDIER_...`.
    pub name: At<String>,
    /// Path of the glTF file, as written.
    pub path: At<String>,
    /// Animation files, whose clips are added to the model.
    pub animations: Vec<AnimationEntry>,
    /// Bones of a humanoid and the nodes of the model that are these bones, where names do not tell.
    pub humanoid: Vec<BoneEntry>,
    /// New names of the nodes of animation files; the first pattern that matches is used.
    pub rename: Vec<Rename>,
    /// Names of nodes; only meshes at or below them are baked. If empty, all meshes are.
    pub include: Vec<At<String>>,
    /// Names of nodes; meshes at or below them are not baked.
    pub exclude: Vec<At<String>>,
    /// Patterns of the names of clips that are not baked, with at most one `*`.
    pub exclude_clips: Vec<At<String>>,
    /// Data that is baked if no encoding is given.
    pub mode: Mode,
    /// Width of the animation texture, in texels; `None` chooses it by size.
    pub width: Option<u32>,
    /// Rest pose of the mesh in vertex mode; `None` uses the pose of the file.
    pub rest_frame: Option<RestFrame>,
    /// Encoding of bones or vertices; `None` chooses one within the tolerances.
    pub encoding: Option<At<Encoding>>,
    /// Tolerances of the bake.
    pub tolerances: Tolerances,
    /// Device classes to bake for; at least one, without repetition.
    pub devices: Vec<DeviceClass>,
    /// Features that the model must have.
    pub require: Vec<Feature>,
    /// Number of influences per vertex.
    pub influences: InfluenceLimit,
    /// Whether morph targets are baked in bone mode.
    pub morphs: bool,
    /// Method by which bones transform normals.
    pub normals: Normals,
    /// Levels of detail.
    pub lods: Lods,
    /// Formats of the colour textures.
    pub textures: Textures,
    /// Frame rate of clips that have none of their own.
    pub fps: Fps,
    /// Metres per unit of the source file.
    pub scale: f64,
    /// Axis of the source file that points up.
    pub up: UpAxis,
    /// Axis of the source file along which the model looks; baked models look along +z.
    pub forward: ForwardAxis,
    /// Node whose motion becomes root motion. `None` uses, per clip, the topmost moving node that
    /// is an ancestor of all bones.
    pub root: Option<At<String>>,
    /// Masks: sets of bones that layers act on, in the order of the file.
    pub masks: Vec<MaskEntry>,
    /// Parts: sets of meshes whose visibility can be set per instance, in the order of the file.
    pub parts: Vec<PartEntry>,
    /// Whether the variants of the glTF file (`KHR_materials_variants`) are baked.
    pub file_variants: bool,
    /// Variants of the model's textures, in the order of the manifest.
    pub variants: Vec<VariantEntry>,
    /// Tint masks: images whose red is the share of an instance's tint, in the order of the manifest.
    pub tint_masks: Vec<MaterialImage>,
    /// Nodes that are baked as bones even if they move no vertex.
    pub sockets: Vec<At<String>>,
    /// Clips to bake, in the order of the file; `None` bakes all clips under their own names.
    pub clips: Option<Vec<ClipEntry>>,
}

impl ModelEntry {
    /// Whether the bake may use bone encodings.
    pub fn wants_bones(&self) -> bool {
        self.encoding.as_ref().map_or(self.mode != Mode::Vertex, |at| !at.value.is_vertex())
    }

    /// Whether the bake may use vertex encodings.
    pub fn wants_vertices(&self) -> bool {
        let in_mode = match self.mode {
            Mode::Bone => false,
            Mode::Vertex => true,
            Mode::Auto => !self.needs_locals() && self.sockets.is_empty(),
        };
        self.encoding.as_ref().map_or(in_mode, |at| at.value.is_vertex())
    }

    /// Whether the model has masks, additive clips or required features, which need the local transform
    /// of each bone.
    pub fn needs_locals(&self) -> bool {
        !self.masks.is_empty()
            || !self.require.is_empty()
            || self.clips.iter().flatten().any(|clip| clip.additive.is_some())
    }

    /// Returns the settings of a clip.
    pub fn clip(&self, name: &str) -> Option<&ClipEntry> {
        self.clips.iter().flatten().find(|clip| clip.name.value == name)
    }
}

/// A file of `animations`.
#[derive(Clone, Debug, Serialize)]
pub struct AnimationEntry {
    /// Path of the glTF file, as written.
    pub path: At<String>,
    /// Bones of a humanoid and the nodes of the file that are these bones, where names do not tell; `None` if the clips
    /// are not retargeted, and nodes are matched by name.
    pub retarget: Option<Vec<BoneEntry>>,
}

/// A bone of a humanoid, and the name of its node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoneEntry {
    /// Name of the bone, such as `left_upper_arm`.
    pub bone: At<String>,
    /// Name of the node.
    pub node: At<String>,
}

/// Pattern of names and the names that it makes of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rename {
    /// Name in the file; at most one `*` stands for any text.
    pub from: String,
    /// New name, in which `*` is the text of the pattern's `*`.
    pub to: String,
}

impl Rename {
    /// Returns the new name if the pattern matches.
    pub fn apply(&self, name: &str) -> Option<String> {
        Some(self.to.replacen('*', matched(&self.from, name)?, 1))
    }
}

/// Returns the text that the `*` of a pattern stands for, which is empty without one; `None` if the pattern does not match.
pub(crate) fn matched<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    match pattern.split_once('*') {
        None => (name == pattern).then_some(""),
        Some((before, after)) => name.strip_prefix(before)?.strip_suffix(after),
    }
}

/// Value of a clip's key `loop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum LoopWish {
    /// The clip holds its last pose.
    Once,
    /// The clip starts over at its end.
    Loop,
    /// The clip starts over at its end, which is blended into its start.
    Close,
}

/// A `[model.clips.<name>]` table.
#[derive(Clone, Debug, Serialize)]
pub struct ClipEntry {
    /// Name in Rust.
    pub name: At<String>,
    /// Name in the glTF file, if different.
    pub source: Option<At<String>>,
    /// Whether the clip loops; `None` guesses it from its ends and its name.
    pub looped: Option<At<LoopWish>>,
    /// Frame rate; `None` uses that of the model.
    pub fps: Option<Fps>,
    /// Events of the clip.
    pub events: Vec<EventEntry>,
    /// Root motion to extract from the poses.
    pub root_motion: Option<At<RootMotion>>,
    /// Name of the clip whose first frame is the reference pose of this additive clip, possibly its
    /// own name; `None` if the clip is not additive.
    pub additive: Option<At<String>>,
}

/// An event of a clip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventEntry {
    /// Name in Rust.
    pub name: At<String>,
    /// Times in seconds from the start of the clip, at least 0. An empty list removes the events of
    /// this name in the file.
    pub times: Vec<At<f64>>,
}

/// Root motion: the part of a clip's motion that is extracted from the poses, and moves the
/// instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum RootMotion {
    /// Translation in the ground plane and rotation about the up axis.
    Planar,
    /// All translation and rotation.
    Full,
}

/// A mask of `[model.masks]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MaskEntry {
    /// Name in Rust.
    pub name: At<String>,
    /// Nodes that the mask includes, with all their descendants; at least one.
    pub roots: Vec<At<String>>,
    /// Nodes that the mask excludes, with all their descendants.
    pub exclude: Vec<At<String>>,
}

/// A part of `parts`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartEntry {
    /// Name in Rust.
    pub name: At<String>,
    /// Nodes whose meshes belong to the part, with all their descendants; at least one.
    pub nodes: Vec<At<String>>,
}

/// Name of the variant that is the look of the model's own textures.
pub const BASE: &str = "base";

/// A variant of `[model.variants]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariantEntry {
    /// Name in Rust.
    pub name: At<String>,
    /// Images that replace base colour textures; at least one.
    pub images: Vec<MaterialImage>,
}

/// An image for a material, in a variant or as a tint mask.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MaterialImage {
    /// Name of the material in the glTF file.
    pub material: At<String>,
    /// Path of the image, relative to the folder of the manifest.
    pub path: At<String>,
}

/// A pose of a clip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RestFrame {
    /// Name of the clip in Rust.
    pub clip: At<String>,
    /// Frame or time in the clip.
    pub time: At<RestTime>,
}

/// Frame or time in a clip.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum RestTime {
    /// Index of a baked frame.
    Frame(u32),
    /// Time in seconds from the start of the clip.
    Seconds(f64),
}

/// Formats of the colour textures.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Textures {
    /// Formats for devices, best first; one file per format. Not empty.
    pub formats: Vec<ColorFormat>,
    /// Whether to also write a portable UASTC file, which can be transcoded to any of the formats.
    /// The runtime does not read it.
    pub universal: bool,
}

impl Default for Textures {
    /// Returns BC7 for desktops, ASTC for phones, and RGBA8 for all other devices; without the
    /// feature `textures`, RGBA8 only.
    fn default() -> Self {
        let formats = if cfg!(feature = "textures") {
            vec![ColorFormat::Bc7, ColorFormat::Astc, ColorFormat::Rgba8]
        } else {
            vec![ColorFormat::Rgba8]
        };
        Self { formats, universal: false }
    }
}
