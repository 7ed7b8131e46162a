//! Findings as the cache keeps them, to be shown again.

use std::ops::Range;
use std::sync::Arc;

use miette::{NamedSource, Severity};
use serde::{Deserialize, Serialize};

use super::{Finding, Place};

/// A finding without the text of the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stored {
    error: bool,
    message: String,
    help: Option<String>,
    located: bool,
    places: Vec<(Range<usize>, Option<String>)>,
}

impl Stored {
    /// Without its text.
    pub(crate) fn of(finding: &Finding) -> Self {
        let Finding { severity, message, help, source, places } = finding;
        Self {
            error: *severity == Severity::Error,
            message: message.clone(),
            help: help.clone(),
            located: source.is_some(),
            places: places.iter().map(|place| (place.span.clone(), place.label.clone())).collect(),
        }
    }

    /// With its places somewhere else. `None`: one of them is nowhere.
    pub(crate) fn moved(mut self, to: impl Fn(&Range<usize>) -> Option<Range<usize>>) -> Option<Self> {
        for (span, _) in &mut self.places {
            *span = to(span)?;
        }
        Some(self)
    }

    /// As it was, in this text.
    pub(crate) fn finding(self, source: &Arc<NamedSource<String>>) -> Finding {
        Finding {
            severity: if self.error { Severity::Error } else { Severity::Warning },
            message: self.message,
            help: self.help,
            source: self.located.then(|| Arc::clone(source)),
            places: self.places.into_iter().map(|(span, label)| Place { span, label }).collect(),
        }
    }
}
