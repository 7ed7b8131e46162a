//! Findings as the cache keeps them, to be shown again.

use std::ops::Range;
use std::sync::Arc;

use miette::{NamedSource, Severity};
use serde::{Deserialize, Serialize};

use super::{About, Code, Finding, Node, Place};

/// A finding without the text of the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stored {
    code: String,
    error: bool,
    message: String,
    help: Option<String>,
    file: Option<String>,
    model: Option<String>,
    clip: Option<String>,
    node: Option<(Option<usize>, Option<String>)>,
    accessor: Option<usize>,
    located: bool,
    places: Vec<(Range<usize>, Option<String>)>,
}

impl Stored {
    /// Without its text.
    pub(crate) fn of(finding: &Finding) -> Self {
        let Finding { code, severity, message, help, about, source, places } = finding;
        let About { file, model, clip, node, accessor } = (**about).clone();
        Self {
            code: code.name().to_owned(),
            error: *severity == Severity::Error,
            message: message.clone(),
            help: help.clone(),
            file,
            model,
            clip,
            node: node.map(|Node { index, name }| (index, name)),
            accessor,
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

    /// As it was, in this text. `None`: it is of another version.
    pub(crate) fn finding(self, source: &Arc<NamedSource<String>>) -> Option<Finding> {
        let node = self.node.map(|(index, name)| Node { index, name });
        let about = About { file: self.file, model: self.model, clip: self.clip, node, accessor: self.accessor };
        Some(Finding {
            code: *Code::ALL.iter().find(|code| code.name() == self.code)?,
            about: Box::new(about),
            severity: if self.error { Severity::Error } else { Severity::Warning },
            message: self.message,
            help: self.help,
            source: self.located.then(|| Arc::clone(source)),
            places: self.places.into_iter().map(|(span, label)| Place { span, label }).collect(),
        })
    }
}
