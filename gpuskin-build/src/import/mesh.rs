//! Primitives: vertices, triangles, and which joints move them.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3, DVec4};
use gltf::json::accessor::Type as Shape;
use gltf::json::mesh::{Mode, Semantic};
use gltf::json::validation::Checked;
use gltf::json::{self, Accessor, Index};

use super::accessor::Allowed;
use super::bones::{Bones, Skin};
use super::document::{self, Primitive};
use super::file::File;
use super::hierarchy::node_label;
use super::material::Materials;
use super::report::Report;
use super::weights::Weights;
use super::{color, morph, topology};
use crate::finding::{Code, Finding, Label};
use crate::model::{self, Influences};
use crate::suggest::quoted;

/// Most vertices of a model, all primitives together. Every frame of every clip is measured on each of them, and crowds
/// are made of thousands.
const MAX_VERTICES: u64 = 1 << 22;
/// Most primitives that a scene draws, those of a mesh once for each node that carries it.
const MAX_PRIMITIVES: usize = 1 << 18;

/// A primitive whose bones are not numbered yet.
pub(super) struct Draft {
    /// Without influences.
    pub primitive: model::Primitive,
    pub motion: Motion,
}

/// What moves a primitive.
pub(super) enum Motion {
    /// Several bones.
    Skinned(Weights),
    /// One.
    Rigid(u32),
}

impl Draft {
    /// Numbers the bones: `places` says where each went.
    pub(super) fn finish(self, places: &[u16]) -> model::Primitive {
        let mut primitive = self.primitive;
        primitive.influences = match self.motion {
            Motion::Skinned(weights) => weights.finish(places),
            Motion::Rigid(bone) => {
                let mut influences = Influences::default();
                for _ in 0..primitive.positions.len() {
                    influences.push([(places[bone as usize], 1.0)]);
                }
                influences
            }
        };
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
        let mut drawn = 0;
        for node in (0..taking_part.len()).filter(|i| taking_part[*i]) {
            let file = self.file;
            let carrier = &file.document.nodes[node];
            if carrier.extensions.contains_key("EXT_mesh_gpu_instancing") {
                let message = "EXT_mesh_gpu_instancing is not supported: it is drawn once";
                report.warn(Finding::warning(Code::MeshInstances, message).within(node_label(file, node)));
            }
            let Some(index) = carrier.mesh else { continue };
            let Some(mesh) = report
                .take(file.get(&file.document.meshes, index, "mesh").map_err(|e| e.within(node_label(file, node))))
            else {
                continue;
            };
            let label = Label::file(&file.shown).of_node(node, carrier.name.as_deref());
            let label = match &mesh.name {
                Some(name) => label.then(format_args!("mesh {index} {}", quoted(name))),
                None => label.then(format_args!("mesh {index}")),
            };
            drawn += mesh.primitives.len();
            if drawn > MAX_PRIMITIVES {
                let message = format!(
                    "with those of {}, the scene has more than {MAX_PRIMITIVES} primitives",
                    node_label(file, node)
                );
                report.error(
                    Finding::error(Code::LimitPrimitives, message)
                        .help("leave parts out with include and exclude, or join them"),
                );
                break;
            }
            warn_of_targets(mesh, &label, report);
            for (i, source) in mesh.primitives.iter().enumerate() {
                let label = label.clone().and(format_args!("primitive {i}"));
                match self.primitive(node, index, i, source, &label, report) {
                    Ok(draft) => drafts.extend(draft),
                    Err(finding) => report.error(finding.within(&label)),
                }
            }
        }
        let document = &self.file.document;
        let declared = document.extensions_used.iter().chain(&document.extensions_required);
        if self.file.quantized.get() && !declared.into_iter().any(|name| name == "KHR_mesh_quantization") {
            let message = "it has integers for vertices and does not declare KHR_mesh_quantization: read as if it did";
            report.warn(Finding::warning(Code::MeshUndeclared, message).within(Label::file(&self.file.shown)));
        }
        drafts
    }

    fn primitive(
        &mut self,
        node: usize,
        mesh: Index<json::Mesh>,
        index: usize,
        source: &Primitive,
        label: &Label,
        report: &mut Report<'_>,
    ) -> Result<Option<Draft>, Finding> {
        let file = self.file;
        let skip = |report: &mut Report<'_>, why: &str| {
            report.warn(Finding::warning(Code::MeshLeftOut, format!("{why}: it is left out")).within(label));
            Ok(None)
        };
        let Checked::Valid(mode) = source.mode else {
            let code = file.written(&format!("/meshes/{mesh}/primitives/{index}/mode"));
            return Err(Finding::error(Code::MeshIndex, format!("there is no primitive mode {code}")));
        };
        match mode {
            Mode::Points => return skip(report, "it consists of points"),
            Mode::Lines | Mode::LineLoop | Mode::LineStrip => return skip(report, "it consists of lines"),
            Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan => {}
        }
        let Some(position) = accessor(source, Semantic::Positions) else {
            if source.extensions.contains_key("KHR_draco_mesh_compression") {
                return Err(Finding::error(Code::GltfRequired, "KHR_draco_mesh_compression is not supported yet")
                    .help("export without Draco compression"));
            }
            return skip(report, "it has no positions");
        };
        self.claim_vertices(position).map_err(|e| e.within("POSITION"))?;
        let positions = file.finite(position, Shape::Vec3, Allowed::Quantized).map_err(|e| e.within("POSITION"))?;
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
                report.warn(Finding::warning(Code::MeshRepaired, message).within(label));
            }
            Ok(Some(numbers))
        };
        let normals = attribute(Semantic::Normals, Shape::Vec3, Allowed::Direction)?;
        let normals = normals.map(|n| n.chunks_exact(3).map(DVec3::from_slice).collect());
        let tangents = attribute(Semantic::Tangents, Shape::Vec4, Allowed::Direction)?;
        let tangents = tangents.map(|t| t.chunks_exact(4).map(DVec4::from_slice).collect());
        let base = morph::Base { vertices, has_normals: normals.is_some(), has_tangents: tangents.is_some(), label };
        let targets = morph::targets(file, source, &base, report)?;

        let Some(material) = self.materials.slot(file, source.material, report) else { return Ok(None) };
        let mut uvs = Vec::new();
        if let Some(uv) = self.materials.uv(material) {
            let semantic = Semantic::TexCoords(uv.set);
            let name = semantic.to_string();
            match accessor(source, semantic) {
                Some(accessor) => {
                    let mut numbers =
                        file.numbers(accessor, Shape::Vec2, Allowed::Quantized).map_err(|e| e.within(&name))?;
                    same_count(&name, numbers.len() / 2, vertices)?;
                    if scrub(&mut numbers) > 0 {
                        let message = format!("{name} has numbers that are not finite: taken as zero");
                        report.warn(Finding::warning(Code::MeshRepaired, message).within(label));
                    }
                    uvs = numbers.chunks_exact(2).map(|at| uv.apply(DVec2::from_slice(at))).collect();
                    let fits = |uv: &DVec2| uv.abs().max_element() <= f64::from(f32::MAX);
                    if !uvs.iter().all(fits) {
                        let message = format!("{name} is beyond the range of f32 after KHR_texture_transform");
                        return Err(Finding::error(Code::GltfNotFinite, message));
                    }
                }
                None => {
                    let message = format!("its material has a texture, and it has no {name}");
                    report.warn(
                        Finding::warning(Code::MeshNoUv, message)
                            .within(label)
                            .help("unwrap it, or give it another material"),
                    );
                }
            }
        }

        let colors = color::read(file, source, vertices, label, report)?;

        let indices = match source.indices {
            Some(accessor) => file.integers(accessor, Shape::Scalar).map_err(|e| e.within("indices"))?,
            None => (0..vertices as u32).collect(),
        };
        if let Some(at) = indices.iter().position(|i| *i as usize >= vertices) {
            let message = format!("index {at} is {}; there are {vertices} vertices", indices[at]);
            return Err(Finding::error(Code::MeshIndex, message));
        }
        if mode == Mode::Triangles && !indices.len().is_multiple_of(3) {
            let message = format!("{} indices are not whole triangles: the last are left out", indices.len());
            report.warn(Finding::warning(Code::MeshIndex, message).within(label));
        }
        let Some(triangles) = topology::triangles(mode, &indices) else { return Ok(None) };

        let mut skin = file.document.nodes[node].skin;
        if skin.is_some() && accessor(source, Semantic::Joints(0)).is_none() {
            let message = "its node has a skin, and it has no JOINTS_0: it moves with the node";
            report.warn(Finding::warning(Code::SkinUnbound, message).within(label));
            skin = None;
        }
        let motion = match skin {
            Some(index) => {
                let read = || report.take(Skin::read(file, index).map_err(|e| e.within(Label::file(&file.shown))));
                let Some(skin) = self.skins.entry(index).or_insert_with(read) else { return Ok(None) };
                Motion::Skinned(Weights::read(file, source, skin, &mut self.bones, vertices, label, report)?)
            }
            None => Motion::Rigid(0),
        };
        let primitive = model::Primitive {
            node,
            mesh: mesh.value(),
            index,
            skin: skin.map(|s| s.value()),
            positions,
            normals,
            tangents,
            uvs,
            colors,
            influences: Influences::default(),
            triangles,
            material,
            part: None,
            targets,
        };
        Ok(Some(Draft { primitive, motion }))
    }

    /// Counts the vertices of a primitive, before they are read.
    fn claim_vertices(&mut self, position: Index<Accessor>) -> Result<(), Finding> {
        let count = self.file.get(&self.file.document.accessors, position, "accessor")?.count.0;
        let all = self.vertices.saturating_add(count);
        if all > MAX_VERTICES {
            let message = format!("with its {count} vertices, the model has more than {MAX_VERTICES}");
            return Err(Finding::error(Code::LimitVertices, message)
                .help("leave parts out with include and exclude, or reduce them"));
        }
        self.vertices = all;
        Ok(())
    }
}

fn warn_of_targets(mesh: &document::Mesh, label: &Label, report: &mut Report<'_>) {
    let targets = |p: &Primitive| p.targets.len();
    if mesh.primitives.windows(2).any(|w| targets(&w[0]) != targets(&w[1])) {
        let message = "its primitives have different numbers of morph targets: those that are missing change nothing";
        report.warn(Finding::warning(Code::MorphOdd, message).within(label));
    }
}

/// The accessor of an attribute.
pub(super) fn accessor(primitive: &Primitive, semantic: Semantic) -> Option<Index<Accessor>> {
    primitive.attributes.get(&Checked::Valid(semantic)).copied()
}

pub(super) fn same_count(name: &str, count: usize, vertices: usize) -> Result<(), Finding> {
    if count == vertices {
        return Ok(());
    }
    Err(Finding::error(
        Code::MeshAttribute,
        format!("{name} has {count} elements and POSITION has {vertices}: they must be as many"),
    ))
}

/// Zero for what is not finite, and how many those are. Exporters write NaN where a triangle has no area.
pub(super) fn scrub(numbers: &mut [f64]) -> usize {
    let mut odd = 0;
    for x in numbers {
        if !x.is_finite() {
            *x = 0.0;
            odd += 1;
        }
    }
    odd
}
