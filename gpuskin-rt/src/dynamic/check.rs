//! Whether what stands in files goes together. What is read afterwards trusts it.

use core::ops::Range;

use ktx2::Format;

use super::file::Ktx2;
use crate::encoding::Texels;
use crate::local::layout::MAX_BONES;
use crate::shader::Variant;
use crate::vertex::rest::words;
use crate::vertex::unpack;
use crate::{
    ByteRange, ClipInfo, ClipRecord, ColorFormat, ColorTexture, MAX_CLIPS, MAX_EVENTS, MAX_LAYERS, MAX_LEVELS,
    MAX_MASKS, MAX_PARTS, MeshInfo, Metadata, Packing, RestInfo, TexelFormat,
};

/// Texels along the longest side of any texture: what large devices have.
const MOST_SIDE: u32 = 16_384;

type Checked = Result<(), String>;

fn all(checks: &[(bool, &str)]) -> Checked {
    checks.iter().find(|(right, _)| !right).map_or(Ok(()), |(_, reason)| Err((*reason).to_owned()))
}

/// Names that other encodings of a model share: clips, then bones.
pub(super) fn names(meta: &Metadata) -> impl Iterator<Item = &str> {
    let clips = meta.clips.iter().map(|clip| &*clip.name);
    clips.chain([""]).chain(meta.bones.iter().map(|bone| &*bone.name))
}

/// Counts and indices.
pub(super) fn metadata(meta: &Metadata) -> Checked {
    let (texture, encoding) = (&meta.texture, meta.encoding);
    let bones = meta.bones.len();
    let parent = |parent: Option<u32>| parent.is_none_or(|p| (p as usize) < bones);
    let numbers = |bind: &[[f32; 4]; 3]| bind.as_flattened().iter().all(|v| v.is_finite());
    let of_material = |t: &crate::MaterialTexture| (t.texture as usize) < meta.textures.len();
    let rows_fit =
        if encoding.is_vertex() { texture.rows > encoding.range_rows() } else { texture.rows as usize == bones };
    let sides = [texture.width, texture.height].iter().all(|side| (1..=MOST_SIDE).contains(side));
    let layers = if encoding.needs_compute() { 1 } else { MAX_LAYERS };
    all(&[
        ((1..=MAX_CLIPS).contains(&meta.clips.len()), "it has no clips, or more than a model can have"),
        (bones <= MAX_BONES as usize, "it has more bones than a model can have"),
        (meta.bones.iter().all(|b| parent(b.parent) && numbers(&b.bind)), "a bone's parent or place is none"),
        (Variant::of(meta).is_sound(), "its vertices do not go with its encoding"),
        (rows_fit && texture.rows > 0, "its animation has other bones or vertices than it says"),
        (sides && texture.width.is_power_of_two(), "its animation texture has sides that none has"),
        ((1..=layers).contains(&texture.layers), "its animation texture has layers that none has"),
        (
            meta.mesh.parts.iter().all(|p| (p.material as usize) < meta.materials.len()),
            "a part of the mesh has a material that there is not",
        ),
        (
            meta.materials.iter().flat_map(crate::Material::textures).all(of_material),
            "a material has a texture that there is not",
        ),
        (meta.textures.iter().all(is_texture), "a texture has sides or levels that none has"),
    ])?;
    marks(meta)?;
    let number = |v: f64| v.is_finite() && v >= 0.0;
    let odd = meta.clips.iter().find(|clip| !(number(clip.duration) && number(clip.frame_rate)));
    odd.map_or(Ok(()), |clip| Err(format!("the duration of clip `{}` is none", clip.name)))
}

/// Events, masks, parts, root motion.
fn marks(meta: &Metadata) -> Checked {
    let bones = meta.bones.len();
    let known = |clip: &ClipInfo| clip.events.iter().all(|e| usize::from(e.event) < meta.events.len());
    let number = |key: &crate::RootKey| key.translation.iter().chain(&key.rotation).all(|v| v.is_finite());
    let whole = |clip: &ClipInfo, motion: &crate::RootMotion| {
        motion.keys.len() as u64 == u64::from(clip.intervals) + 1 && motion.keys.iter().all(number)
    };
    all(&[
        (meta.clips.iter().all(known), "a clip has an event that there is not"),
        (meta.clips.iter().all(|c| c.events.is_sorted_by_key(|e| e.phase)), "events of a clip are not in order"),
        (meta.clips.iter().all(|c| c.events.len() <= MAX_EVENTS), "a clip has more events than it can have"),
        (
            meta.clips.iter().all(|clip| clip.root_motion.as_ref().is_none_or(|motion| whole(clip, motion))),
            "the root motion of a clip is not that of its frames",
        ),
        (
            meta.clips.iter().all(|c| c.additive.is_none_or(|clip| usize::from(clip) < meta.clips.len())),
            "a clip adds to one that there is not",
        ),
        (meta.parts.len() <= MAX_PARTS && meta.masks.len() <= MAX_MASKS, "it has more masks or parts than it can have"),
        (meta.masks.iter().all(|mask| mask.bones.len() == bones.div_ceil(32)), "a mask is not over its bones"),
        (
            meta.mesh.parts.iter().all(|p| p.part.is_none_or(|part| usize::from(part) < meta.parts.len())),
            "a part of the mesh has a name that there is not",
        ),
    ])
}

fn is_texture(texture: &ColorTexture) -> bool {
    let ColorTexture { width, height, levels, formats, .. } = texture;
    let sides = [*width, *height].iter().all(|side| (1..=MOST_SIDE).contains(side));
    let whole = |f: &ColorFormat| [width, height].iter().all(|side| side.is_multiple_of(f.block_side()));
    let most = width.max(height).checked_ilog2().map_or(0, |mips| mips + 1);
    sides && (1..=most).contains(levels) && !formats.is_empty() && formats.len() <= 8 && formats.iter().all(whole)
}

/// The animation in its file.
pub(super) fn animation(meta: &Metadata, file: &Ktx2, bytes: &[u8]) -> Checked {
    let format = match meta.encoding.format() {
        TexelFormat::R32Uint => Format::R32_UINT,
        TexelFormat::Rgba8Uint => Format::R8G8B8A8_UINT,
        TexelFormat::Rgba16Uint => Format::R16G16B16A16_UINT,
        TexelFormat::Rgba32Uint => Format::R32G32B32A32_UINT,
        TexelFormat::Rgba16Float => Format::R16G16B16A16_SFLOAT,
        TexelFormat::Rgba32Float => Format::R32G32B32A32_SFLOAT,
    };
    let shape = &meta.texture;
    let [level] = file.levels[..] else { return Err("its animation has mip levels".into()) };
    let texels = slice(bytes, level).ok_or("it is cut short")?;
    let rows = if meta.encoding.is_vertex() { shape.rows as usize } else { meta.bones.len() };
    let records: Vec<ClipRecord> = meta.clips.iter().map(ClipInfo::record).collect();
    let held = || Texels::new(meta.encoding, *shape, texels).is_some_and(|texels| texels.holds(&records, rows));
    all(&[
        (file.format == Some(format), "its format is not that of its encoding"),
        (file.size == [shape.width, shape.height, shape.layers], "its size is not the one that it says"),
        (level.len == shape.byte_len(meta.encoding), "its animation is not as large as it says"),
        (held(), "its frames are not those of its clips"),
    ])
}

/// `mesh.bin`.
pub(super) fn mesh(meta: &Metadata, bytes: &[u8]) -> Checked {
    let MeshInfo { format, range, vertex_count, vertices, indices, wide_indices, clips, parts, levels, rest } =
        &meta.mesh;
    let part = |range: &ByteRange| slice(bytes, *range).ok_or("it is shorter than the animation says");
    let (vertex_bytes, index_bytes, clip_bytes) = (part(vertices)?, part(indices)?, part(clips)?);
    let records: Vec<ClipRecord> = meta.clips.iter().map(ClipInfo::record).collect();
    let index_count = indices.len / if *wide_indices { 4 } else { 2 };
    let drawn = |first: u32, count: u32| u64::from(first) + u64::from(count) <= index_count;
    let index = |bytes: &[u8]| bytes.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
    let index_size = if *wide_indices { 4 } else { 2 };
    let joints = |bytes: &[u8]| {
        let words: Vec<u32> = bytes.chunks_exact(4).map(index).collect();
        unpack(&words, *format, range).joints.iter().all(|joint| *joint < meta.texture.rows)
    };
    let stands = |rest: &RestInfo| {
        let numbers = rest.position_min.iter().chain(&rest.position_extent).all(|v| v.is_finite());
        let stride = 4 * words(format.tangent) as u64;
        let clip = rest.clip.is_none_or(|clip| usize::from(clip) < meta.clips.len());
        let whole = slice(bytes, rest.vertices).is_some() && rest.vertices.len == u64::from(*vertex_count) * stride;
        format.packing == Packing::Static && whole && numbers && clip && rest.seconds.is_finite()
    };
    all(&[
        (bytes.starts_with(&meta.content_hash), "it is of another bake than the animation"),
        (rest.as_ref().is_none_or(stands), "its mesh at rest is not that of its vertices"),
        (clip_bytes == bytemuck::cast_slice::<_, u8>(&records), "its clips are not those of the animation"),
        (vertices.len == u64::from(*vertex_count) * format.stride() as u64, "its vertices are incomplete"),
        (*vertex_count > 0 && index_count > 0, "it has no vertices"),
        (parts.iter().all(|p| drawn(p.first_index, p.index_count)), "a part has more indices than there are"),
        (levels.len() < MAX_LEVELS, "it has more levels of detail than a model can have"),
        (
            levels.iter().all(|level| level.parts.len() == parts.len()),
            "a level of detail has other parts than the mesh",
        ),
        (
            levels.iter().flat_map(|level| level.parts.iter()).all(|p| drawn(p.first_index, p.index_count)),
            "a level of detail has more indices than there are",
        ),
        (
            levels.iter().map(|level| level.error).is_sorted()
                && levels.iter().all(|level| level.error.is_finite() && level.error >= 0.0),
            "the errors of its levels of detail are none, or out of order",
        ),
        (index_bytes.chunks_exact(index_size).all(|i| index(i) < *vertex_count), "an index is of no vertex"),
        (vertex_bytes.chunks_exact(format.stride()).all(joints), "a vertex hangs on a bone that there is not"),
    ])
}

/// `color-<n>-<format>.ktx2`.
pub(super) fn texture(meta: &Metadata, info: &ColorTexture, format: ColorFormat, file: &Ktx2, bytes: &[u8]) -> Checked {
    let kind = match (format, info.srgb) {
        (ColorFormat::Rgba8, true) => Format::R8G8B8A8_SRGB,
        (ColorFormat::Rgba8, false) => Format::R8G8B8A8_UNORM,
        (ColorFormat::Bc7, true) => Format::BC7_SRGB_BLOCK,
        (ColorFormat::Bc7, false) => Format::BC7_UNORM_BLOCK,
        (ColorFormat::Astc, true) => Format::ASTC_4x4_SRGB_BLOCK,
        (ColorFormat::Astc, false) => Format::ASTC_4x4_UNORM_BLOCK,
        (ColorFormat::Etc2, true) => Format::ETC2_R8G8B8A8_SRGB_BLOCK,
        (ColorFormat::Etc2, false) => Format::ETC2_R8G8B8A8_UNORM_BLOCK,
    };
    let enough = |(n, level): (u32, &ByteRange)| level.len == format.image_bytes(info.level_size(n));
    all(&[
        (bytes[file.value.clone()] == meta.content_hash, "it is of another bake than the animation"),
        (file.format == Some(kind), "its format is not the one that it is named by"),
        (file.size == [info.width, info.height, 1], "its size is not the one that the animation says"),
        (file.levels.len() == info.levels as usize, "it has other mip levels than the animation says"),
        ((0..).zip(&file.levels).all(enough), "a mip level is incomplete"),
    ])
}

fn slice(bytes: &[u8], ByteRange { offset, len }: ByteRange) -> Option<&[u8]> {
    let end = usize::try_from(offset.checked_add(len)?).ok()?;
    bytes.get(Range { start: offset as usize, end })
}
