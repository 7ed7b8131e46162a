//! Render pipelines: one per shader variant and surface in use, created on first use.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::RendererDescriptor;
use super::layouts::{Layouts, buffers};
use super::surface::{Shading, Surface};
use crate::MeshPart;
use crate::shader::{self, InstanceSource, Variant};

/// Colour and depth pipelines of one shader variant and surface.
#[derive(Debug)]
pub(crate) struct Pipelines {
    color: wgpu::RenderPipeline,
    depth: OnceLock<wgpu::RenderPipeline>,
    recipe: Recipe,
}

/// Inputs of the depth pipeline, which is created on first use: many games never draw one.
#[derive(Debug)]
struct Recipe {
    device: wgpu::Device,
    layout: wgpu::PipelineLayout,
    module: wgpu::ShaderModule,
    variant: Variant,
    instances: InstanceSource,
    surface: Surface,
    descriptor: RendererDescriptor,
}

/// Attachments of a render pass: colour and depth, or depth only.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PassKind {
    Color,
    Depth,
}

impl Pipelines {
    /// Returns the pipeline for depth passes or for colour passes.
    pub(crate) fn of(&self, kind: PassKind) -> &wgpu::RenderPipeline {
        match kind {
            PassKind::Color => &self.color,
            PassKind::Depth => self.depth.get_or_init(|| self.recipe.depth()),
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
        let fragment = match (self.surface.shading, self.surface.masked) {
            (Shading::Lit, false) => "fragment",
            (Shading::Lit, true) => "fragment_masked",
            (Shading::Emissive, false) => "fragment_emissive",
            (Shading::Emissive, true) => "fragment_masked_emissive",
            (Shading::Unlit, false) => "fragment_unlit",
            (Shading::Unlit, true) => "fragment_masked_unlit",
        };
        let depth = self.descriptor.depth_format.map(|format| self.depth_state(format, Default::default()));
        self.pipeline("vertex", Some((fragment, &[Some(target)])), depth, self.descriptor.sample_count)
    }

    fn depth(&self) -> wgpu::RenderPipeline {
        let pass = &self.descriptor.depth_pass;
        let fragment = self.surface.masked.then_some(("fragment_depth_masked", &[][..]));
        self.pipeline("vertex_depth", fragment, Some(self.depth_state(pass.format, pass.bias)), pass.sample_count)
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
        vertex: &str,
        fragment: Option<(&str, &[Option<wgpu::ColorTargetState>])>,
        depth_stencil: Option<wgpu::DepthStencilState>,
        sample_count: u32,
    ) -> wgpu::RenderPipeline {
        let buffers = buffers(self.variant, self.instances);
        let constants = [("flat_triangles", f64::from(self.surface.flat))];
        let compilation_options = wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("gpuskin"),
            layout: Some(&self.layout),
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

/// Pipelines of a renderer, by shader variant and surface.
#[derive(Debug)]
pub(crate) struct PipelineCache {
    device: wgpu::Device,
    descriptor: RendererDescriptor,
    shaders: HashMap<(Variant, InstanceSource), wgpu::ShaderModule>,
    /// Pipeline layouts; the `bool` says whether the material emits light.
    layouts: HashMap<(Variant, InstanceSource, bool), wgpu::PipelineLayout>,
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
        let module = self.shaders.entry((variant, instances)).or_insert_with(|| {
            self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("gpuskin crowd"),
                source: wgpu::ShaderSource::Wgsl(shader::drawn(variant, instances).into()),
            })
        });
        let layout = self
            .layouts
            .entry((variant, instances, surface.emits()))
            .or_insert_with(|| layouts.pipeline(variant, instances, surface.emits()));
        let recipe = Recipe {
            device: self.device.clone(),
            layout: layout.clone(),
            module: module.clone(),
            variant,
            instances,
            surface,
            descriptor: self.descriptor.clone(),
        };
        let pipelines = Arc::new(Pipelines { color: recipe.color(), depth: OnceLock::new(), recipe });
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
