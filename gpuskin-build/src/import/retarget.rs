//! Skeletons of the files between which clips are retargeted.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use glam::DMat4;
use gltf::json::Index;

use super::bones::Skin;
use super::file::File;
use super::hierarchy::Hierarchy;
use super::report::Report;
use super::vrm;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::manifest::{At, BoneEntry};
use crate::model::{Clip, Model};
use crate::retarget::bone::HumanBone;
use crate::retarget::humanoid::{Humanoid, NodeKind};
use crate::retarget::{Retargeter, Rig, RigError, Stray};
use crate::suggest::{closest, list, quoted};

/// Maximum number of bones or nodes that a warning lists.
const LISTED: usize = 5;
/// Numbers per key and bone that a retargeted clip has at most: time, rotation and translation.
const NUMBERS_PER_KEY: usize = 10;

/// Table in which the manifest names nodes of a file by bone.
#[derive(Clone, Copy)]
pub(super) struct BoneTable<'a> {
    /// Path of the file in the manifest, for errors.
    pub(super) path: &'a At<String>,
    pub(super) bones: &'a [BoneEntry],
    /// Key of the table.
    pub(super) key: &'static str,
}

/// Reads the humanoid skeleton of a file. Reports errors, and returns `None` for them.
pub(super) fn rig(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    table: BoneTable<'_>,
    report: &mut Report<'_>,
) -> Option<Rig> {
    let before = report.errors();
    let mut skins = Vec::new();
    for index in 0..file.document.skins.len() {
        match Skin::read(file, Index::new(index as u32)) {
            Ok(skin) => skins.push(skin),
            Err(diagnostic) => report.error_at(&table.path.span, diagnostic.within(Label::file(&file.shown))),
        }
    }
    let mut binds = BTreeMap::new();
    for (node, inverse_bind) in skins.iter().flat_map(Skin::joints) {
        let bind: DMat4 = inverse_bind.inverse();
        if bind.is_finite() {
            binds.entry(node).or_insert(bind);
        }
    }
    let mut kinds = vec![if skins.is_empty() { NodeKind::Bone } else { NodeKind::Other }; hierarchy.nodes.len()];
    for (node, kind) in file.document.nodes.iter().zip(&mut kinds) {
        if node.mesh.is_some() {
            *kind = NodeKind::Mesh;
        }
    }
    skins.iter().flat_map(Skin::joints).for_each(|(node, _)| kinds[node] = NodeKind::Bone);

    let mut given = named(file, hierarchy, table, &kinds, report);
    for (bone, node) in vrm::bones(file.json()) {
        if node < kinds.len() && given.iter().all(|(other, _)| *other != bone) {
            given.push((bone, node));
        }
    }
    if report.errors() > before {
        return None;
    }
    let bones = Humanoid::find(&hierarchy.nodes, &hierarchy.order, &kinds, &given);
    let model = Model {
        nodes: hierarchy.nodes.clone(),
        order: hierarchy.order.clone(),
        root: DMat4::IDENTITY,
        ..Model::default()
    };
    let error = match Rig::new(model, bones, &binds) {
        Ok(rig) => return Some(rig),
        Err(error) => error,
    };
    let diagnostic = match error {
        RigError::Missing(missing) => {
            let names: Vec<String> = missing.iter().map(|bone| bone.name()).collect();
            let message =
                format!("no humanoid skeleton: no nodes found for {}", list(names.iter().map(String::as_str), LISTED));
            let joints = hierarchy.nodes.iter().zip(&kinds).filter(|(_, kind)| **kind == NodeKind::Bone);
            let help = format!(
                "name the nodes in {}, by bone: {{ {} = \"...\" }}; the file has {}",
                table.key,
                names[0],
                list(joints.map(|(node, _)| &*node.name), 30)
            );
            Diagnostic::error(DiagnosticCode::RetargetBones, message).help(help)
        }
        RigError::NoLength(bone) => {
            let message = format!("the skeleton has no humanoid pose: bone `{}` has no length", bone.name());
            Diagnostic::error(DiagnosticCode::RetargetBones, message).help(format!("name other nodes in {}", table.key))
        }
    };
    report.error_at(&table.path.span, diagnostic.within(Label::file(&file.shown)));
    None
}

/// Returns the nodes that the manifest names.
fn named(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    table: BoneTable<'_>,
    kinds: &[NodeKind],
    report: &mut Report<'_>,
) -> Vec<(HumanBone, usize)> {
    let names: Vec<String> = HumanBone::all().map(HumanBone::name).collect();
    let mut found = Vec::new();
    for BoneEntry { bone, node } in table.bones {
        let nodes = hierarchy.named(file, node, table.key, report);
        let Some(known) = HumanBone::from_name(&bone.value) else {
            let message = format!("{}: a humanoid has no bone {}", table.key, quoted(&bone.value));
            let help = match closest(&bone.value, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("bones: {}", list(names.iter().map(String::as_str), names.len())),
            };
            report.error_at(&bone.span, Diagnostic::error(DiagnosticCode::ManifestValue, message).help(help));
            continue;
        };
        let joint = nodes.iter().find(|node| kinds[**node] == NodeKind::Bone).or(nodes.first());
        found.extend(joint.map(|node| (known, *node)));
    }
    found
}

/// Bones, nodes and poses that the files of a model lack for retargeting, said once for all of them.
#[derive(Default)]
pub(super) struct Lacks {
    /// Names of bones of the model that a file lacks.
    bones: BTreeSet<String>,
    /// Names of moving nodes that the model lacks, in the order of the files.
    nodes: Vec<String>,
    /// Number of clips with morph targets.
    morphs: usize,
    /// Files with any of these, as shown.
    files: Vec<String>,
    /// Files whose nodes stand in no reference pose, as shown, each with the bone that is farthest off.
    poses: Vec<(String, Stray)>,
}

impl Lacks {
    fn add(&mut self, file: &File<'_>, retargeter: &Retargeter<'_>, source: &Rig, clips: &[&mut Clip]) {
        let bones = retargeter.unmatched();
        let clips: Vec<&Clip> = clips.iter().map(|clip| &**clip).collect();
        let nodes = retargeter.left_out(&clips);
        let morphs = clips.iter().filter(|clip| !clip.morphs.is_empty()).count();
        if bones.is_empty() && nodes.is_empty() && morphs == 0 {
            return;
        }
        self.bones.extend(bones.iter().map(|bone| bone.name()));
        let mut known: BTreeSet<String> = self.nodes.iter().cloned().collect();
        let names = nodes.iter().map(|node| source.model.nodes[*node].name.clone());
        self.nodes.extend(names.filter(|name| known.insert(name.clone())));
        self.morphs += morphs;
        self.files.push(file.shown.to_string());
    }

    /// Reports all of it: at the file, if it is of one file.
    pub(super) fn report(&self, report: &mut Report<'_>) {
        let mut parts = Vec::new();
        if !self.bones.is_empty() {
            let names = list(self.bones.iter().map(String::as_str), LISTED);
            let count = self.bones.len();
            parts.push(format!("{count} bones of the model have no counterpart and keep their rest pose: {names}"));
        }
        let of_file = if self.files.len() == 1 { "of the file" } else { "of the files" };
        if !self.nodes.is_empty() {
            let names = list(self.nodes.iter().map(String::as_str), LISTED);
            parts
                .push(format!("{} moving nodes {of_file} have no counterpart in the model: {names}", self.nodes.len()));
        }
        if self.morphs > 0 {
            parts.push(format!("weights of morph targets are not retargeted, in {} clips", self.morphs));
        }
        report.warn_of_files(&self.files, Diagnostic::warning(DiagnosticCode::RetargetUnmatched, parts.join("; ")));

        let files: Vec<String> = self.poses.iter().map(|(file, _)| file.clone()).collect();
        let strays = self.poses.iter().map(|(_, stray)| *stray);
        let Some(worst) = strays.max_by(|a, b| a.degrees.total_cmp(&b.degrees)) else { return };
        let message = format!(
            "the nodes stand in no pose in which skeletons can be compared: `{}` is {:.0} degrees off a standing pose. A \
             pose was made from the joints; feet, heads and the twist of limbs may be some degrees off",
            worst.bone.name(),
            worst.degrees
        );
        report.warn_of_files(&files, Diagnostic::warning(DiagnosticCode::RetargetPose, message));
    }
}

/// Returns the skeleton of a file in a pose in which it can be compared with others: its own, that of another file of the same
/// skeleton, or one that is made from the joints.
pub(super) fn standing<'r>(
    rig: &'r Rig,
    mut others: impl Iterator<Item = &'r Rig>,
    file: &File<'_>,
    clips: &[&mut Clip],
    lacks: &mut Lacks,
) -> Cow<'r, Rig> {
    let Some(stray) = rig.stray().filter(|_| !clips.is_empty()) else { return Cow::Borrowed(rig) };
    if let Some(posed) = others.find_map(|other| rig.posed_like(other)) {
        return Cow::Owned(posed);
    }
    lacks.poses.push((file.shown.to_string(), stray));
    let clips: Vec<&Clip> = clips.iter().map(|clip| &**clip).collect();
    Cow::Owned(rig.stood_up(&clips))
}

/// Retargets the clips of a file to the model. Adds what has no counterpart to `lacks`.
pub(super) fn clips(
    file: &File<'_>,
    (source, target): (&Rig, &Rig),
    table: BoneTable<'_>,
    clips: Vec<&mut Clip>,
    (report, lacks): (&mut Report<'_>, &mut Lacks),
) {
    let retargeter = Retargeter::new(source, target);
    let label = || Label::file(&file.shown);
    lacks.add(file, &retargeter, source, &clips);
    for clip in clips {
        let bones = HumanBone::all().count();
        let most = (file.memory_left() / 8) as usize / (bones * NUMBERS_PER_KEY);
        let Some(times) = retargeter.times(clip, most) else {
            let message =
                format!("the retargeted clip has more than {most} keys, and does not fit into the memory limit");
            let diagnostic = Diagnostic::error(DiagnosticCode::LimitMemory, message);
            report.error_at(&table.path.span, diagnostic.within(label().clip(&clip.source)));
            clip.clear();
            continue;
        };
        if let Err(diagnostic) = file.claim((times.len() * bones * NUMBERS_PER_KEY) as u64) {
            report.error_at(&table.path.span, diagnostic.within(label().clip(&clip.source)));
            clip.clear();
            continue;
        }
        *clip = retargeter.clip(clip, &times);
        let values = clip.channels.iter().flat_map(|channel| &channel.curve.values);
        if !values.into_iter().all(|value| value.is_finite()) {
            let message = "the retargeted clip is not finite: scales or translations are too large";
            let diagnostic = Diagnostic::error(DiagnosticCode::GltfNotFinite, message);
            report.error_at(&table.path.span, diagnostic.within(label().clip(&clip.source)));
        }
    }
}
