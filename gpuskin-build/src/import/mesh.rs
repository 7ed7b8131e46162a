//! Primitives: vertices, triangles, and the joints that move them.

use std::collections::BTreeMap;
use std::rc::Rc;

use glam::{DVec3, DVec4};
use gltf::json::accessor::Type as Shape;
use gltf::json::mesh::{Mode, Semantic};
use gltf::json::validation::Checked;
use gltf::json::{self, Accessor, Index};

use super::accessor::AllowedComponents;
use super::attributes::{accessor, same_count, scrub};
use super::bones::{Bones, Skin};
use super::coordinates::UvSource;
use super::document::{self, GltfPrimitive};
use super::file::{File, Unpacked};
use super::hierarchy::node_label;
use super::material::Materials;
use super::report::Report;
use super::unbound::{PrimitiveBinding, UnboundPrimitive};
use super::weights::Weights;
use super::{color, draco, file_variants, morph, topology};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::model::{self, Influences};
use crate::suggest::quoted;

/// Maximum number of primitives in a scene. A mesh counts once per node that uses it.
const MAX_PRIMITIVES: usize = 1 << 18;

/// Reads the meshes of nodes, in the order of the nodes, then of the primitives.
pub(super) struct MeshReader<'a, 'f> {
    pub file: &'a File<'f>,
    /// Number of variants of the file; `None` if they are not read.
    pub file_variants: Option<usize>,
    pub materials: Materials,
    pub bones: Bones,
    pub skins: BTreeMap<Index<json::Skin>, Option<Skin>>,
    /// Decompressed primitives, by mesh and primitive.
    pub unpacked: BTreeMap<(usize, usize), Result<Rc<Unpacked>, Diagnostic>>,
    /// Number of vertices read so far.
    pub vertices: u64,
}

impl MeshReader<'_, '_> {
    /// Reads the primitives of all imported nodes. An error in one primitive is reported, and
    /// reading continues with the next.
    pub(super) fn read(&mut self, taking_part: &[bool], report: &mut Report<'_>) -> Vec<UnboundPrimitive> {
        let mut unbound_primitives = Vec::new();
        let mut drawn = 0;
        for node in (0..taking_part.len()).filter(|i| taking_part[*i]) {
            let file = self.file;
            let carrier = &file.document.nodes[node];
            if carrier.extensions.contains_key("EXT_mesh_gpu_instancing") {
                let message = "EXT_mesh_gpu_instancing is not supported; the mesh is drawn once";
                let diagnostic = Diagnostic::warning(DiagnosticCode::MeshInstances, message);
                report.warn(diagnostic.collected().within(node_label(file, node)));
            }
            let Some(index) = carrier.mesh else { continue };
            let Some(mesh) = report
                .take(file.get(&file.document.meshes, index, "mesh").map_err(|e| e.within(node_label(file, node))))
            else {
                continue;
            };
            let label = Label::file(&file.shown).at_node(node, carrier.name.as_deref());
            let label = match &mesh.name {
                Some(name) => label.then(format_args!("mesh {index} {}", quoted(name))),
                None => label.then(format_args!("mesh {index}")),
            };
            drawn += mesh.primitives.len();
            if drawn > MAX_PRIMITIVES {
                let message = format!(
                    "with the primitives of {}, the scene has more than {MAX_PRIMITIVES} primitives",
                    node_label(file, node)
                );
                report.error(
                    Diagnostic::error(DiagnosticCode::LimitPrimitives, message)
                        .help("remove nodes with `include` and `exclude`, or join primitives"),
                );
                break;
            }
            warn_of_targets(mesh, &label, report);
            for (i, source) in mesh.primitives.iter().enumerate() {
                let label = label.clone().and(format_args!("primitive {i}"));
                match self.primitive(node, index, i, source, &label, report) {
                    Ok(unbound) => unbound_primitives.extend(unbound),
                    Err(diagnostic) => report.error(diagnostic.within(&label)),
                }
            }
        }
        let document = &self.file.document;
        let declared = document.extensions_used.iter().chain(&document.extensions_required);
        if self.file.quantized.get() && !declared.into_iter().any(|name| name == "KHR_mesh_quantization") {
            let message = "vertex attributes are integers, but the file does not declare KHR_mesh_quantization; read as if it did";
            report.warn(
                Diagnostic::warning(DiagnosticCode::MeshUndeclared, message).within(Label::file(&self.file.shown)),
            );
        }
        unbound_primitives
    }

    fn primitive(
        &mut self,
        node: usize,
        mesh: Index<json::Mesh>,
        index: usize,
        source: &GltfPrimitive,
        label: &Label,
        report: &mut Report<'_>,
    ) -> Result<Option<UnboundPrimitive>, Diagnostic> {
        let file = self.file;
        let skip = |report: &mut Report<'_>, why: &str| {
            let diagnostic = Diagnostic::warning(DiagnosticCode::MeshLeftOut, format!("{why}; it is not drawn"));
            report.warn(diagnostic.collected().within(label));
            Ok(None)
        };
        let Checked::Valid(mode) = source.mode else {
            let code = file.written(&format!("/meshes/{mesh}/primitives/{index}/mode"));
            return Err(Diagnostic::error(DiagnosticCode::MeshIndex, format!("unknown primitive mode {code}")));
        };
        match mode {
            Mode::Points => return skip(report, "the primitive consists of points"),
            Mode::Lines | Mode::LineLoop | Mode::LineStrip => return skip(report, "the primitive consists of lines"),
            Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan => {}
        }
        let Some(position) = accessor(source, Semantic::Positions) else {
            return skip(report, "the primitive has no positions");
        };
        self.claim_vertices(position).map_err(|e| e.within("POSITION"))?;
        let unpacked = match source.compressed(file) {
            None => Rc::default(),
            Some(draco) => {
                let read = || draco::unpack(file, source, draco).map(Rc::new);
                self.unpacked.entry((mesh.value(), index)).or_insert_with(read).clone()?
            }
        };
        file.unpacked.replace(unpacked);
        let positions =
            file.finite(position, Shape::Vec3, AllowedComponents::Quantized).map_err(|e| e.within("POSITION"))?;
        let positions: Vec<DVec3> = positions.as_chunks::<3>().0.iter().copied().map(DVec3::from).collect();
        let vertices = positions.len();

        let mut attribute =
            |semantic: Semantic, shape: Shape, allowed: AllowedComponents| -> Result<Option<Vec<f64>>, Diagnostic> {
                let name = &semantic.to_string();
                let Some(accessor) = accessor(source, semantic) else { return Ok(None) };
                let mut numbers = file.numbers(accessor, shape, allowed).map_err(|e| e.within(name))?;
                same_count(name, numbers.len() / shape.multiplicity(), vertices)?;
                let odd = scrub(&mut numbers);
                if odd > 0 {
                    let message = format!("{name}: {odd} numbers are not finite and are set to zero");
                    let diagnostic = Diagnostic::warning(DiagnosticCode::MeshRepaired, message);
                    report.warn(diagnostic.collected_as(format!("{name} is not finite")).within(label));
                }
                Ok(Some(numbers))
            };
        let normals = attribute(Semantic::Normals, Shape::Vec3, AllowedComponents::Direction)?;
        let normals = normals.map(|n| n.as_chunks::<3>().0.iter().copied().map(DVec3::from).collect());
        let tangents = attribute(Semantic::Tangents, Shape::Vec4, AllowedComponents::Direction)?;
        let tangents = tangents.map(|t| t.as_chunks::<4>().0.iter().copied().map(DVec4::from).collect());
        let base =
            morph::MorphBase { vertices, has_normals: normals.is_some(), has_tangents: tangents.is_some(), label };
        let targets = morph::targets(file, source, &base, report)?;

        let variants = file_variants::materials(file, source, self.file_variants, label, report)?;
        let Some(material) = self.materials.slot(file, source.material, variants, report) else { return Ok(None) };
        let sources = self.materials.coordinates(material);
        let mut coordinates = |uv: Option<UvSource>| match uv {
            Some(uv) => uv.read(file, source, vertices, label, report),
            None => Ok(Vec::new()),
        };
        let (uvs, second_uvs) = (coordinates(sources.first)?, coordinates(sources.second)?);
        let second_normal_map = self.materials.list[material].has_second_normal_map();

        let colors = color::read(file, source, vertices, label, report)?;

        let indices = match source.indices {
            Some(accessor) => file.integers(accessor, Shape::Scalar).map_err(|e| e.within("indices"))?,
            None => (0..vertices as u32).collect(),
        };
        if let Some(at) = indices.iter().position(|i| *i as usize >= vertices) {
            let message = format!("index {at} is {}, but the primitive has {vertices} vertices", indices[at]);
            return Err(Diagnostic::error(DiagnosticCode::MeshIndex, message));
        }
        warn_of_restarts(file, source, &indices, label, report);
        if mode == Mode::Triangles && !indices.len().is_multiple_of(3) {
            let message = format!("{} indices do not form whole triangles; the last ones are ignored", indices.len());
            let diagnostic = Diagnostic::warning(DiagnosticCode::MeshIndex, message);
            report.warn(diagnostic.collected_as("indices do not form whole triangles").within(label));
        }
        let Some(triangles) = topology::triangles(mode, &indices) else { return Ok(None) };

        let mut skin = file.document.nodes[node].skin;
        if skin.is_some() && accessor(source, Semantic::Joints(0)).is_none() {
            let message = "the node has a skin, but the primitive has no JOINTS_0; it is rigid and follows its node";
            report.warn(Diagnostic::warning(DiagnosticCode::SkinUnbound, message).collected().within(label));
            skin = None;
        }
        let motion = match skin {
            Some(index) => {
                let read = || report.take(Skin::read(file, index).map_err(|e| e.within(Label::file(&file.shown))));
                let Some(skin) = self.skins.entry(index).or_insert_with(read) else { return Ok(None) };
                PrimitiveBinding::Skinned(Weights::read(file, source, skin, &mut self.bones, vertices, label, report)?)
            }
            None => PrimitiveBinding::Rigid(0),
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
            second_uvs,
            second_normal_map,
            colors,
            influences: Influences::default(),
            triangles,
            material,
            part: None,
            targets,
        };
        Ok(Some(UnboundPrimitive { primitive, motion }))
    }

    /// Adds the vertices of a primitive to the count, before they are read.
    fn claim_vertices(&mut self, position: Index<Accessor>) -> Result<(), Diagnostic> {
        let count = self.file.get(&self.file.document.accessors, position, "accessor")?.count.0;
        let all = self.vertices.saturating_add(count);
        let most = self.file.limits().vertices;
        if all > most {
            let message = format!("with these {count} vertices, the model has more than {most} vertices");
            return Err(Diagnostic::error(DiagnosticCode::LimitVertices, message));
        }
        self.vertices = all;
        Ok(())
    }
}

/// Warns about the largest index of a component type: some graphics APIs take it as the start of another
/// strip, so glTF forbids it.
fn warn_of_restarts(file: &File<'_>, source: &GltfPrimitive, indices: &[u32], label: &Label, report: &mut Report<'_>) {
    let Some(accessor) = source.indices.and_then(|index| file.document.accessors.get(index.value())) else { return };
    let Checked::Valid(component) = accessor.component_type else { return };
    let restart = u32::MAX >> (32 - 8 * component.0.size().min(4));
    let count = indices.iter().filter(|index| **index == restart).count();
    if count > 0 {
        let message = format!("{count} indices are {restart}, which glTF forbids; they are read as vertices");
        let diagnostic = Diagnostic::warning(DiagnosticCode::MeshIndex, message);
        report.warn(diagnostic.collected_as(format!("indices are {restart}")).within(label));
    }
}

fn warn_of_targets(mesh: &document::GltfMesh, label: &Label, report: &mut Report<'_>) {
    let targets = |p: &GltfPrimitive| p.targets.len();
    if mesh.primitives.windows(2).any(|w| targets(&w[0]) != targets(&w[1])) {
        let message = "the primitives have different numbers of morph targets; missing targets change nothing";
        report.warn(Diagnostic::warning(DiagnosticCode::MorphMismatch, message).collected().within(label));
    }
}
