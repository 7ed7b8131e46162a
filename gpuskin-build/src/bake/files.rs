//! Files of a model: animation, mesh and colour textures, tied together by one content hash.

use std::collections::BTreeMap;

use gpuskin_rt::internals::vertex;
use gpuskin_rt::internals::{
    Aabb, BoneInfo, ByteRange, ClipEvent, ClipInfo, Data, FORMAT_VERSION, IndexRange, List, MaskInfo, MeshInfo,
    MeshLod, Metadata, MorphInfo, Payload, RestInfo, Str,
};
use ktx2::Format;

use super::attempt::{Attempt, AttemptSource, PackedMesh};
use super::{BakePlan, BakedModel};
use crate::color::BakedTexture;
use crate::container::{self, HASH_LEN, Ktx2};
use crate::displacement::Displacement;
use crate::encode::{EncodedTexture, bit_set};
use crate::geometry::lods::{LodMesh, LodSet};
use crate::geometry::{Geometry, order};
use crate::manifest::Storage;
use crate::measure::ClipErrors;
use crate::model::{Bone, Mask, Model, MorphTrack};
use crate::pose_extent::rest_bounds;
use crate::sample::rows;
use crate::vertex_mode::RestMesh;

/// Size in bytes up to which files become part of the executable with `storage = "auto"`. Larger
/// ones slow the compiler down.
pub const EMBED_LIMIT: u64 = 4 << 20;
/// Files of a model, by their paths under `gpuskin/`, and payloads.
#[derive(Default)]
pub(super) struct FileSet {
    pub(super) payloads: Vec<(String, Payload)>,
    pub(super) files: BTreeMap<String, Vec<u8>>,
}

/// Materials of a model, and their textures.
pub(super) struct BakedMaterials {
    pub(super) materials: Vec<gpuskin_rt::internals::Material>,
    pub(super) textures: Vec<BakedTexture>,
}

/// Makes the metadata of a model and its files without those of textures. `first` is true for the main variant.
pub(super) fn write(
    storage: Storage,
    source: AttemptSource<'_>,
    attempt: &Attempt,
    lods: &LodSet,
    still: Option<&RestMesh>,
    colors: &BakedMaterials,
    first: bool,
) -> (Metadata, FileSet) {
    let Attempt { plan, texels, mesh, errors, .. } = attempt;
    let model = &*plan.model;
    let (mesh_info, mut mesh_bytes) = mesh_file(plan, source.geometry(plan.encoding), lods, mesh, still);
    let BakedMaterials { materials, textures } = colors;
    let clips: Vec<ClipInfo> = (0..model.clips.len()).map(|i| clip_info(plan, i, &errors[i])).collect();
    let mut meta = Metadata {
        content_hash: [0; HASH_LEN],
        format_version: FORMAT_VERSION,
        name: model.name.clone().into(),
        encoding: plan.encoding,
        texture: texels.texture,
        normals: source.normals,
        bounds: clips.iter().fold(Aabb::EMPTY, |all, c| all.union(c.bounds)),
        clips: clips.into(),
        bones: bones(model).into(),
        events: names(&model.events),
        masks: model.masks.iter().map(|mask| mask_info(model, mask)).collect(),
        morphs: model.morph_tracks.iter().map(morph_info).collect(),
        parts: names(&model.parts),
        variants: names(&model.variants),
        mesh: mesh_info,
        materials: materials.clone().into(),
        textures: textures.iter().map(|texture| texture.info.clone()).collect(),
        rest_bounds: rest_bounds(model),
    };

    let mut hasher = blake3::Hasher::new();
    hasher.update(&meta.to_postcard());
    hasher.update(&texels.bytes);
    hasher.update(&mesh_bytes);
    textures.iter().flat_map(|texture| texture.bytes()).for_each(|level| {
        hasher.update(level);
    });
    meta.content_hash.copy_from_slice(&hasher.finalize().as_bytes()[..HASH_LEN]);
    mesh_bytes[..HASH_LEN].copy_from_slice(&meta.content_hash);

    let animation = animation_file(texels, &meta.to_postcard());
    let mut set = FileSet::default();
    set.add(storage, format!("{}/anim-{}.ktx2", meta.name, plan.encoding.name()), animation);
    let whole = ByteRange { offset: 0, len: mesh_bytes.len() as u64 };
    let mesh_name = if first { "mesh.bin".to_owned() } else { format!("mesh-{}.bin", plan.encoding.name()) };
    let mesh = Ktx2 { bytes: mesh_bytes, levels: vec![whole], value_at: 0 };
    set.add(storage, format!("{}/{mesh_name}", meta.name), mesh);
    (meta, set)
}

/// Makes the files of textures, which all variants of a model share. `meta`: that of the main variant.
pub(super) fn of_textures(storage: Storage, meta: &Metadata, textures: Vec<BakedTexture>) -> FileSet {
    let mut set = FileSet::default();
    for (n, texture) in textures.into_iter().enumerate() {
        if let Some(bytes) = texture.universal(&meta.content_hash) {
            // The runtime does not load this file, so it is not a payload.
            set.files.insert(format!("{}/color-{n}-universal.ktx2", meta.name), bytes);
        }
        for (format, file) in texture.into_files(&meta.content_hash) {
            set.add(storage, format!("{}/color-{n}-{format}.ktx2", meta.name), file);
        }
    }
    set
}

/// Length of the name of a content folder in hexadecimal digits.
pub(super) const CONTENT_DIGITS: usize = 8;

/// Moves the files of a model, with those of its variants, to a folder that is named by a hash of
/// them: `soldier/mesh.bin` becomes `soldier/1f0a55c3/mesh.bin`. A later bake with other bytes thus
/// replaces no file that an earlier generated module names.
pub(super) fn in_content_folder(model: &mut BakedModel, files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    let mut hasher = blake3::Hasher::new();
    for (name, bytes) in &files {
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
    let content = &hasher.finalize().to_hex()[..CONTENT_DIGITS];
    let moved = |name: &str| {
        let (folder, file) = name.split_once('/').expect("a file is in the folder of its model");
        format!("{folder}/{content}/{file}")
    };
    let variants = model.others.iter_mut().flat_map(|other| &mut other.payloads);
    for (name, payload) in model.payloads.iter_mut().chain(variants) {
        *name = moved(name);
        if let Data::File { name: at_run_time, .. } = &mut payload.data {
            *at_run_time = name.clone().into();
        }
    }
    files.into_iter().map(|(name, bytes)| (moved(&name), bytes)).collect()
}

impl FileSet {
    fn add(&mut self, storage: Storage, name: String, file: Ktx2) {
        let size = file.bytes.len() as u64;
        let payload =
            Payload { data: place(storage, &name, size), size, hash_at: file.value_at, levels: file.levels.into() };
        self.payloads.push((name.clone(), payload));
        self.files.insert(name, file.bytes);
    }
}

/// Returns where a file of this size is stored, without its bytes.
pub(super) fn place(storage: Storage, name: &str, size: u64) -> Data {
    let embed = match storage {
        Storage::Auto | Storage::Fetch => size <= EMBED_LIMIT,
        Storage::Embed => true,
        Storage::File => false,
    };
    match embed {
        true => Data::Bytes(List::Borrowed(&[])),
        false => Data::File { name: name.to_owned().into(), baked: "".into() },
    }
}

/// Makes the mesh file. `still` is the static mesh of vertex mode.
fn mesh_file(
    plan: &BakePlan,
    geometry: &Geometry,
    lods: &LodSet,
    mesh: &PackedMesh,
    still: Option<&RestMesh>,
) -> (MeshInfo, Vec<u8>) {
    let mut bytes = vec![0; HASH_LEN];
    let mut section = |data: &mut dyn Iterator<Item = u32>| {
        let offset = bytes.len() as u64;
        data.for_each(|word| bytes.extend(word.to_le_bytes()));
        ByteRange { offset, len: bytes.len() as u64 - offset }
    };
    let LodSet { levels, copies } = lods;
    let packed = copies.iter().flat_map(|copy| vertex::pack(&copy.vertex, mesh.format, &mesh.range));
    let vertices = section(&mut mesh.words.iter().copied().chain(packed));
    let vertex_count = geometry.vertices.len() + copies.len();
    let wide_indices = vertex_count > 1 << 16;
    let mut all_indices = Vec::new();
    let mut range = |part: &[u32]| {
        let first_index = all_indices.len() as u32;
        all_indices.extend(order::for_drawing(part, vertex_count));
        IndexRange { first_index, index_count: part.len() as u32 }
    };
    for part in &geometry.parts {
        range(&geometry.indices[part.first_index as usize..][..part.index_count as usize]);
    }
    let level =
        |level: &LodMesh| MeshLod { error: level.error, parts: level.parts.iter().map(|part| range(part)).collect() };
    let infos: List<MeshLod> = levels.iter().map(level).collect();
    let indices = if wide_indices {
        section(&mut all_indices.iter().copied())
    } else {
        // Two indices per word; an odd last one is padded.
        section(&mut all_indices.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 16))
    };
    let clips = section(&mut plan.records.iter().flat_map(|r| [r.first_frame, r.intervals, r.stored, r.held]));
    let parts = levels.iter().map(|level| &level.parts[..]);
    let morphs = section(&mut geometry.morphs.pack(vertex_count, parts).into_iter());
    let rest = still.map(|still| RestInfo { vertices: section(&mut still.words.iter().copied()), ..still.info });
    let info = MeshInfo {
        format: mesh.format,
        range: mesh.range,
        vertex_count: vertex_count as u32,
        vertices,
        indices,
        wide_indices,
        clips,
        parts: geometry.parts.clone().into(),
        levels: infos,
        influence_error: geometry.influence_error,
        morphs,
        rest,
    };
    (info, bytes)
}

fn animation_file(texels: &EncodedTexture, metadata: &[u8]) -> Ktx2 {
    let format = Format::new(texels.encoding.format().vulkan()).expect("a number of Vulkan is not 0");
    let shape = texels.texture;
    let texture = container::TextureFile {
        format,
        texel_bytes: texels.encoding.format().bytes(),
        width: shape.width,
        height: shape.height,
        layers: shape.layers,
        faces: 1,
        levels: std::slice::from_ref(&texels.bytes),
    };
    container::write(&texture, metadata)
}

fn clip_info(plan: &BakePlan, index: usize, errors: &ClipErrors) -> ClipInfo {
    let (clip, grid, record) = (&plan.model.clips[index], &plan.grids[index], &plan.records[index]);
    ClipInfo {
        name: clip.name.clone().into(),
        source: clip.source.clone().into(),
        first_frame: record.first_frame,
        intervals: record.intervals,
        stored: record.stored,
        held: grid.held,
        stepped: grid.stepped,
        looped: plan.looped[index],
        duration: grid.duration,
        frame_rate: grid.rate(),
        bounds: errors.bounds,
        events: clip.events.iter().map(|&(time, event)| ClipEvent { event, phase: phase(time, clip.end) }).collect(),
        root_motion: Displacement::new(&plan.model, clip, grid).map(|displacement| displacement.info()),
        additive: clip.additive.map(|reference| reference as u16),
        encoding_error: errors.encoding,
        motion_error: errors.motion,
    }
}

/// Converts a time to a fraction of the clip length, scaled to 32 bits. The end of the clip becomes
/// the largest value.
fn phase(time: f64, end: f64) -> u32 {
    let fraction = if end > 0.0 { time / end } else { 0.0 };
    (fraction * 4_294_967_296.0).round().clamp(0.0, f64::from(u32::MAX)) as u32
}

fn names(names: &[String]) -> List<Str> {
    names.iter().map(|name| Str::from(name.clone())).collect()
}

fn morph_info(track: &MorphTrack) -> MorphInfo {
    MorphInfo {
        name: track.name.clone().into(),
        bone: track.bone as u32,
        axis: track.axis as u32,
        scale: track.scale as f32,
    }
}

fn mask_info(model: &Model, mask: &Mask) -> MaskInfo {
    let bones = bit_set(model.bones.len(), |bone| mask.nodes[model.bones[bone].node]);
    MaskInfo { name: mask.name.clone().into(), bones: bones.into() }
}

fn bones(model: &Model) -> Vec<BoneInfo> {
    let mut bone_of_node = vec![None; model.nodes.len()];
    for (i, bone) in model.bones.iter().enumerate().rev() {
        bone_of_node[bone.node] = Some(i as u32);
    }
    let parent = |bone: &Bone| {
        let mut ancestors = std::iter::successors(model.nodes[bone.node].parent, |&n| model.nodes[n].parent);
        ancestors.find_map(|n| bone_of_node[n])
    };
    let info = |bone: &Bone| BoneInfo {
        name: bone.name.clone().into(),
        parent: parent(bone),
        bind: rows(&bone.bind()).map(|r| r.map(|v| v as f32)),
    };
    model.bones.iter().map(info).collect()
}
