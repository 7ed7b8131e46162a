//! Pipelines: what bevy_pbr's mesh pipelines do for a view, with gpuskin's vertices, model and material.

use bevy::asset::RenderAssetUsages;
use bevy::core_pipeline::core_3d::CORE_3D_DEPTH_FORMAT;
use bevy::core_pipeline::prepass::prepass_target_descriptors;
use bevy::material::descriptor::{
    BindGroupLayoutDescriptor, CachedRenderPipelineId, FragmentState, RenderPipelineDescriptor, VertexState,
};
use bevy::mesh::{Mesh, MeshVertexBufferLayoutRef, MeshVertexBufferLayouts, VertexBufferLayout};
use bevy::pbr::{MATERIAL_BIND_GROUP_INDEX, MeshPipeline, MeshPipelineKey, PrepassPipeline};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{
    CompareFunction, DepthStencilState, Face, MultisampleState, PipelineCache, PrimitiveState, PrimitiveTopology,
    SpecializedMeshPipeline,
};
use bevy::shader::{Shader, ShaderDefVal};
use gpuskin_rt::pipeline::{self, Variant};

use super::crowds::{DrawnCrowd, DrawnMesh};
use super::material::{self, MaterialClass, PartMaterial};
use super::shader::{Pass, Shaders, SurfaceCode};

/// Key of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    pass: Pass,
    view: MeshPipelineKey,
    variant: Variant,
    class: MaterialClass,
    flat: bool,
    receives_shadows: bool,
    surface: Option<SurfaceCode>,
}

/// Pipelines of a material: of smooth parts, of flat parts.
pub(super) type PartPipelines = [Option<CachedRenderPipelineId>; 2];

/// All pipelines that were requested.
#[derive(Resource, Debug, Default)]
pub(crate) struct Pipelines {
    ids: HashMap<Key, CachedRenderPipelineId>,
    shaders: Shaders,
}

/// bevy_pbr's pipelines and layouts, on which those of characters are based.
pub(super) struct Base<'a> {
    pub(super) mesh: &'a MeshPipeline,
    pub(super) prepass: &'a PrepassPipeline,
    pub(super) layouts: &'a mut MeshVertexBufferLayouts,
    pub(super) cache: &'a mut PipelineCache,
}

/// Forgets the pipelines of a lost device.
pub(crate) fn start(mut pipelines: ResMut<Pipelines>) {
    *pipelines = Pipelines::default();
}

impl Pipelines {
    /// Returns the pipelines of a crowd in a view, by mesh, by material. `view`: bevy_pbr's key of the view for this pass.
    pub(super) fn of_crowd(
        &mut self,
        base: &mut Base<'_>,
        pass: Pass,
        view: MeshPipelineKey,
        crowd: &DrawnCrowd,
    ) -> Vec<Vec<PartPipelines>> {
        // The prepass and shadow maps know no shadows.
        let receives_shadows = pass == Pass::Prepass || crowd.group.receives_shadows;
        let mut of_mesh = |mesh: &DrawnMesh| {
            let variant = mesh.variant;
            let surface = crowd.surface.filter(|_| pass == Pass::Forward);
            let mut get =
                |class, flat| self.get(base, Key { pass, view, variant, class, flat, receives_shadows, surface });
            let of_material = |material: &PartMaterial| {
                [get(material.class, false), if mesh.has_flat_parts { get(material.class, true) } else { None }]
            };
            mesh.materials.iter().map(of_material).collect()
        };
        crowd.meshes.iter().map(&mut of_mesh).collect()
    }

    fn get(&mut self, base: &mut Base<'_>, key: Key) -> Option<CachedRenderPipelineId> {
        if let Some(id) = self.ids.get(&key) {
            return Some(*id);
        }
        let shader = self.shaders.get(base.cache, key.pass, key.variant, key.surface);
        let descriptor = match key.pass {
            Pass::Forward => forward(base, key, shader)?,
            Pass::Prepass => prepass(base, key, shader),
        };
        let id = base.cache.queue_render_pipeline(descriptor);
        self.ids.insert(key, id);
        Some(id)
    }
}

impl Key {
    fn mesh_key(self) -> MeshPipelineKey {
        let triangles = MeshPipelineKey::from_primitive_topology_and_strip_index(PrimitiveTopology::TriangleList, None);
        let discard = if self.class.cut_out { MeshPipelineKey::MAY_DISCARD } else { MeshPipelineKey::empty() };
        self.view | triangles | discard
    }

    fn cull_mode(self) -> Option<Face> {
        let inverted = self.view.contains(MeshPipelineKey::INVERT_CULLING);
        (!self.class.double_sided).then_some(if inverted { Face::Front } else { Face::Back })
    }

    fn has_tangents(self) -> bool {
        self.variant.has_tangents()
    }

    fn shader_defs(self) -> Vec<ShaderDefVal> {
        let mut defs = vec![ShaderDefVal::UInt("MATERIAL_BIND_GROUP".into(), MATERIAL_BIND_GROUP_INDEX as u32)];
        if self.flat {
            defs.push("CHARACTER_FLAT".into());
        }
        if !self.receives_shadows {
            defs.push("CHARACTER_UNSHADOWED".into());
        }
        if self.surface.is_some() {
            defs.push("CHARACTER_SURFACE".into());
        }
        if self.class.variants {
            defs.push("CHARACTER_VARIANTS".into());
        }
        if self.class.normal_map && self.has_tangents() {
            defs.push("STANDARD_MATERIAL_NORMAL_MAP".into());
        }
        defs
    }

    fn model_layout(self) -> BindGroupLayoutDescriptor {
        BindGroupLayoutDescriptor::new("gpuskin model", &pipeline::model_layout_entries(self.variant))
    }

    fn vertex_buffers(self) -> Vec<VertexBufferLayout> {
        let buffers = pipeline::vertex_buffers(self.variant);
        let layouts = buffers.layouts();
        let owned = layouts.into_iter().flatten().map(|layout| VertexBufferLayout {
            array_stride: layout.array_stride,
            step_mode: layout.step_mode,
            attributes: layout.attributes.to_vec(),
        });
        owned.collect()
    }
}

/// bevy_pbr's mesh pipeline for a mesh with the attributes of the model.
fn forward(base: &mut Base<'_>, key: Key, shader: Handle<Shader>) -> Option<RenderPipelineDescriptor> {
    let layout = mesh_layout(base.layouts, key.has_tangents());
    let mut descriptor = match base.mesh.specialize(key.mesh_key(), &layout) {
        Ok(descriptor) => descriptor,
        Err(error) => {
            error_once!("characters are not drawn: {error}");
            return None;
        }
    };
    descriptor.label = Some("bevy_gpuskin forward".into());
    descriptor.vertex.shader = shader.clone();
    descriptor.vertex.buffers = key.vertex_buffers();
    descriptor.vertex.shader_defs.extend(key.shader_defs());
    if let Some(fragment) = &mut descriptor.fragment {
        fragment.shader = shader;
        fragment.shader_defs.extend(key.shader_defs());
    }
    // View, binding arrays of the view, model, material.
    descriptor.layout.truncate(2);
    descriptor.layout.extend([key.model_layout(), material::layout(key.class.variants)]);
    descriptor.primitive.cull_mode = key.cull_mode();
    Some(descriptor)
}

/// Layout of a mesh with the attributes of a model: it selects what bevy_pbr's functions do.
fn mesh_layout(layouts: &mut MeshVertexBufferLayouts, tangents: bool) -> MeshVertexBufferLayoutRef {
    let mut mesh = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::RENDER_WORLD)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0_f32; 3]])
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0_f32; 3]])
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, vec![[0.0_f32; 2]]);
    if tangents {
        mesh.insert_attribute(Mesh::ATTRIBUTE_TANGENT, vec![[0.0_f32; 4]]);
    }
    mesh.get_mesh_vertex_buffer_layout(layouts)
}

/// Returns the prepass pipeline that bevy_pbr makes for a mesh, in the prepass of a camera or in a shadow map.
fn prepass(base: &Base<'_>, key: Key, shader: Handle<Shader>) -> RenderPipelineDescriptor {
    let view = key.mesh_key();
    let has = |bits| view.contains(bits);
    let motion_vectors = has(MeshPipelineKey::MOTION_VECTOR_PREPASS);
    let normals = has(MeshPipelineKey::NORMAL_PREPASS);
    let unclipped = has(MeshPipelineKey::UNCLIPPED_DEPTH_ORTHO);
    let emulate = unclipped && !base.prepass.depth_clip_control_supported;

    let mut defs = key.shader_defs();
    defs.extend(["PREPASS_PIPELINE".into(), "DEPTH_PREPASS".into()]);
    for (set, name) in [
        (has(MeshPipelineKey::MAY_DISCARD), "MAY_DISCARD"),
        (normals, "NORMAL_PREPASS"),
        (motion_vectors, "MOTION_VECTOR_PREPASS"),
        (emulate, "UNCLIPPED_DEPTH_ORTHO_EMULATION"),
        (normals || motion_vectors || emulate, "PREPASS_FRAGMENT"),
        (has(MeshPipelineKey::VIEW_PROJECTION_PERSPECTIVE), "VIEW_PROJECTION_PERSPECTIVE"),
        (has(MeshPipelineKey::VIEW_PROJECTION_ORTHOGRAPHIC), "VIEW_PROJECTION_ORTHOGRAPHIC"),
    ] {
        if set {
            defs.push(name.into());
        }
    }
    let mut targets = prepass_target_descriptors(normals, motion_vectors, false);
    if targets.iter().all(Option::is_none) {
        targets.clear();
    }
    let needs_fragment = !targets.is_empty() || emulate || key.class.cut_out;
    let view_layout = match motion_vectors {
        true => &base.prepass.view_layout_motion_vectors,
        false => &base.prepass.view_layout_no_motion_vectors,
    };
    RenderPipelineDescriptor {
        label: Some("bevy_gpuskin prepass".into()),
        layout: vec![
            view_layout.clone(),
            base.prepass.empty_layout.clone(),
            key.model_layout(),
            material::layout(key.class.variants),
        ],
        fragment: needs_fragment.then(|| FragmentState {
            shader: shader.clone(),
            shader_defs: defs.clone(),
            targets,
            ..default()
        }),
        vertex: VertexState { shader, shader_defs: defs, buffers: key.vertex_buffers(), ..default() },
        primitive: PrimitiveState { cull_mode: key.cull_mode(), unclipped_depth: unclipped && !emulate, ..default() },
        depth_stencil: Some(DepthStencilState {
            format: CORE_3D_DEPTH_FORMAT,
            depth_write_enabled: Some(true),
            depth_compare: Some(CompareFunction::GreaterEqual),
            stencil: default(),
            bias: default(),
        }),
        multisample: MultisampleState { count: view.msaa_samples(), ..default() },
        ..default()
    }
}
