//! Encoded textures, checked with a decoder that is independent of the encoder.

use gpuskin_rt::internals::{ColorFormat, Wrap};
use ktx2::{ColorModel, SupercompressionScheme, TransferFunction};

use super::*;
use crate::model::{Image, Material, Texture};

const ALL: [ColorFormat; 4] = [ColorFormat::Bc7, ColorFormat::Astc, ColorFormat::Etc2, ColorFormat::Rgba8];

/// Returns an image with waves of colour and some hard edges. With `alpha`, opacity increases to
/// the right.
fn picture([width, height]: [u32; 2], alpha: bool) -> Image {
    let mut rgba = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let wave = |period: f32, phase: f32| ((x as f32 + y as f32 * 0.6) / period + phase).sin() * 0.5 + 0.5;
            let edge = if (x / 24 + y / 40) % 2 == 0 { 0.85 } else { 1.0 };
            let channel = |v: f32| (v * edge * 255.0).round() as u8;
            let opacity = if alpha { (255 * x / width.max(2)) as u8 } else { 255 };
            rgba.extend([channel(wave(40.0, 0.0)), channel(wave(60.0, 1.0)), channel(wave(90.0, 2.0)), opacity]);
        }
    }
    Image { name: format!("image {width} x {height}"), width, height, rgba }
}

fn model(images: Vec<Image>, materials: Vec<Material>) -> Model {
    Model { name: "test".into(), materials, images, ..Model::default() }
}

fn of(image: usize) -> Option<Texture> {
    Some(Texture { image, wrap: [Wrap::Repeat; 2], nearest: false, second_uv: false })
}

fn wanted(formats: &[ColorFormat]) -> Textures {
    Textures { formats: formats.to_vec(), universal: false }
}

/// Returns the mip levels of a texture in its format `n`, largest first.
fn levels(texture: &BakedTexture, n: usize) -> Vec<&[u8]> {
    texture.files[n].levels().collect()
}

/// Bakes the textures of one material, and fails on a diagnostic.
fn baked(images: Vec<Image>, material: Material, textures: &Textures) -> Vec<BakedTexture> {
    let model = model(images, vec![material]);
    let (_, planned) = plan(&model);
    let mut diagnostics = Diagnostics::default();
    let baked = bake(&model, &planned, textures, None, &mut diagnostics);
    assert!(diagnostics.is_empty(), "{diagnostics}");
    baked
}

#[cfg(feature = "textures")]
fn decode(format: ColorFormat, [width, height]: [u32; 2], blocks: &[u8]) -> Vec<u8> {
    let (w, h) = (width as usize, height as usize);
    let mut texels = vec![0; w * h];
    match format {
        ColorFormat::Bc7 => texture2ddecoder::decode_bc7(blocks, w, h, &mut texels),
        ColorFormat::Astc => texture2ddecoder::decode_astc_4_4(blocks, w, h, &mut texels),
        ColorFormat::Etc2 => texture2ddecoder::decode_etc2_rgba8(blocks, w, h, &mut texels),
        ColorFormat::Rgba8 => return blocks.to_vec(),
    }
    .expect("whole blocks");
    // The decoder returns BGRA.
    texels.iter().map(|texel| texel.to_le_bytes()).flat_map(|[b, g, r, a]| [r, g, b, a]).collect()
}

/// Peak signal-to-noise ratio over all four channels, in dB.
#[cfg(feature = "textures")]
fn psnr(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len());
    let squares: f64 = a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
    10.0 * (255.0 * 255.0 * a.len() as f64 / squares.max(1e-9)).log10()
}

#[test]
fn uneven_images_are_reported_once() {
    let material = Material { base_color_texture: of(0), normal_texture: of(0), ..Material::default() };
    let model = model(vec![picture([30, 30], false)], vec![material]);
    let (_, planned) = plan(&model);
    assert_eq!(planned.len(), 2);
    let mut diagnostics = Diagnostics::default();
    bake(&model, &planned, &wanted(&[ColorFormat::Bc7]), None, &mut diagnostics);
    assert_eq!(diagnostics.iter().count(), 1, "{diagnostics}");
}

#[test]
fn models_without_images_have_no_textures() {
    let material = Material {
        specular_texture: of(0),
        specular_color_texture: of(0),
        clearcoat_texture: of(0),
        clearcoat_roughness_texture: of(0),
        clearcoat_normal_texture: of(0),
        sheen_color_texture: of(0),
        sheen_roughness_texture: of(0),
        ..Material::default()
    };
    let mut model = model(vec![picture([4, 4], false)], vec![material]);
    model.drop_images();
    assert!(plan(&model).1.is_empty());
}

/// The colour is in red, green and blue, the strength in alpha; a missing image is white.
#[test]
fn specular_textures_share_one() {
    let (color, strength) = (picture([4, 4], true), picture([4, 4], true));
    let texels = |material| {
        let all = baked(vec![color.clone(), strength.clone()], material, &wanted(&[ColorFormat::Rgba8]));
        let [texture] = &all[..] else { panic!("one texture") };
        assert!(texture.info.srgb);
        levels(texture, 0)[0].as_chunks::<4>().0.to_vec()
    };
    let opaque = |texel: &[u8; 4]| [texel[0], texel[1], texel[2], 255];
    let white = |texel: &[u8; 4]| [255, 255, 255, texel[3]];
    let source = color.rgba.as_chunks::<4>().0;
    let both = Material { specular_color_texture: of(0), specular_texture: of(1), ..Default::default() };
    assert_eq!(texels(both.clone()), source);
    assert_eq!(
        texels(Material { specular_texture: None, ..both.clone() }),
        source.iter().map(opaque).collect::<Vec<_>>()
    );
    assert_eq!(texels(Material { specular_color_texture: None, ..both }), source.iter().map(white).collect::<Vec<_>>());
}

#[cfg(feature = "textures")]
#[test]
fn every_format_decodes_to_the_source_image() {
    for (size, alpha) in [([128, 96], false), ([128, 96], true), ([20, 4], true), ([4, 4], false)] {
        let material = Material { base_color_texture: of(0), ..Default::default() };
        let all = baked(vec![picture(size, alpha)], material, &wanted(&ALL));
        let [texture] = &all[..] else { panic!("one texture") };
        assert_eq!(texture.info.levels, size[0].ilog2() + 1);
        assert_eq!(*texture.info.formats, ALL);
        let reference = levels(texture, 3);
        assert_eq!(reference.last().map(|level| level.len()), Some(4), "the last mip level must be one texel");
        // Lower limits in dB, slightly below the measured values.
        for (n, format, floor) in
            [(0, ColorFormat::Bc7, 45.0), (1, ColorFormat::Astc, 45.0), (2, ColorFormat::Etc2, 39.0)]
        {
            for (level, (blocks, reference)) in (0..).zip(levels(texture, n).into_iter().zip(&reference)) {
                let level_size = texture.info.level_size(level);
                assert_eq!(blocks.len() as u64, format.image_bytes(level_size));
                let psnr = psnr(&decode(format, level_size, blocks), reference);
                // Small levels have no smooth areas. A misplaced block would give about 15 dB.
                let floor = if level > 1 { 22.0 } else { floor };
                assert!(psnr > floor, "{format:?}, {size:?}, level {level}: {psnr:.1} dB");
            }
        }
    }
}

/// BC7 stores some opaque texels with less than 255. Files that cut out all that is not opaque have a cutoff of 1.
#[cfg(feature = "textures")]
#[test]
fn opaque_texels_reach_any_cutoff_up_to_1_in_every_format() {
    let masked = |cutoff| Material { base_color_texture: of(0), alpha_cutoff: Some(cutoff), ..Default::default() };
    let all = baked(vec![picture([128, 96], false)], masked(1.0), &wanted(&ALL));
    let (materials, _) = plan(&model(vec![picture([128, 96], false)], vec![masked(1.0)]));
    let cutoff = materials[0].alpha_cutoff.expect("a masked material") * 255.0;
    for (n, format) in ALL.into_iter().enumerate() {
        for (level, blocks) in (0..).zip(levels(&all[0], n)) {
            let texels = decode(format, all[0].info.level_size(level), blocks);
            let least = texels.as_chunks::<4>().0.iter().map(|texel| texel[3]).min();
            assert!(
                least.is_some_and(|alpha| f32::from(alpha) >= cutoff),
                "{format:?} {level}: {least:?} below {cutoff}"
            );
        }
    }
    for other in [0.0, 0.5, 0.9, 1.5] {
        let (materials, _) = plan(&model(vec![picture([4, 4], false)], vec![masked(other)]));
        assert_eq!(materials[0].alpha_cutoff, Some(other));
    }
    let (materials, _) = plan(&model(Vec::new(), vec![Material { base_color_texture: None, ..masked(1.0) }]));
    assert_eq!(materials[0].alpha_cutoff, Some(1.0), "without a texture, alpha is exact");
}

/// A mask that is sparse, or dense, keeps its share of drawn texels. Blended alpha is averaged.
#[test]
fn masks_keep_their_coverage_in_mip_levels() {
    let side = 64;
    // Numbers without a pattern, so that averages differ.
    let noise = |i: u32| (i.wrapping_mul(2_654_435_769).rotate_left(15).wrapping_mul(0x85eb_ca6b) >> 24) as u8;
    for share in [0.15, 0.3, 0.7, 0.9] {
        let alpha = |i: u32| (128.0 + share * 256.0 - f64::from(noise(i))).clamp(0.0, 255.0) as u8;
        let rgba = (0..side * side).flat_map(|i| [200, 100, 50, alpha(i)]).collect();
        let image = Image { name: "leaves".into(), width: side, height: side, rgba };
        for factor in [1.0, 0.8] {
            let mask = Material {
                base_color: [1.0, 1.0, 1.0, factor],
                base_color_texture: of(0),
                alpha_cutoff: Some(0.5),
                ..Default::default()
            };
            let blend = Material { alpha_cutoff: None, alpha_blend: true, ..mask.clone() };
            let opaque = Material { alpha_cutoff: None, ..mask.clone() };
            let of_materials = |materials: Vec<Material>| -> Vec<Vec<u8>> {
                let model = model(vec![image.clone()], materials);
                let (_, planned) = plan(&model);
                let all = bake(&model, &planned, &wanted(&[ColorFormat::Rgba8]), None, &mut Diagnostics::default());
                let [texture] = &all[..] else { panic!("one texture") };
                levels(texture, 0).into_iter().map(<[u8]>::to_vec).collect()
            };
            let drawn = |texels: &[u8]| {
                let alphas = texels.as_chunks::<4>().0.iter().map(|texel| f32::from(texel[3]) / 255.0 * factor);
                alphas.filter(|alpha| *alpha >= 0.5).count() as f64 / (texels.len() / 4) as f64
            };
            let kept = of_materials(vec![mask.clone(), opaque]);
            let averaged = of_materials(vec![blend.clone()]);
            // Down to 8 x 8 texels; some have the same alpha.
            for (level, texels) in kept[..4].iter().enumerate() {
                let (seen, wanted) = (drawn(texels), drawn(&kept[0]));
                assert!((seen - wanted).abs() < 0.05, "level {level}: {seen} instead of {wanted}, {share} {factor}");
            }
            assert_eq!(kept[0], averaged[0]);
            assert_ne!(kept[3], averaged[3]);
            // Alpha of a texture that is blended as well stays.
            assert_eq!(of_materials(vec![mask, blend]), averaged);
        }
    }
}

#[cfg(feature = "textures")]
#[test]
fn encoded_bytes_do_not_depend_on_thread_count() {
    let material = Material { base_color_texture: of(0), normal_texture: of(1), ..Default::default() };
    // More blocks than one chunk.
    let images = || vec![picture([512, 256], true), picture([320, 320], false)];
    let textures = Textures { formats: ALL.to_vec(), universal: true };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| baked(images(), material.clone(), &textures))
    };
    let [one, five] = [1, 5].map(on);
    for (one, five) in one.iter().zip(&five) {
        assert!(one.files == five.files && one.universal == five.universal);
        assert_eq!(one.universal(&[7; 16]), five.universal(&[7; 16]));
    }
}

#[cfg(feature = "textures")]
#[test]
fn textures_come_from_the_cache_unless_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let model =
        model(vec![picture([64, 64], false)], vec![Material { base_color_texture: of(0), ..Default::default() }]);
    let (_, planned) = plan(&model);
    let bake = |formats: &[ColorFormat]| {
        let cache = Cache::new(folder.path());
        let mut diagnostics = Diagnostics::default();
        let baked = bake(&model, &planned, &wanted(formats), Some(&cache), &mut diagnostics);
        assert!(diagnostics.is_empty() && cache.notes().is_empty(), "{diagnostics}");
        (baked.into_iter().next().expect("a texture").files, cache.hits())
    };
    let (cold, hits) = bake(&ALL);
    assert_eq!(hits, 0);
    assert_eq!(bake(&ALL), (cold.clone(), 1));
    // RGBA8 is not encoded, so it is not cached.
    assert_eq!(bake(&[ColorFormat::Rgba8]).1, 0);
    let entries = || std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").path());
    for path in entries().filter(|path| path.is_file()) {
        let mut bytes = std::fs::read(&path).expect("readable");
        *bytes.last_mut().expect("not empty") ^= 1;
        std::fs::write(&path, bytes).expect("writable");
    }
    assert_eq!(bake(&ALL), (cold.clone(), 0), "damaged entries must be encoded again");
    assert_eq!(bake(&ALL), (cold, 1), "repaired entries must be in the cache");
}

#[cfg(feature = "textures")]
#[test]
fn file_headers_match_their_content() {
    let material = Material { base_color_texture: of(0), normal_texture: of(1), ..Default::default() };
    let images = vec![picture([20, 12], true), picture([20, 12], false)];
    let textures = Textures { formats: ALL.to_vec(), universal: true };
    let hash = [9; 16];
    for (texture, srgb) in baked(images, material, &textures).into_iter().zip([true, false]) {
        assert_eq!(texture.info.srgb, srgb);
        let transfer = if srgb { TransferFunction::SRGB } else { TransferFunction::Linear };
        let models = [ColorModel::BC7, ColorModel::ASTC, ColorModel::ETC2, ColorModel::RGBSDA];
        let bytes = texture.universal(&hash).expect("a universal texture");
        let bc7 = levels(&texture, 0).into_iter().map(<[u8]>::to_vec).collect::<Vec<_>>();
        let info = texture.info.clone();
        let files: Vec<_> = texture.into_files(&hash).collect();
        assert_eq!(files.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["bc7", "astc", "etc2", "rgba8"]);
        for (((_, file), format), model) in files.iter().zip(ALL).zip(models) {
            let reader = ktx2::Reader::new(&file.bytes).expect("a KTX2 file");
            let header = reader.header();
            assert_eq!(header.format, Some(file::vulkan(format, srgb)));
            assert_eq!((header.pixel_width, header.pixel_height, header.level_count), (20, 12, 5));
            let basic = reader.basic_dfd().expect("a descriptor");
            assert_eq!((basic.transfer_function, basic.color_model), (Some(transfer), Some(model)));
            assert_eq!(u32::from(basic.texel_block_dimensions[0].get()), format.block_side());
            assert_eq!(u32::from(basic.bytes_planes[0]), format.block_bytes());
            for (level, found) in (0..).zip(reader.levels()) {
                assert_eq!(found.data.len() as u64, format.image_bytes(info.level_size(level)));
            }
            for range in &file.levels {
                assert_eq!(range.offset % 16_u64.min(u64::from(format.block_bytes())), 0);
            }
            assert_eq!(file.bytes[file.value_at as usize..][..16], hash);
        }

        let reader = ktx2::Reader::new(&bytes[..]).expect("a KTX2 file");
        let header = reader.header();
        assert_eq!((header.format, header.type_size, header.level_count), (None, 1, 5));
        assert_eq!(header.supercompression_scheme, Some(SupercompressionScheme::Zstandard));
        let basic = reader.basic_dfd().expect("a descriptor");
        assert_eq!((basic.transfer_function, basic.color_model), (Some(transfer), Some(ColorModel::UASTC)));
        let sample = &basic.sample_information[0];
        assert_eq!(
            (sample.bit_length.get(), sample.channel_type),
            (128, if srgb { 3 } else { 0 }),
            "sample of the UASTC descriptor"
        );
        // The unpacked UASTC data is the source of the other formats.
        let mut transcoded = Vec::new();
        for level in reader.levels() {
            let unpacked = zstd::bulk::decompress(level.data, level.uncompressed_byte_length as usize).expect("zstd");
            assert_eq!(unpacked.len() as u64, level.uncompressed_byte_length);
            let (blocks, rest) = unpacked.as_chunks::<16>();
            assert!(rest.is_empty());
            transcoded.push(basis::transcode(blocks, ColorFormat::Bc7).expect("UASTC").expect("blocks").concat());
        }
        assert_eq!(transcoded, bc7);
    }
}

#[cfg(feature = "textures")]
#[test]
fn textures_with_partial_blocks_stay_uncompressed() {
    let model =
        model(vec![picture([30, 12], false)], vec![Material { base_color_texture: of(0), ..Default::default() }]);
    let (_, planned) = plan(&model);
    let mut diagnostics = Diagnostics::default();
    let textures = Textures { formats: vec![ColorFormat::Bc7], universal: true };
    let all = bake(&model, &planned, &textures, None, &mut diagnostics);
    assert_eq!(*all[0].info.formats, [ColorFormat::Rgba8]);
    assert_eq!(levels(&all[0], 0).len(), 5);
    assert!(all[0].universal(&[0; 16]).is_some(), "universal files may have partial blocks");
    let text = diagnostics.to_string();
    assert!(!diagnostics.has_errors() && text.contains("30 x 12") && text.contains("image 30 x 12"), "{text}");
}

/// Images that are not whole blocks are enlarged, unless their texels are to be seen, or they need no blocks.
#[cfg(feature = "textures")]
#[test]
fn large_textures_with_partial_blocks_are_enlarged() {
    let [size, larger] = [[131, 130], [132, 132]];
    let bake = |nearest: bool, formats: &[ColorFormat], images: Vec<Image>, variants: Vec<usize>| {
        let texture = of(0).map(|texture| Texture { nearest, ..texture });
        let material = Material { base_color_texture: texture, variant_images: variants, ..Default::default() };
        let model = model(images, vec![material]);
        let (_, planned) = plan(&model);
        let mut diagnostics = Diagnostics::default();
        let mut all = bake(&model, &planned, &wanted(formats), None, &mut diagnostics);
        (all.remove(0), diagnostics.to_string())
    };
    let (texture, text) = bake(false, &[ColorFormat::Bc7, ColorFormat::Rgba8], vec![picture(size, true)], Vec::new());
    assert!(text.contains("131 x 130") && text.contains("enlarged to 132 x 132"), "{text}");
    assert_eq!([texture.info.width, texture.info.height], larger);
    assert_eq!(*texture.info.formats, [ColorFormat::Bc7, ColorFormat::Rgba8]);
    let plain = levels(&texture, 1)[0].to_vec();
    // The picture has slow waves, and hard edges.
    assert!(psnr(&plain, &picture(larger, true).rgba) > 25.0);
    assert!(psnr(&decode(ColorFormat::Bc7, larger, levels(&texture, 0)[0]), &plain) > 40.0);
    // Every layer.
    let two = vec![picture(size, false), picture(size, true)];
    let (layered, _) = bake(false, &[ColorFormat::Bc7], two, vec![0, 1]);
    assert_eq!(
        (layered.info.layers, levels(&layered, 0)[0].len() as u64),
        (2, 2 * ColorFormat::Bc7.image_bytes(larger))
    );
    let (nearest, text) = bake(true, &[ColorFormat::Bc7], vec![picture(size, true)], Vec::new());
    assert!(text.contains("rgba8 only"), "{text}");
    assert_eq!(levels(&nearest, 0)[0], picture(size, true).rgba);
    let (uncompressed, text) = bake(false, &[ColorFormat::Rgba8], vec![picture(size, true)], Vec::new());
    assert!(text.is_empty(), "{text}");
    assert_eq!(levels(&uncompressed, 0)[0], picture(size, true).rgba);
}

/// Exporters write textures of one colour with a texel or four: enlarged, they are what they were.
#[cfg(feature = "textures")]
#[test]
fn textures_of_one_color_are_whole_blocks() {
    for ([width, height], nearest) in [([2, 2], false), ([1, 1], true), ([6, 200], true)] {
        let color = [201, 3, 77, 130];
        let image = |rgba: Vec<u8>| Image { name: "plain".into(), width, height, rgba };
        let plain = color.repeat((width * height) as usize);
        let texture = of(0).map(|texture| Texture { nearest, ..texture });
        let material = || Material { base_color_texture: texture, ..Material::default() };
        let formats = [ColorFormat::Bc7, ColorFormat::Rgba8];
        let baked = baked(vec![image(plain.clone())], material(), &wanted(&formats)).remove(0);
        let larger = [width, height].map(|side: u32| side.next_multiple_of(4));
        assert_eq!(([baked.info.width, baked.info.height], &*baked.info.formats), (larger, &formats[..]));
        assert_eq!(levels(&baked, 1)[0], color.repeat((larger[0] * larger[1]) as usize));
        let off = decode(ColorFormat::Bc7, larger, levels(&baked, 0)[0]);
        assert!(
            off.as_chunks::<4>().0.iter().flat_map(|texel| texel.iter().zip(color)).all(|(a, b)| a.abs_diff(b) < 3)
        );
        // One texel differs.
        let mut other = plain;
        other[0] ^= 1;
        let model = model(vec![image(other)], vec![material()]);
        let mut diagnostics = Diagnostics::default();
        let stays = bake(&model, &plan(&model).1, &wanted(&formats), None, &mut diagnostics);
        let has_one = width * height == 1;
        assert_eq!((stays[0].info.width == width, diagnostics.iter().count()), (!has_one, usize::from(!has_one)));
    }
}

/// Channels of images of different sizes: the smaller one is interpolated, as its sampler does at the border.
#[test]
fn merged_images_may_have_different_sizes() {
    let image = |side: u32, channel: &dyn Fn(u32) -> u8| {
        let texel = |i| [channel(i % side); 4];
        Image { name: "i".into(), width: side, height: side, rgba: (0..side * side).flat_map(texel).collect() }
    };
    let images = vec![image(4, &|x| 10 * x as u8), image(2, &|x| 200 * x as u8)];
    let cases = [
        (Wrap::Repeat, false, [50, 50, 150, 150]),
        (Wrap::Mirror, false, [0, 50, 150, 200]),
        (Wrap::Clamp, false, [0, 50, 150, 200]),
        (Wrap::Repeat, true, [0, 0, 200, 200]),
    ];
    let orders = [(0, 1), (1, 0)].into_iter().flat_map(|order| cases.map(|case| (order, case)));
    for ((occlusion, metallic_roughness), (wrap, nearest, small)) in orders {
        let of = |image| of(image).map(|texture| Texture { wrap: [wrap; 2], nearest, ..texture });
        let material = Material {
            occlusion_texture: of(occlusion),
            metallic_roughness_texture: of(metallic_roughness),
            ..Default::default()
        };
        let model = model(images.clone(), vec![material]);
        let (_, planned) = plan(&model);
        let all = bake(&model, &planned, &wanted(&[ColorFormat::Rgba8]), None, &mut Diagnostics::default());
        assert_eq!([all[0].info.width, all[0].info.height], [4, 4]);
        let row = |channel: usize| [0, 1, 2, 3].map(|x| levels(&all[0], 0)[0][4 * x + channel]);
        let large = [0, 10, 20, 30];
        let expected = if occlusion == 0 { [large, small, small] } else { [small, large, large] };
        assert_eq!([row(0), row(1), row(2)], expected, "{wrap:?}, nearest: {nearest}");
    }
}

/// The smaller image is a colour: interpolated as linear light, its alpha channel as a number.
#[test]
fn merged_colors_are_enlarged_as_light() {
    let image = |side: u32| {
        let texel = |i| if i % side < side / 2 { [0; 4] } else { [255; 4] };
        Image { name: "i".into(), width: side, height: side, rgba: (0..side * side).flat_map(texel).collect() }
    };
    for (color, alpha) in [(0, 1), (1, 0)] {
        let material =
            Material { specular_color_texture: of(color), specular_texture: of(alpha), ..Default::default() };
        let all = baked(vec![image(2), image(4)], material, &wanted(&[ColorFormat::Rgba8]));
        let texel = levels(&all[0], 0)[0].as_chunks::<4>().0[1];
        // A quarter of the light of white is sRGB 137; a quarter of 255 is 64.
        assert_eq!(texel, if color == 0 { [137, 137, 137, 0] } else { [0, 0, 0, 64] });
    }
}

#[test]
fn materials_share_textures_and_orm_channels_are_merged() {
    let image = |texel: [u8; 4]| Image { name: "i".into(), width: 4, height: 4, rgba: texel.repeat(16) };
    let images = vec![image([1, 2, 3, 4]), image([10, 20, 30, 40]), image([50, 60, 70, 80])];
    let both = Material { occlusion_texture: of(1), metallic_roughness_texture: of(2), ..Default::default() };
    let materials = vec![
        Material { base_color_texture: of(0), emissive_texture: of(0), normal_texture: of(0), ..both.clone() },
        both,
        Material { metallic_roughness_texture: of(2), ..Default::default() },
        Material { occlusion_texture: of(1), base_color_texture: of(0), ..Default::default() },
    ];
    let model = model(images, materials);
    let (materials, planned) = plan(&model);
    assert_eq!(planned.len(), 5);
    let index = |t: &Option<gpuskin_rt::internals::MaterialTexture>| t.map(|t| t.texture);
    let first = &materials[0];
    assert_eq!(index(&first.base_color_texture), index(&first.emissive_texture));
    assert_ne!(
        index(&first.base_color_texture),
        index(&first.normal_texture),
        "a normal map is filtered differently from a colour texture"
    );
    assert_eq!(index(&first.orm_texture), index(&materials[1].orm_texture));
    assert_eq!(index(&materials[3].base_color_texture), index(&first.base_color_texture));
    let all = bake(&model, &planned, &wanted(&[ColorFormat::Rgba8]), None, &mut Diagnostics::default());
    let texel = |material: usize| {
        let texture = &all[index(&materials[material].orm_texture).expect("an ORM texture") as usize];
        assert!(!texture.info.srgb);
        levels(texture, 0)[0][..3].to_vec()
    };
    assert_eq!([texel(0), texel(2), texel(3)], [[10, 60, 70], [255, 60, 70], [10, 255, 255]]);
}
