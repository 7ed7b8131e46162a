//! Render pipelines: one per shader variant and surface in use, created on first use.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::RendererDescriptor;
use super::layouts::{Layouts, buffers};
use super::shadows::SHADOW_FORMAT;
use super::surface::{LightResponse, Surface};
use crate::MeshPart;
use crate::shader::material::{LightingCode, SurfaceCode, TextureSet};
use crate::shader::{self, InstanceSource, Variant};

/// Colour and depth pipelines of one shader variant and surface.
#[derive(Debug)]
pub(crate) struct Pipelines {
    color: wgpu::RenderPipeline,
    depth: OnceLock<wgpu::RenderPipeline>,
    shadow: OnceLock<wgpu::RenderPipeline>,
    recipe: Recipe,
}

/// Inputs of the depth pipelines, which are created on first use: many games never draw one.
#[derive(Debug)]
struct Recipe {
    device: wgpu::Device,
    /// Layouts of colour passes, and of depth passes.
    layouts: [wgpu::PipelineLayout; 2],
    module: wgpu::ShaderModule,
    variant: Variant,
    instances: InstanceSource,
    surface: Surface,
    descriptor: RendererDescriptor,
}

/// Attachments of a render pass: colour and depth, depth only, or the renderer's own shadow map.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PassKind {
    Color,
    Depth,
    Shadow,
}

impl Pipelines {
    /// Returns the pipeline for depth passes or for colour passes.
    pub(crate) fn of(&self, kind: PassKind) -> &wgpu::RenderPipeline {
        match kind {
            PassKind::Color => &self.color,
            PassKind::Depth => self.depth.get_or_init(|| self.recipe.depth()),
            PassKind::Shadow => self.shadow.get_or_init(|| self.recipe.shadow()),
        }
    }
}

impl Pipelines {
    /// Whether a shader reads the material.
    pub(crate) fn reads_material(&self, kind: PassKind) -> bool {
        kind == PassKind::Color || self.recipe.surface.masked
    }
}

impl Recipe {
    fn color(&self) -> wgpu::RenderPipeline {
        let target = wgpu::ColorTargetState {
            format: self.descriptor.color_format,
            blend: None,
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
        let depth = self.descriptor.depth_format.map(|format| self.depth_state(format, Default::default()));
        self.pipeline(
            &self.layouts[0],
            "vertex",
            Some((fragment, &[Some(target)])),
            depth,
            self.descriptor.sample_count,
        )
    }

    fn depth(&self) -> wgpu::RenderPipeline {
        let pass = &self.descriptor.depth_pass;
        self.depth_only(self.depth_state(pass.format, pass.bias), pass.sample_count)
    }

    fn shadow(&self) -> wgpu::RenderPipeline {
        self.depth_only(self.depth_state(SHADOW_FORMAT, Default::default()), 1)
    }

    fn depth_only(&self, depth: wgpu::DepthStencilState, sample_count: u32) -> wgpu::RenderPipeline {
        let fragment = self.surface.masked.then_some(("fragment_depth_masked", &[][..]));
        self.pipeline(&self.layouts[1], "vertex_depth", fragment, Some(depth), sample_count)
    }

    /// Whether the renderer draws the metallic-roughness model.
    fn is_full(&self) -> bool {
        self.descriptor.shading.features().is_some()
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
                module: &self.module,
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
                module: &self.module,
                entry_point: Some(entry_point),
                compilation_options,
                targets,
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// Selects a shader module. The last part is that of the metallic-roughness material.
type ShaderKey = (Variant, InstanceSource, Option<(SurfaceCode, LightingCode)>);

/// Pipelines of a renderer, by shader variant and surface.
#[derive(Debug)]
pub(crate) struct PipelineCache {
    device: wgpu::Device,
    descriptor: RendererDescriptor,
    /// Shader modules; those of the metallic-roughness model by the code of their surface too.
    shaders: HashMap<ShaderKey, wgpu::ShaderModule>,
    /// Pipeline layouts of colour and depth passes.
    layouts: HashMap<(Variant, InstanceSource, TextureSet), [wgpu::PipelineLayout; 2]>,
    pipelines: HashMap<(Variant, InstanceSource, Surface), Arc<Pipelines>>,
}

impl PipelineCache {
    pub(crate) fn new(device: &wgpu::Device, descriptor: RendererDescriptor) -> Self {
        let (shaders, layouts, pipelines) = Default::default();
        Self { device: device.clone(), descriptor, shaders, layouts, pipelines }
    }

    pub(crate) fn get(
        &mut self,
        layouts: &Layouts,
        (variant, instances): (Variant, InstanceSource),
        surface: Surface,
    ) -> Arc<Pipelines> {
        if let Some(pipelines) = self.pipelines.get(&(variant, instances, surface)) {
            return pipelines.clone();
        }
        let code = self.descriptor.shading.features().map(|features| (surface.code(), features.code()));
        let text = || match code {
            Some((surface, lighting)) => shader::material::material(variant, instances, surface, lighting),
            None => shader::drawn(variant, instances),
        };
        let module = self.shaders.entry((variant, instances, code)).or_insert_with(|| {
            self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("gpuskin crowd"),
                source: wgpu::ShaderSource::Wgsl(text().into()),
            })
        });
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
        let pipelines =
            Arc::new(Pipelines { color: recipe.color(), depth: OnceLock::new(), shadow: OnceLock::new(), recipe });
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
}
