//! Shared causes of diagnostics, of which one is shown, and the places of the others.

use serde::{Deserialize, Serialize};

use super::Label;

/// Maximum number of other places that a diagnostic keeps, for its JSON.
const KEPT: usize = 20;

/// Name of what several diagnostics of a model have in common. One of them is shown.
#[derive(Clone, Debug)]
pub(super) struct SharedCause {
    pub name: String,
    /// Place of the diagnostic, if the places of the others are counted.
    pub place: Option<Place>,
    /// Places of the others.
    pub others: Option<OtherPlaces>,
}

impl SharedCause {
    /// Creates a cause; `place` is set if the places of the others are to be counted.
    pub(super) fn new(name: impl Into<String>, place: Option<Place>) -> Self {
        Self { name: name.into(), place, others: None }
    }

    /// Creates the cause of a diagnostic that is shown again, with its other places.
    pub(super) fn restored(others: OtherPlaces) -> Self {
        Self { others: Some(others), ..Self::new("", Some(Place::default())) }
    }
}

/// Place in a file that a diagnostic is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Place {
    /// Path as written in the manifest.
    pub file: Option<String>,
    /// Text such as ``mesh 0 `Body`, primitive 0``.
    pub within: String,
}

impl Place {
    /// Prefixes a context.
    pub(super) fn add(&mut self, context: &Label) {
        if let Some(file) = &context.about.file {
            self.file = Some(file.clone());
        }
        let text = context.without_file();
        if self.within.is_empty() {
            text.clone_into(&mut self.within);
        } else if !text.is_empty() {
            self.within = format!("{text}: {}", self.within);
        }
    }

    /// Returns the text that names the place, next to a place in another or in the same file.
    fn beside(&self, other: &Self) -> String {
        let file = self.file.as_deref().filter(|_| self.file != other.file);
        match file {
            Some(file) if self.within.is_empty() => file.to_owned(),
            Some(file) => format!("{file}: {}", self.within),
            None => self.within.clone(),
        }
    }
}

/// Places of diagnostics that are not shown because another one says the same of its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OtherPlaces {
    /// Number of places.
    pub count: usize,
    /// Texts of the first places.
    pub places: Vec<String>,
}

impl OtherPlaces {
    /// Adds a place of a diagnostic like one at `shown`.
    pub(crate) fn add(&mut self, place: &Place, shown: &Place) {
        self.count += 1;
        if self.places.len() < KEPT {
            self.places.extend(Some(place.beside(shown)).filter(|text| !text.is_empty()));
        }
    }
}
