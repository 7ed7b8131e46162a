//! Part of a pipeline that an extension of materials decides.

use core::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use bevy::material::descriptor::{BindGroupLayoutDescriptor, RenderPipelineDescriptor};
use bevy::mesh::MeshVertexBufferLayoutRef;
use bevy::pbr::{
    ExtendedMaterial, Material, MaterialExtension, MaterialPipeline, MaterialPipelineKey, MeshPipeline,
    MeshPipelineKey, MeshUniform,
};
use bevy::prelude::*;
use bevy::render::render_resource::{AsBindGroup, BindGroupLayoutEntry, ShaderType, SpecializedMeshPipelineError};
use gpuskin_rt::wgpu;

use super::shader::Pass;

pub(super) type Extended<E> = ExtendedMaterial<StandardMaterial, E>;
pub(super) type Data<E> = <Extended<E> as AsBindGroup>::Data;

/// Material of a part with an extension.
#[derive(Clone, Debug)]
pub(super) struct ExtendedPart {
    pub(super) bind_group: wgpu::BindGroup,
    pub(super) class: Arc<ExtensionClass>,
}

/// Part of a pipeline that an extension decides.
#[derive(Debug)]
pub(super) struct ExtensionClass {
    /// Layout of the material's bind group.
    pub(super) layout: BindGroupLayoutDescriptor,
    pub(super) fragment_shader: Handle<Shader>,
    pub(super) prepass_fragment_shader: Option<Handle<Shader>>,
    specialize: Box<dyn Specialize>,
}

impl ExtensionClass {
    /// `shaders`: those of fragments in the main pass, and in the prepass if the extension has one.
    pub(super) fn new<E: MaterialExtension>(
        layout: BindGroupLayoutDescriptor,
        (fragment_shader, prepass_fragment_shader): (Handle<Shader>, Option<Handle<Shader>>),
        data: Data<E>,
    ) -> Self
    where
        E::Data: Copy,
    {
        Self { layout, fragment_shader, prepass_fragment_shader, specialize: Box::new(Specializer::<E>(data)) }
    }

    /// Whether the extension has the fragment shader of a pass. The other passes draw the materials of the model.
    pub(super) const fn draws(&self, pass: Pass) -> bool {
        match pass {
            Pass::Forward => true,
            Pass::Prepass => self.prepass_fragment_shader.is_some(),
            Pass::Cover => false,
        }
    }

    /// Lets the materials change a pipeline, as bevy_pbr does for meshes.
    pub(super) fn specialize(
        &self,
        mesh: &MeshPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        key: MeshPipelineKey,
    ) -> Result<(), SpecializedMeshPipelineError> {
        self.specialize.specialize(&MaterialPipeline { mesh_pipeline: mesh.clone() }, descriptor, layout, key)
    }
}

trait Specialize: Send + Sync + Debug {
    fn specialize(
        &self,
        pipeline: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        key: MeshPipelineKey,
    ) -> Result<(), SpecializedMeshPipelineError>;
}

/// Data of an extended material that its pipelines depend on.
struct Specializer<E: MaterialExtension>(Data<E>);

impl<E: MaterialExtension> Debug for Specializer<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(core::any::type_name::<E>())
    }
}

impl<E: MaterialExtension> Specialize for Specializer<E>
where
    E::Data: Copy,
{
    fn specialize(
        &self,
        pipeline: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        mesh_key: MeshPipelineKey,
    ) -> Result<(), SpecializedMeshPipelineError> {
        let key = MaterialPipelineKey { mesh_key, bind_group_data: self.0 };
        Extended::<E>::specialize(pipeline, descriptor, layout, key)
    }
}

/// Returns the layout of the bind group that replaces `mesh_bindings` of bevy_pbr.
pub(super) fn mesh_layout() -> BindGroupLayoutDescriptor {
    let entry = |binding, visibility, ty, size: u64| BindGroupLayoutEntry {
        binding,
        visibility,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: wgpu::BufferSize::new(size) },
        count: None,
    };
    let storage = wgpu::BufferBindingType::Storage { read_only: true };
    let entries = [
        entry(0, wgpu::ShaderStages::VERTEX_FRAGMENT, storage, MeshUniform::min_size().get()),
        entry(1, wgpu::ShaderStages::VERTEX, wgpu::BufferBindingType::Uniform, 16),
    ];
    BindGroupLayoutDescriptor::new("bevy_gpuskin extended mesh", &entries)
}
