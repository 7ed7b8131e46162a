//! Time and location of an error.

/// Time and location of a sample. Orders by time, then by vertex.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
pub(crate) struct ErrorLocation {
    pub(crate) seconds: f64,
    pub(crate) vertex: u32,
    pub(crate) bone: u32,
}
