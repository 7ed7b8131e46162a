//! Render pipelines: one per shader variant and surface in use, compiled on first use.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::RendererDescriptor;
use super::layouts::{Layouts, buffers};
use super::material::ConstantsUse;
use super::shadow_map::SHADOW_FORMAT;
use super::surface::{LightResponse, Surface};
use crate::MeshPart;
use crate::shader::material::{LightingCode, SurfaceCode, TextureSet};
use crate::shader::{self, DiffuseCode, InstanceSource, Variant};

/// Colour and depth pipelines of one shader variant and surface.
#[derive(Debug)]
pub(crate) struct Pipelines {
    /// Pipeline for colour; of a blended surface, the one that blends.
    color: OnceLock<wgpu::RenderPipeline>,
    /// Pipeline for the depth of a blended surface, in a pass with colour and depth.
    cover: OnceLock<wgpu::RenderPipeline>,
    depth: OnceLock<wgpu::RenderPipeline>,
    shadow: OnceLock<wgpu::RenderPipeline>,
    recipe: Recipe,
}

/// Inputs of the pipelines.
#[derive(Debug)]
struct Recipe {
    device: wgpu::Device,
    /// Layouts of colour passes, and of depth passes.
    layouts: [wgpu::PipelineLayout; 2],
    module: Arc<OnceLock<wgpu::ShaderModule>>,
    variant: Variant,
    instances: InstanceSource,
    surface: Surface,
    descriptor: RendererDescriptor,
}

/// Step of drawing, and its attachments.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PassKind {
    /// Surfaces that are not blended, into colour and depth.
    Color,
    /// Depth of blended surfaces, in the pass of [`PassKind::Color`] after it.
    Cover,
    /// Colour of blended surfaces where their depth is equal, in the same pass.
    Blend,
    /// Surfaces that are not blended, into depth.
    Depth,
    /// All surfaces, into the renderer's own shadow map.
    Shadow,
}

impl Pipelines {
    /// Returns the pipeline for a kind of pass; `None` if the surface is not drawn in it.
    pub(crate) fn of(&self, kind: PassKind) -> Option<&wgpu::RenderPipeline> {
        if !self.draws(kind) {
            return None;
        }
        Some(match kind {
            PassKind::Color | PassKind::Blend => self.color.get_or_init(|| self.recipe.color()),
            PassKind::Cover => self.cover.get_or_init(|| self.recipe.cover()),
            PassKind::Depth => self.depth.get_or_init(|| self.recipe.depth()),
            PassKind::Shadow => self.shadow.get_or_init(|| self.recipe.shadow()),
        })
    }

    /// Compiles the pipelines of colour passes. Those of depth passes are compiled when they first draw: many games never
    /// do.
    pub(crate) fn compile(&self) {
        [PassKind::Color, PassKind::Cover, PassKind::Blend].into_iter().for_each(|kind| _ = self.of(kind));
    }

    /// Compiles the pipelines of each kind of pass for which `other`, of the same surface, has one.
    pub(crate) fn compile_like(&self, other: &Self) {
        other.compiled().for_each(|kind| _ = self.of(kind));
    }

    /// Whether there is a pipeline for each kind of pass for which `other`, of the same surface, has one.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        other.compiled().all(|kind| self.compiled().any(|own| own == kind))
    }

    /// Kinds of passes for which there are pipelines.
    fn compiled(&self) -> impl Iterator<Item = PassKind> {
        let Self { color, cover, depth, shadow, .. } = self;
        let color_kind = if self.recipe.surface.blended { PassKind::Blend } else { PassKind::Color };
        let kinds = [color_kind, PassKind::Cover, PassKind::Depth, PassKind::Shadow];
        kinds.into_iter().zip([color, cover, depth, shadow]).filter_map(|(kind, made)| made.get().map(|_| kind))
    }

    /// Whether the surface is drawn in a kind of pass.
    pub(crate) fn draws(&self, kind: PassKind) -> bool {
        match kind {
            PassKind::Color | PassKind::Depth => !self.recipe.surface.blended,
            PassKind::Cover => self.recipe.surface.blended && self.recipe.descriptor.depth_format.is_some(),
            PassKind::Blend => self.recipe.surface.blended,
            PassKind::Shadow => true,
        }
    }

    /// Whether the surface is blended.
    pub(crate) fn blends(&self) -> bool {
        self.recipe.surface.blended
    }

    /// Textures that the surface samples.
    pub(crate) fn textures(&self) -> TextureSet {
        self.recipe.surface.textures
    }

    /// Bytes of the constants of a material that the shaders read.
    pub(crate) fn constants_size(&self) -> usize {
        let Surface { clearcoat, specular, sheen, textures, .. } = self.recipe.surface;
        let layered = textures.has(TextureSet::LAYERS);
        ConstantsUse { full: self.recipe.is_full(), layered, specular, clearcoat, sheen }.size()
    }

    /// Whether materials are in tables.
    pub(crate) fn has_tables(&self) -> bool {
        self.recipe.instances.has_table()
    }

    /// Whether a shader reads the material.
    pub(crate) fn reads_material(&self, kind: PassKind) -> bool {
        let Surface { masked, blended, .. } = self.recipe.surface;
        masked || blended || kind == PassKind::Color
    }
}

impl Recipe {
    fn color(&self) -> wgpu::RenderPipeline {
        let target = wgpu::ColorTargetState {
            format: self.descriptor.color_format,
            blend: self.surface.blended.then_some(wgpu::BlendState::ALPHA_BLENDING),
            write_mask: wgpu::ColorWrites::ALL,
        };
        let fragment = match (self.surface.response, self.surface.masked) {
            _ if self.is_full() => "fragment",
            (LightResponse::Lit, false) => "fragment",
            (LightResponse::Lit, true) => "fragment_masked",
            (LightResponse::Emissive, false) => "fragment_emissive",
            (LightResponse::Emissive, true) => "fragment_masked_emissive",
            (LightResponse::Unlit, false) => "fragment_unlit",
            (LightResponse::Unlit, true) => "fragment_masked_unlit",
        };
        let mut depth = self.descriptor.depth_format.map(|format| self.depth_state(format, Default::default()));
        if let Some(depth) = depth.as_mut().filter(|_| self.surface.blended) {
            // The nearest blended surface: its depth has been drawn.
            depth.depth_compare = Some(wgpu::CompareFunction::Equal);
            depth.depth_write_enabled = Some(false);
        }
        self.pipeline(
            &self.layouts[0],
            "vertex",
            Some((fragment, &[Some(target)])),
            depth,
            self.descriptor.sample_count,
        )
    }

    /// Depth of a blended surface, by the vertex shader that draws its colour: depth must be equal.
    fn cover(&self) -> wgpu::RenderPipeline {
        let (format, write_mask) = (self.descriptor.color_format, wgpu::ColorWrites::empty());
        let target = wgpu::ColorTargetState { format, blend: None, write_mask };
        let depth = self.descriptor.depth_format.map(|format| self.depth_state(format, Default::default()));
        let fragment = Some(("fragment_cover", &[Some(target)][..]));
        self.pipeline(&self.layouts[0], "vertex", fragment, depth, self.descriptor.sample_count)
    }

    fn depth(&self) -> wgpu::RenderPipeline {
        let pass = &self.descriptor.depth_pass;
        self.depth_only(self.depth_state(pass.format, pass.bias), pass.sample_count)
    }

    fn shadow(&self) -> wgpu::RenderPipeline {
        self.depth_only(self.depth_state(SHADOW_FORMAT, Default::default()), 1)
    }

    fn depth_only(&self, depth: wgpu::DepthStencilState, sample_count: u32) -> wgpu::RenderPipeline {
        let fragment = match self.surface {
            Surface { blended: true, .. } => Some("fragment_shadow"),
            Surface { masked: true, .. } => Some("fragment_depth_masked"),
            _ => None,
        };
        let fragment = fragment.map(|entry_point| (entry_point, &[][..]));
        self.pipeline(&self.layouts[1], "vertex_depth", fragment, Some(depth), sample_count)
    }

    /// Whether the renderer draws the metallic-roughness model.
    fn is_full(&self) -> bool {
        self.descriptor.shading.features().is_some()
    }

    /// Shader module, compiled on first use.
    fn module(&self) -> &wgpu::ShaderModule {
        self.module.get_or_init(|| {
            let Self { variant, instances, surface, .. } = *self;
            let text = match self.descriptor.shading.features() {
                Some(features) => {
                    let own = features.own_functions();
                    shader::material::material(variant, instances, surface.code(), features.code(), own)
                }
                None => shader::drawn(variant, instances, surface.diffuse_code()),
            };
            let text = if surface.blended { shader::blended(text) } else { text };
            self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("gpuskin crowd"),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            })
        })
    }

    fn depth_state(&self, format: wgpu::TextureFormat, bias: wgpu::DepthBiasState) -> wgpu::DepthStencilState {
        wgpu::DepthStencilState {
            format,
            depth_write_enabled: Some(true),
            depth_compare: Some(self.descriptor.depth_compare),
            stencil: Default::default(),
            bias,
        }
    }

    fn pipeline(
        &self,
        layout: &wgpu::PipelineLayout,
        vertex: &str,
        fragment: Option<(&str, &[Option<wgpu::ColorTargetState>])>,
        depth_stencil: Option<wgpu::DepthStencilState>,
        sample_count: u32,
    ) -> wgpu::RenderPipeline {
        let buffers = buffers(self.variant, self.instances);
        let constants = [("flat_triangles", f64::from(self.surface.flat))];
        let constants = if self.is_full() { &[][..] } else { &constants };
        let compilation_options = wgpu::PipelineCompilationOptions { constants, ..Default::default() };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("gpuskin"),
            layout: Some(layout),
            vertex: wgpu::VertexState {
                module: self.module(),
                entry_point: Some(vertex),
                compilation_options: compilation_options.clone(),
                buffers: &buffers.layouts(),
            },
            primitive: wgpu::PrimitiveState {
                // Front faces are counter-clockwise, as in glTF.
                cull_mode: if self.surface.double_sided { None } else { Some(wgpu::Face::Back) },
                ..Default::default()
            },
            depth_stencil,
            multisample: wgpu::MultisampleState { count: sample_count, ..Default::default() },
            fragment: fragment.map(|(entry_point, targets)| wgpu::FragmentState {
                module: self.module(),
                entry_point: Some(entry_point),
                compilation_options,
                targets,
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// Selects a shader module: vertices, the material in both models, whether surfaces are blended.
type ShaderKey = (Variant, InstanceSource, Option<(SurfaceCode, LightingCode)>, DiffuseCode, bool);

/// Pipelines of a renderer, by shader variant and surface.
#[derive(Debug)]
pub(crate) struct PipelineCache {
    device: wgpu::Device,
    descriptor: RendererDescriptor,
    /// Shader modules; those of the metallic-roughness model by the code of their surface too.
    shaders: HashMap<ShaderKey, Arc<OnceLock<wgpu::ShaderModule>>>,
    /// Pipeline layouts of colour and depth passes.
    layouts: HashMap<(Variant, InstanceSource, TextureSet), [wgpu::PipelineLayout; 2]>,
    pipelines: HashMap<(Variant, InstanceSource, Surface), Arc<Pipelines>>,
    /// Whether there are pipelines of blended surfaces.
    pub(crate) blends: bool,
}

impl PipelineCache {
    pub(crate) fn new(device: &wgpu::Device, descriptor: RendererDescriptor) -> Self {
        let (shaders, layouts, pipelines) = Default::default();
        Self { device: device.clone(), descriptor, shaders, layouts, pipelines, blends: false }
    }

    /// Format of the colour attachment, if the device cannot blend into it.
    pub(crate) fn unblendable(&self) -> Option<wgpu::TextureFormat> {
        let format = self.descriptor.color_format;
        let features = format.guaranteed_format_features(self.device.features());
        (!features.flags.contains(wgpu::TextureFormatFeatureFlags::BLENDABLE)).then_some(format)
    }

    /// Returns the pipelines of a surface, with those of colour passes compiled.
    pub(crate) fn get(
        &mut self,
        layouts: &Layouts,
        text: (Variant, InstanceSource),
        surface: Surface,
    ) -> Arc<Pipelines> {
        let pipelines = self.uncompiled(layouts, text, surface);
        pipelines.compile();
        pipelines
    }

    /// Returns the pipelines of a surface. What is not compiled yet is on first use, in any thread.
    pub(crate) fn uncompiled(
        &mut self,
        layouts: &Layouts,
        (variant, instances): (Variant, InstanceSource),
        surface: Surface,
    ) -> Arc<Pipelines> {
        let layers = surface.textures.has(TextureSet::LAYERS);
        // Other surfaces do not read variants, and share the pipelines of models without any.
        let variant = Variant { model_variants: variant.model_variants && layers, ..variant };
        if let Some(pipelines) = self.pipelines.get(&(variant, instances, surface)) {
            return pipelines.clone();
        }
        let code = self.descriptor.shading.features().map(|features| (surface.code(), features.code()));
        let blended = surface.blended;
        self.blends |= blended;
        let module = self.shaders.entry((variant, instances, code, surface.diffuse_code(), blended)).or_default();
        let layout = self
            .layouts
            .entry((variant, instances, surface.textures))
            .or_insert_with(|| layouts.pipelines(variant, instances, surface.textures));
        let recipe = Recipe {
            device: self.device.clone(),
            layouts: layout.clone(),
            module: module.clone(),
            variant,
            instances,
            surface,
            descriptor: self.descriptor.clone(),
        };
        let (color, cover, depth, shadow) = Default::default();
        let pipelines = Arc::new(Pipelines { color, cover, depth, shadow, recipe });
        self.pipelines.insert((variant, instances, surface), pipelines.clone());
        pipelines
    }
}

/// Mesh part and the pipelines of its material.
#[derive(Debug)]
pub(crate) struct DrawnPart {
    pub(crate) mesh: MeshPart,
    pub(crate) pipelines: Arc<Pipelines>,
    /// Pipelines that draw cached vertices, if the crowd has a cache.
    pub(crate) cached: Option<Arc<Pipelines>>,
    /// Pipelines for instances whose bones vertices evaluate, if the crowd may have some.
    pub(crate) slotless: Option<Arc<Pipelines>>,
    /// Pipelines for instances whose morph targets a compute pass has added, if the model has any.
    pub(crate) morphs_added: Option<Arc<Pipelines>>,
}

impl DrawnPart {
    /// Part whose instances all read their poses from the palette or the animation texture.
    pub(crate) fn new(mesh: MeshPart, pipelines: Arc<Pipelines>) -> Self {
        Self { mesh, pipelines, cached: None, slotless: None, morphs_added: None }
    }
}
