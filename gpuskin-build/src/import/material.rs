//! Materials and the images that they use.

use std::collections::BTreeMap;

use gltf::json::material::AlphaMode;
use gltf::json::validation::Checked;
use gltf::json::{self, Index};

use super::file::File;
use super::report::Report;
use super::surface::{BaseColor, MaterialTextures};
use super::textures::{Pixels, TextureReader, UvSource};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::model::Material;
use crate::suggest::quoted;

/// Extension without parameters: a material is unlit if the extension is present.
pub(super) const UNLIT: &str = "KHR_materials_unlit";

/// The materials in use, in the order of their first use.
pub(super) struct Materials {
    pub textures: TextureReader,
    slots: BTreeMap<Option<usize>, Option<usize>>,
    pub list: Vec<Material>,
    uvs: Vec<Option<UvSource>>,
}

impl Materials {
    pub(super) fn new(pixels: Pixels) -> Self {
        Self { textures: TextureReader::new(pixels), slots: BTreeMap::new(), list: Vec::new(), uvs: Vec::new() }
    }

    /// Returns the index in [`Self::list`] of a material of the file. An invalid material is
    /// reported once.
    pub(super) fn slot(
        &mut self,
        file: &File<'_>,
        material: Option<Index<json::Material>>,
        report: &mut Report<'_>,
    ) -> Option<usize> {
        let key = material.map(|m| m.value());
        if let Some(slot) = self.slots.get(&key) {
            return *slot;
        }
        let slot = match self.read(file, material, report) {
            Ok((material, uv)) => {
                self.list.push(material);
                self.uvs.push(uv);
                Some(self.list.len() - 1)
            }
            Err(diagnostic) => {
                report.error(diagnostic.within(Label::file(&file.shown)));
                None
            }
        };
        self.slots.insert(key, slot);
        slot
    }

    /// Returns the indices of the file's materials that are in use.
    pub(super) fn used(&self) -> impl Iterator<Item = usize> {
        self.slots.keys().copied().flatten()
    }

    /// Returns the source of texture coordinates of a material of [`Self::list`].
    pub(super) fn uv(&self, slot: usize) -> Option<UvSource> {
        self.uvs[slot]
    }

    fn read(
        &mut self,
        file: &File<'_>,
        material: Option<Index<json::Material>>,
        report: &mut Report<'_>,
    ) -> Result<(Material, Option<UvSource>), Diagnostic> {
        let mut result = Material::default();
        let Some(index) = material else { return Ok((result, None)) };
        let source = file.get(&file.document.materials, index, "material")?;
        result.name = source.name.clone().unwrap_or_default();
        let label = match &source.name {
            Some(name) => Label::from(format_args!("material {index} {}", quoted(name))),
            None => Label::from(format_args!("material {index}")),
        };
        let within = |diagnostic: Diagnostic| diagnostic.within(&label);
        result.double_sided = source.double_sided;
        result.unlit = source.extensions.as_ref().is_some_and(|extensions| extensions.others.contains_key(UNLIT));
        result.normal_map = source.normal_texture.is_some();
        match source.alpha_mode {
            Checked::Valid(AlphaMode::Opaque) => {}
            Checked::Valid(AlphaMode::Mask) => result.alpha_cutoff = Some(source.alpha_cutoff.unwrap_or_default().0),
            Checked::Valid(AlphaMode::Blend) => result.alpha_blend = true,
            Checked::Invalid => {
                let name = file.written(&format!("/materials/{index}/alphaMode"));
                return Err(within(Diagnostic::error(
                    DiagnosticCode::MaterialInvalid,
                    format!("unknown alpha mode {}; expected OPAQUE, MASK or BLEND", quoted(&name)),
                )));
            }
        }
        let pbr = &source.pbr_metallic_roughness;
        let white = pbr.base_color_texture.is_none() && pbr.base_color_factor.0 == [1.0; 4];
        let glossy = source.extensions.as_ref().and_then(|e| e.pbr_specular_glossiness.as_ref());
        let (factor, base) = match glossy.filter(|_| white) {
            Some(glossy) => {
                let message =
                    "KHR_materials_pbrSpecularGlossiness: the diffuse colour is drawn, the specular colour is not";
                let help = "convert the material to metallic-roughness (gltf-transform: metalrough)";
                report.warn(
                    within(Diagnostic::warning(DiagnosticCode::MaterialExtension, message))
                        .within(Label::file(&file.shown))
                        .help(help),
                );
                (glossy.diffuse_factor.0, glossy.diffuse_texture.as_ref())
            }
            None => (pbr.base_color_factor.0, pbr.base_color_texture.as_ref()),
        };
        result.base_color = factor;
        if !result.base_color.iter().chain(&result.alpha_cutoff).all(|x| x.is_finite()) {
            return Err(within(Diagnostic::error(
                DiagnosticCode::GltfNotFinite,
                "the base colour or alpha cutoff is not finite",
            )));
        }
        if let Some(info) = base {
            result.base_color_texture = self.textures.texture(file, info.index).map_err(within)?;
            if result.base_color_texture.is_none() {
                let message = format!("texture {} has no image; the material is drawn without it", info.index);
                report.warn(
                    within(Diagnostic::warning(DiagnosticCode::MaterialTexture, message))
                        .within(Label::file(&file.shown))
                        .help("give the texture an image, or remove it from the material"),
                );
            }
        }
        let uses = MaterialTextures::of(source);
        let uv = match base {
            Some(info) => {
                let transform = info.extensions.as_ref().and_then(|e| e.texture_transform.as_ref());
                Some(UvSource::new(info.tex_coord, transform).map_err(within)?)
            }
            None => uses.uv(),
        };
        uses.read(&mut self.textures, file, source, &BaseColor { uv, label: &label }, &mut result, report);
        Ok((result, uv))
    }
}
