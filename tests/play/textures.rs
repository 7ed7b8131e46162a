//! The sample soldier gives the same picture with block-compressed and with plain textures.

use std::path::Path;

use gpuskin_rt::internals::{Camera, ColorFormat, Crowd, CrowdRenderer, Instance, Model, RendererDescriptor};
use gpuskin_rt::wgpu::{Features, TextureFormat};
use gpuskin_test_harness::note;
use gpuskin_tests::gpu::{BACKENDS, Canvas, Gpu, Picture, open_with};
use gpuskin_tests::models;

/// Texture format that the device chooses for the base colour, and a picture of the soldier's upper
/// half.
fn soldier(gpu: &Gpu, model: &Model) -> (TextureFormat, Picture) {
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor::default()).expect("a renderer");
    let crowd = Crowd::with_model(&mut renderer, model, Default::default()).expect("a crowd");
    crowd.spawn(Instance::at([0.0; 3]));
    let camera = Camera::orthographic_look_at([0.0, 1.3, 5.0], [0.0, 1.3, 0.0], 0.6, 0.6, 10.0);
    let canvas = Canvas::new(gpu, 256);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &camera, 0.0).expect("prepared");
    canvas.pass(&mut encoder, |pass| renderer.draw(pass));
    let picture = canvas.finish(gpu, encoder);
    let textures = renderer.material_textures(model, 0).expect("the soldier has textures");
    (textures.base_color.expect("the soldier has a base colour texture").view.texture().format(), picture)
}

pub fn compressed_and_plain_textures_look_the_same() {
    // The program has the formats of its target alone; the files are there in all formats.
    let model = &Model::load(Path::new(concat!(env!("OUT_DIR"), "/gpuskin/soldier"))).expect("a baked model");
    assert_eq!(model.meta, models::SOLDIER.meta);
    assert_eq!(*model.meta.textures[0].formats, [ColorFormat::Bc7, ColorFormat::Astc, ColorFormat::Rgba8]);
    let astc = {
        use gpuskin_rt::wgpu::{AstcBlock, AstcChannel};
        TextureFormat::Astc { block: AstcBlock::B4x4, channel: AstcChannel::UnormSrgb }
    };
    let formats = [
        (Features::TEXTURE_COMPRESSION_BC, TextureFormat::Bc7RgbaUnormSrgb),
        (Features::TEXTURE_COMPRESSION_ASTC, astc),
        // No texture is baked as ETC2: the device takes RGBA8.
        (Features::TEXTURE_COMPRESSION_ETC2, TextureFormat::Rgba8UnormSrgb),
    ];
    for backend in BACKENDS {
        let Some(gpu) = open_with(backend, Features::empty()) else {
            continue;
        };
        let (format, plain) = soldier(&gpu, model);
        assert_eq!(format, TextureFormat::Rgba8UnormSrgb);
        assert!(plain.colors() > 500, "{} colours", plain.colors());
        for (feature, expected) in formats {
            let Some(gpu) = open_with(backend, feature) else { continue };
            let expected =
                if gpu.device.features().contains(feature) { expected } else { TextureFormat::Rgba8UnormSrgb };
            let (format, picture) = soldier(&gpu, model);
            assert_eq!(format, expected, "{}", gpu.name);
            // 48 dB of the texture is 1 in 255 on average. Lighting, and pixels that cover more
            // than a texel, reduce the difference further.
            let difference = picture.difference(&plain);
            note!("{} {format:?}: {difference:.3}", gpu.name);
            assert!(difference < 1.5, "{format:?} on {}: {difference} of 255 on average", gpu.name);
            assert_eq!(difference == 0.0, format == TextureFormat::Rgba8UnormSrgb, "{format:?} on {}", gpu.name);
        }
    }
}
