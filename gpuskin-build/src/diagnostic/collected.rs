//! Diagnostics that say the same: one is shown, and counts the places of the others.

use super::cause::{OtherPlaces, Place, SharedCause};
use super::{Diagnostic, Label, harmless};

/// Maximum number of other places that a message names.
const NAMED: usize = 3;

impl Diagnostic {
    /// Makes the diagnostic one of several that say `fact`, each of another place. Of those of a model with the same
    /// code, fact and help, only the first is shown, and it counts the places of the others.
    pub(crate) fn collected_as(mut self, fact: impl Into<String>) -> Self {
        self.cause.get_or_insert_with(|| Box::new(SharedCause::new(fact, Some(Place::default()))));
        self
    }

    /// Makes the diagnostic one of several with its message, as [`Self::collected_as`] does.
    pub(crate) fn collected(self) -> Self {
        let fact = self.message.clone();
        self.collected_as(fact)
    }

    /// Sets the place for the diagnostic that is shown in place of this one, if the message itself names it.
    pub(crate) fn placed(mut self, place: impl Into<Label>) -> Self {
        if let Some(SharedCause { place: Some(own), .. }) = self.cause.as_deref_mut() {
            own.add(&place.into());
        }
        self
    }

    /// Takes over what another diagnostic has in common with others, and its place.
    pub(crate) fn collected_like(mut self, other: &Self) -> Self {
        self.cause.clone_from(&other.cause);
        self
    }

    /// Returns the cause that the diagnostic shares with others.
    pub(crate) fn cause(&self) -> Option<&str> {
        self.cause.as_ref().map(|cause| cause.name.as_str())
    }

    /// Returns the place, if those of other diagnostics with the same cause are counted.
    pub(crate) fn place(&self) -> Option<&Place> {
        self.cause.as_ref()?.place.as_ref()
    }

    /// Adds the places of diagnostics that are not shown to message and JSON.
    pub(crate) fn add_others(&mut self, others: OtherPlaces) {
        let named = &others.places[..others.places.len().min(NAMED)];
        let names = named.join("; ");
        let more = match others.count - named.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let text = match (others.count, names.is_empty()) {
            (0, _) => return,
            (1, true) => "another place".to_owned(),
            (1, false) => format!("another place: {names}"),
            (count, true) => format!("{count} other places"),
            (count, false) => format!("{count} other places: {names}{more}"),
        };
        self.message = harmless(format!("{}; also at {text}", self.message));
        if let Some(cause) = &mut self.cause {
            cause.others = Some(others);
        }
    }

    /// Returns the places of diagnostics that are not shown.
    pub(super) fn others(&self) -> Option<&OtherPlaces> {
        self.cause.as_ref()?.others.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use miette::NamedSource;

    use super::*;
    use crate::diagnostic::{CachedDiagnostic, DiagnosticCode};

    #[test]
    fn other_places_are_cached() {
        let place = |label: &str| Place { file: None, within: label.to_owned() };
        let mut others = OtherPlaces::default();
        others.add(&place("mesh 1"), &place("mesh 0"));
        let mut shown = Diagnostic::warning(DiagnosticCode::MeshColors, "odd").collected().within("mesh 0");
        shown.add_others(others);
        assert_eq!(shown.message(), "mesh 0: odd; also at another place: mesh 1");
        let source = Arc::new(NamedSource::new("gpuskin.toml", String::new()));
        let restored = CachedDiagnostic::of(&shown).diagnostic(&source).expect("a known code");
        assert_eq!(restored.to_json(), shown.to_json());
        assert!(restored.to_json().contains(r#""others":{"count":1,"places":["mesh 1"]}"#), "{}", restored.to_json());
    }
}
