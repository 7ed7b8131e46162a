//! Errors of the renderer. Each says what is wrong and what to do.

use std::fmt;

use super::StaleId;
use crate::files::FileError;

/// Error of the renderer. Its text names the model, says what is wrong and what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A file of the model cannot be loaded.
    Files {
        /// Name of the model.
        #[doc(hidden)]
        model: String,
        /// Cause.
        #[doc(hidden)]
        error: FileError,
    },
    /// A limit of the device is too low.
    Limit {
        /// Quantity that the limit applies to, for example `soldier: height of the animation
        /// texture`.
        #[doc(hidden)]
        what: String,
        /// Required value.
        #[doc(hidden)]
        needed: u64,
        /// Value that the device allows.
        #[doc(hidden)]
        available: u64,
        /// Suggested fix.
        #[doc(hidden)]
        remedy: &'static str,
    },
    /// The model's metadata contradicts itself or its files.
    Model {
        /// Name of the model.
        #[doc(hidden)]
        model: String,
        /// Contradiction.
        #[doc(hidden)]
        reason: String,
    },
    /// A later bake of a model lacks what the program's constants name, or has it at another index.
    Constants {
        /// Name of the model.
        #[doc(hidden)]
        model: String,
        /// Kind and name of what differs, and the remedy.
        #[doc(hidden)]
        reason: String,
    },
    /// The device supports none of the formats that a texture was baked to.
    TextureFormat {
        /// Name of the model.
        #[doc(hidden)]
        model: String,
        /// Formats of the texture whose files the model has, as named by `textures` in `gpuskin.toml`.
        #[doc(hidden)]
        formats: Vec<&'static str>,
    },
    /// A descriptor asks for something that is not possible on this device.
    Descriptor {
        /// Field at fault, what is wrong, and what is allowed.
        #[doc(hidden)]
        reason: String,
    },
    /// The feature needs local node transforms, which the model does not have on this device.
    LocalPoses {
        /// Name of the model.
        #[doc(hidden)]
        model: String,
        /// Requested feature, for example `layers`.
        #[doc(hidden)]
        what: &'static str,
        /// Encoding that the model plays on this device.
        #[doc(hidden)]
        encoding: &'static str,
    },
    /// An argument is not valid for the model.
    Argument {
        /// Name of the model.
        #[doc(hidden)]
        model: String,
        /// Argument at fault, and what is allowed.
        #[doc(hidden)]
        reason: String,
    },
    /// An instance or attachment no longer exists.
    StaleId(StaleId),
    /// The device reported an error, mostly because it is lost. What it holds must be made anew on
    /// another device; [`Crowd::snapshot`](crate::Crowd::snapshot) still works.
    Device {
        /// Message of the device.
        #[doc(hidden)]
        reason: String,
    },
    /// Data could not be read back from the device.
    Readback {
        /// Message of the device.
        #[doc(hidden)]
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
                write!(f, "{what}: {needed} needed, but the device allows {available}; {remedy}")
            }
            Self::Model { model, reason } => write!(f, "{model}: {reason}; bake the model again"),
            Self::Constants { model, reason } => write!(f, "{model}: {reason}"),
            Self::TextureFormat { model, formats } => write!(
                f,
                "{model}: the device supports none of the baked texture formats ({}); request the device with \
                 CrowdRenderer::OPTIONAL_FEATURES, as far as the adapter has them, or add \"rgba8\" to `textures` in \
                 gpuskin.toml",
                formats.join(", ")
            ),
            Self::Descriptor { reason } => f.write_str(reason),
            Self::LocalPoses { model, what, encoding } => write!(
                f,
                "{model}: {what} need local node transforms, which encoding {encoding} lacks; set `encoding = \
                 \"local-packed\"` for the model in gpuskin.toml, and request a device with at least \
                 wgpu::Limits::downlevel_defaults()"
            ),
            Self::Argument { model, reason } => write!(f, "{model}: {reason}"),
            Self::StaleId(stale) => stale.fmt(f),
            Self::Device { reason } => {
                write!(f, "the device is lost or reported an error; restore the crowds on another device: {reason}")
            }
            Self::Readback { reason } => write!(f, "reading back from the device failed: {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Files { error, .. } => Some(error),
            Self::StaleId(stale) => Some(stale),
            _ => None,
        }
    }
}

impl From<StaleId> for Error {
    fn from(stale: StaleId) -> Self {
        Self::StaleId(stale)
    }
}

/// Checks a limit of the device: an error if `needed` is greater than `available`.
pub(crate) fn at_most(
    needed: u64,
    available: u64,
    remedy: &'static str,
    what: impl FnOnce() -> String,
) -> Result<(), Error> {
    if needed <= available { Ok(()) } else { Err(Error::Limit { what: what(), needed, available, remedy }) }
}
