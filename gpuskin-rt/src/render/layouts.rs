//! Bind group layouts and vertex buffer layouts of the shaders.

use super::shading::LightingFeatures;
use crate::field::FieldUniform;
use crate::light_grid::has_light_grid;
use crate::pose_texture::PosePlaces;
use crate::record::{PlaceRecord, PlaybackRecord};
use crate::shader::material::{
    ALBEDO_BINDING, ENVIRONMENT_BINDING, LIGHT_GRID_BINDING, LIGHT_SHADOWS_BINDING, LIGHTING_BINDING, LIGHTS_BINDING,
    SHADOW_MAP_BINDING, SHADOWS_BINDING, TextureSet,
};
use crate::shader::{
    ANIMATION_BINDING, CLIPS_BINDING, DRAWS_BINDING, FIELD_BINDING, INSTANCE_LOCATION, InstanceSource, LIST_BINDING,
    MODEL_BINDING, MODEL_BYTES, MORPHS_BINDING, MorphUse, PLACE_ATTRIBUTES, PLACES_BINDING, PLAYBACK_ATTRIBUTES,
    PLAYBACK_LOCATION, PLAYBACKS_BINDING, POSES_BINDING, PREVIOUS_BINDING, PREVIOUS_LOCATION, VERTICES_BINDING,
    Variant,
};
use core::num::NonZeroU32;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Bindings of every batch: palette, constants of crowds, places, list, playbacks and draws.
pub(crate) const BATCH_BINDINGS: [u32; 6] =
    [ANIMATION_BINDING, MODEL_BINDING, PLACES_BINDING, LIST_BINDING, PLAYBACKS_BINDING, DRAWS_BINDING];

/// Bind group layouts that all models of a renderer share.
#[derive(Debug)]
pub(crate) struct Layouts {
    /// View and time, for depth passes and for the diffuse material.
    pub(crate) view: wgpu::BindGroupLayout,
    /// View, time, light and shadows; `None` without the metallic-roughness model.
    pub(crate) lit_view: Option<wgpu::BindGroupLayout>,
    /// Layouts for models with an animation texture, by [`kind`]. Created on first use.
    model: [OnceLock<wgpu::BindGroupLayout>; TEXTURES],
    /// Layouts for the pass that draws poses from an animation texture, by the same index. Created on first use.
    frames: [OnceLock<wgpu::BindGroupLayout>; TEXTURES],
    /// Layouts for models whose poses a pass draws into a texture: without and with morph targets. Created on first
    /// use.
    posed: [OnceLock<wgpu::BindGroupLayout>; 2],
    /// Layouts for fields, by the same index as `model`, without and with morph targets. Created on first use.
    field: [[OnceLock<wgpu::BindGroupLayout>; TEXTURES]; 2],
    /// Layout for models with a palette. Created on first use, because not every device supports
    /// it. Without and with transforms of the previous frame, morph targets, and loaded influences.
    palette: [[[OnceLock<wgpu::BindGroupLayout>; 2]; 2]; 2],
    /// Layouts for all crowds of a batch, without and with loaded influences. Created on first use, for the same reason.
    batch: [OnceLock<wgpu::BindGroupLayout>; 2],
    device: wgpu::Device,
    /// Layouts for materials and for tables of materials, by their textures. Created on first use.
    materials: Mutex<HashMap<(TextureSet, bool), wgpu::BindGroupLayout>>,
    /// Greatest number of materials in a table; `None` if the device cannot index tables of textures.
    pub(crate) table_len: Option<NonZeroU32>,
}

/// Features with which materials of many models are in one bind group.
pub(crate) const MATERIAL_TABLES: wgpu::Features = wgpu::Features::TEXTURE_BINDING_ARRAY
    .union(wgpu::Features::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING)
    .union(wgpu::Features::PARTIALLY_BOUND_BINDING_ARRAY);
/// Greatest number of materials in a table. More are in several tables.
const MAX_TABLE: u32 = 1024;

/// Returns how many materials a table may have on a device; `None` if it cannot index tables, or if they would be too
/// small to be of use.
fn table_len(device: &wgpu::Device) -> Option<NonZeroU32> {
    let able = device.features().contains(MATERIAL_TABLES);
    let elements = device.limits().max_binding_array_elements_per_shader_stage / TextureSet::ALL.len() as u32;
    NonZeroU32::new(elements.min(MAX_TABLE)).filter(|len| able && len.get() >= 16)
}

impl Layouts {
    /// `features`: features of the metallic-roughness model, if the renderer draws it.
    pub(crate) fn new(device: &wgpu::Device, features: Option<&LightingFeatures>) -> Self {
        let layout = |label, entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries })
        };
        let both = wgpu::ShaderStages::VERTEX_FRAGMENT;
        Self {
            view: layout("gpuskin view", &[entry(0, both, uniform(0, false)), entry(1, both, uniform(0, false))]),
            lit_view: features.map(|features| layout("gpuskin lit view", &lit_view(features))),
            model: Default::default(),
            frames: Default::default(),
            posed: Default::default(),
            field: Default::default(),
            palette: Default::default(),
            batch: Default::default(),
            device: device.clone(),
            materials: Default::default(),
            table_len: table_len(device),
        }
    }

    /// Layout of a model with its animation texture: for a pass that draws its poses, or for its draws.
    pub(crate) fn frames(&self, variant: Variant) -> &wgpu::BindGroupLayout {
        let (layouts, visibility, label) = match variant.is_posed() {
            true => (&self.frames, wgpu::ShaderStages::VERTEX_FRAGMENT, "gpuskin frames"),
            false => (&self.model, wgpu::ShaderStages::VERTEX, "gpuskin model"),
        };
        layouts[kind(variant).min(TEXTURES - 1)].get_or_init(|| {
            self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries: &frame_entries(variant, visibility),
            })
        })
    }

    pub(crate) fn model(&self, variant: Variant) -> &wgpu::BindGroupLayout {
        let morphs = usize::from(variant.morphs != MorphUse::None);
        if variant.is_posed() {
            return self.posed[morphs].get_or_init(|| {
                self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                    label: Some("gpuskin model with drawn poses"),
                    entries: &posed_entries(variant),
                })
            });
        }
        if !variant.encoding.needs_compute() {
            return self.frames(variant);
        }
        let (previous, loads) = (usize::from(variant.previous_transforms), usize::from(variant.loads_influences));
        self.palette[morphs][previous][loads].get_or_init(|| {
            self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("gpuskin model with a palette"),
                entries: &model_layout_entries(variant),
            })
        })
    }

    /// Layout of the crowds of a batch: palette, constants of crowds, instances, lists and draws, and the vertices where
    /// shaders load influences.
    pub(crate) fn batch(&self, loads_influences: bool) -> &wgpu::BindGroupLayout {
        self.batch[usize::from(loads_influences)].get_or_init(|| {
            let of_vertex =
                |binding| entry(binding, wgpu::ShaderStages::VERTEX, storage(true, binding == LIST_BINDING));
            let vertices = loads_influences.then_some(VERTICES_BINDING);
            self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("gpuskin batch"),
                entries: &BATCH_BINDINGS.into_iter().chain(vertices).map(of_vertex).collect::<Vec<_>>(),
            })
        })
    }

    /// Layout of a material: constants, and a view and a sampler per texture.
    pub(crate) fn material(&self, textures: TextureSet) -> wgpu::BindGroupLayout {
        self.material_layout(textures, false)
    }

    /// Layout of a table of materials with the same samplers: constants, and views and a sampler per texture.
    pub(crate) fn table(&self, textures: TextureSet) -> wgpu::BindGroupLayout {
        self.material_layout(textures, true)
    }

    fn material_layout(&self, textures: TextureSet, table: bool) -> wgpu::BindGroupLayout {
        let mut known = self.materials.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry((textures, table)).or_insert_with(|| self.new_material_layout(textures, table)).clone()
    }

    fn new_material_layout(&self, textures: TextureSet, table: bool) -> wgpu::BindGroupLayout {
        let (label, count) = match table {
            true => ("gpuskin table of materials", self.table_len),
            false => ("gpuskin material", None),
        };
        let fragment = wgpu::ShaderStages::FRAGMENT;
        // A bind group with arrays cannot have uniform buffers.
        let constants = if count.is_some() { storage(true, false) } else { uniform(0, false) };
        let mut entries = vec![entry(0, fragment, constants)];
        for texture in TextureSet::ALL.into_iter().filter(|texture| textures.has(*texture)) {
            let binding = texture.binding();
            let layered = texture == TextureSet::BASE_COLOR && textures.has(TextureSet::LAYERS);
            let view = if layered { FILTERED_LAYERS } else { FILTERED };
            entries.push(wgpu::BindGroupLayoutEntry { count, ..entry(binding, fragment, view) });
            entries.push(entry(binding + 1, fragment, FILTERING));
        }
        self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries })
    }

    /// Layout of a model with a field; `None` if the model's poses are not in a texture.
    pub(crate) fn field(&self, variant: Variant) -> Option<&wgpu::BindGroupLayout> {
        let morphs = usize::from(variant.morphs != MorphUse::None);
        let layout = self.field[morphs].get(kind(variant))?.get_or_init(|| {
            self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("gpuskin field"),
                entries: &field_entries(variant),
            })
        });
        Some(layout)
    }

    /// Creates the pipeline layouts of a crowd or field: of colour passes, and of depth passes.
    pub(crate) fn pipelines(
        &self,
        variant: Variant,
        instances: InstanceSource,
        textures: TextureSet,
    ) -> [wgpu::PipelineLayout; 2] {
        let model = match instances {
            InstanceSource::Field => self.field(variant).unwrap_or_else(|| self.model(variant)),
            InstanceSource::Batch { .. } => self.batch(variant.loads_influences),
            InstanceSource::Records | InstanceSource::Added | InstanceSource::Cached | InstanceSource::Slotless => {
                self.model(variant)
            }
        };
        let material = if instances.has_table() { self.table(textures) } else { self.material(textures) };
        let of_view = |view| {
            self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("gpuskin"),
                bind_group_layouts: &[Some(view), Some(model), Some(&material)],
                immediate_size: 0,
            })
        };
        let plain = of_view(&self.view);
        [self.lit_view.as_ref().map_or_else(|| plain.clone(), of_view), plain]
    }
}

/// Returns the entries of [`CrowdRenderer::model_layout`](crate::CrowdRenderer::model_layout), for engines that create
/// and cache the bind group layouts of their pipelines themselves. wgpu accepts bind groups of any layout with the same
/// entries.
///
/// ```
/// # fn layout(device: &gpuskin_rt::wgpu::Device, variant: gpuskin_rt::pipeline::Variant) -> gpuskin_rt::wgpu::BindGroupLayout {
/// # use gpuskin_rt::wgpu;
/// let entries = gpuskin_rt::pipeline::model_layout_entries(variant);
/// device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("model"), entries: &entries })
/// # }
/// ```
pub fn model_layout_entries(variant: Variant) -> Vec<wgpu::BindGroupLayoutEntry> {
    if variant.is_posed() {
        return posed_entries(variant);
    }
    let vertex = wgpu::ShaderStages::VERTEX;
    if !variant.encoding.needs_compute() {
        return frame_entries(variant, vertex);
    }
    let mut entries = vec![
        entry(ANIMATION_BINDING, vertex, storage(true, false)),
        entry(MODEL_BINDING, vertex, uniform(MODEL_BYTES, false)),
        entry(PLACES_BINDING, vertex, storage(true, false)),
        entry(LIST_BINDING, vertex, storage(true, true)),
        entry(PLAYBACKS_BINDING, vertex, storage(true, false)),
    ];
    let buffer = |binding| entry(binding, vertex, storage(true, false));
    entries.extend(variant.previous_transforms.then(|| buffer(PREVIOUS_BINDING)));
    entries.extend(morphs_entry(variant));
    entries.extend(variant.loads_influences.then(|| buffer(VERTICES_BINDING)));
    entries
}

/// Returns the entries of [`CrowdRenderer::field_layout`](crate::CrowdRenderer::field_layout), as [`model_layout_entries`] does
/// for crowds; `None` for variants without an animation texture.
pub fn field_layout_entries(variant: Variant) -> Option<Vec<wgpu::BindGroupLayoutEntry>> {
    (!variant.encoding.needs_compute()).then(|| field_entries(variant))
}

/// Entries of a field of a model with an animation texture.
fn field_entries(variant: Variant) -> Vec<wgpu::BindGroupLayoutEntry> {
    let uniform = uniform(size_of::<FieldUniform>() as u64, false);
    let mut entries = frame_entries(variant, wgpu::ShaderStages::VERTEX);
    entries.push(entry(FIELD_BINDING, wgpu::ShaderStages::VERTEX, uniform));
    entries.extend(morphs_entry(variant));
    entries
}

/// Entry of the deltas of morph targets, if the model has any.
fn morphs_entry(variant: Variant) -> Option<wgpu::BindGroupLayoutEntry> {
    (variant.morphs != MorphUse::None).then(|| entry(MORPHS_BINDING, wgpu::ShaderStages::VERTEX, WORDS))
}

/// Entries of a model with its animation texture.
fn frame_entries(variant: Variant, visibility: wgpu::ShaderStages) -> Vec<wgpu::BindGroupLayoutEntry> {
    let (sample_type, view_dimension) = texels(variant);
    let texture = wgpu::BindingType::Texture { sample_type, view_dimension, multisampled: false };
    let model = entry(MODEL_BINDING, visibility, uniform(MODEL_BYTES, false));
    let mut entries = vec![entry(ANIMATION_BINDING, visibility, texture), model];
    entries.extend(variant.clip_texture.then(|| entry(CLIPS_BINDING, visibility, WORDS)));
    entries
}

/// Entries of a model whose poses a pass draws into a texture.
fn posed_entries(variant: Variant) -> Vec<wgpu::BindGroupLayoutEntry> {
    let vertex = wgpu::ShaderStages::VERTEX;
    let (sample_type, view_dimension) = (wgpu::TextureSampleType::Uint, wgpu::TextureViewDimension::D2Array);
    let poses = wgpu::BindingType::Texture { sample_type, view_dimension, multisampled: false };
    let mut entries = vec![
        entry(ANIMATION_BINDING, vertex, poses),
        entry(MODEL_BINDING, vertex, uniform(MODEL_BYTES, false)),
        entry(POSES_BINDING, vertex, uniform(size_of::<PosePlaces>() as u64, true)),
    ];
    entries.extend(morphs_entry(variant));
    entries
}

/// Type and dimension of the animation texture of a variant.
fn texels(variant: Variant) -> (wgpu::TextureSampleType, wgpu::TextureViewDimension) {
    let dimension = match variant.array {
        true => wgpu::TextureViewDimension::D2Array,
        false => wgpu::TextureViewDimension::D2,
    };
    let sample_type = match variant.encoding.format().is_integer() {
        true => wgpu::TextureSampleType::Uint,
        false => wgpu::TextureSampleType::Float { filterable: false },
    };
    (sample_type, dimension)
}

/// Bindings of a view that is drawn in the metallic-roughness model.
fn lit_view(features: &LightingFeatures) -> Vec<wgpu::BindGroupLayoutEntry> {
    let (both, fragment) = (wgpu::ShaderStages::VERTEX_FRAGMENT, wgpu::ShaderStages::FRAGMENT);
    let uniform = uniform(0, false);
    let mut entries = vec![entry(0, both, uniform), entry(1, both, uniform), entry(LIGHTING_BINDING, both, uniform)];
    entries.extend([entry(ALBEDO_BINDING, fragment, FILTERED), entry(ALBEDO_BINDING + 1, fragment, FILTERING)]);
    let (sun, lights) = (features.shadows.is_some(), features.light_shadows.is_some());
    entries.extend(sun.then(|| entry(SHADOWS_BINDING, fragment, uniform)));
    entries.extend(lights.then(|| entry(LIGHT_SHADOWS_BINDING, fragment, uniform)));
    if sun || lights {
        let map = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Depth,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let comparison = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison);
        let map_and_sampler = (SHADOW_MAP_BINDING..).zip([map, comparison]);
        entries.extend(map_and_sampler.map(|(binding, ty)| entry(binding, fragment, ty)));
    }
    entries.extend((features.lights > 0).then(|| entry(LIGHTS_BINDING, fragment, uniform)));
    if has_light_grid(features.lights) {
        let lists = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Uint,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        entries.extend([entry(LIGHT_GRID_BINDING, fragment, uniform), entry(LIGHT_GRID_BINDING + 1, fragment, lists)]);
    }
    if features.environment {
        let cube = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension: wgpu::TextureViewDimension::Cube,
            multisampled: false,
        };
        entries
            .extend([entry(ENVIRONMENT_BINDING, fragment, cube), entry(ENVIRONMENT_BINDING + 1, fragment, FILTERING)]);
    }
    entries
}

/// Texture that is sampled with filtering.
const FILTERED: wgpu::BindingType = wgpu::BindingType::Texture {
    sample_type: wgpu::TextureSampleType::Float { filterable: true },
    view_dimension: wgpu::TextureViewDimension::D2,
    multisampled: false,
};
/// Array texture that is sampled with filtering.
const FILTERED_LAYERS: wgpu::BindingType = wgpu::BindingType::Texture {
    sample_type: wgpu::TextureSampleType::Float { filterable: true },
    view_dimension: wgpu::TextureViewDimension::D2Array,
    multisampled: false,
};
const FILTERING: wgpu::BindingType = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);

/// Texture with four words per texel.
pub(crate) const WORDS: wgpu::BindingType = wgpu::BindingType::Texture {
    sample_type: wgpu::TextureSampleType::Uint,
    view_dimension: wgpu::TextureViewDimension::D2,
    multisampled: false,
};

/// Number of model layouts that have an animation texture.
const TEXTURES: usize = 8;

/// Bytes per skinning matrix of a palette.
pub(crate) const MATRIX_BYTES: u64 = 48;
/// Bytes per playback record.
pub(crate) const PLAYBACK_BYTES: u64 = size_of::<PlaybackRecord>() as u64;
/// Bytes per place record.
pub(crate) const PLACE_BYTES: u64 = size_of::<PlaceRecord>() as u64;

/// Index of the model layout of a variant, by texel type and number of layers of its animation
/// texture, and by the place of its clip records. Palettes come last.
pub(crate) fn kind(variant: Variant) -> usize {
    if variant.encoding.needs_compute() {
        return TEXTURES;
    }
    let flags = [variant.clip_texture, variant.encoding.format().is_integer(), variant.array];
    flags.into_iter().fold(0, |index, flag| index * 2 + usize::from(flag))
}

pub(crate) fn entry(binding: u32, visibility: wgpu::ShaderStages, ty: wgpu::BindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None }
}

/// Uniform buffer binding. `least`: minimum binding size in bytes; 0 makes wgpu check the size at
/// every draw.
pub(crate) fn uniform(least: u64, has_dynamic_offset: bool) -> wgpu::BindingType {
    wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset,
        min_binding_size: wgpu::BufferSize::new(least),
    }
}

pub(crate) fn storage(read_only: bool, has_dynamic_offset: bool) -> wgpu::BindingType {
    let ty = wgpu::BufferBindingType::Storage { read_only };
    wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None }
}

/// Binds the elements of `instances` instances from `first` on, `bytes` bytes each.
pub(crate) fn part(buffer: &wgpu::Buffer, bytes: u64, first: u32, instances: u32) -> wgpu::BufferBinding<'_> {
    let size = wgpu::BufferSize::new(u64::from(instances) * bytes);
    wgpu::BufferBinding { buffer, offset: u64::from(first) * bytes, size }
}

/// Creates a bind group with these resources, numbered from binding 0.
pub(crate) fn bind_group(
    device: &wgpu::Device,
    label: Option<&str>,
    layout: &wgpu::BindGroupLayout,
    resources: &[wgpu::BindingResource<'_>],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource: resource.clone() })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries: &entries })
}

/// Vertex buffer layouts of a shader variant: vertices, and place and playback records of instances
/// unless the shader reads these from storage buffers.
#[derive(Clone, Debug)]
pub struct VertexBuffers {
    vertex: Vec<wgpu::VertexAttribute>,
    stride: u64,
    place: Option<[wgpu::VertexAttribute; PLACE_ATTRIBUTES as usize]>,
    playback: Option<[wgpu::VertexAttribute; PLAYBACK_ATTRIBUTES as usize]>,
    previous: Option<[wgpu::VertexAttribute; PLACE_ATTRIBUTES as usize]>,
}

/// Returns the vertex buffer layouts of a shader variant, for a game's own pipelines: vertices,
/// place records, playback records, place records of the previous frame. With a palette, the shader reads
/// all but the vertices from storage buffers, because vertex attributes are slower.
///
/// ```no_run
/// # fn pipeline(variant: gpuskin_rt::pipeline::Variant, module: &wgpu::ShaderModule) {
/// # use gpuskin_rt::wgpu;
/// let buffers = gpuskin_rt::pipeline::vertex_buffers(variant);
/// let vertex = wgpu::VertexState {
///     module,
///     entry_point: Some("vertex"),
///     compilation_options: Default::default(),
///     buffers: &buffers.layouts(),
/// };
/// # }
/// ```
pub fn vertex_buffers(variant: Variant) -> VertexBuffers {
    buffers(variant, InstanceSource::Records)
}

/// Returns the vertex buffer layouts for [`pipeline::field_source`](crate::pipeline::field_source):
/// vertices only.
pub fn field_vertex_buffers(variant: Variant) -> VertexBuffers {
    buffers(variant, InstanceSource::Field)
}

pub(crate) fn buffers(variant: Variant, instances: InstanceSource) -> VertexBuffers {
    let attribute = |location, offset, words| wgpu::VertexAttribute {
        format: match words {
            1 => wgpu::VertexFormat::Uint32,
            2 => wgpu::VertexFormat::Uint32x2,
            3 => wgpu::VertexFormat::Uint32x3,
            _ => wgpu::VertexFormat::Uint32x4,
        },
        offset,
        shader_location: location,
    };
    let place = |location| {
        let format = wgpu::VertexFormat::Float32x4;
        [wgpu::VertexAttribute { format, offset: 0, shader_location: location }, attribute(location + 1, 16, 4)]
    };
    let vertex = (0..).zip(variant.vertex_attributes()).map(|(i, &words)| attribute(i, u64::from(i) * 16, words));
    let textured = !variant.encoding.needs_compute() && instances == InstanceSource::Records;
    VertexBuffers {
        vertex: vertex.collect(),
        stride: variant.vertex.stride() as u64,
        place: textured.then(|| place(INSTANCE_LOCATION)),
        playback: textured.then(|| {
            core::array::from_fn(|i| i as u32).map(|i| attribute(PLAYBACK_LOCATION + i, u64::from(i) * 16, 4))
        }),
        previous: (textured && variant.previous_transforms).then(|| place(PREVIOUS_LOCATION)),
    }
}

impl VertexBuffers {
    /// Returns the layouts for `wgpu::VertexState::buffers`.
    pub fn layouts(&self) -> [Option<wgpu::VertexBufferLayout<'_>>; 4] {
        [
            Some(wgpu::VertexBufferLayout {
                array_stride: self.stride,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &self.vertex,
            }),
            self.place.as_ref().map(|attributes| wgpu::VertexBufferLayout {
                array_stride: PLACE_BYTES,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes,
            }),
            self.playback.as_ref().map(|attributes| wgpu::VertexBufferLayout {
                array_stride: PLAYBACK_BYTES,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes,
            }),
            self.previous.as_ref().map(|attributes| wgpu::VertexBufferLayout {
                array_stride: PLACE_BYTES,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes,
            }),
        ]
    }

    /// Number of attributes of all buffers.
    pub(crate) fn attributes(&self) -> usize {
        let place = self.place.map_or(0, |attributes| attributes.len());
        let playback = self.playback.map_or(0, |attributes| attributes.len());
        self.vertex.len() + place + playback + self.previous.map_or(0, |attributes| attributes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_the_bindings_of_the_shader() {
        for variant in Variant::all() {
            let source = crate::shader::source(variant, 2);
            let declared = source.split("@group(2) @binding(").skip(1).filter_map(|rest| rest.split_once(')'));
            let mut declared: Vec<u32> = declared.map(|(number, _)| number.parse().unwrap()).collect();
            declared.sort_unstable();
            let entries: Vec<u32> = model_layout_entries(variant).iter().map(|entry| entry.binding).collect();
            assert_eq!(entries, declared, "{variant:?}");
        }
    }
}
