//! Extensions of materials on the device: the assets, and the bind groups that Bevy's `ExtendedMaterial` has for meshes.

use core::cell::LazyCell;
use core::hash::Hash;
use core::marker::PhantomData;
use std::sync::Arc;

use bevy::asset::uuid::Uuid;
use bevy::ecs::system::{StaticSystemParam, SystemParam, SystemParamItem};
use bevy::material::descriptor::BindGroupLayoutDescriptor;
use bevy::mesh::UvChannel;
use bevy::pbr::{Material, MaterialExtension, MeshFlags, MeshUniform};
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::material_bind_groups::FallbackBuffer;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::encase::StorageBuffer;
use bevy::render::render_resource::{
    AsBindGroup, AsBindGroupError, BindGroupBuilder, BindGroupEntry, Face, PipelineCache, TextureFormat,
    UnpreparedBindingResource,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::storage::GpuShaderBuffer;
use bevy::render::texture::GpuImage;
use bevy::shader::ShaderRef;
use gpuskin_rt::pipeline::SampledTexture;
use gpuskin_rt::{CrowdRenderer, Error, Model, wgpu};

use super::crowds::CharacterRenderer;
use super::extension_class::{Data, Extended, ExtendedPart, ExtensionClass, mesh_layout};
use super::material::SecondUv;
use super::shader::EXTENDED_MODEL_GROUP;

/// First of the ids of the images by which `StandardMaterial` finds the textures of models.
const FIRST_IMAGE: Uuid = Uuid::from_u128(0x5c0e_9a41_6d07_4f3b_8a52_77e6_0000_0000);

/// Materials of models as bevy_pbr has them, by the address of the model, the index of the material, and the layer of its base
/// colour. Their textures are images that [`lend`] has added to Bevy's.
#[derive(Resource, Debug, Default)]
pub(crate) struct StandardMaterials {
    materials: HashMap<(usize, usize, u8), StandardMaterial>,
    images: u128,
}

impl StandardMaterials {
    fn get(&self, model: &'static Model, index: usize, layer: u8) -> Option<&StandardMaterial> {
        self.materials.get(&Self::key(model, index, layer))
    }

    fn key(model: &'static Model, index: usize, layer: u8) -> (usize, usize, u8) {
        (core::ptr::from_ref(model).addr(), index, layer)
    }

    fn add(
        &mut self,
        renderer: &mut CrowdRenderer,
        images: &mut RenderAssets<GpuImage>,
        model: &'static Model,
        (index, layer): (usize, u8),
    ) -> Result<(), Error> {
        let (material, mut textures) =
            (&model.meta.materials()[index], renderer.material_textures(model, index as u32)?);
        if material.base_color_layer(0).is_some_and(|own| own != layer) {
            let layers = renderer.layered_material_textures(model, index as u32)?.base_color;
            textures.base_color = layers.map(|layers| SampledTexture { view: layer_of(&layers.view, layer), ..layers });
        }
        let mut lend = |texture: &Option<SampledTexture>| {
            let SampledTexture { view, sampler, .. } = texture.as_ref()?;
            let handle = Handle::<Image>::Uuid(Uuid::from_u128(FIRST_IMAGE.as_u128() + self.images), PhantomData);
            self.images += 1;
            images.insert(handle.id(), gpu_image(view, sampler));
            Some(handle)
        };
        let orm = lend(&textures.orm);
        let second = SecondUv::of(material);
        let channel = |second: bool| if second { UvChannel::Uv1 } else { UvChannel::Uv0 };
        let [r, g, b, a] = material.base_color;
        let [emitted_r, emitted_g, emitted_b] = material.emissive;
        let standard = StandardMaterial {
            base_color: LinearRgba::new(r, g, b, a).into(),
            base_color_texture: lend(&textures.base_color),
            emissive: LinearRgba::rgb(emitted_r, emitted_g, emitted_b),
            emissive_texture: lend(&textures.emissive),
            metallic: material.metallic,
            perceptual_roughness: material.roughness,
            occlusion_texture: orm.clone().filter(|_| material.occlusion_strength > 0.0),
            metallic_roughness_texture: orm,
            normal_map_texture: lend(&textures.normal),
            occlusion_channel: channel(second.occlusion),
            metallic_roughness_channel: channel(second.metallic_roughness),
            normal_map_channel: channel(second.normal),
            emissive_channel: channel(second.emissive),
            double_sided: material.double_sided,
            cull_mode: (!material.double_sided).then_some(Face::Back),
            unlit: material.unlit,
            alpha_mode: match material.alpha_cutoff {
                _ if material.alpha_blend => AlphaMode::Blend,
                Some(cutoff) => AlphaMode::Mask(cutoff),
                None => AlphaMode::Opaque,
            },
            ..default()
        };
        self.materials.insert(Self::key(model, index, layer), standard);
        Ok(())
    }
}

/// Returns a view of a layer of a texture.
fn layer_of(layers: &wgpu::TextureView, layer: u8) -> wgpu::TextureView {
    layers.texture().create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2),
        base_array_layer: layer.into(),
        array_layer_count: Some(1),
        ..Default::default()
    })
}

/// Returns a texture of a model as an image of Bevy.
fn gpu_image(view: &wgpu::TextureView, sampler: &wgpu::Sampler) -> GpuImage {
    let texture = view.texture();
    GpuImage {
        texture: texture.clone().into(),
        texture_view: view.clone().into(),
        sampler: sampler.clone().into(),
        texture_descriptor: wgpu::TextureDescriptor {
            label: None,
            size: texture.size(),
            mip_level_count: texture.mip_level_count(),
            sample_count: 1,
            dimension: texture.dimension(),
            // Not that of the texture: from formats with two components, StandardMaterial computes the third one, which gpuskin's
            // textures have.
            format: TextureFormat::Rgba8Unorm,
            usage: texture.usage(),
            view_formats: &[],
        },
        texture_view_descriptor: None,
        had_data: true,
    }
}

/// Makes the materials of models whose characters have an extension.
pub(crate) fn lend(
    renderer: Option<ResMut<CharacterRenderer>>,
    mut materials: ResMut<StandardMaterials>,
    mut images: ResMut<RenderAssets<GpuImage>>,
) {
    let Some(mut renderer) = renderer else { return };
    let CharacterRenderer { renderer, crowds, .. } = &mut *renderer;
    for crowd in crowds.iter().filter(|crowd| crowd.group.extension.is_some()) {
        for mesh in &crowd.meshes {
            for index in 0..mesh.materials.len() {
                let layer = mesh.base_color_layer(index, crowd.group.variant);
                if materials.get(mesh.model, index, layer).is_none()
                    && let Err(error) = materials.add(renderer, &mut images, mesh.model, (index, layer))
                {
                    error_once!("characters with an extension are not drawn: {error}");
                }
            }
        }
    }
}

/// Makes the bind group of [`mesh_layout`]. Element 0 of `mesh` receives shadows, element 1 does not.
fn mesh_bind_group(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    cache: &PipelineCache,
    clock: &wgpu::Buffer,
) -> wgpu::BindGroup {
    let mesh = |flags: u32| MeshUniform {
        world_from_local: [Vec4::X, Vec4::Y, Vec4::Z],
        previous_world_from_local: [Vec4::X, Vec4::Y, Vec4::Z],
        local_from_world_transpose_a: [Vec4::X, Vec4::Y],
        local_from_world_transpose_b: 1.0,
        flags,
        lightmap_uv_rect: UVec2::ZERO,
        first_vertex_index: 0,
        current_skin_index: u32::MAX,
        // The high half: no lightmap.
        material_and_lightmap_bind_group_slot: 0xffff_0000,
        tag: 0,
        morph_descriptor_index: u32::MAX,
        metadata_index: 0,
    };
    let upright = MeshFlags::SIGN_DETERMINANT_MODEL_3X3.bits();
    let mut bytes = StorageBuffer::new(Vec::<u8>::new());
    let written = bytes.write(&vec![mesh(upright | MeshFlags::SHADOW_RECEIVER.bits()), mesh(upright)]);
    debug_assert!(written.is_ok());
    let bytes = bytes.into_inner();
    let meshes = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("bevy_gpuskin extended mesh"),
        size: bytes.len() as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&meshes, 0, &bytes);
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("bevy_gpuskin extended mesh"),
        layout: &cache.get_bind_group_layout(&mesh_layout()),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: meshes.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: clock.as_entire_binding() },
        ],
    })
}

/// Makes the bind group of [`mesh_layout`] before it is needed.
pub(crate) fn prepare_mesh(
    renderer: Option<ResMut<CharacterRenderer>>,
    (device, queue): (Res<RenderDevice>, Res<RenderQueue>),
    cache: Res<PipelineCache>,
) {
    let Some(mut renderer) = renderer else { return };
    if renderer.extended_mesh.is_some() || renderer.crowds.iter().all(|crowd| crowd.group.extension.is_none()) {
        return;
    }
    let groups = device.limits().max_bind_groups;
    if groups <= EXTENDED_MODEL_GROUP {
        error_once!(
            "characters with extensions are not drawn: they need {} bind groups, and the device has {groups}; \
             use CharacterPlugin::with_surface instead",
            EXTENDED_MODEL_GROUP + 1
        );
        return;
    }
    let group = mesh_bind_group(device.wgpu_device(), &queue, &cache, &renderer.materials.clock);
    renderer.extended_mesh = Some(group);
}

/// Assets of an extension, and its shaders.
#[derive(Resource)]
pub(crate) struct Extensions<E: MaterialExtension> {
    assets: HashMap<AssetId<E>, E>,
    /// Assets whose bind groups are out of date.
    changed: HashSet<AssetId<E>>,
    classes: HashMap<Data<E>, Arc<ExtensionClass>>,
    fragment_shader: Handle<Shader>,
    prepass_fragment_shader: Option<Handle<Shader>>,
}

impl<E: MaterialExtension> Extensions<E> {
    pub(crate) fn new(server: &AssetServer) -> Self {
        let load = |shader| match shader {
            ShaderRef::Default => None,
            ShaderRef::Handle(handle) => Some(handle),
            ShaderRef::Path(path) => Some(server.load(path)),
        };
        Self {
            assets: HashMap::default(),
            changed: HashSet::default(),
            classes: HashMap::default(),
            fragment_shader: load(Extended::<E>::fragment_shader()).unwrap_or_default(),
            // That of StandardMaterial does what the pipelines of models without extension do.
            prepass_fragment_shader: load(E::prepass_fragment_shader()),
        }
    }

    /// Returns what pipelines depend on.
    fn class(&mut self, layout: &BindGroupLayoutDescriptor, data: Data<E>) -> Arc<ExtensionClass>
    where
        E::Data: Copy + Eq + Hash,
    {
        let shaders = || (self.fragment_shader.clone(), self.prepass_fragment_shader.clone());
        let make = || Arc::new(ExtensionClass::new::<E>(layout.clone(), shaders(), data));
        self.classes.entry(data).or_insert_with(make).clone()
    }
}

/// Copies the assets that have changed.
pub(crate) fn extract<E: MaterialExtension>(
    mut events: Extract<MessageReader<AssetEvent<E>>>,
    assets: Extract<Res<Assets<E>>>,
    mut extensions: ResMut<Extensions<E>>,
) {
    let Extensions { assets: copies, changed, .. } = &mut *extensions;
    for event in events.read() {
        match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                if let Some(asset) = assets.get(*id) {
                    copies.insert(*id, asset.clone());
                    changed.insert(*id);
                }
            }
            AssetEvent::Removed { id } => {
                copies.remove(id);
                changed.remove(id);
            }
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
}

/// Device and assets that [`AsBindGroup`] needs for a bind group.
#[derive(SystemParam)]
pub(crate) struct BindGroups<'w> {
    device: Res<'w, RenderDevice>,
    cache: Res<'w, PipelineCache>,
    fallback: Res<'w, FallbackBuffer>,
    buffers: Res<'w, RenderAssets<GpuShaderBuffer>>,
}

impl BindGroups<'_> {
    fn layout<M: AsBindGroup>(&self) -> BindGroupLayoutDescriptor {
        BindGroupLayoutDescriptor::new(M::label(), &M::bind_group_layout_entries(&self.device, true))
    }

    /// Makes the bind group of a material as `AsBindGroup::as_bind_group` does, but never a bindless one.
    fn make<M: AsBindGroup>(
        &self,
        layout: &BindGroupLayoutDescriptor,
        material: &M,
        param: &mut SystemParamItem<'_, '_, M::Param>,
    ) -> Result<wgpu::BindGroup, AsBindGroupError> {
        let layout = self.cache.get_bind_group_layout(layout);
        let mut builder = BindGroupBuilder::default();
        material.build_bind_group(&layout, &self.device, param, true, &mut builder)?;
        let uniform = |resource: &UnpreparedBindingResource| match resource {
            UnpreparedBindingResource::Data(range) => {
                Some(self.device.create_buffer_with_data(&wgpu::util::BufferInitDescriptor {
                    label: Some(M::label()),
                    contents: &builder.data_buffer[range.start as usize..range.end as usize],
                    usage: wgpu::BufferUsages::UNIFORM,
                }))
            }
            _ => None,
        };
        let uniforms: Vec<_> = builder.binding_resources.iter().map(|(_, resource)| uniform(resource)).collect();
        let resources = builder.binding_resources.iter().zip(&uniforms);
        let entries: Vec<_> = resources
            .map(|((binding, resource), uniform)| BindGroupEntry {
                binding: *binding,
                resource: match uniform {
                    Some(uniform) => uniform.as_entire_binding(),
                    None => resource.get_binding(&self.fallback, &self.buffers),
                },
            })
            .collect();
        Ok((*self.device.create_bind_group(M::label(), &layout, &entries)).clone())
    }
}

/// Makes the bind groups of the materials of all crowds that have an extension of a type.
pub(crate) fn prepare<E: MaterialExtension>(
    renderer: Option<ResMut<CharacterRenderer>>,
    mut extensions: ResMut<Extensions<E>>,
    materials: Res<StandardMaterials>,
    bind_groups: BindGroups,
    param: StaticSystemParam<<Extended<E> as AsBindGroup>::Param>,
) where
    E::Data: Copy + Eq + Hash,
{
    let Some(mut renderer) = renderer.filter(|renderer| renderer.extended_mesh.is_some()) else { return };
    let extensions = &mut *extensions;
    let changed = core::mem::take(&mut extensions.changed);
    let mut param = param.into_inner();
    let layout = LazyCell::new(|| bind_groups.layout::<Extended<E>>());
    for crowd in &mut renderer.crowds {
        let Some(Ok(id)) = crowd.group.extension.map(|extension| extension.asset.try_typed::<E>()) else { continue };
        let Some(extension) = extensions.assets.get(&id).cloned() else { continue };
        for mesh in &mut crowd.meshes {
            for index in 0..mesh.materials.len() {
                let layer = mesh.base_color_layer(index, crowd.group.variant);
                let part = &mut mesh.materials[index];
                let Some(base) = materials.get(mesh.model, index, layer) else { continue };
                if part.extended.is_some() && !changed.contains(&id) {
                    continue;
                }
                let material = Extended::<E> { base: base.clone(), extension: extension.clone() };
                match bind_groups.make(&layout, &material, &mut param) {
                    Ok(bind_group) => {
                        let class = extensions.class(&layout, material.bind_group_data());
                        part.extended = Some(ExtendedPart { bind_group, class });
                    }
                    // An image is not loaded.
                    Err(AsBindGroupError::RetryNextUpdate) => {
                        extensions.changed.insert(id);
                    }
                    Err(error) => {
                        error_once!("characters with {} are not drawn: {error}", core::any::type_name::<E>());
                    }
                }
            }
        }
    }
}
