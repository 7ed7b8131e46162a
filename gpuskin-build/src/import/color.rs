//! Vertex colours: kept, or made part of the material where they are one colour.

use gltf::json::accessor::Type as Shape;
use gltf::json::mesh::Semantic;
use gltf::json::validation::Checked;
use gpuskin_rt::internals::vertex::color_word;

use super::accessor::Allowed;
use super::document;
use super::file::File;
use super::mesh::{accessor, same_count, scrub};
use super::report::Report;
use crate::finding::{Code, Finding, Label};
use crate::model::{Material, Primitive};

/// Reads `COLOR_0`, linear RGBA. Three components are opaque.
pub(super) fn read(
    file: &File<'_>,
    source: &document::Primitive,
    vertices: usize,
    label: &Label,
    report: &mut Report<'_>,
) -> Result<Option<Vec<[f32; 4]>>, Finding> {
    const NAME: &str = "COLOR_0";
    if accessor(source, Semantic::Colors(1)).is_some() {
        let message = "it has more than one set of vertex colours: all but COLOR_0 are left out";
        report.warn(Finding::warning(Code::MeshColors, message).within(label));
    }
    let Some(index) = accessor(source, Semantic::Colors(0)) else { return Ok(None) };
    let within = |e: Finding| e.within(NAME);
    let type_ = file.get(&file.document.accessors, index, "accessor").map_err(within)?.type_;
    let shape = if type_ == Checked::Valid(Shape::Vec3) { Shape::Vec3 } else { Shape::Vec4 };
    let mut numbers = file.numbers(index, shape, Allowed::Weights).map_err(within)?;
    let width = shape.multiplicity();
    same_count(NAME, numbers.len() / width, vertices)?;
    let odd = scrub(&mut numbers);
    if odd > 0 {
        let message = format!("{NAME}: {odd} numbers are not finite: taken as zero");
        report.warn(Finding::warning(Code::MeshRepaired, message).within(label));
    }
    let outside = numbers.iter().filter(|x| !(0.0..=1.0).contains(*x)).count();
    if outside > 0 {
        numbers.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0));
        let message = format!("{NAME}: {outside} numbers are not in 0..1: taken as the nearer end");
        report.warn(Finding::warning(Code::MeshRepaired, message).within(label));
    }
    let color = |c: &[f64]| [c[0], c[1], c[2], c.get(3).copied().unwrap_or(1.0)].map(|x| x as f32);
    Ok(Some(numbers.chunks_exact(width).map(color).collect()))
}

/// Multiplies materials by the colour of their vertices, where they all have the same; those vertices then have none.
pub(super) fn fold(primitives: &mut [Primitive], materials: &mut [Material]) {
    const WHITE: [f32; 4] = [1.0; 4];
    /// The colours of a material's vertices.
    #[derive(Clone, Copy)]
    enum Colors {
        None,
        One([f32; 4]),
        Several,
    }
    // What is stored alike is one colour.
    let word = |color: [f32; 4]| color_word(color.into());
    let mut found = vec![Colors::None; materials.len()];
    for primitive in primitives.iter().filter(|p| !p.positions.is_empty()) {
        let found = &mut found[primitive.material];
        for color in primitive.colors.as_deref().unwrap_or(&[WHITE]) {
            *found = match *found {
                Colors::None => Colors::One(*color),
                Colors::One(other) if word(other) == word(*color) => Colors::One(other),
                _ => Colors::Several,
            };
        }
    }
    for (material, colors) in materials.iter_mut().zip(&found) {
        if let Colors::One(color) = colors {
            (0..4).for_each(|c| material.base_color[c] *= color[c]);
        }
    }
    for primitive in primitives {
        if !matches!(found[primitive.material], Colors::Several) {
            primitive.colors = None;
        }
    }
}
