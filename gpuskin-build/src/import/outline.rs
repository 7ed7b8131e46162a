//! Outline of a glTF file for `inspect` and `new`: content that a [`Model`] does not keep, also for
//! files that cannot be baked.

use std::collections::BTreeMap;

use super::file::{File, ImportContext, is_known};
use super::hierarchy::Hierarchy;
use super::report::Report;
use super::{Inputs, Pixels, read};
use crate::diagnostic::{DiagnosticCode, Diagnostics};
use crate::manifest::{Manifest, ModelEntry};
use crate::model::{Local, Model};

/// Content of a glTF file, without vertices and keys.
#[derive(Debug, Default)]
pub(crate) struct FileOutline {
    /// Program that wrote the file.
    pub generator: Option<String>,
    /// Nodes in the order of the file; empty if they do not form a valid hierarchy.
    pub nodes: Vec<NodeOutline>,
    pub skins: Vec<SkinOutline>,
    /// Names of the animations, `None` for an animation without one.
    pub animations: Vec<Option<String>>,
    /// Sorted by name.
    pub extensions: Vec<ExtensionOutline>,
}

/// A node of a glTF file.
#[derive(Debug)]
pub(crate) struct NodeOutline {
    pub name: Option<String>,
    pub parent: Option<usize>,
    /// Whether the scene contains the node.
    pub in_scene: bool,
    /// Whether the node is a joint of a skin.
    pub joint: bool,
    /// Whether the node has a mesh.
    pub mesh: bool,
    /// Whether the node has a skin.
    pub skinned: bool,
    /// Scale of the node in the rest pose; 1 for a node with a matrix.
    pub scale: [f64; 3],
}

/// A skin of a glTF file.
#[derive(Debug)]
pub(crate) struct SkinOutline {
    pub name: Option<String>,
    /// Number of joints.
    pub joints: usize,
}

/// An extension that a glTF file declares.
#[derive(Debug)]
pub(crate) struct ExtensionOutline {
    pub name: String,
    pub required: bool,
    /// Whether the baker reads the extension, or can ignore it without changing poses.
    pub known: bool,
}

/// Reads the outline of a model's file. Returns `None` if the file cannot be opened; `diagnostics`
/// then has the errors.
pub(crate) fn outline(
    manifest: &Manifest,
    entry: &ModelEntry,
    diagnostics: &mut Diagnostics,
    inputs: &mut Inputs,
) -> Option<FileOutline> {
    let context = ImportContext::new(manifest, inputs);
    let opened = File::open(&manifest.folder.join(&entry.path.value), &entry.path.value, &context);
    let file = match opened {
        Ok(file) => file,
        Err(errors) => {
            errors.into_iter().for_each(|error| diagnostics.push(error));
            return None;
        }
    };
    let document = &file.document;
    // The import of the model reports the errors of the hierarchy.
    let mut ignored = Diagnostics::default();
    let hierarchy = Hierarchy::read(&file, &mut Report::new(manifest, entry, &mut ignored));
    let mut joints = vec![false; document.nodes.len()];
    for joint in document.skins.iter().flat_map(|skin| &skin.joints) {
        if let Some(joint) = joints.get_mut(joint.value()) {
            *joint = true;
        }
    }
    let node = |(i, node): (usize, &super::document::GltfNode), hierarchy: &Hierarchy| NodeOutline {
        name: node.name.clone().filter(|name| !name.is_empty()),
        parent: hierarchy.nodes[i].parent,
        in_scene: hierarchy.in_scene[i],
        joint: joints[i],
        mesh: node.mesh.is_some(),
        skinned: node.skin.is_some(),
        scale: match hierarchy.nodes[i].local {
            Local::Trs(trs) => trs.scale.to_array(),
            Local::Matrix(_) => [1.0; 3],
        },
    };
    let nodes = hierarchy.iter().flat_map(|h| document.nodes.iter().enumerate().map(move |n| (n, h)));
    let nodes = nodes.map(|(n, h)| node(n, h)).collect();
    let mut extensions: BTreeMap<&str, bool> = BTreeMap::new();
    extensions.extend(document.extensions_used.iter().map(|name| (name.as_str(), false)));
    extensions.extend(document.extensions_required.iter().map(|name| (name.as_str(), true)));
    Some(FileOutline {
        generator: document.asset.generator.clone(),
        nodes,
        skins: document
            .skins
            .iter()
            .map(|skin| SkinOutline { name: skin.name.clone(), joints: skin.joints.len() })
            .collect(),
        animations: document.animations.iter().map(|a| a.name.clone().filter(|name| !name.is_empty())).collect(),
        extensions: extensions
            .into_iter()
            .map(|(name, required)| ExtensionOutline { name: name.to_owned(), required, known: is_known(name) })
            .collect(),
    })
}

/// Imports a model like [`super::import`], but also returns a model whose only error is that it has
/// no clip.
pub(crate) fn import_with_or_without_clips(
    manifest: &Manifest,
    entry: &ModelEntry,
    diagnostics: &mut Diagnostics,
    inputs: &mut Inputs,
) -> Option<Model> {
    let mut own = Diagnostics::default();
    let mut report = Report::new(manifest, entry, &mut own);
    let context = ImportContext::new(manifest, inputs);
    let opened = File::open(&manifest.folder.join(&entry.path.value), &entry.path.value, &context);
    let model = match opened {
        Ok(file) => read(&file, &[], entry, Pixels::SizeOnly, &mut report),
        Err(errors) => {
            errors.into_iter().for_each(|error| report.error(error));
            None
        }
    };
    drop(report);
    let usable = own.iter().filter(|d| d.is_error()).all(|d| d.code() == DiagnosticCode::ClipNone);
    diagnostics.extend(own);
    model.filter(|_| usable)
}
