//! Primitives: vertices, triangles, and which joints move them.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3, DVec4};
use gltf::json::accessor::Type as Shape;
use gltf::json::mesh::{Mode, Semantic};
use gltf::json::validation::Checked;
use gltf::json::{self, Accessor, Index};

use super::accessor::Allowed;
use super::bones::{Bones, Skin};
use super::file::File;
use super::hierarchy::node_label;
use super::material::Materials;
use super::report::Report;
use super::suggest::quoted;
use super::topology;
use crate::finding::Finding;
use crate::model::{Influences, Primitive};

/// Most pairs of `JOINTS_n` and `WEIGHTS_n`: 32 influences a vertex. Exporters write up to two.
const MAX_SETS: usize = 8;
/// Most vertices of a model, all primitives together. Every frame of every clip is measured on each of them, and crowds
/// are made of thousands.
const MAX_VERTICES: u64 = 1 << 22;
/// A sum of weights may be this far from one without a word: eight weights, rounded to 1/255.
const WEIGHT_SLACK: f64 = 0.02;

/// A primitive whose bones are not numbered yet.
pub(super) struct Draft {
    /// Without influences.
    pub primitive: Primitive,
    pub motion: Motion,
}

/// What moves a primitive.
pub(super) enum Motion {
    /// Several bones.
    Skinned(Weights),
    /// One.
    Rigid(u32),
}

/// Bones and weights of vertices, each with the end of its list.
#[derive(Default)]
pub(super) struct Weights {
    ends: Vec<u32>,
    list: Vec<(u32, f64)>,
}

impl Draft {
    /// Numbers the bones: `places` says where each went.
    pub(super) fn finish(self, places: &[u16]) -> Primitive {
        let mut primitive = self.primitive;
        let mut influences = Influences::default();
        match self.motion {
            Motion::Rigid(bone) => {
                for _ in 0..primitive.positions.len() {
                    influences.push([(places[bone as usize], 1.0)]);
                }
            }
            Motion::Skinned(weights) => {
                let mut start = 0;
                let mut sorted: Vec<(u16, f64)> = Vec::new();
                for end in weights.ends {
                    sorted.clear();
                    for &(bone, weight) in &weights.list[start..end as usize] {
                        sorted.push((places[bone as usize], weight));
                    }
                    sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                    influences.push(sorted.iter().copied());
                    start = end as usize;
                }
            }
        }
        primitive.influences = influences;
        primitive
    }
}

/// Reads the meshes of nodes, in the order of the nodes, then of the primitives.
pub(super) struct Reader<'a, 'f> {
    pub file: &'a File<'f>,
    pub materials: Materials,
    pub bones: Bones,
    pub skins: BTreeMap<Index<json::Skin>, Option<Skin>>,
    /// How many there are so far.
    pub vertices: u64,
}

impl Reader<'_, '_> {
    /// Reads the primitives of all nodes that take part. What is wrong with one of them is reported, and the next is read.
    pub(super) fn read(&mut self, taking_part: &[bool], report: &mut Report<'_>) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for node in (0..taking_part.len()).filter(|i| taking_part[*i]) {
            let file = self.file;
            let carrier = &file.document.nodes[node];
            if carrier.extensions.contains_key("EXT_mesh_gpu_instancing") {
                let message = "EXT_mesh_gpu_instancing is not supported: it is drawn once";
                report.warn(Finding::warning(message).within(node_label(file, node)));
            }
            let Some(index) = carrier.mesh else { continue };
            let Some(mesh) = report
                .take(file.get(&file.document.meshes, index, "mesh").map_err(|e| e.within(node_label(file, node))))
            else {
                continue;
            };
            let label = match &mesh.name {
                Some(name) => format!("{}: mesh {index} {}", file.shown, quoted(name)),
                None => format!("{}: mesh {index}", file.shown),
            };
            warn_of_ignored(mesh, &label, report);
            for (i, source) in mesh.primitives.iter().enumerate() {
                let label = format!("{label}, primitive {i}");
                match self.primitive(node, index, i, source, &label, report) {
                    Ok(draft) => drafts.extend(draft),
                    Err(finding) => report.error(finding.within(&label)),
                }
            }
        }
        drafts
    }

    fn primitive(
        &mut self,
        node: usize,
        mesh: Index<json::Mesh>,
        index: usize,
        source: &json::mesh::Primitive,
        label: &str,
        report: &mut Report<'_>,
    ) -> Result<Option<Draft>, Finding> {
        let file = self.file;
        let skip = |report: &mut Report<'_>, why: &str| {
            report.warn(Finding::warning(format!("{why}: it is left out")).within(label));
            Ok(None)
        };
        let Checked::Valid(mode) = source.mode else {
            let code = file.written(&format!("/meshes/{mesh}/primitives/{index}/mode"));
            return Err(Finding::error(format!("there is no primitive mode {code}")));
        };
        match mode {
            Mode::Points => return skip(report, "it consists of points"),
            Mode::Lines | Mode::LineLoop | Mode::LineStrip => return skip(report, "it consists of lines"),
            Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan => {}
        }
        let Some(position) = accessor(source, Semantic::Positions) else {
            let extensions = source.extensions.as_ref();
            if extensions.is_some_and(|e| e.others.contains_key("KHR_draco_mesh_compression")) {
                return Err(Finding::error("KHR_draco_mesh_compression is not supported yet")
                    .help("export without Draco compression"));
            }
            return skip(report, "it has no positions");
        };
        self.claim_vertices(position).map_err(|e| e.within("POSITION"))?;
        let positions = file.finite(position, Shape::Vec3, Allowed::Float).map_err(|e| e.within("POSITION"))?;
        let positions: Vec<DVec3> = positions.chunks_exact(3).map(DVec3::from_slice).collect();
        let vertices = positions.len();

        let mut attribute = |semantic: Semantic, shape: Shape, allowed: Allowed| -> Result<Option<Vec<f64>>, Finding> {
            let name = &semantic.to_string();
            let Some(accessor) = accessor(source, semantic) else { return Ok(None) };
            let mut numbers = file.numbers(accessor, shape, allowed).map_err(|e| e.within(name))?;
            same_count(name, numbers.len() / shape.multiplicity(), vertices)?;
            let odd = scrub(&mut numbers);
            if odd > 0 {
                let message = format!("{name}: {odd} numbers are not finite: taken as zero");
                report.warn(Finding::warning(message).within(label));
            }
            Ok(Some(numbers))
        };
        let normals = attribute(Semantic::Normals, Shape::Vec3, Allowed::Float)?;
        let normals = normals.map(|n| n.chunks_exact(3).map(DVec3::from_slice).collect());
        let tangents = attribute(Semantic::Tangents, Shape::Vec4, Allowed::Float)?;
        let tangents = tangents.map(|t| t.chunks_exact(4).map(DVec4::from_slice).collect());

        let Some(material) = self.materials.slot(file, source.material, report) else { return Ok(None) };
        let mut uvs = Vec::new();
        if let Some(uv) = self.materials.uv(material) {
            let semantic = Semantic::TexCoords(uv.set);
            let name = semantic.to_string();
            match accessor(source, semantic) {
                Some(accessor) => {
                    let mut numbers =
                        file.numbers(accessor, Shape::Vec2, Allowed::Normalized).map_err(|e| e.within(&name))?;
                    same_count(&name, numbers.len() / 2, vertices)?;
                    if scrub(&mut numbers) > 0 {
                        let message = format!("{name} has numbers that are not finite: taken as zero");
                        report.warn(Finding::warning(message).within(label));
                    }
                    uvs = numbers.chunks_exact(2).map(|uv_| uv.apply(DVec2::from_slice(uv_))).collect();
                }
                None => {
                    let message = format!("its material has a texture, and it has no {name}");
                    report.warn(Finding::warning(message).within(label).help("unwrap it, or give it another material"));
                }
            }
        }

        let indices = match source.indices {
            Some(accessor) => file.integers(accessor, Shape::Scalar).map_err(|e| e.within("indices"))?,
            None => (0..vertices as u32).collect(),
        };
        if let Some(at) = indices.iter().position(|i| *i as usize >= vertices) {
            let message = format!("index {at} is {}; there are {vertices} vertices", indices[at]);
            return Err(Finding::error(message));
        }
        let Some(triangles) = topology::triangles(mode, &indices) else { return Ok(None) };

        let mut skin = file.document.nodes[node].skin;
        if skin.is_some() && accessor(source, Semantic::Joints(0)).is_none() {
            let message = "its node has a skin, and it has no JOINTS_0: it moves with the node";
            report.warn(Finding::warning(message).within(label));
            skin = None;
        }
        let motion = match skin {
            Some(skin) => match self.weights(skin, source, vertices, label, report)? {
                Some(weights) => Motion::Skinned(weights),
                None => return Ok(None),
            },
            None => Motion::Rigid(0),
        };
        let primitive = Primitive {
            node,
            mesh: mesh.value(),
            index,
            skin: skin.map(|s| s.value()),
            positions,
            normals,
            tangents,
            uvs,
            influences: Influences::default(),
            triangles,
            material,
        };
        Ok(Some(Draft { primitive, motion }))
    }

    /// Counts the vertices of a primitive, before they are read.
    fn claim_vertices(&mut self, position: Index<Accessor>) -> Result<(), Finding> {
        let count = self.file.get(&self.file.document.accessors, position, "accessor")?.count.0;
        let all = self.vertices.saturating_add(count);
        if all > MAX_VERTICES {
            let message = format!("with its {count} vertices, the model has more than {MAX_VERTICES}");
            return Err(Finding::error(message).help("leave parts out with include and exclude, or reduce them"));
        }
        self.vertices = all;
        Ok(())
    }

    /// The weights of a skinned primitive. `None`: its skin is broken, which is reported once.
    fn weights(
        &mut self,
        skin: Index<json::Skin>,
        source: &json::mesh::Primitive,
        vertices: usize,
        label: &str,
        report: &mut Report<'_>,
    ) -> Result<Option<Weights>, Finding> {
        let file = self.file;
        let skin = self
            .skins
            .entry(skin)
            .or_insert_with(|| report.take(Skin::read(file, skin).map_err(|e| e.within(&file.shown))));
        let Some(skin) = skin else { return Ok(None) };
        let mut sets = Vec::new();
        loop {
            let (joints, weights) = (Semantic::Joints(sets.len() as u32), Semantic::Weights(sets.len() as u32));
            let (joint_accessor, weight_accessor) =
                (accessor(source, joints.clone()), accessor(source, weights.clone()));
            let (joints, weights) = (joints.to_string(), weights.to_string());
            let Some(joint_accessor) = joint_accessor else { break };
            let Some(weight_accessor) = weight_accessor else {
                return Err(Finding::error(format!("it has {joints} and no {weights}")));
            };
            if sets.len() == MAX_SETS {
                return Err(Finding::error(format!(
                    "more than {} influences a vertex are not supported",
                    MAX_SETS * 4
                )));
            }
            let joint = file.integers(joint_accessor, Shape::Vec4).map_err(|e| e.within(&joints))?;
            let weight = file.finite(weight_accessor, Shape::Vec4, Allowed::Weights).map_err(|e| e.within(&weights))?;
            same_count(&joints, joint.len() / 4, vertices)?;
            same_count(&weights, weight.len() / 4, vertices)?;
            sets.push((joint, weight));
        }

        let mut result = Weights::default();
        let (mut off, mut least, mut most) = (0, f64::MAX, 0.0_f64);
        let (mut zero, mut negative) = (0, 0);
        for vertex in 0..vertices {
            let start = result.list.len();
            let mut sum = 0.0;
            for (joints, weights) in &sets {
                for k in vertex * 4..vertex * 4 + 4 {
                    let weight = weights[k];
                    if weight <= 0.0 {
                        negative += usize::from(weight < 0.0);
                        continue;
                    }
                    let joint = joints[k] as usize;
                    if joint >= skin.len() {
                        let message = format!("vertex {vertex}: joint {joint}; the skin has {} joints", skin.len());
                        return Err(Finding::error(message));
                    }
                    let bone = skin.bone(joint, &mut self.bones);
                    match result.list[start..].iter_mut().find(|(b, _)| *b == bone) {
                        Some((_, w)) => *w += weight,
                        None => result.list.push((bone, weight)),
                    }
                    sum += weight;
                }
            }
            if sum > 0.0 {
                for (_, weight) in &mut result.list[start..] {
                    *weight /= sum;
                }
                if (sum - 1.0).abs() > WEIGHT_SLACK {
                    off += 1;
                    least = least.min(sum);
                    most = most.max(sum);
                }
            } else {
                zero += 1;
                // As three.js does. The origin, where the formula would put it, is nobody's intention.
                let joint = sets.first().map_or(0, |(joints, _)| joints[vertex * 4] as usize);
                let bone = skin.bone(if joint < skin.len() { joint } else { 0 }, &mut self.bones);
                result.list.push((bone, 1.0));
            }
            result.ends.push(result.list.len() as u32);
        }
        let mut warn = |message: String| report.warn(Finding::warning(message).within(label));
        if off > 0 {
            warn(format!(
                "the weights of {off} of {vertices} vertices sum to {least:.3} to {most:.3}: divided by their sum"
            ));
        }
        if zero > 0 {
            warn(format!("{zero} of {vertices} vertices have no weights: they move with their first joint"));
        }
        if negative > 0 {
            warn(format!("{negative} weights are negative: taken as zero"));
        }
        Ok(Some(result))
    }
}

fn warn_of_ignored(mesh: &json::Mesh, label: &str, report: &mut Report<'_>) {
    if mesh.primitives.iter().any(|p| p.targets.as_ref().is_some_and(|t| !t.is_empty())) {
        let message = "morph targets are not supported yet: it is baked without them";
        report.warn(Finding::warning(message).within(label));
    }
    if mesh.primitives.iter().any(|p| accessor(p, Semantic::Colors(0)).is_some()) {
        let message = "vertex colours (COLOR_0) are not supported yet: they are left out";
        report.warn(Finding::warning(message).within(label));
    }
}

/// The accessor of an attribute.
fn accessor(primitive: &json::mesh::Primitive, semantic: Semantic) -> Option<Index<Accessor>> {
    primitive.attributes.get(&Checked::Valid(semantic)).copied()
}

fn same_count(name: &str, count: usize, vertices: usize) -> Result<(), Finding> {
    if count == vertices {
        return Ok(());
    }
    Err(Finding::error(format!("{name} has {count} elements and POSITION has {vertices}: they must be as many")))
}

/// Zero for what is not finite, and how many those are. Exporters write NaN where a triangle has no area.
fn scrub(numbers: &mut [f64]) -> usize {
    let mut odd = 0;
    for x in numbers {
        if !x.is_finite() {
            *x = 0.0;
            odd += 1;
        }
    }
    odd
}
