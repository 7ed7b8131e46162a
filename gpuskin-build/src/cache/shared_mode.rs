//! Access of a machine to the shared cache.

/// Access to a shared cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SharedMode {
    /// Entries are downloaded.
    #[default]
    Read,
    /// Entries are downloaded, and new ones are uploaded.
    ReadWrite,
}

impl SharedMode {
    /// Parses `read` or `read-write`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "read" => Some(Self::Read),
            "read-write" => Some(Self::ReadWrite),
            _ => None,
        }
    }
}
