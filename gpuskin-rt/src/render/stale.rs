//! Error of commands on an instance or attachment that no longer exists.

use std::fmt;

use super::ids::{AttachmentId, InstanceId};

/// Error of a command on an instance or attachment that no longer exists.
///
/// An id becomes stale when its instance is despawned, its attachment is detached, or its crowd is cleared. An id of another
/// crowd is refused in the same way. The command had no effect.
///
/// ```no_run
/// # use gpuskin_rt::*;
/// # fn hit<M>(crowd: &Crowd<M>, target: InstanceId, die: Clip<M>) -> Result<(), Error> {
/// crowd.play(target, die, Transition::crossfade(0.2))?;           // `StaleId` converts into `Error`
/// if let Err(stale) = crowd.despawn(target) {
///     eprintln!("{stale}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleId {
    /// Id of an instance that is not in the crowd.
    Instance(InstanceId),
    /// Id of an attachment that is not on the crowd.
    Attachment(AttachmentId),
}

impl fmt::Display for StaleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instance(id) => write!(
                f,
                "{id:?} is not in this crowd: it was despawned, the crowd was cleared, or it belongs to another crowd; drop \
                 ids when their instances are despawned"
            ),
            Self::Attachment(id) => write!(
                f,
                "{id:?} is not on this crowd: it was detached, or it belongs to another crowd; drop ids when their \
                 attachments are detached"
            ),
        }
    }
}

impl std::error::Error for StaleId {}
