//! Context of a diagnostic: as text before the message, and as fields for tools.

use std::fmt;

use serde::Serialize;

use crate::suggest::quoted;

/// File, model, clip, node and accessor that a diagnostic is about, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DiagnosticSubject {
    /// glTF file, as written in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Name of the model in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Name of the clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<String>,
    /// Node or bone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeRef>,
    /// Index of the accessor in the glTF file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accessor: Option<usize>,
}

/// A node of a glTF file, or a baked bone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeRef {
    /// Index of the node in the glTF file; `None` for a baked bone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Name of the node; `None` if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl DiagnosticSubject {
    /// Fills the missing fields from `outer`.
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

/// Context before a message, such as ``art/a.glb: node 3 `Spine` ``, together with its fields for
/// tools. A label made from a plain string has no fields.
#[derive(Clone, Debug, Default)]
pub struct Label {
    pub(super) text: String,
    pub(super) about: DiagnosticSubject,
}

impl Label {
    /// Creates the label ``model `soldier` ``.
    pub fn model(name: &str) -> Self {
        let about = DiagnosticSubject { model: Some(name.into()), ..Default::default() };
        Self { text: format!("model `{name}`"), about }
    }

    /// Creates the label of a glTF file; `shown` is the path as written in the manifest.
    pub fn file(shown: &str) -> Self {
        Self { text: shown.into(), about: DiagnosticSubject { file: Some(shown.into()), ..Default::default() } }
    }

    /// Creates the label of an accessor.
    pub fn accessor(index: usize) -> Self {
        Self {
            text: format!("accessor {index}"),
            about: DiagnosticSubject { accessor: Some(index), ..Default::default() },
        }
    }

    /// Returns the label of the file, else of the model; `None` if the label has neither.
    pub(super) fn file_or_model(&self) -> Option<Self> {
        let DiagnosticSubject { file, model, .. } = &self.about;
        file.as_deref().map(Self::file).or(model.as_deref().map(Self::model))
    }

    /// Returns the text without model and file.
    pub(super) fn without_file(&self) -> &str {
        let DiagnosticSubject { file, model, .. } = &self.about;
        let text = match file {
            Some(file) => self.text.strip_prefix(file.as_str()).unwrap_or(&self.text),
            None if model.is_some() => "",
            None => &self.text,
        };
        text.strip_prefix(": ").unwrap_or(text)
    }

    /// Appends a clip.
    pub fn clip(mut self, name: &str) -> Self {
        self.about.clip = Some(name.into());
        self.then(format_args!("clip {}", quoted(name)))
    }

    /// Appends a node.
    pub fn node(mut self, index: usize, name: Option<&str>) -> Self {
        self.about.node = Some(NodeRef { index: Some(index), name: name.map(Into::into) });
        match name {
            Some(name) => self.then(format_args!("node {index} {}", quoted(name))),
            None => self.then(format_args!("node {index}")),
        }
    }

    /// Sets the node for tools, without naming it in the text.
    pub fn at_node(mut self, index: usize, name: Option<&str>) -> Self {
        self.about.node = Some(NodeRef { index: Some(index), name: name.map(Into::into) });
        self
    }

    /// Appends text after a colon.
    pub fn then(mut self, more: impl fmt::Display) -> Self {
        if !self.text.is_empty() {
            self.text.push_str(": ");
        }
        self.text.push_str(&more.to_string());
        self
    }

    /// Appends text after a comma.
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
        Self { text, about: DiagnosticSubject::default() }
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
