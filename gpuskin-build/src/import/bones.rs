//! One list of bones for all skins and rigid meshes.

use std::collections::BTreeMap;

use glam::DMat4;
use gltf::json::accessor::Type as Shape;
use gltf::json::{self, Index};

use super::accessor::AllowedComponents;
use super::file::File;
use super::hierarchy::affine;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::model::Node;
use crate::suggest::quoted;

/// Bone index of a joint that no vertex uses yet.
const UNUSED: u32 = u32::MAX;

/// A skin, and the bones of its joints.
pub(super) struct Skin {
    label: Label,
    joints: Vec<usize>,
    inverse_bind: Vec<DMat4>,
    bones: Vec<u32>,
}

impl Skin {
    pub(super) fn read(file: &File<'_>, index: Index<json::Skin>) -> Result<Self, Diagnostic> {
        let within = |diagnostic: Diagnostic| diagnostic.within(format_args!("skin {index}"));
        let skin = file.get(&file.document.skins, index, "skin")?;
        let joints: Vec<usize> = skin.joints.iter().map(|j| j.value()).collect();
        if joints.is_empty() {
            return Err(within(Diagnostic::error(DiagnosticCode::SkinInvalid, "the skin has no joints")));
        }
        let nodes = file.document.nodes.len();
        if let Some(joint) = joints.iter().find(|j| **j >= nodes) {
            return Err(within(Diagnostic::error(
                DiagnosticCode::GltfIndex,
                format!("joint node {joint} does not exist; the file has {nodes} nodes"),
            )));
        }
        let inverse_bind = match skin.inverse_bind_matrices {
            None => vec![DMat4::IDENTITY; joints.len()],
            Some(accessor) => {
                let numbers = file.finite(accessor, Shape::Mat4, AllowedComponents::Float);
                let numbers = numbers.map_err(|e| within(e.within("inverse bind matrices")))?;
                if numbers.len() < joints.len() * 16 {
                    let (have, need) = (numbers.len() / 16, joints.len());
                    let message = format!("the skin has {have} inverse bind matrices for {need} joints");
                    return Err(within(Diagnostic::error(DiagnosticCode::SkinInvalid, message)));
                }
                numbers.as_chunks::<16>().0.iter().take(joints.len()).map(DMat4::from_cols_array).collect()
            }
        };
        let bones = vec![UNUSED; joints.len()];
        let label = Label::file(&file.shown).then(format_args!("skin {index}"));
        let label = match skin.inverse_bind_matrices {
            None => label,
            Some(accessor) => label.then("inverse bind matrices").then(Label::accessor(accessor.value())),
        };
        Ok(Self { label, joints, inverse_bind, bones })
    }

    /// Warns about invalid inverse bind matrices of joints in use.
    pub(super) fn warn(&self, nodes: &[Node], report: &mut Report<'_>) {
        for (joint, m) in self.inverse_bind.iter().enumerate().filter(|(joint, _)| self.bones[*joint] != UNUSED) {
            let mut warn = |message: &str| {
                let joint = format!("element {joint}, for joint {}", quoted(&nodes[self.joints[joint]].name));
                let diagnostic = Diagnostic::warning(DiagnosticCode::SkinMatrix, message).collected();
                report.warn(diagnostic.within(joint).within(&self.label));
            };
            if affine(*m).1 {
                warn("the last row of the matrix is not 0 0 0 1; it is read as 0 0 0 1");
            }
            if m.determinant() == 0.0 {
                warn("the matrix is singular; vertices of the joint are flattened");
            }
        }
    }

    /// Iterates over the nodes of the joints and their inverse bind matrices.
    pub(super) fn joints(&self) -> impl Iterator<Item = (usize, DMat4)> + '_ {
        self.joints.iter().copied().zip(self.inverse_bind.iter().map(|m| affine(*m).0))
    }

    /// Number of joints.
    pub(super) fn len(&self) -> usize {
        self.joints.len()
    }

    /// Returns the bone of a joint. A joint becomes a bone on its first use.
    pub(super) fn bone(&mut self, joint: usize, bones: &mut Bones) -> u32 {
        if self.bones[joint] == UNUSED {
            self.bones[joint] = bones.add(self.joints[joint], affine(self.inverse_bind[joint]).0);
        }
        self.bones[joint]
    }
}

/// Bones in the order of their first use.
#[derive(Default)]
pub(super) struct Bones {
    by_key: BTreeMap<(usize, [u64; 16]), u32>,
    pub(super) by_node: BTreeMap<usize, Vec<u32>>,
    pub(super) list: Vec<(usize, DMat4)>,
    /// Nodes that need a bone although they move no vertex.
    pub(super) sockets: Vec<usize>,
}

impl Bones {
    /// Returns the bone with a node and an inverse bind matrix; adds it on first use.
    pub(super) fn add(&mut self, node: usize, inverse_bind: DMat4) -> u32 {
        // Adding zero turns -0.0 into 0.0, so that both have the same key.
        let key = (node, inverse_bind.to_cols_array().map(|x| (x + 0.0).to_bits()));
        *self.by_key.entry(key).or_insert_with(|| {
            self.list.push((node, inverse_bind));
            let bone = self.list.len() as u32 - 1;
            self.by_node.entry(node).or_default().push(bone);
            bone
        })
    }
}
