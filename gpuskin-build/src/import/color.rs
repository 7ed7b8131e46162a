//! Vertex colours. A material whose vertices all have one colour is multiplied by that colour.

use gltf::json::accessor::Type as Shape;
use gltf::json::mesh::Semantic;
use gltf::json::validation::Checked;
use gpuskin_rt::internals::vertex::color_word;

use super::accessor::AllowedComponents;
use super::attributes::{accessor, same_count, scrub};
use super::document;
use super::file::File;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::model::{Material, Primitive};

/// Reads `COLOR_0` as linear RGBA. Colours of three components are opaque.
pub(super) fn read(
    file: &File<'_>,
    source: &document::GltfPrimitive,
    vertices: usize,
    label: &Label,
    report: &mut Report<'_>,
) -> Result<Option<Vec<[f32; 4]>>, Diagnostic> {
    const NAME: &str = "COLOR_0";
    if accessor(source, Semantic::Colors(1)).is_some() {
        let message = "the primitive has more than one set of vertex colours; only COLOR_0 is used";
        report.warn(Diagnostic::warning(DiagnosticCode::MeshColors, message).collected().within(label));
    }
    let Some(index) = accessor(source, Semantic::Colors(0)) else { return Ok(None) };
    let within = |e: Diagnostic| e.within(NAME);
    let type_ = file.get(&file.document.accessors, index, "accessor").map_err(within)?.type_;
    let shape = if type_ == Checked::Valid(Shape::Vec3) { Shape::Vec3 } else { Shape::Vec4 };
    let mut numbers = file.numbers(index, shape, AllowedComponents::Weights).map_err(within)?;
    let width = shape.multiplicity();
    same_count(NAME, numbers.len() / width, vertices)?;
    let odd = scrub(&mut numbers);
    if odd > 0 {
        let message = format!("{NAME}: {odd} numbers are not finite and are set to zero");
        let diagnostic = Diagnostic::warning(DiagnosticCode::MeshRepaired, message);
        report.warn(diagnostic.collected_as("colours are not finite").within(label));
    }
    let outside = numbers.iter().filter(|x| !(0.0..=1.0).contains(*x)).count();
    if outside > 0 {
        numbers.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0));
        let message = format!("{NAME}: {outside} numbers are outside of 0..1 and are clamped");
        let diagnostic = Diagnostic::warning(DiagnosticCode::MeshRepaired, message);
        report.warn(diagnostic.collected_as("colours are outside of 0..1").within(label));
    }
    let color = |c: &[f64]| [c[0], c[1], c[2], c.get(3).copied().unwrap_or(1.0)].map(|x| x as f32);
    Ok(Some(numbers.chunks_exact(width).map(color).collect()))
}

/// Multiplies each material by the colour of its vertices if they all have the same colour, and
/// removes the vertex colours.
pub(super) fn fold(primitives: &mut [Primitive], materials: &mut [Material]) {
    const WHITE: [f32; 4] = [1.0; 4];
    /// Vertex colours of a material.
    #[derive(Clone, Copy)]
    enum VertexColors {
        None,
        One([f32; 4]),
        Several,
    }
    // Colours are equal if their stored form is equal.
    let word = |color: [f32; 4]| color_word(color.into());
    let mut found = vec![VertexColors::None; materials.len()];
    for primitive in primitives.iter().filter(|p| !p.positions.is_empty()) {
        let found = &mut found[primitive.material];
        for color in primitive.colors.as_deref().unwrap_or(&[WHITE]) {
            *found = match *found {
                VertexColors::None => VertexColors::One(*color),
                VertexColors::One(other) if word(other) == word(*color) => VertexColors::One(other),
                _ => VertexColors::Several,
            };
        }
    }
    for (material, colors) in materials.iter_mut().zip(&found) {
        if let VertexColors::One(color) = colors {
            (0..4).for_each(|c| material.base_color[c] *= color[c]);
        }
    }
    for primitive in primitives {
        if !matches!(found[primitive.material], VertexColors::Several) {
            primitive.colors = None;
        }
    }
}
