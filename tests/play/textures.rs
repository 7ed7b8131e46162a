//! The sample soldier with block-compressed textures and with plain ones: the same picture.

use gpuskin_rt::wgpu::{Features, TextureFormat};
use gpuskin_rt::{Camera, ColorFormat, Crowd, CrowdRenderer, Instance, Model, RendererDescriptor};
use gpuskin_tests::gpu::{BACKENDS, Canvas, Gpu, Picture, open_with};
use gpuskin_tests::models;

/// The format that a device takes for the base colour, and the soldier's upper half.
fn soldier(gpu: &Gpu, model: &'static Model) -> (TextureFormat, Picture) {
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor::default()).expect("a renderer");
    let crowd = Crowd::with_model(&mut renderer, model, Default::default()).expect("a crowd");
    crowd.spawn(Instance::at([0.0; 3]));
    let camera = Camera::orthographic_look_at([0.0, 1.3, 5.0], [0.0, 1.3, 0.0], 0.6, 0.6, 10.0);
    let canvas = Canvas::new(gpu, 256);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &camera, 0.0).expect("prepared");
    canvas.pass(&mut encoder, |pass| renderer.draw(pass));
    let picture = canvas.finish(gpu, encoder);
    let textures = renderer.material_textures(model, 0).expect("its textures");
    (textures.base_color.expect("it has one").view.texture().format(), picture)
}

#[test]
fn compressed_and_plain_textures_show_the_same() {
    let model = &models::SOLDIER;
    assert_eq!(*model.meta.textures[0].formats, [ColorFormat::Bc7, ColorFormat::Astc, ColorFormat::Rgba8]);
    let astc = {
        use gpuskin_rt::wgpu::{AstcBlock, AstcChannel};
        TextureFormat::Astc { block: AstcBlock::B4x4, channel: AstcChannel::UnormSrgb }
    };
    let formats = [
        (Features::TEXTURE_COMPRESSION_BC, TextureFormat::Bc7RgbaUnormSrgb),
        (Features::TEXTURE_COMPRESSION_ASTC, astc),
        // None of its formats: RGBA8 again.
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
            // 48 dB of the texture is 1 in 255 on average; lit, and seen from farther than a texel a pixel, less is left.
            let difference = picture.difference(&plain);
            println!("{} {format:?}: {difference:.3}", gpu.name);
            assert!(difference < 1.5, "{format:?} on {}: {difference} of 255 on average", gpu.name);
            assert_eq!(difference == 0.0, format == TextureFormat::Rgba8UnormSrgb, "{format:?} on {}", gpu.name);
        }
    }
}
