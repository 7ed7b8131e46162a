//! Texture coordinates: which attribute a texture reads, and how it is transformed.

use glam::{DMat2, DVec2};
use gltf::json::accessor::Type as Shape;
use gltf::json::extensions::texture::TextureTransform;
use gltf::json::mesh::Semantic;

use super::accessor::AllowedComponents;
use super::attributes::{accessor, same_count, scrub};
use super::document::GltfPrimitive;
use super::file::File;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};

/// Sources of the texture coordinates of a material: of the base colour, and of textures that have others.
#[derive(Clone, Copy, Default)]
pub(super) struct Coordinates {
    pub first: Option<UvSource>,
    pub second: Option<UvSource>,
}

/// Source of texture coordinates: an attribute and a transform.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct UvSource {
    /// The `n` of `TEXCOORD_n`.
    set: u32,
    matrix: DMat2,
    offset: DVec2,
}

impl UvSource {
    pub(super) fn new(set: u32, transform: Option<&TextureTransform>) -> Result<Self, Diagnostic> {
        let mut source = Self { set, matrix: DMat2::IDENTITY, offset: DVec2::ZERO };
        if let Some(transform) = transform {
            source.set = transform.tex_coord.unwrap_or(set);
            source.offset = DVec2::from_array(transform.offset.0.map(f64::from));
            let angle = f64::from(transform.rotation.0);
            let (sin, cos) = (libm::sin(angle), libm::cos(angle));
            let scale = DVec2::from_array(transform.scale.0.map(f64::from));
            // Counter-clockwise on the image, in coordinates whose v axis points down. All viewers do this;
            // the listing in the text of the extension does not (KhronosGroup/glTF#1563).
            //     | cos  sin |   | u scale_u |
            //     |-sin  cos | * | v scale_v |
            source.matrix = DMat2::from_cols(DVec2::new(cos, -sin), DVec2::new(sin, cos)) * DMat2::from_diagonal(scale);
            if !source.matrix.is_finite() || !source.offset.is_finite() {
                return Err(Diagnostic::error(DiagnosticCode::GltfNotFinite, "KHR_texture_transform is not finite"));
            }
        }
        Ok(source)
    }

    /// Reads the texture coordinates of a primitive; none, with a warning, if it lacks the attribute.
    pub(super) fn read(
        &self,
        file: &File<'_>,
        source: &GltfPrimitive,
        vertices: usize,
        label: &Label,
        report: &mut Report<'_>,
    ) -> Result<Vec<DVec2>, Diagnostic> {
        let semantic = Semantic::TexCoords(self.set);
        let name = semantic.to_string();
        let Some(accessor) = accessor(source, semantic) else {
            let message = format!("the material has a texture, but the primitive has no {name}");
            report.warn(
                Diagnostic::warning(DiagnosticCode::MeshNoUv, message)
                    .collected()
                    .within(label)
                    .help("unwrap the mesh, or assign another material"),
            );
            return Ok(Vec::new());
        };
        let mut numbers =
            file.numbers(accessor, Shape::Vec2, AllowedComponents::Quantized).map_err(|e| e.within(&name))?;
        same_count(&name, numbers.len() / 2, vertices)?;
        if scrub(&mut numbers) > 0 {
            let message = format!("{name} has non-finite numbers, which are set to zero");
            report.warn(Diagnostic::warning(DiagnosticCode::MeshRepaired, message).collected().within(label));
        }
        let transformed = |at: &[f64; 2]| self.matrix * DVec2::from_array(*at) + self.offset;
        let uvs: Vec<DVec2> = numbers.as_chunks::<2>().0.iter().map(transformed).collect();
        let fits = |uv: &DVec2| uv.abs().max_element() <= f64::from(f32::MAX);
        if !uvs.iter().all(fits) {
            let message = format!("{name} is beyond the range of f32 after KHR_texture_transform");
            return Err(Diagnostic::error(DiagnosticCode::GltfNotFinite, message));
        }
        Ok(uvs)
    }
}
