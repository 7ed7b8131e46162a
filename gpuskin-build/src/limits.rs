//! Limits of a model, the table `[limits]` of the manifest. A small file can ask for far more
//! memory than its own size, so each count is checked before anything is allocated for it.

use serde::Serialize;

/// Limits for one model. Each applies to the whole model, not to its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Maximum size of a file, and of each file that it refers to, in bytes.
    pub file: u64,
    /// Maximum size in bytes of the parsed JSON of a file, of the decoded numbers of the model, and
    /// of the poses of its clips, each separately.
    pub memory: u64,
    /// Maximum number of nodes in a file.
    pub nodes: u64,
    /// Maximum depth of the node hierarchy, counted in nodes from a root to the deepest node, both
    /// included.
    pub depth: u64,
    /// Maximum number of bones that move vertices; at most 1024.
    pub bones: u64,
    /// Maximum number of vertices of all primitives. The error of every frame is measured at every
    /// vertex.
    pub vertices: u64,
    /// Maximum number of texels of all images.
    pub image: u64,
    /// Maximum number of frames of all clips.
    pub frames: u64,
    /// Maximum size of the animation texture, in bytes. Games load far less for one model.
    pub texture: u64,
}

impl Default for Limits {
    /// Returns the default limits: far above what games draw in crowds, and within the memory of a
    /// build machine.
    fn default() -> Self {
        Self {
            file: 1 << 30,
            memory: 512 << 20,
            nodes: 1 << 18,
            depth: 4096,
            bones: 1024,
            vertices: 1 << 22,
            image: 1 << 26,
            frames: 1 << 18,
            texture: 1 << 30,
        }
    }
}

/// Formats a number of bytes with a unit, such as `512 MiB`.
pub(crate) fn format_bytes(count: u64) -> String {
    match [(30, "GiB"), (20, "MiB"), (10, "KiB")].into_iter().find(|(shift, _)| count >= 1 << shift) {
        Some((shift, unit)) if count.is_multiple_of(1 << shift) => format!("{} {unit}", count >> shift),
        Some((shift, unit)) => format!("{:.1} {unit}", count as f64 / (1_u64 << shift) as f64),
        None => format!("{count} bytes"),
    }
}
