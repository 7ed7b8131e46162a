//! Constants that `include_baked!()` adds to a game's code, compared with the baked files.

use std::fs;
use std::path::Path;

use gpuskin_rt::internals::files::load;
use gpuskin_rt::internals::{
    BakedModel, Clip, ColorFormat, CrowdRenderer, Data, Encoding, FORMAT_VERSION, Metadata, Model, RendererDescriptor,
    TexelFormat,
};
use gpuskin_tests::gpu::vulkan;
use gpuskin_tests::shared::content_folder;
use gpuskin_tests::{bones, clips, models};
use ktx2::dfd::Basic;
use ktx2::{Format, Reader};

/// Asserts the names and the order of a model's clip constants.
fn named<M: BakedModel>(constants: &[(Clip<M>, &str)]) {
    assert_eq!(M::MODEL.meta.clips.len(), constants.len());
    for (index, (clip, name)) in constants.iter().enumerate() {
        assert_eq!((usize::from(clip.index()), &*clip.info().name), (index, *name));
        assert_eq!(clip.info(), &M::MODEL.meta.clips[index]);
        assert_eq!(clip.info().source, *name);
    }
}

pub fn clips_keep_the_order_of_the_manifest_or_the_file() {
    named::<models::Soldier>(&[
        (clips::SOLDIER_IDLE, "idle"),
        (clips::SOLDIER_WALK, "walk"),
        (clips::SOLDIER_RUN, "run"),
        (clips::SOLDIER_ATTACK, "attack"),
        (clips::SOLDIER_DIE, "die"),
    ]);
    named::<models::Hound>(&[(clips::HOUND_IDLE, "idle"), (clips::HOUND_WALK, "walk"), (clips::HOUND_RUN, "run")]);
}

pub fn all_clips_loop_except_die() {
    for clip in models::ALL.iter().flat_map(|model| &*model.meta.clips) {
        assert_eq!(clip.looped, clip.name != "die", "{}", clip.name);
        let shown = clip.stored + u32::from(clip.held.count);
        assert_eq!(shown, clip.intervals + u32::from(!clip.looped), "{}", clip.name);
        assert!((f64::from(clip.intervals) / clip.duration - clip.frame_rate).abs() < 1e-9);
        assert!(clip.encoding_error.max > 0.0 && clip.motion_error.max >= clip.encoding_error.max);
    }
}

pub fn models_keep_the_order_of_the_manifest() {
    let names: Vec<&str> = models::ALL.iter().map(|model| &*model.meta.name).collect();
    assert_eq!(names, ["soldier", "hound"]);
    assert!(std::ptr::eq(models::Soldier::MODEL, &models::SOLDIER) && std::ptr::eq(models::ALL[0], &models::SOLDIER));
    assert!(std::ptr::eq(models::Hound::MODEL, &models::HOUND) && std::ptr::eq(models::ALL[1], &models::HOUND));
    assert_ne!(models::SOLDIER.meta.content_hash, models::HOUND.meta.content_hash);
    for model in models::ALL {
        assert_eq!((model.meta.format_version, model.meta.encoding), (FORMAT_VERSION, Encoding::LocalPacked));
        let others: Vec<_> = model.others.iter().map(|other| other.meta.encoding).collect();
        assert_eq!(others, [Encoding::TrsPacked], "expected one other variant, for devices without compute");
        assert!(model.others.iter().all(|other| other.meta.bones == model.meta.bones && other.textures.is_empty()));
    }
}

pub fn bones_match_texture_rows() {
    let meta = &models::SOLDIER.meta;
    let bone = &meta.bones[usize::from(bones::SOLDIER_HAND_R.index())];
    assert_eq!(bone.name, "Hand.R");
    let parent = &meta.bones[bone.parent.expect("the hand has a parent") as usize];
    assert!(parent.name.ends_with(".R"), "{}", parent.name);
    for model in models::ALL {
        assert_eq!(model.meta.bones.len(), model.meta.texture.rows as usize);
        let parents = model.meta.bones.iter().enumerate().filter_map(|(i, bone)| Some((i, bone.parent?)));
        assert!(parents.into_iter().all(|(i, parent)| (parent as usize) < i), "{}", model.meta.name);
    }
}

const BC7: Format = Format::BC7_SRGB_BLOCK;
const ASTC: Format = Format::ASTC_4x4_SRGB_BLOCK;

/// Asserts that header, descriptor and mip levels of a KTX2 file match the model's constants.
fn check_ktx2(bytes: &[u8], format: Format, size: [u32; 3], levels: &[gpuskin_rt::internals::ByteRange]) {
    let reader = Reader::new(bytes).expect("a KTX2 file");
    let header = reader.header();
    assert_eq!(header.format, Some(format));
    assert_eq!([header.pixel_width, header.pixel_height, header.layer_count.max(1)], size);
    assert_eq!((header.pixel_depth, header.face_count, header.supercompression_scheme), (0, 1, None));
    assert_eq!(header.level_count as usize, levels.len());
    let (descriptor, type_size) = Basic::from_format(format).expect("a format with a descriptor");
    assert_eq!((reader.basic_dfd(), header.type_size), (Some(&descriptor), type_size));
    assert_eq!(reader.levels().count(), levels.len());
    for (n, (level, range)) in reader.levels().zip(levels).enumerate() {
        // Bytes per texel or block, and texels along a block's side.
        let (texel, block) = match format {
            BC7 | ASTC => (16, 4),
            Format::R8G8B8A8_SRGB => (4, 1),
            Format::R32_UINT => (4, 1),
            _ => (u64::from(type_size) * 4, 1),
        };
        let side = |length: u32| u64::from((length >> n).max(1)).div_ceil(block);
        assert_eq!(range.len, side(size[0]) * side(size[1]) * u64::from(size[2]) * texel, "mip level {n}");
        assert_eq!(level.data, &bytes[range.offset as usize..][..range.len as usize], "mip level {n}");
        assert!(level.data.iter().any(|b| *b != 0), "mip level {n}");
    }
}

/// Value of the key `gpuskin` in a KTX2 file; it starts with the content hash.
fn value<'a>(bytes: &'a [u8], model: &Model, hash_at: u64) -> &'a [u8] {
    let reader = Reader::new(bytes).expect("a KTX2 file");
    let (_, value) = reader.key_value_data().find(|(key, _)| *key == "gpuskin").expect("the key `gpuskin`");
    let found = &bytes[hash_at as usize..][..value.len()];
    assert!(found == value && value[..16] == model.meta.content_hash, "{}", model.meta.name);
    found
}

pub fn file_metadata_equals_the_constants() {
    for model in models::ALL.iter().flat_map(|model| std::iter::once(*model).chain(model.others.iter())) {
        let meta = &model.meta;
        let file = load(&model.animation, &meta.content_hash).unwrap();
        assert_eq!(&Metadata::from_postcard(value(&file, model, model.animation.hash_at)).unwrap(), meta);
        let format = match meta.encoding.format() {
            TexelFormat::R32Uint => Format::R32_UINT,
            TexelFormat::Rgba8Uint => Format::R8G8B8A8_UINT,
            TexelFormat::Rgba16Uint => Format::R16G16B16A16_UINT,
            TexelFormat::Rgba32Uint => Format::R32G32B32A32_UINT,
            TexelFormat::Rgba16Float => Format::R16G16B16A16_SFLOAT,
            TexelFormat::Rgba32Float => Format::R32G32B32A32_SFLOAT,
        };
        let shape = meta.texture;
        check_ktx2(&file, format, [shape.width, shape.height, shape.layers], &model.animation.levels);
        assert_eq!(model.animation.levels[0].len, shape.byte_len(meta.encoding));
        let range_frames = meta.encoding.range_frames() * meta.clips.len() as u32;
        assert_eq!(shape.frames, meta.clips.iter().map(|c| c.stored).sum::<u32>() + range_frames);
    }
    for model in models::ALL {
        let meta = &model.meta;
        assert_eq!((model.textures.len(), meta.textures.len()), (3, 1));
        let texture = &meta.textures[0];
        assert_eq!(*texture.formats, [ColorFormat::Bc7, ColorFormat::Astc, ColorFormat::Rgba8]);
        assert!(texture.srgb);
        let files = model.textures.iter().zip([BC7, ASTC, Format::R8G8B8A8_SRGB]).zip(texture.formats.iter());
        let (kept, left_out): (Vec<_>, Vec<_>) = files.partition(|(_, format)| format.is_in_program(&texture.formats));
        assert!(left_out.iter().all(|((payload, _), _)| payload.is_left_out()));
        for ((payload, format), _) in kept {
            let file = load(payload, &meta.content_hash).unwrap();
            value(&file, model, payload.hash_at);
            assert_eq!(payload.levels.len() as u32, texture.width.max(texture.height).ilog2() + 1);
            check_ktx2(&file, format, [texture.width, texture.height, 1], &payload.levels);
        }
    }
}

pub fn program_contains_only_the_texture_formats_of_its_target() {
    let program = fs::read(std::env::current_exe().unwrap()).unwrap();
    let soldier = &models::SOLDIER;
    let formats = &soldier.meta.textures[0].formats;
    let folder = content_folder(&Path::new(concat!(env!("OUT_DIR"), "/gpuskin")).join("soldier"));
    for (payload, format) in soldier.textures.iter().zip(formats.iter()) {
        let file = fs::read(folder.join(format!("color-0-{}.ktx2", format.name()))).unwrap();
        let middle = &file[file.len() / 2..][..256];
        let contained = program.windows(middle.len()).any(|part| part == middle);
        assert_eq!(contained, !payload.is_left_out(), "{}", format.name());
    }
}

pub fn side_files_are_those_that_the_device_reads() {
    let gpu = vulkan();
    let renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor::default()).unwrap();
    assert!(renderer.side_files(&models::SOLDIER).unwrap().is_empty(), "all files are part of the program");
    let mut model = models::SOLDIER.clone();
    let file = |name: &str| Data::File { name: name.to_owned().into(), baked: "".into() };
    (model.animation.data, model.mesh.data) = (file("animation"), file("mesh"));
    let mut textures = model.textures.to_vec();
    textures.iter_mut().zip(["bc7", "astc", "rgba8"]).for_each(|(texture, name)| texture.data = file(name));
    model.textures = textures.into();
    let bc7 = gpu.device.features().contains(gpuskin_rt::wgpu::Features::TEXTURE_COMPRESSION_BC);
    let texture = if bc7 { "bc7" } else { "rgba8" };
    assert_eq!(renderer.side_files(&model).unwrap(), ["animation", "mesh", texture]);
}

pub fn mesh_file_matches_the_constants() {
    for model in models::ALL {
        let mesh = &model.meta.mesh;
        let file = load(&model.mesh, &model.meta.content_hash).unwrap();
        assert_eq!(mesh.vertices.len, u64::from(mesh.vertex_count) * mesh.format.stride() as u64);
        let words = |range: gpuskin_rt::internals::ByteRange| {
            let bytes = &file[range.offset as usize..][..range.len as usize];
            bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect::<Vec<u32>>()
        };
        let records = model.meta.clips.iter().map(|clip| clip.record());
        let expected: Vec<u32> = records.flat_map(|r| [r.first_frame, r.intervals, r.stored, r.held]).collect();
        assert_eq!(words(mesh.clips), expected);
        assert!(!mesh.wide_indices);
        let indices: Vec<u32> = words(mesh.indices).iter().flat_map(|w| [w & 0xffff, w >> 16]).collect();
        let coarse = mesh.levels.iter().flat_map(|level| level.parts.iter()).map(|p| p.first_index + p.index_count);
        let fine = mesh.parts.iter().map(|part| part.first_index + part.index_count);
        let used = fine.chain(coarse).max().expect("a part") as usize;
        assert!(used <= indices.len() && used + 1 >= indices.len());
        assert_eq!(indices[..used].iter().max(), Some(&(mesh.vertex_count - 1)));
    }
}
