//! `[limits]`: what a model may take. A file can ask for far more than its size, so each count is checked before anything is
//! allocated for it.

use serde::Serialize;

/// What a model may take: the whole of it, not each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Bytes of a file, and of each that it names.
    pub file: u64,
    /// Bytes that a file may unfold to, each time for its JSON and for its numbers, and that the poses of its clips may take.
    pub memory: u64,
    /// Nodes of a file.
    pub nodes: u64,
    /// Nodes from the scene down to the deepest, both counted.
    pub depth: u64,
    /// Bones that move vertices; at most 1024.
    pub bones: u64,
    /// Vertices of all primitives: every frame of every clip is measured on each of them, and crowds are made of thousands.
    pub vertices: u64,
    /// Texels of all images.
    pub image: u64,
    /// Frames of all clips.
    pub frames: u64,
    /// Bytes of the animation texture: what a game would load for one model is far below.
    pub texture: u64,
}

impl Default for Limits {
    /// Far above what games draw in crowds, and within what a machine that builds them has.
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

/// A number of bytes as people say it: `512 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    match [(30, "GiB"), (20, "MiB"), (10, "KiB")].into_iter().find(|(shift, _)| count >= 1 << shift) {
        Some((shift, unit)) if count.is_multiple_of(1 << shift) => format!("{} {unit}", count >> shift),
        Some((shift, unit)) => format!("{:.1} {unit}", count as f64 / (1_u64 << shift) as f64),
        None => format!("{count} bytes"),
    }
}
