//! Material textures: the format that a device selects, its result, and access from a game's own
//! pipelines.

use crate::common::model::{Pose, Recipe, nearest, plain};
use crate::common::squares::STILL;
use crate::common::{BACKENDS, Canvas, Gpu, open};
use glam::{Vec2, Vec3, Vec4};
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::*;
use gpuskin_rt::wgpu::{Features, TextureFormat};

const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
/// Not a power of two: mip levels of 12, 6, 3 and 1 texels, of which two end within a block.
const SIDE: u32 = 12;

/// Returns a BC7 block of one opaque colour: mode 6, both end points equal. Odd colour values are
/// exact.
fn bc7_block(color: [u8; 4]) -> [u8; 16] {
    let mut bits: u128 = 1 << 6;
    for (channel, value) in (0..).zip(color) {
        let value = u128::from(value >> 1);
        bits |= value << (7 + channel * 14) | value << (14 + channel * 14);
    }
    // Lowest bits of both end points.
    (bits | 3 << 63).to_le_bytes()
}

/// Returns the mip levels of a texture of one colour.
fn levels(format: ColorFormat, color: [u8; 4]) -> Vec<Vec<u8>> {
    let sides = [12, 6, 3, 1];
    let unit = if format == ColorFormat::Rgba8 { color.to_vec() } else { bc7_block(color).to_vec() };
    sides.map(|side| unit.repeat(format.blocks([side, side]).iter().product::<u32>() as usize)).to_vec()
}

fn texture(srgb: bool, formats: &[ColorFormat]) -> ColorTexture {
    ColorTexture { width: SIDE, height: SIDE, levels: 4, layers: 1, srgb, formats: formats.to_vec().into() }
}

/// A square of 8 metres with the given textures.
fn square(material: Material, textures: Vec<(ColorTexture, Vec<Vec<Vec<u8>>>)>) -> Model {
    let vertex = |x: f32, y: f32| Vertex {
        position: Vec3::new(x, y, 0.0) * 8.0,
        normal: Vec3::Z,
        tangent: Vec4::X,
        uv: Vec2::new(x, y),
        second_uv: Vec2::ZERO,
        joints: [0; 8],
        weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        part: 0,
        color: Vec4::ONE,
    };
    let recipe = Recipe {
        encoding: Encoding::MatrixF16,
        format: VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false },
        bones: 1,
        clips: vec![STILL],
        frames_per_layer: 8,
        normals: Normals::Cofactor,
        width: 64,
        vertices: vec![vertex(0.0, 0.0), vertex(1.0, 0.0), vertex(1.0, 1.0), vertex(0.0, 1.0)],
        indices: vec![0, 1, 2, 0, 2, 3],
        morphs: Vec::new(),
        materials: vec![material],
        textures,
    };
    recipe.build(|_, _| Pose::REST).model
}

fn renderer(gpu: &Gpu) -> CrowdRenderer {
    let light = Light { to_sun: [0.0, 0.0, 1.0], sun: [0.0; 3], sky: [1.0; 3], ground: [1.0; 3], wrap: 0.0 };
    CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor { light, ..Default::default() }).unwrap()
}

/// Returns the colour at the centre of a picture that is `metres` wide.
fn seen(gpu: &Gpu, model: &Model, metres: f32) -> Result<[u8; 4], Error> {
    let mut renderer = renderer(gpu);
    let crowd = Crowd::with_model(&mut renderer, model, Default::default())?;
    crowd.spawn(Instance::at([0.0; 3]));
    let camera = Camera::orthographic_look_at([4.0, 4.0, 5.0], [4.0, 4.0, 0.0], metres / 2.0, metres / 2.0, 10.0);
    let canvas = Canvas::new(gpu, 64);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &camera, 0.0)?;
    canvas.pass(&mut encoder, |pass| renderer.draw(pass));
    Ok(canvas.finish(gpu, encoder).at(32, 32))
}

fn close(a: [u8; 4], b: [u8; 4]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 2)
}

fn with(features: Features) -> impl Iterator<Item = Gpu> {
    let limits = wgpu::Limits::downlevel_webgl2_defaults;
    BACKENDS.into_iter().filter_map(move |backend| open(backend, limits(), features))
}

/// Red in BC7, green in RGBA8.
fn either() -> Model {
    let formats = [ColorFormat::Bc7, ColorFormat::Rgba8];
    let files = vec![levels(ColorFormat::Bc7, RED), levels(ColorFormat::Rgba8, GREEN)];
    let material = Material { base_color_texture: Some(nearest(0)), ..plain([1.0; 4]) };
    square(material, vec![(texture(true, &formats), files)])
}

pub fn device_uses_first_supported_format() {
    for gpu in with(CrowdRenderer::OPTIONAL_FEATURES) {
        let reads = gpu.device.features().contains(Features::TEXTURE_COMPRESSION_BC);
        // From a small distance up to one at which the smallest mip levels are used.
        for metres in [8.0, 20.0, 60.0, 200.0] {
            let color = seen(&gpu, &either(), metres).unwrap();
            assert!(close(color, if reads { RED } else { GREEN }), "{metres}: {color:?} on {}", gpu.name);
        }
    }
    for gpu in with(Features::empty()) {
        let color = seen(&gpu, &either(), 8.0).unwrap();
        assert!(close(color, GREEN), "{color:?} on {}", gpu.name);
    }
}

pub fn unsupported_formats_are_reported() {
    for gpu in with(Features::empty()) {
        let [mut one_format, mut left_out] = [either(), either()];
        one_format.meta.textures.to_mut()[0].formats = vec![ColorFormat::Bc7].into();
        one_format.textures.to_mut().truncate(1);
        left_out.textures.to_mut()[1] = Payload::LEFT_OUT;
        for model in [one_format, left_out] {
            let error = seen(&gpu, &model, 8.0).unwrap_err();
            assert!(matches!(&error, Error::TextureFormat { formats, .. } if formats == &["bc7"]), "{error:?}");
            let text = error.to_string();
            assert!(text.contains("OPTIONAL_FEATURES") && text.contains("rgba8") && text.contains("test"), "{text}");
        }
    }
}

pub fn other_textures_are_loaded_on_request() {
    for gpu in with(CrowdRenderer::OPTIONAL_FEATURES) {
        let formats = [ColorFormat::Bc7, ColorFormat::Rgba8];
        let files = || vec![levels(ColorFormat::Bc7, RED), levels(ColorFormat::Rgba8, RED)];
        let material = Material {
            base_color_texture: Some(nearest(0)),
            normal_texture: Some(MaterialTexture { wrap: [Wrap::Mirror; 2], ..nearest(1) }),
            emissive_texture: Some(nearest(0)),
            ..plain([1.0; 4])
        };
        let textures = vec![(texture(true, &formats), files()), (texture(false, &formats), files())];
        let mut model = square(material, textures);
        let mut renderer = renderer(&gpu);
        let crowd = Crowd::with_model(&mut renderer, &model, Default::default()).unwrap();
        let made = renderer.material_textures(&model, 0).unwrap();
        let (color, normal) = if gpu.device.features().contains(Features::TEXTURE_COMPRESSION_BC) {
            (TextureFormat::Bc7RgbaUnormSrgb, TextureFormat::Bc7RgbaUnorm)
        } else {
            (TextureFormat::Rgba8UnormSrgb, TextureFormat::Rgba8Unorm)
        };
        let [base, emissive, normals] = [made.base_color, made.emissive, made.normal].map(Option::unwrap);
        assert_eq!((base.view.texture().format(), normals.view.texture().format()), (color, normal));
        assert_eq!((base.view.texture().mip_level_count(), base.view.texture().width()), (4, SIDE));
        assert_eq!((&emissive.view, &emissive.sampler), (&base.view, &base.sampler), "a shared texture is loaded once");
        assert!(made.orm.is_none() && normals.sampler != base.sampler);
        assert!(renderer.material_textures(&model, 1).unwrap_err().to_string().contains("material 1 does not exist"));
        drop(crowd);

        // A crowd needs no textures other than base colours.
        for payload in &mut model.textures.to_mut()[2..] {
            payload.data = Data::File { name: "not/there".into(), baked: "".into() };
        }
        let _crowd = Crowd::with_model(&mut renderer, &model, Default::default()).unwrap();
        let error = renderer.material_textures(&model, 0).unwrap_err();
        assert!(matches!(error, Error::Files { .. }), "{error}");
    }
}
