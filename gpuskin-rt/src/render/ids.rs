//! Ids of instances and attachments.

/// Id of an instance of a crowd, valid until the instance is despawned. An id is never reused, and
/// every other crowd refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InstanceId {
    pub(super) crowd: u32,
    pub(super) slot: u32,
    pub(super) generation: u32,
}

impl InstanceId {
    /// Returns a small number that is unique among the instances that exist.
    pub(crate) fn slot(self) -> u32 {
        self.slot
    }
}

/// Id of a prop attached to the instances of a crowd, valid until it is detached. An id is never
/// reused, and every other crowd refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttachmentId {
    pub(super) crowd: u32,
    pub(super) slot: u32,
    pub(super) generation: u32,
}
