//! Validates that the files of a model are consistent. All later reads rely on it.

use core::ops::Range;

use ktx2::Format;

use super::file::Ktx2;
use crate::encoding::Texels;
use crate::local::layout::MAX_BONES;
use crate::morph::{MAX_TEXELS, MorphLists};
use crate::shader::Variant;
use crate::vertex::rest::words;
use crate::vertex::unpack;
use crate::{
    ByteRange, ClipInfo, ClipRecord, ColorFormat, ColorTexture, MAX_CLIPS, MAX_EVENTS, MAX_LAYERS, MAX_LODS, MAX_MASKS,
    MAX_PARTS, MAX_VARIANTS, MeshInfo, Metadata, Packing, RestInfo,
};

/// Greatest side of a texture, in texels, on any device.
const MOST_SIDE: u32 = 16_384;

type Checked = Result<(), String>;

fn all(checks: &[(bool, &str)]) -> Checked {
    checks.iter().find(|(right, _)| !right).map_or(Ok(()), |(_, reason)| Err((*reason).to_owned()))
}

/// Returns the names that all encodings of a model share: clips, then bones.
pub(super) fn names(meta: &Metadata) -> impl Iterator<Item = &str> {
    let clips = meta.clips.iter().map(|clip| &*clip.name);
    clips.chain([""]).chain(meta.bones.iter().map(|bone| &*bone.name))
}

/// Checks counts and indices.
pub(super) fn metadata(meta: &Metadata) -> Checked {
    let (texture, encoding) = (&meta.texture, meta.encoding);
    let bones = meta.bones.len();
    let parent = |parent: Option<u32>| parent.is_none_or(|p| (p as usize) < bones);
    let numbers = |bind: &[[f32; 4]; 3]| bind.as_flattened().iter().all(|v| v.is_finite());
    let of_material = |t: &crate::MaterialTexture| (t.texture as usize) < meta.textures.len();
    let layers_of =
        |t: &crate::MaterialTexture| meta.textures.get(t.texture as usize).map_or(1, |texture| texture.layers);
    let rows_fit =
        if encoding.is_vertex() { texture.rows > encoding.range_rows() } else { texture.rows as usize == bones };
    let sides = [texture.width, texture.height].iter().all(|side| (1..=MOST_SIDE).contains(side));
    let layers = if encoding.needs_compute() { 1 } else { MAX_LAYERS };
    all(&[
        ((1..=MAX_CLIPS).contains(&meta.clips.len()), "no clips, or more than MAX_CLIPS"),
        (bones <= MAX_BONES as usize, "more bones than MAX_BONES"),
        (
            meta.bones.iter().all(|b| parent(b.parent) && numbers(&b.bind)),
            "a bone has a parent that does not exist, or a bind matrix that is not finite",
        ),
        (
            meta.morphs.iter().all(|morph| (morph.bone as usize) < bones && morph.axis < 3),
            "a morph target has a bone that does not exist",
        ),
        (Variant::of(meta).is_sound(), "vertex format does not match the encoding"),
        (rows_fit && texture.rows > 0, "rows of the animation texture do not match the bones or vertices"),
        (sides && texture.width.is_power_of_two(), "animation texture has an invalid width or height"),
        ((1..=layers).contains(&texture.layers), "animation texture has an invalid number of layers"),
        (
            meta.mesh.parts.iter().all(|p| (p.material as usize) < meta.materials.len()),
            "a mesh part refers to a material that does not exist",
        ),
        (
            meta.materials.iter().flat_map(crate::Material::textures).all(of_material),
            "a material refers to a texture that does not exist",
        ),
        (
            meta.materials.iter().all(|m| m.has_coordinates(meta.mesh.format.second_uv)),
            "a texture has second texture coordinates, which vertices have not",
        ),
        (meta.materials.iter().all(|m| m.layers_are_sound(layers_of)), "layers of a texture do not match the variants"),
        (
            meta.variants.len() <= MAX_VARIANTS
                && meta.materials.iter().all(|m| !m.has_layers() || m.variant_layers.len() == meta.variants.len()),
            "more variants than MAX_VARIANTS, or a material has another number of them",
        ),
        (
            meta.textures.iter().all(is_texture),
            "a texture has an invalid size, number of mip levels or list of formats",
        ),
    ])?;
    marks(meta)?;
    let number = |v: f64| v.is_finite() && v >= 0.0;
    let odd = meta.clips.iter().find(|clip| !(number(clip.duration) && number(clip.frame_rate)));
    odd.map_or(Ok(()), |clip| Err(format!("clip `{}` has an invalid duration or frame rate", clip.name)))
}

/// Checks events, masks, parts and root motion.
fn marks(meta: &Metadata) -> Checked {
    let bones = meta.bones.len();
    let known = |clip: &ClipInfo| clip.events.iter().all(|e| usize::from(e.event) < meta.events.len());
    let number = |key: &crate::RootKey| key.translation.iter().chain(&key.rotation).all(|v| v.is_finite());
    let whole = |clip: &ClipInfo, motion: &crate::RootMotion| {
        motion.keys.len() as u64 == u64::from(clip.intervals) + 1 && motion.keys.iter().all(number)
    };
    all(&[
        (meta.clips.iter().all(known), "a clip refers to an event that does not exist"),
        (meta.clips.iter().all(|c| c.events.is_sorted_by_key(|e| e.phase)), "events of a clip are not sorted by phase"),
        (meta.clips.iter().all(|c| c.events.len() <= MAX_EVENTS), "a clip has more events than MAX_EVENTS"),
        (
            meta.clips.iter().all(|clip| clip.root_motion.as_ref().is_none_or(|motion| whole(clip, motion))),
            "root motion of a clip does not match its frames",
        ),
        (
            meta.clips.iter().all(|c| c.additive.is_none_or(|clip| usize::from(clip) < meta.clips.len())),
            "an additive clip refers to a clip that does not exist",
        ),
        (
            meta.parts.len() <= MAX_PARTS && meta.masks.len() <= MAX_MASKS,
            "more parts than MAX_PARTS, or more masks than MAX_MASKS",
        ),
        (meta.masks.iter().all(|mask| mask.bones.len() == bones.div_ceil(32)), "a mask has a wrong number of bones"),
        (
            meta.mesh.parts.iter().all(|p| p.part.is_none_or(|part| usize::from(part) < meta.parts.len())),
            "a mesh part refers to a part name that does not exist",
        ),
    ])
}

fn is_texture(texture: &ColorTexture) -> bool {
    let ColorTexture { width, height, levels, layers, formats, .. } = texture;
    let sides = [*width, *height].iter().all(|side| (1..=MOST_SIDE).contains(side));
    let whole = |f: &ColorFormat| [width, height].iter().all(|side| side.is_multiple_of(f.block_side()));
    let most = width.max(height).checked_ilog2().map_or(0, |mips| mips + 1);
    let sides = sides && (1..=MAX_LAYERS).contains(layers);
    sides && (1..=most).contains(levels) && !formats.is_empty() && formats.len() <= 8 && formats.iter().all(whole)
}

/// Checks the animation against its file.
pub(super) fn animation(meta: &Metadata, file: &Ktx2, bytes: &[u8]) -> Checked {
    let shape = &meta.texture;
    let [level] = file.levels[..] else { return Err("animation texture has mip levels, expected one level".into()) };
    let texels = slice(bytes, level).ok_or("file is truncated")?;
    let rows = if meta.encoding.is_vertex() { shape.rows as usize } else { meta.bones.len() };
    let records: Vec<ClipRecord> = meta.clips.iter().map(ClipInfo::record).collect();
    let held = || Texels::new(meta.encoding, *shape, texels).is_some_and(|texels| texels.holds(&records, rows));
    all(&[
        (file.format == Format::new(meta.encoding.format().vulkan()), "texture format does not match the encoding"),
        (file.size == [shape.width, shape.height, shape.layers], "texture size does not match the metadata"),
        (level.len == shape.byte_len(meta.encoding), "byte length of the animation does not match its texture size"),
        (held(), "frames of the animation do not match the clips"),
    ])
}

/// Checks `mesh.bin`.
pub(super) fn mesh(meta: &Metadata, bytes: &[u8]) -> Checked {
    let MeshInfo {
        format,
        range,
        vertex_count,
        vertices,
        indices,
        wide_indices,
        clips,
        parts,
        levels,
        influence_error,
        morphs,
        rest,
    } = &meta.mesh;
    let part = |range: &ByteRange| slice(bytes, *range).ok_or("file is shorter than the metadata says");
    let (vertex_bytes, index_bytes, clip_bytes) = (part(vertices)?, part(indices)?, part(clips)?);
    let records: Vec<ClipRecord> = meta.clips.iter().map(ClipInfo::record).collect();
    let index_count = indices.len / if *wide_indices { 4 } else { 2 };
    let drawn = |first: u32, count: u32| u64::from(first) + u64::from(count) <= index_count;
    let index = |bytes: &[u8]| bytes.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
    let index_size = if *wide_indices { 4 } else { 2 };
    let joints = |bytes: &[u8]| {
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        unpack(&words, *format, range).joints.iter().all(|joint| *joint < meta.texture.rows)
    };
    let lists = || -> Result<bool, &str> {
        let words: Vec<u32> = part(morphs)?.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let lists = MorphLists::new(&words);
        let deltas = (0..*vertex_count as usize).flat_map(|vertex| lists.of(vertex));
        let known = deltas.map(|delta| delta.row as usize).all(|row| row < 3 * meta.bones.len());
        let counted = (0..MAX_LODS).all(|level| lists.moved(level) <= *vertex_count);
        let whole = morphs.len % 16 == 0 && morphs.len <= 16 * MAX_TEXELS as u64;
        Ok(known && counted && whole)
    };
    let stands = |rest: &RestInfo| {
        let numbers = rest.position_min.iter().chain(&rest.position_extent).all(|v| v.is_finite());
        let stride = 4 * words(format.tangent) as u64;
        let clip = rest.clip.is_none_or(|clip| usize::from(clip) < meta.clips.len());
        let whole = slice(bytes, rest.vertices).is_some() && rest.vertices.len == u64::from(*vertex_count) * stride;
        format.packing == Packing::Static && whole && numbers && clip && rest.seconds.is_finite()
    };
    all(&[
        (bytes.starts_with(&meta.content_hash), "comes from another bake than the animation"),
        (rest.as_ref().is_none_or(stands), "rest pose does not match the vertices"),
        (clip_bytes == bytemuck::cast_slice::<_, u8>(&records), "clip records do not match the animation"),
        (
            vertices.len == u64::from(*vertex_count) * format.stride() as u64,
            "byte length of the vertices does not match their number",
        ),
        (*vertex_count > 0 && index_count > 0, "no vertices or no indices"),
        (parts.iter().all(|p| drawn(p.first_index, p.index_count)), "index range of a part exceeds the index buffer"),
        (levels.len() < MAX_LODS, "more levels of detail than MAX_LODS"),
        (levels.iter().all(|level| level.parts.len() == parts.len()), "a level of detail has a wrong number of parts"),
        (
            levels.iter().flat_map(|level| level.parts.iter()).all(|p| drawn(p.first_index, p.index_count)),
            "index range of a level of detail exceeds the index buffer",
        ),
        (
            levels.iter().map(|level| level.error).is_sorted()
                && levels.iter().all(|level| level.error.is_finite() && level.error >= 0.0),
            "LOD errors are negative, not finite, or not ascending",
        ),
        (
            influence_error.is_finite()
                && *influence_error >= 0.0
                && (*influence_error == 0.0 || format.packing.influences() > 4),
            "the error of four influences is negative, not finite, or of vertices that have no more",
        ),
        (
            index_bytes.chunks_exact(index_size).all(|i| index(i) < *vertex_count),
            "an index exceeds the number of vertices",
        ),
        (lists()?, "a morph target has a bone that does not exist, or too many deltas"),
        (vertex_bytes.chunks_exact(format.stride()).all(joints), "a vertex refers to a bone that does not exist"),
    ])
}

/// Checks `color-<n>-<format>.ktx2`.
pub(super) fn texture(meta: &Metadata, info: &ColorTexture, format: ColorFormat, file: &Ktx2, bytes: &[u8]) -> Checked {
    let kind = Format::new(format.vulkan(info.srgb));
    let enough = |(n, level): (u32, &ByteRange)| level.len == info.level_bytes(format, n);
    all(&[
        (bytes[file.value.clone()] == meta.content_hash, "comes from another bake than the animation"),
        (file.format == kind, "texture format does not match the file name"),
        (file.size == [info.width, info.height, info.layers], "texture size does not match the metadata"),
        (file.levels.len() == info.levels as usize, "number of mip levels does not match the metadata"),
        ((0..).zip(&file.levels).all(enough), "byte length of a mip level does not match its size"),
    ])
}

fn slice(bytes: &[u8], ByteRange { offset, len }: ByteRange) -> Option<&[u8]> {
    let end = usize::try_from(offset.checked_add(len)?).ok()?;
    bytes.get(Range { start: offset as usize, end })
}
