//! Morph targets: deltas per vertex of a primitive, and weights per node.

use glam::DVec3;
use gltf::json::accessor::Type as Shape;
use gltf::json::{Accessor, Index};

use super::accessor::AllowedComponents;
use super::attributes::same_count;
use super::document;
use super::file::File;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::model::MorphTarget;
use crate::suggest::{list, quoted};

/// Maximum number of morph targets of a mesh. Faces in films have hundreds.
const MAX_TARGETS: usize = 1024;
/// Memory overhead of a morph target, counted in numbers of 8 bytes, for its lists.
const OVERHEAD: u64 = 32;
/// Maximum number of attributes that a warning lists.
const LISTED: usize = 5;

/// Number of morph targets of each mesh of a file.
pub(super) fn counts(file: &File<'_>) -> Vec<usize> {
    let count = |mesh: &document::GltfMesh| mesh.primitives.iter().map(|p| p.targets.len()).max().unwrap_or(0);
    file.document.meshes.iter().map(count).collect()
}

/// Returns the morph weights of a node in the rest pose. `counts` is the result of [`counts`].
pub(super) fn rest_weights(
    file: &File<'_>,
    node: &document::GltfNode,
    counts: &[usize],
    report: &mut Report<'_>,
    label: impl Fn() -> Label,
) -> Result<Vec<f64>, Diagnostic> {
    // A mesh that does not exist is reported when the node is drawn.
    let mesh = node.mesh.and_then(|mesh| file.document.meshes.get(mesh.value()));
    let targets = node.mesh.and_then(|mesh| counts.get(mesh.value())).copied().unwrap_or(0);
    if targets > MAX_TARGETS {
        return Err(Diagnostic::error(
            DiagnosticCode::LimitMorphs,
            format!("the mesh has {targets} morph targets; at most {MAX_TARGETS} are supported"),
        ));
    }
    file.claim(targets as u64)?;
    let own = node.weights.as_ref().filter(|weights| !weights.is_empty());
    let given = own.or_else(|| mesh?.weights.as_ref()).map_or(&[][..], |weights| weights);
    if given.iter().any(|weight| weight.abs() > f64::from(f32::MAX)) {
        return Err(Diagnostic::error(DiagnosticCode::GltfNotFinite, "the morph weights are beyond the range of f32"));
    }
    if !given.is_empty() && given.len() != targets {
        let rest = if given.len() < targets { "missing weights are set to 0" } else { "extra weights are ignored" };
        let message = format!("{} weights for {targets} morph targets; {rest}", given.len());
        let diagnostic = Diagnostic::warning(DiagnosticCode::MorphMismatch, message);
        report.warn(diagnostic.collected_as(rest).within(label()));
    }
    let mut weights = vec![0.0; targets];
    for (weight, given) in weights.iter_mut().zip(given) {
        *weight = *given;
    }
    Ok(weights)
}

/// Properties of the primitive whose morph targets are read.
pub(super) struct MorphBase<'a> {
    pub vertices: usize,
    pub has_normals: bool,
    pub has_tangents: bool,
    pub label: &'a Label,
}

/// Reads the morph targets of a primitive.
pub(super) fn targets(
    file: &File<'_>,
    source: &document::GltfPrimitive,
    base: &MorphBase<'_>,
    report: &mut Report<'_>,
) -> Result<Vec<MorphTarget>, Diagnostic> {
    if source.targets.len() > MAX_TARGETS {
        let message =
            format!("the primitive has {} morph targets; at most {MAX_TARGETS} are supported", source.targets.len());
        return Err(Diagnostic::error(DiagnosticCode::LimitMorphs, message));
    }
    let mut targets = Vec::with_capacity(source.targets.len());
    for (i, attributes) in source.targets.iter().enumerate() {
        let read = |name: &str| -> Result<Option<Vec<DVec3>>, Diagnostic> {
            let Some(accessor) = attributes.get(name) else { return Ok(None) };
            let allowed = if name == "POSITION" { AllowedComponents::Quantized } else { AllowedComponents::Direction };
            deltas(file, *accessor, allowed, base.vertices)
                .map(Some)
                .map_err(|e| e.within(format_args!("target {i}, {name}")))
        };
        let (positions, mut normals, mut tangents) = (read("POSITION")?, read("NORMAL")?, read("TANGENT")?);
        file.claim(OVERHEAD)?;
        let mut left_out: Vec<&str> = Vec::new();
        for name in attributes.keys() {
            if !matches!(name.as_str(), "POSITION" | "NORMAL" | "TANGENT") {
                left_out.push(name);
            }
        }
        if !left_out.is_empty() {
            let names = list(left_out.iter().copied(), LISTED);
            let message = format!("morph targets of {names} are not supported and are ignored");
            report.warn(Diagnostic::warning(DiagnosticCode::MorphMismatch, message).collected().within(base.label));
        }
        for (name, there, deltas) in
            [("NORMAL", base.has_normals, &mut normals), ("TANGENT", base.has_tangents, &mut tangents)]
        {
            if !there && deltas.take().is_some() {
                let message = format!(
                    "morph targets of {} are ignored: the primitive does not have this attribute",
                    quoted(name)
                );
                report.warn(Diagnostic::warning(DiagnosticCode::MorphMismatch, message).collected().within(base.label));
            }
        }
        let positions = match positions {
            Some(positions) => positions,
            None => {
                file.claim(base.vertices as u64 * 3)?;
                vec![DVec3::ZERO; base.vertices]
            }
        };
        targets.push(MorphTarget { positions, normals, tangents });
    }
    Ok(targets)
}

fn deltas(
    file: &File<'_>,
    accessor: Index<Accessor>,
    allowed: AllowedComponents,
    vertices: usize,
) -> Result<Vec<DVec3>, Diagnostic> {
    let numbers = file.finite(accessor, Shape::Vec3, allowed)?;
    same_count("the accessor", numbers.len() / 3, vertices)?;
    Ok(numbers.as_chunks::<3>().0.iter().copied().map(DVec3::from).collect())
}
