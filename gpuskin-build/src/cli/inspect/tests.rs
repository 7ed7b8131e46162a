use gpuskin_rt::internals::{
    Aabb, AnimationTexture, BoneInfo, ClipInfo, ColorFormat, ColorTexture, Encoding, ErrorInfo, HeldFrames, Material,
    MaterialTexture, MeshInfo, Metadata, Packing, VertexFormat, VertexRange, Wrap,
};
use ktx2::dfd::{Basic, Block};
use ktx2::{Format, Header, Index, LevelIndex};

use super::inspect;

fn sampled(texture: u32) -> MaterialTexture {
    MaterialTexture { texture, wrap: [Wrap::Repeat; 2], nearest: false, second_uv: false }
}

fn metadata() -> Metadata {
    let texture = AnimationTexture {
        width: 64,
        height: 2,
        layers: 1,
        frames_per_layer: 9,
        frames: 9,
        rows: 2,
        range: Default::default(),
    };
    let box_ = Aabb { min: [-1.0, 0.0, -1.0], max: [1.0, 2.0, 1.0] };
    let error = |max| ErrorInfo { max, p9996: max / 2.0, normal_degrees: 0.1, time: 0.25, bone: 1, vertex: 3 };
    let bone = |name: &'static str, parent| BoneInfo { name: name.into(), parent, bind: [[0.0; 4]; 3] };
    Metadata {
        content_hash: [7; 16],
        format_version: gpuskin_rt::internals::FORMAT_VERSION,
        name: "soldier".into(),
        encoding: Encoding::MatrixF16,
        texture,
        normals: Default::default(),
        clips: vec![ClipInfo {
            name: "run".into(),
            source: "Armature|Run\u{1b}[2J".into(),
            first_frame: 0,
            intervals: 9,
            stored: 9,
            held: HeldFrames::NONE,
            stepped: false,
            looped: true,
            duration: 0.3,
            // 30 but for the rounding errors of key times.
            frame_rate: 29.9992,
            bounds: box_,
            events: vec![].into(),
            root_motion: None,
            additive: None,
            encoding_error: error(4.1e-4),
            motion_error: error(0.021),
        }]
        .into(),
        // The last bone has a parent that does not exist.
        bones: vec![bone("Hips", None), bone("Spine", Some(0)), bone("Lost", Some(9))].into(),
        events: vec![].into(),
        masks: vec![].into(),
        morphs: vec![].into(),
        parts: vec![].into(),
        variants: vec![].into(),
        mesh: MeshInfo {
            format: VertexFormat { packing: Packing::Full, tangent: false, second_uv: false, color: false },
            range: VertexRange::default(),
            vertex_count: 24,
            vertices: Default::default(),
            indices: Default::default(),
            wide_indices: false,
            clips: Default::default(),
            parts: vec![].into(),
            levels: vec![].into(),
            influence_error: 0.0476,
            morphs: Default::default(),
            rest: None,
        },
        materials: vec![Material {
            name: "skin".into(),
            base_color: [1.0, 0.5, 0.25, 1.0],
            base_color_texture: Some(sampled(4)),
            tint_mask: false,
            variant_layers: vec![].into(),
            metallic: 0.0,
            roughness: 1.0,
            occlusion_strength: 1.0,
            occlusion_second_uv: false,
            ior: 1.5,
            specular: 1.0,
            specular_color: [1.0; 3],
            specular_texture: None,
            clearcoat: 0.0,
            clearcoat_roughness: 0.0,
            clearcoat_texture: None,
            clearcoat_normal_scale: 1.0,
            clearcoat_normal_texture: None,
            sheen_color: [0.0; 3],
            sheen_roughness: 0.0,
            sheen_texture: None,
            orm_texture: Some(sampled(0)),
            normal_scale: 1.0,
            normal_texture: None,
            emissive: [0.0; 3],
            emissive_texture: None,
            double_sided: true,
            alpha_cutoff: None,
            alpha_blend: false,
            unlit: false,
        }]
        .into(),
        // The material refers to textures beyond the end of this list.
        textures: vec![ColorTexture {
            width: 8,
            height: 4,
            levels: 4,
            layers: 1,
            srgb: false,
            formats: vec![ColorFormat::Bc7, ColorFormat::Rgba8].into(),
        }]
        .into(),
        rest_bounds: box_,
        bounds: box_,
    }
}

fn file() -> Vec<u8> {
    let (basic, type_size) = Basic::from_format(Format::R16G16B16A16_SFLOAT).unwrap();
    let block = Block::Basic(basic).to_vec();
    let mut pairs = Vec::new();
    for (key, value) in [("KTXwriter", b"gpuskin\0".to_vec()), ("gpuskin", metadata().to_postcard())] {
        pairs.extend((key.len() as u32 + 1 + value.len() as u32).to_le_bytes());
        pairs.extend(key.bytes().chain([0]).chain(value));
        pairs.resize(pairs.len().next_multiple_of(4), 0);
    }
    let dfd_at = Header::LENGTH + LevelIndex::LENGTH;
    let kvd_at = dfd_at + 4 + block.len();
    let level_at = (kvd_at + pairs.len()).next_multiple_of(8);
    let level = vec![0; 64 * 2 * 8];
    let header = Header {
        format: Some(Format::R16G16B16A16_SFLOAT),
        type_size,
        pixel_width: 64,
        pixel_height: 2,
        pixel_depth: 0,
        layer_count: 0,
        face_count: 1,
        level_count: 1,
        supercompression_scheme: None,
        index: Index {
            dfd_byte_offset: dfd_at as u32,
            dfd_byte_length: block.len() as u32 + 4,
            kvd_byte_offset: kvd_at as u32,
            kvd_byte_length: pairs.len() as u32,
            sgd_byte_offset: 0,
            sgd_byte_length: 0,
        },
    };
    let mut file = header.as_bytes().to_vec();
    let length = level.len() as u64;
    let index = LevelIndex { byte_offset: level_at as u64, byte_length: length, uncompressed_byte_length: length };
    file.extend(index.as_bytes());
    file.extend((block.len() as u32 + 4).to_le_bytes());
    file.extend(block);
    file.extend(pairs);
    file.resize(level_at, 0);
    file.extend(level);
    file
}

#[test]
fn inspect_prints_header_and_metadata() {
    let text = inspect(&file()).unwrap();
    for line in [
        "  format       R16G16B16A16_SFLOAT\n",
        "  size         64 x 2, 1 mip level\n",
        "  descriptor   RGBSDA, BT709, Linear, 8 bytes per texel block\n",
        "R16 float, G16 float, B16 float, A16 float",
        "  level 0      64 x 2: 1024 bytes at ",
        "  key          KTXwriter: \"gpuskin\"\n",
        "soldier  matrix-f16, 3 bones, 24 vertices, 1 clip, 9 frames, 64 x 2 x 1 RGBA16F\n",
        "  content hash    07070707",
        "  motion error    2.10 cm (p99.96 1.05 cm) in run at 0.25 s, bone Spine\n",
        "  run        9   30      0.3  loop  0.410 mm",
        "Armature|Run?[2J",
        "\n     1  Spine  Hips\n",
        "\n     2  Lost\n",
        "skin      [1.000, 0.500, 0.250, 1.000]  color-4  color-0                    both          yes\n",
        "color-0  8 x 4           4  linear        bc7, rgba8\n",
        "influences      up to 8 per vertex; the greatest 4, used where that is not visible, are 4.76 cm off",
    ] {
        assert!(text.contains(line), "line `{line}` is missing in:\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
}

#[test]
fn inspect_reports_a_size_that_differs_from_the_metadata() {
    let mut file = file();
    file[20] = 32;
    assert!(inspect(&file).unwrap().contains("differs from the size in the file header"));
}

/// Damaged bytes must not panic. The `ktx2` crate does, for example on a block dimension byte of
/// 255.
#[test]
fn inspect_never_panics() {
    let file = file();
    for length in 0..file.len() {
        let _ = inspect(&file[..length]);
    }
    let head = file.len() - 1024;
    for at in 0..head {
        for byte in [0, 1, 0x7f, 0x80, 254, 255] {
            let mut broken = file.clone();
            broken[at] = byte;
            let _ = inspect(&broken);
            broken[(at + 1).min(head)] = byte;
            let _ = inspect(&broken);
        }
    }
    let dimensions = Header::LENGTH + LevelIndex::LENGTH + 4 + 12;
    let mut broken = file.clone();
    broken[dimensions] = 255;
    assert_eq!(inspect(&broken), Err("has a texel block 256 texels wide".to_owned()));
    // Several random bytes changed at once.
    let mut state = 1_u64;
    for _ in 0..20_000 {
        let mut broken = file.clone();
        for _ in 0..4 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            broken[(state >> 33) as usize % head] = (state >> 25) as u8;
        }
        let _ = inspect(&broken);
    }
}
