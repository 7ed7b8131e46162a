//! Table of all keys of the manifest. The reader, its messages about unknown keys, the key tables of
//! the guide and the JSON schema are derived from it.
//!
//! A new key needs a row here, a field in `entry.rs`, and a line in the reader, `read.rs`. A unit
//! test fails if a key is declared but never read, or read but not declared.

use gpuskin_rt::internals::vertex::MAX_INFLUENCES;
use gpuskin_rt::internals::{ColorFormat, Encoding, Normals};

use super::{DeviceClass, Feature, ForwardAxis, Fps, Mode, RootMotion, Storage, UpAxis};

/// A table of the manifest.
pub(super) struct TableKeys {
    /// Name of the table in messages.
    pub(super) table: &'static str,
    /// Supported keys, in the order of the reference.
    pub(super) keys: &'static [Key],
    /// Keys of later versions, each with advice on what to use instead.
    pub(super) later: &'static [(&'static str, &'static str)],
}

impl TableKeys {
    /// Returns the declaration of a key.
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Returns the names of the supported keys.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }
}

/// Declaration of a key.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) value: Shape,
    pub(super) default: DefaultValue,
    /// Meaning, one line of Markdown.
    pub(super) doc: &'static str,
}

/// Value of a key that is not in the manifest.
pub(super) enum DefaultValue {
    /// No default: a manifest without the key is rejected.
    Required,
    /// A TOML value.
    Toml(&'static str),
    /// A description in Markdown, for defaults that depend on other keys or on the glTF file.
    Described(&'static str),
}

/// Values that a key accepts.
pub(super) enum Shape {
    /// `true` or `false`.
    Bool,
    /// Non-empty string.
    Text,
    /// String that matches a regular expression, with an example.
    Pattern(&'static str, &'static str),
    /// One of these strings.
    Word(&'static [&'static str]),
    /// Number greater than 0.
    Positive { most: f64 },
    /// Finite number of seconds, at least 0.
    Seconds,
    /// Whole number.
    Whole { least: u64, most: u64 },
    /// Size in bytes: a whole number of at least 1, or a string such as `"512 MiB"`.
    Size { most: u64 },
    /// Array of values.
    List(&'static Shape),
    /// Table whose keys are names that the manifest chooses.
    Named(&'static Shape),
    /// Table with fixed keys.
    Table(&'static TableKeys),
    /// Value of one of several shapes.
    AnyOf(&'static [Shape]),
}

use DefaultValue::{Described, Required, Toml};
use Shape::{AnyOf, Bool, List, Named, Pattern, Positive, Seconds, Size, Table, Text, Whole, Word};

/// Strings of the manifest and the values that they stand for.
type Choices<T, const N: usize> = [(&'static str, T); N];

const fn words<T, const N: usize>(choices: &Choices<T, N>) -> [&'static str; N] {
    let mut words = [""; N];
    let mut i = 0;
    while i < N {
        words[i] = choices[i].0;
        i += 1;
    }
    words
}

/// Returns help for a key of a model that is written below the header of another table.
pub(super) fn of_model(name: &str, header: &str) -> Option<String> {
    let key = MODEL.key(name)?.name;
    Some(format!(
        "`{key}` is a key of [[model]]: move it above {header}, because keys below a header belong to that table"
    ))
}

pub(super) const DEVICES: Choices<DeviceClass, 2> =
    [("compute", DeviceClass::Compute), ("webgl2", DeviceClass::WebGl2)];
pub(super) const FEATURES: Choices<Feature, 4> = [
    ("layers", Feature::Layers),
    ("live_bones", Feature::LiveBones),
    ("levels_of_detail", Feature::LevelsOfDetail),
    ("culling", Feature::Culling),
];
pub(super) const FPS_WORDS: Choices<Fps, 2> = [("source", Fps::Source), ("auto", Fps::Auto)];
pub(super) const MODES: Choices<Mode, 3> = [("bone", Mode::Bone), ("vertex", Mode::Vertex), ("auto", Mode::Auto)];
pub(super) const NORMALS: Choices<Normals, 2> = [("cofactor", Normals::Cofactor), ("plain", Normals::Plain)];
pub(super) const ROOT_MOTIONS: Choices<RootMotion, 2> = [("planar", RootMotion::Planar), ("full", RootMotion::Full)];
pub(super) const STORAGES: Choices<Storage, 4> =
    [("auto", Storage::Auto), ("embed", Storage::Embed), ("file", Storage::File), ("fetch", Storage::Fetch)];
pub(super) const FORWARD_AXES: Choices<ForwardAxis, 6> = [
    ("z", ForwardAxis::Z),
    ("-z", ForwardAxis::NegZ),
    ("x", ForwardAxis::X),
    ("-x", ForwardAxis::NegX),
    ("y", ForwardAxis::Y),
    ("-y", ForwardAxis::NegY),
];
pub(super) const UP_AXES: Choices<UpAxis, 2> = [("y", UpAxis::Y), ("z", UpAxis::Z)];

/// `None` stands for an encoding that is chosen by the tolerances.
pub(super) const ENCODINGS: Choices<Option<Encoding>, { Encoding::COUNT + 1 }> = {
    let mut choices = [("auto", None); Encoding::COUNT + 1];
    let mut i = 0;
    while i < Encoding::COUNT {
        choices[i + 1] = (Encoding::ALL[i].name(), Some(Encoding::ALL[i]));
        i += 1;
    }
    choices
};

/// `None` stands for the portable UASTC file.
pub(super) const TEXTURES: Choices<Option<ColorFormat>, { ColorFormat::ALL.len() + 1 }> = {
    let mut choices = [("universal", None); ColorFormat::ALL.len() + 1];
    let mut i = 0;
    while i < ColorFormat::ALL.len() {
        choices[i] = (ColorFormat::ALL[i].name(), Some(ColorFormat::ALL[i]));
        i += 1;
    }
    choices
};

/// Maximum frame rate, in frames per second. A higher value is a mistake.
pub(super) const MAX_FPS: f64 = 1000.0;
/// Maximum number of levels of detail below the finest.
pub(super) const MAX_COARSER_LODS: usize = gpuskin_rt::internals::MAX_LODS - 1;

const LENGTH: Shape = Pattern(r"^\s*[0-9.e+-]+\s*(%|m|cm|mm|um)\s*$", "0.1 mm");
const ANGLE: Shape = Pattern(r"^\s*[0-9.e+-]+\s*deg\s*$", "1 deg");
const PERCENTAGE: Shape = Pattern(r"^\s*[0-9.e+-]+\s*%\s*$", "50 %");
const FPS_SHAPE: Shape = AnyOf(&[Positive { most: MAX_FPS }, Word(&words(&FPS_WORDS)), PERCENTAGE]);
const MODEL_NAME: Shape = Pattern("^[A-Za-z][A-Za-z0-9_-]{0,63}$", "soldier");
const NODES: Shape = List(&Text);

// Keys that both [bake] and [[model]] have.

const ENCODING: Key = Key {
    name: "encoding",
    value: Word(&words(&ENCODINGS)),
    default: Toml(r#""auto""#),
    doc: r#"[encoding](encodings.md) of the animation texture; `"auto"`: `local-packed` if it meets the tolerances, else the smallest that does"#,
};
const TOLERANCE: Key = Key {
    name: "tolerance",
    value: LENGTH,
    default: Toml(r#""0.005 %""#),
    doc: "allowed error of positions at frames: a length, or a percentage of the rest pose's diagonal",
};
const MOTION_TOLERANCE: Key = Key {
    name: "motion_tolerance",
    value: LENGTH,
    default: Toml(r#""0.5 %""#),
    doc: "allowed error of positions between frames: a length, or a percentage of the rest pose's diagonal",
};
const NORMAL_TOLERANCE: Key = Key {
    name: "normal_tolerance",
    value: ANGLE,
    default: Toml(r#""1 deg""#),
    doc: "allowed error of normals, at frames and between them",
};
const DEVICE_CLASSES: Key = Key {
    name: "devices",
    value: List(&Word(&words(&DEVICES))),
    default: Toml(r#"["compute"]"#),
    doc: "device classes to bake for",
};
const REQUIRE: Key = Key {
    name: "require",
    value: List(&Word(&words(&FEATURES))),
    default: Toml("[]"),
    doc: "features that the model must have, or the bake fails; all need `local-packed`. In [bake]: of all models in bone mode that name no encoding",
};
const TEXTURE_FORMATS: Key = Key {
    name: "textures",
    value: List(&Word(&words(&TEXTURES))),
    default: Toml(r#"["bc7", "astc", "rgba8"]"#),
    doc: r#"formats of colour textures, best first; `"universal"`: a portable UASTC file beside them"#,
};
const INFLUENCES: Key = Key {
    name: "influences",
    value: AnyOf(&[Word(&["auto"]), Whole { least: 1, most: MAX_INFLUENCES as u64 }]),
    default: Toml(r#""auto""#),
    doc: r#"maximum number of bones per vertex; `"auto"`: per vertex, 4 to 8, the fewest that meet the tolerances"#,
};
const NORMAL_TRANSFORM: Key = Key {
    name: "normals",
    value: Word(&words(&NORMALS)),
    default: Toml(r#""cofactor""#),
    doc: r#"`"cofactor"`: exact; `"plain"`: cheaper, up to 55 degrees off at sharp bends. No effect in vertex mode"#,
};
const LODS: Key = Key {
    name: "lods",
    value: AnyOf(&[Bool, Whole { least: 0, most: MAX_COARSER_LODS as u64 }]),
    default: Toml("true"),
    doc: "most levels of detail below LOD 0, down to a dozen triangles; `true`: down to at most 64 triangles, not in vertex mode; `false`: none",
};
const FPS: Key = Key {
    name: "fps",
    value: FPS_SHAPE,
    default: Described(
        "the source's, or a multiple of it where `motion_tolerance` or `normal_tolerance` asks for that",
    ),
    doc: "frames per second, or a percentage of the source's",
};
const SCALE: Key = Key {
    name: "scale",
    value: Positive { most: f64::MAX },
    default: Toml("1.0"),
    doc: "metres per unit of the source",
};
const UP: Key =
    Key { name: "up", value: Word(&words(&UP_AXES)), default: Toml(r#""y""#), doc: "up axis of the source" };

const FORWARD: Key = Key {
    name: "forward",
    value: Word(&words(&FORWARD_AXES)),
    default: Described(r#"`"z"`; with `up = "z"`: `"-y"`"#),
    doc: "axis of the source along which the model looks; baked models look along +z",
};

pub(super) const ROOT: TableKeys = TableKeys {
    table: "the manifest",
    keys: &[
        Key { name: "bake", value: Table(&BAKE), default: Toml("{}"), doc: "settings for all models" },
        Key { name: "limits", value: Table(&LIMITS), default: Toml("{}"), doc: "limits of a model" },
        Key { name: "model", value: List(&Table(&MODEL)), default: Required, doc: "models to bake" },
        Key {
            name: "environment",
            value: List(&Table(&ENVIRONMENT)),
            default: Toml("[]"),
            doc: "light from all directions to bake, from panoramas",
        },
    ],
    later: &[],
};

pub(super) const BAKE: TableKeys = TableKeys {
    table: "[bake]",
    keys: &[
        FPS,
        ENCODING,
        TOLERANCE,
        MOTION_TOLERANCE,
        NORMAL_TOLERANCE,
        DEVICE_CLASSES,
        REQUIRE,
        Key {
            name: "storage",
            value: Word(&words(&STORAGES)),
            default: Toml(r#""auto""#),
            doc: r#"`"embed"`: in the executable; `"file"`: beside it; `"auto"`: embedded up to 4 MiB per file; `"fetch"`: `"auto"`, and in web programs `"file"`"#,
        },
        Key {
            name: "roots",
            value: List(&Text),
            default: Toml("[]"),
            doc: "folders, besides a glTF file's own, that URIs inside glTF files may reach",
        },
        TEXTURE_FORMATS,
        INFLUENCES,
        NORMAL_TRANSFORM,
        LODS,
        SCALE,
        UP,
        FORWARD,
    ],
    later: &[],
};

pub(super) const MODEL: TableKeys = TableKeys {
    table: "[[model]]",
    keys: &[
        Key {
            name: "name",
            value: MODEL_NAME,
            default: Required,
            doc: "name in Rust: up to 64 letters, digits, `_`, `-`, a letter first",
        },
        Key { name: "path", value: Text, default: Required, doc: "path of the glTF file" },
        Key {
            name: "animations",
            value: List(&AnyOf(&[Text, Table(&ANIMATION)])),
            default: Toml("[]"),
            doc: "more glTF files, whose clips are added: paths, whose nodes are matched by name, or tables such as `{ path = \"run.glb\", retarget = \"humanoid\" }`",
        },
        Key {
            name: "humanoid",
            value: Named(&Text),
            default: Toml("{}"),
            doc: "[retargeting](retargeting.md): nodes of the model by bones of a humanoid, where names do not tell",
        },
        Key {
            name: "rename",
            value: Named(&Text),
            default: Toml("{}"),
            doc: r#"new names of the nodes of these files, before they are matched; one `*` stands for any text: `{ "mixamorig:*" = "*" }`"#,
        },
        Key {
            name: "exclude_clips",
            value: List(&Text),
            default: Toml("[]"),
            doc: r#"clips that are not baked, by name; one `*` stands for any text: `["T-Pose", "*_Pose"]`"#,
        },
        Key {
            name: "mode",
            value: Word(&words(&MODES)),
            default: Toml(r#""bone""#),
            doc: r#"`"bone"`: bones and morph targets; `"vertex"`: every vertex of every frame; `"auto"`: the smaller one"#,
        },
        ENCODING,
        Key {
            name: "width",
            value: Whole { least: 64, most: 4096 },
            default: Described("about square"),
            doc: "width of the animation texture in texels, a power of two",
        },
        Key {
            name: "rest_frame",
            value: Table(&REST_FRAME),
            default: Described("the pose of the file"),
            doc: "vertex mode: the pose of the mesh without animation",
        },
        TOLERANCE,
        MOTION_TOLERANCE,
        NORMAL_TOLERANCE,
        DEVICE_CLASSES,
        REQUIRE,
        TEXTURE_FORMATS,
        Key {
            name: "include",
            value: NODES,
            default: Described("all"),
            doc: "nodes whose meshes are baked, with all below them",
        },
        Key {
            name: "exclude",
            value: NODES,
            default: Toml("[]"),
            doc: "nodes whose meshes are left out, with all below them",
        },
        INFLUENCES,
        Key { name: "morphs", value: Bool, default: Toml("true"), doc: "bone mode: whether morph targets are baked" },
        NORMAL_TRANSFORM,
        LODS,
        FPS,
        SCALE,
        UP,
        FORWARD,
        Key {
            name: "root",
            value: Text,
            default: Described("the topmost moving node above all bones"),
            doc: "node whose motion is [root motion](root-motion.md)",
        },
        Key {
            name: "masks",
            value: Named(&Table(&MASK)),
            default: Toml("{}"),
            doc: "sets of bones that a layer acts on, at most 255; needs `local-packed`",
        },
        Key {
            name: "parts",
            value: Named(&NODES),
            default: Toml("{}"),
            doc: "nodes whose meshes an instance may hide, at most 16 parts: `{ sword = [\"Sword\"] }`",
        },
        Key {
            name: "variants",
            value: Named(&Named(&Text)),
            default: Toml("{}"),
            doc: "[variants](variants.md) of the textures: images that replace base colours, by material: `{ veteran = { Uniform = \"veteran.png\" } }`",
        },
        Key {
            name: "file_variants",
            value: Bool,
            default: Toml("true"),
            doc: "whether the [variants](variants.md#variants-of-the-file) of the glTF file (`KHR_materials_variants`) are baked",
        },
        Key {
            name: "tint_masks",
            value: Named(&Text),
            default: Toml("{}"),
            doc: "[tint masks](tint-masks.md), by opaque material: images whose red is the share of an instance's tint, `{ Uniform = \"cloth.png\" }`",
        },
        Key {
            name: "sockets",
            value: NODES,
            default: Toml("[]"),
            doc: "nodes that are baked as bones even if they move no vertex",
        },
        Key {
            name: "clips",
            value: Named(&Table(&CLIP)),
            default: Described("all clips of the files"),
            doc: "clips to bake, by their names in Rust",
        },
    ],
    later: &[],
};

/// Kinds of skeletons that clips can be retargeted to.
pub(super) const SKELETONS: [(&str, ()); 1] = [("humanoid", ())];

pub(super) const ANIMATION: TableKeys = TableKeys {
    table: "a file of `animations`",
    keys: &[
        Key { name: "path", value: Text, default: Required, doc: "path of the glTF file" },
        Key {
            name: "retarget",
            value: Word(&words(&SKELETONS)),
            default: Described("nodes are matched by name"),
            doc: "[retargeting](retargeting.md) of the clips from another skeleton",
        },
        Key {
            name: "bones",
            value: Named(&Text),
            default: Toml("{}"),
            doc: "nodes of the file by bones of a humanoid, where names do not tell: `{ left_foot = \"Ankle.L\" }`",
        },
    ],
    later: &[],
};

/// Texels along a side of an environment map.
pub(super) const ENVIRONMENT_SIZES: core::ops::RangeInclusive<u32> = 64..=512;
/// Maximum factor of a panorama's radiance.
pub(super) const MAX_INTENSITY: f64 = 1e9;

pub(super) const ENVIRONMENT: TableKeys = TableKeys {
    table: "[[environment]]",
    keys: &[
        Key {
            name: "name",
            value: MODEL_NAME,
            default: Required,
            doc: "name in Rust: up to 64 letters, digits, `_`, `-`, a letter first",
        },
        Key {
            name: "path",
            value: Text,
            default: Required,
            doc: "path of an equirectangular panorama: Radiance HDR, PFM, PNG or JPEG",
        },
        Key {
            name: "size",
            value: Whole { least: *ENVIRONMENT_SIZES.start() as u64, most: *ENVIRONMENT_SIZES.end() as u64 },
            default: Toml("256"),
            doc: "texels along a side of the cube map, a power of two",
        },
        Key {
            name: "intensity",
            value: Positive { most: MAX_INTENSITY },
            default: Toml("1.0"),
            doc: "factor from the panorama's numbers to radiance, nits",
        },
    ],
    later: &[],
};

pub(super) const REST_FRAME: TableKeys = TableKeys {
    table: "`rest_frame`",
    keys: &[
        Key { name: "clip", value: Text, default: Required, doc: "name of the clip in Rust" },
        Key {
            name: "frame",
            value: Whole { least: 0, most: u32::MAX as u64 },
            default: Toml("0"),
            doc: "index of a baked frame",
        },
        Key {
            name: "time",
            value: Seconds,
            default: Described("the time of `frame`"),
            doc: "seconds from the start of the clip, instead of `frame`",
        },
    ],
    later: &[],
};

pub(super) const MASK: TableKeys = TableKeys {
    table: "a mask",
    keys: &[
        Key {
            name: "root",
            value: Text,
            default: Described("required without `roots`"),
            doc: "node that is in the mask, with all below it",
        },
        Key {
            name: "roots",
            value: NODES,
            default: Described("required without `root`"),
            doc: "nodes that are in the mask, with all below them",
        },
        Key {
            name: "exclude",
            value: NODES,
            default: Toml("[]"),
            doc: "nodes that are not in the mask, with all below them",
        },
    ],
    later: &[],
};

const CLIP_TOLERANCE: &str = "set it in [[model]], for all clips of the model";

pub(super) const CLIP: TableKeys = TableKeys {
    table: "[model.clips.<name>]",
    keys: &[
        Key {
            name: "source",
            value: Text,
            default: Described("the table's name"),
            doc: "name in the glTF file; `\"art/run.glb#Run\"` where several files have it",
        },
        Key {
            name: "loop",
            value: AnyOf(&[Bool, Word(&["close"])]),
            default: Described("guessed from the ends and the name of the clip; `bake` prints the guess"),
            doc: "whether the clip starts over at the end, or holds the last pose; `\"close\"`: starts over, and its last 0.3 s are blended into the first pose",
        },
        Key {
            name: "fps",
            value: FPS_SHAPE,
            default: Described("the model's"),
            doc: "frames per second, or a percentage of the source's",
        },
        Key {
            name: "events",
            value: Named(&AnyOf(&[Seconds, List(&Seconds)])),
            default: Described("those of the file"),
            doc: "times of events: `{ footstep = [0.12, 0.47] }`. A name replaces the same name of the file",
        },
        Key {
            name: "root_motion",
            value: Word(&words(&ROOT_MOTIONS)),
            default: Described("none"),
            doc: "[root motion](root-motion.md) to extract from the poses",
        },
        Key {
            name: "additive",
            value: AnyOf(&[Bool, Text]),
            default: Toml("false"),
            doc: "name of the clip whose first frame is the reference of this additive clip; `true`: the clip itself",
        },
    ],
    later: &[
        ("mask", "define the mask in [model.masks]: a layer can play any clip with any mask"),
        ("tolerance", CLIP_TOLERANCE),
        ("motion_tolerance", CLIP_TOLERANCE),
    ],
};

/// Maximum of a 32-bit count, and of the length of a GLB file.
const U32_MAX: u64 = u32::MAX as u64;

pub(super) const LIMITS: TableKeys = TableKeys {
    table: "[limits]",
    keys: &[
        Key { name: "file", value: Size { most: U32_MAX }, default: Toml(r#""1 GiB""#), doc: "bytes of each file" },
        Key {
            name: "memory",
            value: Size { most: 1 << 40 },
            default: Toml(r#""512 MiB""#),
            doc: "bytes that the file unfolds to: JSON, numbers and poses each",
        },
        Key {
            name: "nodes",
            value: Whole { least: 1, most: 1 << 20 },
            default: Toml("262144"),
            doc: "nodes of a file",
        },
        Key {
            name: "depth",
            value: Whole { least: 1, most: 1 << 20 },
            default: Toml("4096"),
            doc: "nodes from the scene to the deepest",
        },
        Key {
            name: "bones",
            value: Whole { least: 1, most: 1024 },
            default: Toml("1024"),
            doc: "bones that move vertices",
        },
        Key {
            name: "vertices",
            value: Whole { least: 1, most: U32_MAX },
            default: Toml("4194304"),
            doc: "vertices of all primitives",
        },
        Key {
            name: "image",
            value: Whole { least: 1, most: 1 << 40 },
            default: Toml("67108864"),
            doc: "texels of all images",
        },
        Key {
            name: "frames",
            value: Whole { least: 1, most: U32_MAX },
            default: Toml("262144"),
            doc: "frames of all clips",
        },
        Key {
            name: "texture",
            value: Size { most: 1 << 34 },
            default: Toml(r#""1 GiB""#),
            doc: "bytes of the animation texture",
        },
    ],
    later: &[],
};

/// Tables in which a misplaced key may belong.
pub(super) const TABLES: [&TableKeys; 7] = [&BAKE, &LIMITS, &MODEL, &CLIP, &MASK, &ANIMATION, &ENVIRONMENT];
