//! Materials and the images that they use.

use std::collections::{BTreeMap, BTreeSet};

use gltf::json::material::AlphaMode;
use gltf::json::validation::Checked;
use gltf::json::{self, Index};

use super::coordinates::{Coordinates, UvSource};
use super::file::File;
use super::file_variants::{self, VariantMaterials};
use super::looks::{Look, Looks};
use super::report::Report;
use super::surface::{BaseColor, MaterialTextures};
use super::textures::{Pixels, TextureReader};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::model::{Material, Texture};
use crate::suggest::{list, quoted};

/// Extension without parameters: a material is unlit if the extension is present.
pub(super) const UNLIT: &str = "KHR_materials_unlit";

/// Maximum number of differences that a warning lists.
const LISTED: usize = 6;

/// The materials in use, in the order of their first use.
pub(super) struct Materials {
    pub textures: TextureReader,
    slots: BTreeMap<(Option<usize>, VariantMaterials), Option<usize>>,
    pub list: Vec<Material>,
    uvs: Vec<Coordinates>,
    /// Base colours in the variants, per material of [`Self::list`].
    pub looks: Vec<Looks>,
}

/// Base colour of a material of the file.
struct BaseColorOf {
    factor: [f32; 4],
    texture: Option<Texture>,
    /// Texture coordinates; `None` if the material names no texture.
    uv: Option<UvSource>,
}

impl Materials {
    pub(super) fn new(pixels: Pixels) -> Self {
        let textures = TextureReader::new(pixels);
        Self { textures, slots: BTreeMap::new(), list: Vec::new(), uvs: Vec::new(), looks: Vec::new() }
    }

    /// Returns the index in [`Self::list`] of a material of the file. An invalid material is
    /// reported once. Primitives with one material, but others in `variants`, have entries of their own.
    pub(super) fn slot(
        &mut self,
        file: &File<'_>,
        material: Option<Index<json::Material>>,
        variants: VariantMaterials,
        report: &mut Report<'_>,
    ) -> Option<usize> {
        let key = (material.map(|m| m.value()), variants);
        if let Some(slot) = self.slots.get(&key) {
            return *slot;
        }
        let read = self.read(file, material, report).and_then(|(mut own, mut uv)| {
            let looks = self.looks_of(file, (&mut own, &mut uv.first), &key, report)?;
            Ok((own, uv, looks))
        });
        let slot = match read {
            Ok((material, uv, looks)) => {
                self.list.push(material);
                self.uvs.push(uv);
                self.looks.push(looks);
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
        self.slots.keys().filter_map(|(material, _)| *material).collect::<BTreeSet<_>>().into_iter()
    }

    /// Returns the sources of texture coordinates of a material of [`Self::list`].
    pub(super) fn coordinates(&self, slot: usize) -> Coordinates {
        self.uvs[slot]
    }

    fn read(
        &mut self,
        file: &File<'_>,
        material: Option<Index<json::Material>>,
        report: &mut Report<'_>,
    ) -> Result<(Material, Coordinates), Diagnostic> {
        let mut result = Material::default();
        let Some(index) = material else { return Ok((result, Coordinates::default())) };
        let source = file.get(&file.document.materials, index, "material")?;
        result.name = source.name.clone().unwrap_or_default();
        let label = label(file, index);
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
        let base = self.base_color(file, index, report)?;
        (result.base_color, result.base_color_texture) = (base.factor, base.texture);
        if !result.alpha_cutoff.is_none_or(f32::is_finite) {
            return Err(within(Diagnostic::error(DiagnosticCode::GltfNotFinite, "the alpha cutoff is not finite")));
        }
        let uses = MaterialTextures::of(source);
        let first = base.uv.or_else(|| uses.uv());
        let base = BaseColor { uv: first, label: &label };
        let second = uses.read(&mut self.textures, file, source, &base, &mut result, report);
        Ok((result, Coordinates { first, second }))
    }

    /// Reads factor and texture of a material's base colour.
    fn base_color(
        &mut self,
        file: &File<'_>,
        index: Index<json::Material>,
        report: &mut Report<'_>,
    ) -> Result<BaseColorOf, Diagnostic> {
        let source = file.get(&file.document.materials, index, "material")?;
        let label = label(file, index);
        let within = |diagnostic: Diagnostic| diagnostic.within(&label);
        let pbr = &source.pbr_metallic_roughness;
        let white = pbr.base_color_texture.is_none() && pbr.base_color_factor.0 == [1.0; 4];
        let glossy = source.extensions.as_ref().and_then(|e| e.pbr_specular_glossiness.as_ref());
        let (factor, info) = match glossy.filter(|_| white) {
            Some(glossy) => {
                let message =
                    "KHR_materials_pbrSpecularGlossiness: the diffuse colour is drawn, the specular colour is not";
                let help = "convert the material to metallic-roughness (gltf-transform: metalrough)";
                report.warn(
                    within(Diagnostic::warning(DiagnosticCode::MaterialExtension, message).collected())
                        .within(Label::file(&file.shown))
                        .help(help),
                );
                (glossy.diffuse_factor.0, glossy.diffuse_texture.as_ref())
            }
            None => (pbr.base_color_factor.0, pbr.base_color_texture.as_ref()),
        };
        if !factor.iter().all(|x| x.is_finite()) {
            return Err(within(Diagnostic::error(DiagnosticCode::GltfNotFinite, "the base colour is not finite")));
        }
        let Some(info) = info else { return Ok(BaseColorOf { factor, texture: None, uv: None }) };
        let texture = self.textures.texture(file, info.index).map_err(within)?;
        if texture.is_none() {
            let message = format!("texture {} has no image; the material is drawn without it", info.index);
            report.warn(
                within(Diagnostic::warning(DiagnosticCode::MaterialTexture, message).collected_as("no image"))
                    .within(Label::file(&file.shown))
                    .help("give the texture an image, or remove it from the material"),
            );
        }
        let transform = info.extensions.as_ref().and_then(|e| e.texture_transform.as_ref());
        let uv = UvSource::new(info.tex_coord, transform).map_err(within)?;
        Ok(BaseColorOf { factor, texture, uv: Some(uv) })
    }

    /// Returns the base colours that a material has in the variants of the file. If only other materials have a texture,
    /// sets the texture and the texture coordinates of `own`; its image is set by [`Looks::bake`].
    fn looks_of(
        &mut self,
        file: &File<'_>,
        (own, own_uv): (&mut Material, &mut Option<UvSource>),
        (material, variants): &(Option<usize>, VariantMaterials),
        report: &mut Report<'_>,
    ) -> Result<Looks, Diagnostic> {
        let image = own.base_color_texture.map(|texture| texture.image);
        let mut looks = Looks::of(Look { factor: own.base_color, image });
        let mut read: BTreeMap<usize, Look> = BTreeMap::new();
        for (&variant, &other) in variants {
            if let Some(look) = read.get(&other) {
                looks.set(variant.into(), *look);
                continue;
            }
            let index = Index::new(other as u32);
            let base = self.base_color(file, index, report)?;
            let mut lost = file_variants::differences(file, *material, other)?;
            let warn = |diagnostic: Diagnostic, report: &mut Report<'_>| {
                report.warn(diagnostic.within(label(file, index)).within(Label::file(&file.shown)));
            };
            let mut look = Look { factor: base.factor, image: base.texture.map(|texture| texture.image) };
            if let Some(texture) = base.texture {
                let [other, same] =
                    [Some(texture.image), looks.image()].map(|image| image.map(|i| self.textures.size(i)));
                if let (Some([width, height]), Some([w, h])) = (other, same.filter(|_| other != same)) {
                    let message = format!(
                        "the base colour has {width} x {height} texels, but that of the material which it replaces in \
                         variants has {w} x {h}; these variants keep the other one"
                    );
                    let help = "scale one of the two images: all variants of a material are layers of one texture";
                    warn(Diagnostic::warning(DiagnosticCode::MaterialVariant, message).help(help), report);
                    look = looks.own();
                } else {
                    let used = own.base_color_texture.get_or_insert(texture);
                    if (used.wrap, used.nearest) != (texture.wrap, texture.nearest) {
                        lost.push("baseColorTexture.sampler".to_owned());
                    }
                    if *own_uv.get_or_insert(base.uv.expect("a texture has coordinates")) != base.uv.expect("as above")
                    {
                        lost.push("baseColorTexture.texCoord".to_owned());
                    }
                }
            }
            if !lost.is_empty() {
                let message = format!(
                    "the material replaces {} in variants, which change base colours only; not drawn: {}",
                    material.map_or("the default material".to_owned(), |own| label(file, Index::new(own as u32))
                        .to_string()),
                    list(lost.iter().map(String::as_str), LISTED)
                );
                warn(Diagnostic::warning(DiagnosticCode::VariantDifference, message), report);
            }
            read.insert(other, look);
            looks.set(variant.into(), look);
        }
        Ok(looks)
    }
}

/// Returns the name of a material in messages.
fn label(file: &File<'_>, index: Index<json::Material>) -> Label {
    match file.document.materials.get(index.value()).and_then(|material| material.name.as_ref()) {
        Some(name) => Label::from(format_args!("material {index} {}", quoted(name))),
        None => Label::from(format_args!("material {index}")),
    }
}
