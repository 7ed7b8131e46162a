//! What a finding is about: as text before its message, and in parts for tools.

use std::fmt;

use serde::Serialize;

use crate::suggest::quoted;

/// What a finding is about, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct About {
    /// The glTF file, as the manifest names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The model's name in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<String>,
    /// The node or bone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Node>,
    /// Index of the accessor in its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accessor: Option<usize>,
}

/// A node of a glTF file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// Index in its file; `None` where the finding is about a bone as baked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl About {
    /// With what another one knows beyond it.
    pub(super) fn or(self, outer: Self) -> Self {
        Self {
            file: self.file.or(outer.file),
            model: self.model.or(outer.model),
            clip: self.clip.or(outer.clip),
            node: self.node.or(outer.node),
            accessor: self.accessor.or(outer.accessor),
        }
    }
}

/// The words before a message, ``art/a.glb: node 3 `Spine` ``, with their meaning. Plain text has none.
#[derive(Clone, Debug, Default)]
pub struct Label {
    pub(super) text: String,
    pub(super) about: About,
}

impl Label {
    /// ``model `soldier` ``.
    pub fn model(name: &str) -> Self {
        let about = About { model: Some(name.into()), ..Default::default() };
        Self { text: format!("model `{name}`"), about }
    }

    /// A glTF file, as the manifest names it.
    pub fn file(shown: &str) -> Self {
        Self { text: shown.into(), about: About { file: Some(shown.into()), ..Default::default() } }
    }

    /// An accessor of its file.
    pub fn accessor(index: usize) -> Self {
        Self { text: format!("accessor {index}"), about: About { accessor: Some(index), ..Default::default() } }
    }

    /// A clip of it.
    pub fn clip(mut self, name: &str) -> Self {
        self.about.clip = Some(name.into());
        self.then(format_args!("clip {}", quoted(name)))
    }

    /// A node of it.
    pub fn node(mut self, index: usize, name: Option<&str>) -> Self {
        self.about.node = Some(Node { index: Some(index), name: name.map(Into::into) });
        match name {
            Some(name) => self.then(format_args!("node {index} {}", quoted(name))),
            None => self.then(format_args!("node {index}")),
        }
    }

    /// A node that it belongs to, which the text does not name.
    pub fn of_node(mut self, index: usize, name: Option<&str>) -> Self {
        self.about.node = Some(Node { index: Some(index), name: name.map(Into::into) });
        self
    }

    /// More of it, behind a colon.
    pub fn then(mut self, more: impl fmt::Display) -> Self {
        if !self.text.is_empty() {
            self.text.push_str(": ");
        }
        self.text.push_str(&more.to_string());
        self
    }

    /// More of it, behind a comma.
    pub fn and(mut self, more: impl fmt::Display) -> Self {
        self.text.push_str(&format!(", {more}"));
        self
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<String> for Label {
    fn from(text: String) -> Self {
        Self { text, about: About::default() }
    }
}

impl From<&String> for Label {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<fmt::Arguments<'_>> for Label {
    fn from(text: fmt::Arguments<'_>) -> Self {
        text.to_string().into()
    }
}

impl From<&Self> for Label {
    fn from(label: &Self) -> Self {
        label.clone()
    }
}
