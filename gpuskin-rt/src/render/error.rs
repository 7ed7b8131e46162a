//! What can go wrong, and what to do about it.

use std::fmt;

use crate::files::FileError;

/// Why something cannot be drawn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes of a model are not there.
    Files {
        /// The model.
        model: String,
        /// Why.
        error: FileError,
    },
    /// The device does not allow as much as is needed.
    Limit {
        /// Of what: `soldier: height of the animation texture`.
        what: String,
        /// How much is needed.
        needed: u64,
        /// How much the device was asked for.
        available: u64,
        /// What to do.
        remedy: &'static str,
    },
    /// A model's constants contradict themselves or its bytes.
    Model {
        /// The model.
        model: String,
        /// What does not fit.
        reason: String,
    },
    /// The device reads none of the formats that a texture was baked to.
    TextureFormat {
        /// The model.
        model: String,
        /// What it was baked to, as `textures` in `gpuskin.toml` names it.
        formats: Vec<&'static str>,
    },
    /// A descriptor asks for what the renderer cannot do on this device.
    Descriptor {
        /// The field, what is wrong with it and what would be right.
        reason: String,
    },
    /// What was asked for needs the nodes' own transforms, which the model does not have on this device.
    LocalPoses {
        /// The model.
        model: String,
        /// What was asked for: `layers`.
        what: &'static str,
        /// What the model plays here.
        encoding: &'static str,
    },
    /// An argument that the model has nothing for.
    Argument {
        /// The model.
        model: String,
        /// The argument, and what it may be.
        reason: String,
    },
    /// Captured vertices could not be read back.
    Readback {
        /// What the device said.
        reason: String,
    },
}

impl Error {
    pub(crate) fn model(model: &str, reason: impl Into<String>) -> Self {
        Self::Model { model: model.to_owned(), reason: reason.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files { model, error } => write!(f, "{model}: {error}"),
            Self::Limit { what, needed, available, remedy } => {
                write!(f, "{what}: {needed} are needed, the device has {available}; {remedy}")
            }
            Self::Model { model, reason } => write!(f, "{model}: {reason}; bake the model again"),
            Self::TextureFormat { model, formats } => write!(
                f,
                "{model}: its textures are baked to {} and the device reads none of it; request the device with \
                 CrowdRenderer::OPTIONAL_FEATURES, as far as the adapter has them, or add \"rgba8\" to `textures` in \
                 gpuskin.toml",
                formats.join(", ")
            ),
            Self::Descriptor { reason } => f.write_str(reason),
            Self::LocalPoses { model, what, encoding } => write!(
                f,
                "{model}: {what} need the nodes' own transforms, and it plays {encoding} here; set `encoding = \
                 \"local-packed\"` for it in gpuskin.toml, and request a device with at least \
                 wgpu::Limits::downlevel_defaults()"
            ),
            Self::Argument { model, reason } => write!(f, "{model}: {reason}"),
            Self::Readback { reason } => write!(f, "nothing could be read back from the device: {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Files { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Asks a device's limit: `needed` of `what` must be there.
pub(crate) fn at_most(
    needed: u64,
    available: u64,
    remedy: &'static str,
    what: impl FnOnce() -> String,
) -> Result<(), Error> {
    if needed <= available { Ok(()) } else { Err(Error::Limit { what: what(), needed, available, remedy }) }
}
