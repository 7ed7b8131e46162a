//! Keys and values that the manifest can have, including those reserved for later versions.

/// Keys of a table.
pub(super) struct TableKeys {
    /// Name of the table in messages.
    pub(super) table: &'static str,
    /// Supported keys.
    pub(super) known: &'static [&'static str],
    /// Keys or values of later versions, each with advice on what to use instead.
    pub(super) later: &'static [(&'static str, &'static str)],
}

const TOLERANCE: &str = "set it in [[model]], for all clips of the model";

pub(super) const ROOT: TableKeys = TableKeys { table: "the manifest", known: &["bake", "limits", "model"], later: &[] };

pub(super) const BAKE: TableKeys = TableKeys {
    table: "[bake]",
    known: &[
        "fps",
        "encoding",
        "tolerance",
        "motion_tolerance",
        "normal_tolerance",
        "devices",
        "storage",
        "roots",
        "textures",
        "influences",
        "normals",
        "lods",
        "scale",
        "up",
    ],
    later: &[],
};

pub(super) const LIMITS: TableKeys = TableKeys {
    table: "[limits]",
    known: &["file", "memory", "nodes", "depth", "bones", "vertices", "image", "frames", "texture"],
    later: &[],
};

pub(super) const MODEL: TableKeys = TableKeys {
    table: "[[model]]",
    known: &[
        "name",
        "path",
        "animations",
        "mode",
        "encoding",
        "width",
        "rest_frame",
        "tolerance",
        "motion_tolerance",
        "normal_tolerance",
        "devices",
        "textures",
        "include",
        "exclude",
        "influences",
        "normals",
        "lods",
        "fps",
        "scale",
        "up",
        "root",
        "masks",
        "parts",
        "sockets",
        "clips",
    ],
    later: &[],
};

pub(super) const CLIP: TableKeys = TableKeys {
    table: "[model.clips.<name>]",
    known: &["source", "loop", "fps", "events", "root_motion", "additive"],
    later: &[
        ("mask", "define the mask in [model.masks]: a layer can play any clip with any mask"),
        ("tolerance", TOLERANCE),
        ("motion_tolerance", TOLERANCE),
    ],
};

pub(super) const MASK: TableKeys = TableKeys { table: "a mask", known: &["root", "roots", "exclude"], later: &[] };

pub(super) const REST_FRAME: TableKeys =
    TableKeys { table: "`rest_frame`", known: &["clip", "frame", "time"], later: &[] };

/// All tables, to find the right one for a misplaced key.
pub(super) const TABLES: [&TableKeys; 5] = [&BAKE, &LIMITS, &MODEL, &CLIP, &MASK];

/// Values of a key.
pub(super) struct Words {
    /// Supported values.
    pub(super) known: &'static [&'static str],
    /// Keys or values of later versions, each with advice on what to use instead.
    pub(super) later: &'static [(&'static str, &'static str)],
}

pub(super) const ENCODING: Words = Words {
    known: &[
        "auto",
        "local-packed",
        "trs-packed",
        "matrix-f16",
        "trs-f16",
        "matrix-unorm",
        "fixed16",
        "matrix-f32",
        "vat-packed",
        "vat-packed-fine",
        "vat-unorm8",
        "vat-unorm16",
        "vat-unorm24",
        "vat-f16",
        "vat-f32",
    ],
    later: &[],
};

pub(super) const STORAGE: Words = Words { known: &["auto", "embed", "file"], later: &[] };

pub(super) const TEXTURE: Words = Words { known: &["bc7", "astc", "etc2", "rgba8", "universal"], later: &[] };

pub(super) const MODE: Words = Words { known: &["bone", "vertex", "auto"], later: &[] };

pub(super) const UP: Words = Words { known: &["y", "z"], later: &[] };

pub(super) const FPS: Words = Words { known: &["source", "auto"], later: &[] };

pub(super) const DEVICE: Words = Words { known: &["compute", "webgl2"], later: &[] };

pub(super) const ROOT_MOTION: Words = Words { known: &["planar", "full"], later: &[] };

pub(super) const NORMALS: Words = Words { known: &["cofactor", "plain"], later: &[] };
