//! Pipelines: what bevy_pbr's mesh pipelines do for a view, with gpuskin's vertices, model and material.

use std::iter;

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
    ColorWrites, CompareFunction, DepthStencilState, Face, MultisampleState, PipelineCache, PrimitiveState,
    PrimitiveTopology, SpecializedMeshPipeline,
};
use bevy::shader::{Shader, ShaderDefVal};
use gpuskin_rt::pipeline::{self, Variant};

use super::crowds::{DrawnCrowd, DrawnMesh};
use super::extension_class::{self, ExtensionClass};
use super::material::{self, AlphaClass, MaterialClass, PartMaterial};
use super::shader::{Drawn, Pass, Shaders, SurfaceCode, Text};

/// Key of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    pass: Pass,
    view: MeshPipelineKey,
    variant: Variant,
    is_field: bool,
    class: MaterialClass,
    flat: bool,
    receives_shadows: bool,
    surface: Option<SurfaceCode>,
    /// Address of the [`ExtensionClass`].
    extension: Option<usize>,
}

/// Pipelines of a material: of smooth parts, of flat parts.
pub(super) type PartPipelines = [Option<CachedRenderPipelineId>; 2];

/// Pipelines of a crowd.
#[derive(Debug, Default)]
pub(super) struct CrowdPipelines {
    /// By mesh, by material.
    pub(super) meshes: Vec<Vec<PartPipelines>>,
    /// Whether the pipelines have the bind groups of an extension.
    pub(super) extended: bool,
}

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
    /// Returns the pipelines of a crowd in a view. `view`: bevy_pbr's key of the view for this pass.
    pub(super) fn of_crowd(
        &mut self,
        base: &mut Base<'_>,
        pass: Pass,
        view: MeshPipelineKey,
        crowd: &DrawnCrowd,
    ) -> CrowdPipelines {
        // Depth has no shadows.
        let receives_shadows = pass != Pass::Forward || crowd.group.receives_shadows;
        let surface = crowd.surface.filter(|_| crowd.group.extension.is_none());
        let cuts = crowd.group.extension.is_some_and(|extension| extension.cuts);
        let mut extended = false;
        let mut of_mesh = |mesh: &DrawnMesh| {
            let (variant, is_field) = (mesh.variant, mesh.is_field);
            let mut of_material = |part: &PartMaterial| {
                let mut class = part.class;
                if cuts && class.alpha == AlphaClass::Opaque {
                    class.alpha = AlphaClass::CutOut { by_surface: false };
                }
                if pass == Pass::Cover && class.alpha != AlphaClass::Blended {
                    return [None; 2];
                }
                let extension = part.extended.as_ref().map(|part| &*part.class).filter(|class| class.draws(pass));
                extended |= extension.is_some();
                // The depth of an opaque surface does not depend on the function.
                let surface = surface.filter(|_| pass == Pass::Forward || class.alpha != AlphaClass::Opaque);
                let address = extension.map(|class| core::ptr::from_ref(class).addr());
                let mut get = |flat| {
                    let key = Key {
                        pass,
                        view,
                        variant,
                        is_field,
                        class,
                        flat,
                        receives_shadows,
                        surface,
                        extension: address,
                    };
                    self.get(base, key, extension)
                };
                let smooth = get(false);
                let flat = if extension.is_some() { smooth } else { mesh.has_flat_parts.then(|| get(true)).flatten() };
                [smooth, flat]
            };
            mesh.materials.iter().map(&mut of_material).collect()
        };
        let meshes = crowd.meshes.iter().map(&mut of_mesh).collect();
        CrowdPipelines { meshes, extended }
    }

    fn get(
        &mut self,
        base: &mut Base<'_>,
        key: Key,
        extension: Option<&ExtensionClass>,
    ) -> Option<CachedRenderPipelineId> {
        if let Some(id) = self.ids.get(&key) {
            return Some(*id);
        }
        let text = match key.pass {
            _ if extension.is_some() => Text::Extended,
            Pass::Forward | Pass::Cover => Text::Forward,
            Pass::Prepass => Text::Prepass,
        };
        let shader =
            self.shaders.get(base.cache, text, Drawn { variant: key.variant, is_field: key.is_field }, key.surface);
        let mut descriptor = match key.pass {
            Pass::Forward | Pass::Cover => forward(base, key, shader)?,
            Pass::Prepass => prepass(base, key, shader),
        };
        if let Some(extension) = extension {
            extend(base, key, extension, &mut descriptor);
        }
        let id = base.cache.queue_render_pipeline(descriptor);
        self.ids.insert(key, id);
        Some(id)
    }
}

impl Key {
    fn mesh_key(self) -> MeshPipelineKey {
        let triangles = MeshPipelineKey::from_primitive_topology_and_strip_index(PrimitiveTopology::TriangleList, None);
        self.view | triangles | if self.may_discard() { MeshPipelineKey::MAY_DISCARD } else { self.blend() }
    }

    fn may_discard(self) -> bool {
        match self.class.alpha {
            AlphaClass::Opaque => false,
            AlphaClass::CutOut { .. } => true,
            AlphaClass::Blended => self.pass == Pass::Prepass,
        }
    }

    fn blend(self) -> MeshPipelineKey {
        match self.class.alpha {
            AlphaClass::Blended => MeshPipelineKey::BLEND_ALPHA,
            _ => MeshPipelineKey::empty(),
        }
    }

    fn cull_mode(self) -> Option<Face> {
        let inverted = self.view.contains(MeshPipelineKey::INVERT_CULLING);
        (!self.class.double_sided).then_some(if inverted { Face::Front } else { Face::Back })
    }

    fn has_tangents(self) -> bool {
        self.variant.has_tangents()
    }

    fn shader_defs(self) -> Vec<ShaderDefVal> {
        let MaterialClass { alpha, normal_map, variants, tint_mask, second_uv: second, double_sided: _ } = self.class;
        let is_forward = self.pass != Pass::Prepass;
        let has_surface = self.surface.is_some();
        // Bindings and varyings that a pass does not read cost nothing.
        let reads_base_color = is_forward || self.may_discard();
        let reads_normal_map = is_forward || has_surface;
        // A pass that reads the surface reads all textures of it.
        let has_normal_map = normal_map && self.has_tangents() && reads_normal_map;
        let second_normal = second.normal && has_normal_map;
        let reads_second = |texture: bool| texture && reads_normal_map;
        let second_surface = second.occlusion || second.metallic_roughness || second.emissive;
        let is_opaque = matches!(alpha, AlphaClass::Opaque | AlphaClass::CutOut { by_surface: true });
        let defs = [
            (is_forward, "CHARACTER_FORWARD"),
            (self.pass == Pass::Cover, "CHARACTER_COVER"),
            (is_forward && alpha == AlphaClass::Blended, "CHARACTER_BLENDED"),
            (self.flat, "CHARACTER_FLAT"),
            (self.variant.has_colors(), "CHARACTER_COLORS"),
            (!self.receives_shadows, "CHARACTER_UNSHADOWED"),
            (has_surface, "CHARACTER_SURFACE"),
            (has_surface && is_opaque, "CHARACTER_OPAQUE"),
            (variants && reads_base_color, "CHARACTER_VARIANTS"),
            (tint_mask && reads_base_color, "CHARACTER_TINT_MASK"),
            (has_normal_map, "STANDARD_MATERIAL_NORMAL_MAP"),
            (second_normal || reads_second(second_surface), "CHARACTER_SECOND_UV"),
            (reads_second(second.occlusion != second.metallic_roughness), "CHARACTER_OCCLUSION_APART"),
            (reads_second(second.metallic_roughness), "CHARACTER_SECOND_METALLIC_ROUGHNESS"),
            (reads_second(second.emissive), "CHARACTER_SECOND_EMISSIVE"),
            (second_normal, "CHARACTER_SECOND_NORMAL"),
        ];
        let material_group = ShaderDefVal::UInt("MATERIAL_BIND_GROUP".into(), MATERIAL_BIND_GROUP_INDEX as u32);
        iter::once(material_group).chain(names(&defs)).collect()
    }

    fn model_layout(self) -> BindGroupLayoutDescriptor {
        let field = self.is_field.then(|| pipeline::field_layout_entries(self.variant)).flatten();
        let entries = field.unwrap_or_else(|| pipeline::model_layout_entries(self.variant));
        BindGroupLayoutDescriptor::new("gpuskin model", &entries)
    }

    fn vertex_buffers(self) -> Vec<VertexBufferLayout> {
        let buffers = match self.is_field {
            true => pipeline::field_vertex_buffers(self.variant),
            false => pipeline::vertex_buffers(self.variant),
        };
        let layouts = buffers.layouts();
        let owned = layouts.into_iter().flatten().map(|layout| VertexBufferLayout {
            array_stride: layout.array_stride,
            step_mode: layout.step_mode,
            attributes: layout.attributes.to_vec(),
        });
        owned.collect()
    }
}

/// Returns the definitions that are set.
fn names(defs: &[(bool, &'static str)]) -> impl Iterator<Item = ShaderDefVal> {
    defs.iter().filter(|(set, _)| *set).map(|(_, name)| (*name).into())
}

/// bevy_pbr's mesh pipeline for a mesh with the attributes of the model.
fn forward(base: &mut Base<'_>, key: Key, shader: Handle<Shader>) -> Option<RenderPipelineDescriptor> {
    let layout = mesh_layout(base.layouts, key);
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
    if key.pass == Pass::Cover {
        cover(&mut descriptor);
    }
    Some(descriptor)
}

/// Makes a pipeline that blends write depth instead of colour.
fn cover(descriptor: &mut RenderPipelineDescriptor) {
    descriptor.label = Some("bevy_gpuskin cover".into());
    if let Some(depth) = &mut descriptor.depth_stencil {
        depth.depth_write_enabled = Some(true);
    }
    for target in descriptor.fragment.iter_mut().flat_map(|fragment| &mut fragment.targets).flatten() {
        (target.blend, target.write_mask) = (None, ColorWrites::empty());
    }
}

/// Makes a pipeline use the bind groups and the fragment shader of an extension. Its vertices are those of bevy_pbr.
fn extend(base: &mut Base<'_>, key: Key, extension: &ExtensionClass, descriptor: &mut RenderPipelineDescriptor) {
    descriptor.label = Some("bevy_gpuskin extension".into());
    // View, binding arrays of the view, mesh, material, model.
    descriptor.layout.truncate(2);
    descriptor.layout.extend([extension_class::mesh_layout(), extension.layout.clone(), key.model_layout()]);
    let prepass = extension.prepass_fragment_shader.as_ref().filter(|_| key.pass == Pass::Prepass);
    if let Some(fragment) = &mut descriptor.fragment {
        fragment.shader = prepass.unwrap_or(&extension.fragment_shader).clone();
        // Normals of the prepass have no normal map.
        fragment.shader_defs.retain(|def| *def != ShaderDefVal::from("LOAD_PREPASS_NORMALS"));
    }
    if key.pass == Pass::Prepass {
        let has_normals = key.view.contains(MeshPipelineKey::NORMAL_PREPASS);
        let defs = [
            (true, "VERTEX_POSITIONS"),
            (true, "VERTEX_UVS"),
            (true, "VERTEX_UVS_A"),
            (key.variant.has_second_uv(), "VERTEX_UVS_B"),
            (true, "VERTEX_COLORS"),
            (true, "VERTEX_OUTPUT_INSTANCE_INDEX"),
            (has_normals, "VERTEX_NORMALS"),
            (has_normals && key.has_tangents(), "VERTEX_TANGENTS"),
            (has_normals, "NORMAL_PREPASS_OR_DEFERRED_PREPASS"),
            (key.view.contains(MeshPipelineKey::MOTION_VECTOR_PREPASS), "MOTION_VECTOR_PREPASS_OR_DEFERRED_PREPASS"),
            (key.class.alpha == AlphaClass::Blended, "BLEND_ALPHA"),
        ];
        descriptor.vertex.shader_defs.extend(names(&defs));
        if let Some(fragment) = &mut descriptor.fragment {
            fragment.shader_defs.extend(names(&defs));
        }
    }
    let layout = mesh_layout(base.layouts, key);
    if let Err(error) = extension.specialize(base.mesh, descriptor, &layout, key.mesh_key()) {
        error_once!("the pipeline of characters with an extension is not specialized: {error}");
    }
}

/// Layout of a mesh with the attributes of a model: it selects what bevy_pbr's functions do.
fn mesh_layout(layouts: &mut MeshVertexBufferLayouts, key: Key) -> MeshVertexBufferLayoutRef {
    let mut mesh = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::RENDER_WORLD)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0_f32; 3]])
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0_f32; 3]])
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, vec![[0.0_f32; 2]]);
    if key.extension.is_some() {
        mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, vec![[0.0_f32; 4]]);
        if key.variant.has_second_uv() {
            mesh.insert_attribute(Mesh::ATTRIBUTE_UV_1, vec![[0.0_f32; 2]]);
        }
    }
    if key.has_tangents() {
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
    defs.extend(names(&[
        (true, "PREPASS_PIPELINE"),
        (true, "DEPTH_PREPASS"),
        (key.surface.is_some() && key.has_tangents(), "VERTEX_TANGENTS"),
        (key.may_discard(), "MAY_DISCARD"),
        (normals, "NORMAL_PREPASS"),
        (motion_vectors, "MOTION_VECTOR_PREPASS"),
        (emulate, "UNCLIPPED_DEPTH_ORTHO_EMULATION"),
        (normals || motion_vectors || emulate, "PREPASS_FRAGMENT"),
        (has(MeshPipelineKey::VIEW_PROJECTION_PERSPECTIVE), "VIEW_PROJECTION_PERSPECTIVE"),
        (has(MeshPipelineKey::VIEW_PROJECTION_ORTHOGRAPHIC), "VIEW_PROJECTION_ORTHOGRAPHIC"),
    ]));
    let mut targets = prepass_target_descriptors(normals, motion_vectors, false);
    if targets.iter().all(Option::is_none) {
        targets.clear();
    }
    let needs_fragment = !targets.is_empty() || emulate || key.may_discard();
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
