//! Tolerances of a model's errors, for reports.

use super::attempt::ErrorLimits;
use crate::manifest::Tolerances;

/// Tolerances of the errors of a model, from the manifest or by default.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ErrorBudgets {
    /// Position error at frames, in metres.
    pub encoding: ErrorBudget,
    /// Position error between frames, in metres.
    pub motion: ErrorBudget,
    /// Normal error, in degrees.
    pub normal: ErrorBudget,
}

/// Tolerance of one kind of error.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ErrorBudget {
    /// Greatest error that is allowed.
    pub limit: f64,
    /// Whether the manifest sets the tolerance. A default may be exceeded, with a warning.
    pub set: bool,
}

impl ErrorBudgets {
    pub(super) fn new(limits: &ErrorLimits, set: &Tolerances) -> Self {
        let budget = |limit, set| ErrorBudget { limit, set };
        Self {
            encoding: budget(limits.encoding, set.encoding.is_some()),
            motion: budget(limits.motion, set.motion.is_some()),
            normal: budget(limits.normal, set.normal.is_some()),
        }
    }
}
