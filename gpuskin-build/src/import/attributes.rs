//! Vertex attributes of a primitive: finding, counting and cleaning their numbers.

use gltf::json::mesh::Semantic;
use gltf::json::validation::Checked;
use gltf::json::{Accessor, Index};

use super::document::GltfPrimitive;
use crate::diagnostic::{Diagnostic, DiagnosticCode};

/// Returns the accessor of an attribute.
pub(super) fn accessor(primitive: &GltfPrimitive, semantic: Semantic) -> Option<Index<Accessor>> {
    primitive.attributes.get(&Checked::Valid(semantic)).copied()
}

pub(super) fn same_count(name: &str, count: usize, vertices: usize) -> Result<(), Diagnostic> {
    if count == vertices {
        return Ok(());
    }
    Err(Diagnostic::error(
        DiagnosticCode::MeshAttribute,
        format!("{name} has {count} elements, but POSITION has {vertices}; the counts must be equal"),
    ))
}

/// Replaces non-finite numbers by zero, and returns their count. Exporters write NaN for triangles
/// without area.
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
