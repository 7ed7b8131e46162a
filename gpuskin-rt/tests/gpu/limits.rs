//! Exceeded device limits and inconsistent models are returned as errors. Runs on wgpu's `noop`
//! backend, which validates like a device without needing one.

use crate::common::model::{Pose, Random, Recipe, TestModel, nearest, plain};
use crate::common::noop;
use gpuskin_rt::internals::render::{Capture, DepthPass};
use gpuskin_rt::internals::*;
use wgpu::{Limits, TextureFormat};

fn test_model(frames_per_layer: u32) -> TestModel {
    let mut random = Random(3);
    let format = VertexFormat { packing: Packing::Full, tangent: true, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut random, Encoding::MatrixF32, format, 20);
    recipe.frames_per_layer = frames_per_layer;
    recipe.build(|_, _| Pose::random(&mut random, false))
}

fn webgl2() -> Limits {
    Limits::downlevel_webgl2_defaults()
}

/// Returns the error of making a crowd on a device with the given limits.
fn refusal(model: &Model, limits: Limits) -> Error {
    let gpu = noop(limits);
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    let error = Crowd::with_model(&mut renderer, model, Default::default()).unwrap_err();
    assert_eq!(Capture::new(&gpu.device, &gpu.queue, model).unwrap_err(), error);
    error
}

pub fn webgl2_is_enough() {
    let gpu = noop(webgl2());
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    for frames_per_layer in [5, 32] {
        Crowd::with_model(&mut renderer, &test_model(frames_per_layer).model, Default::default()).unwrap();
        for encoding in Encoding::ALL.into_iter().filter(|e| e.is_vertex()) {
            let format = VertexFormat {
                packing: Packing::Static,
                tangent: encoding.holds_tangents(),
                second_uv: false,
                color: false,
            };
            let mut recipe = Recipe::random(&mut Random(4), encoding, format, 1);
            recipe.frames_per_layer = frames_per_layer;
            let model = recipe.build(|_, _| Pose::REST).model;
            Crowd::with_model(&mut renderer, &model, Default::default()).unwrap();
        }
    }
}

pub fn models_beyond_device_limits_are_refused_with_numbers() {
    let one = test_model(32).model;
    let height = u64::from(one.meta.texture.height.max(one.meta.texture.width));
    let small = |change: fn(&mut Limits)| {
        let mut limits = webgl2();
        change(&mut limits);
        limits
    };
    let cases = [
        (
            &one,
            small(|l| l.max_texture_dimension_2d = 48),
            "across the animation texture: 64 needed, but the device allows 48",
        ),
        (
            &one,
            small(|l| l.max_vertex_buffer_array_stride = 64),
            "bytes per vertex: 72 needed, but the device allows 64",
        ),
        (&one, small(|l| l.max_vertex_attributes = 6), "vertex attributes: 10 needed, but the device allows 6"),
        (
            &one,
            small(|l| l.max_uniform_buffer_binding_size = 4096),
            "uniform buffer: 16384 needed, but the device allows 4096",
        ),
        (&one, small(|l| l.max_buffer_size = 10_000), "bytes of vertices: 10800 needed, but the device allows 10000"),
    ];
    assert!(height > 48);
    for (model, limits, text) in cases {
        let error = refusal(model, limits).to_string();
        assert!(error.starts_with("test: ") && error.contains(text) && error.contains("request"), "{error}");
    }
    let layered = test_model(1).model;
    let error = refusal(&layered, small(|l| l.max_texture_array_layers = 8)).to_string();
    assert!(error.contains("layers of the animation texture: 13 needed, but the device allows 8"), "{error}");
}

pub fn error_without_compute_names_alternatives() {
    let local = || Recipe::random(&mut Random(1), Encoding::LocalPacked, VERTEX, 5).build(|_, _| Pose::REST).model;
    let error = refusal(&local(), webgl2());
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    let error = error.to_string();
    for text in
        ["test: ", "4 needed, but the device allows 0", "downlevel_defaults", "webgl2", "trs-packed", "matrix-f16"]
    {
        assert!(error.contains(text), "{error}");
    }
    // A model with a fallback for this class of devices is drawn.
    let mut both = local();
    both.others = vec![test_model(32).model].into();
    let gpu = noop(webgl2());
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    let crowd = Crowd::with_model(&mut renderer, &both, Default::default()).unwrap();
    assert_eq!(crowd.variant().encoding, Encoding::MatrixF32);

    let mut limits = Limits::downlevel_defaults();
    let gpu = noop(limits.clone());
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    Crowd::with_model(&mut renderer, &local(), Default::default()).unwrap();

    limits.max_storage_buffer_binding_size = 512;
    let error = refusal(&local(), limits).to_string();
    assert!(error.contains("the device allows 512") && error.contains("higher limits"), "{error}");
}

pub fn words_that_contradict_metadata_are_refused() {
    let good = Recipe::random(&mut Random(1), Encoding::LocalPacked, VERTEX, 5).build(|_, _| Pose::REST).model;
    let wrong: [fn(&mut Model); 9] = [
        |m| m.meta.clips.to_mut()[1].first_frame += 1,
        |m| m.meta.clips.to_mut()[1].intervals += 1,
        |m| m.meta.clips.to_mut()[1].additive = None,
        |m| m.meta.masks = m.meta.masks[..2].to_vec().into(),
        |m| m.meta.clips = m.meta.clips[..2].to_vec().into(),
        |m| m.meta.texture.rows += 1,
        |m| m.meta.texture.height += 1,
        |m| m.animation.levels.to_mut()[0].len -= 4,
        |m| m.animation.levels.to_mut()[0].offset -= 4,
    ];
    for (i, change) in wrong.into_iter().enumerate() {
        let mut model = good.clone();
        change(&mut model);
        model.meta.mesh.clips.len = (model.meta.clips.len() * size_of::<ClipRecord>()) as u64;
        let error = refusal(&model, Limits::downlevel_defaults());
        assert!(matches!(error, Error::Model { .. }), "{i}: {error}");
    }
}

pub fn crowd_beyond_device_limits_keeps_its_last_state() {
    let mut limits = webgl2();
    limits.max_buffer_size = 48 * 800;
    let gpu = noop(limits);
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    let mut recipe = Recipe::random(&mut Random(1), Encoding::TrsF16, VERTEX, 1);
    recipe.materials = vec![plain([1.0; 4])];
    let model = recipe.build(|_, _| Pose::REST).model;
    let crowd =
        Crowd::with_model(&mut renderer, &model, CrowdDescriptor { capacity: 10, ..Default::default() }).unwrap();
    let prepare = |renderer: &mut CrowdRenderer| {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let camera = Camera::orthographic_look_at([0.0; 3], [0.0, 0.0, -1.0], 1.0, 1.0, 1.0);
        let result = renderer.prepare(&gpu.queue, &mut encoder, &camera, 1.0);
        gpu.queue.submit([encoder.finish()]);
        result
    };
    // Doubling would exceed the limit at 1280; the buffers grow to 800.
    let ids: Vec<_> = (0..800).map(|_| crowd.spawn(Instance::at([0.0; 3]))).collect();
    prepare(&mut renderer).unwrap();
    let more = crowd.spawn(Instance::at([0.0; 3]));
    let error = prepare(&mut renderer).unwrap_err().to_string();
    assert_eq!(
        error,
        "test: bytes of 801 instances: 38448 needed, but the device allows 38400; \
         make several crowds of the model, or request the device with a higher max_buffer_size"
    );
    assert!(crowd.despawn(more).is_ok());
    prepare(&mut renderer).unwrap();
    assert_eq!((crowd.len(), crowd.despawn(ids[0])), (800, Ok(())));
    prepare(&mut renderer).unwrap();
}

const VERTEX: VertexFormat = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };

pub fn capacity_beyond_device_limits_does_not_panic() {
    let mut limits = webgl2();
    limits.max_buffer_size = 48 * 800;
    let gpu = noop(limits);
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    let model = Recipe::random(&mut Random(1), Encoding::TrsF16, VERTEX, 1).build(|_, _| Pose::REST).model;
    let error =
        Crowd::with_model(&mut renderer, &model, CrowdDescriptor { capacity: 801, ..Default::default() }).unwrap_err();
    assert!(error.to_string().starts_with("test: bytes of 801 instances"), "{error}");
    let error = Crowd::with_model(&mut renderer, &model, CrowdDescriptor { capacity: u32::MAX, ..Default::default() })
        .unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
}

pub fn unrenderable_formats_are_refused() {
    let gpu = noop(webgl2());
    let good = RendererDescriptor::default();
    let depth = |format| DepthPass { format, ..Default::default() };
    let cases = [
        (RendererDescriptor { color_format: TextureFormat::Depth32Float, ..good.clone() }, "color_format"),
        (RendererDescriptor { color_format: TextureFormat::Rgba8Uint, ..good.clone() }, "color_format"),
        (RendererDescriptor { color_format: TextureFormat::Bc7RgbaUnorm, ..good.clone() }, "color_format"),
        (RendererDescriptor { color_format: TextureFormat::Rgba8Snorm, ..good.clone() }, "cannot draw to"),
        (RendererDescriptor { depth_format: Some(TextureFormat::Rgba8Unorm), ..good.clone() }, "depth_format"),
        (RendererDescriptor { depth_format: Some(TextureFormat::Stencil8), ..good.clone() }, "depth_format"),
        (
            RendererDescriptor { depth_format: Some(TextureFormat::Depth32FloatStencil8), ..good.clone() },
            "device feature",
        ),
        (RendererDescriptor { depth_pass: depth(TextureFormat::R8Unorm), ..good.clone() }, "depth_pass.format"),
        (RendererDescriptor { sample_count: 0, ..good.clone() }, "sample_count"),
        (RendererDescriptor { sample_count: 16, ..good.clone() }, "sample_count"),
        (
            RendererDescriptor { depth_pass: DepthPass { sample_count: 3, ..good.depth_pass.clone() }, ..good },
            "samples",
        ),
    ];
    for (descriptor, text) in cases {
        let error = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

pub fn inconsistent_metadata_is_refused() {
    let good = test_model(32).model;
    let wrong: [fn(&mut Model); 17] = [
        |m| m.meta.clips = vec![].into(),
        |m| m.meta.clips.to_mut()[1].first_frame = 9,
        |m| m.meta.clips.to_mut()[1].first_frame = u32::MAX,
        |m| m.meta.clips.to_mut()[0].stored = 0,
        |m| m.meta.mesh.clips.len -= 16,
        |m| m.meta.mesh.vertex_count += 1,
        |m| m.meta.mesh.vertex_count = 0,
        |m| m.meta.mesh.vertices.offset = u64::MAX,
        |m| m.meta.mesh.indices.offset += 4,
        |m| m.meta.mesh.parts.to_mut()[0].index_count += 3,
        |m| m.meta.mesh.parts.to_mut()[0].material = 1,
        |m| m.meta.texture.width = 60,
        |m| m.meta.texture.height -= 1,
        |m| m.meta.texture.frames_per_layer = 0,
        |m| m.meta.texture.frames += 1,
        |m| m.meta.encoding = Encoding::VatPacked,
        |m| m.animation.levels = vec![].into(),
    ];
    for (i, change) in wrong.into_iter().enumerate() {
        let mut model = good.clone();
        change(&mut model);
        let error = refusal(&model, webgl2());
        assert!(matches!(error, Error::Model { .. }), "{i}: {error}");
    }
    let mut model = good.clone();
    model.meta.content_hash[3] ^= 1;
    assert!(matches!(refusal(&model, webgl2()), Error::Files { .. }));
}

pub fn textures_that_contradict_metadata_are_refused() {
    let formats = vec![ColorFormat::Bc7, ColorFormat::Rgba8].into();
    let info = ColorTexture { width: 4, height: 4, levels: 3, layers: 1, srgb: true, formats };
    let mut recipe = Recipe::random(&mut Random(1), Encoding::TrsF16, VERTEX, 1);
    recipe.materials = vec![Material { base_color_texture: Some(nearest(0)), ..plain([1.0; 4]) }];
    recipe.textures = vec![(info, vec![vec![vec![9; 16]; 3], vec![vec![9; 64], vec![9; 16], vec![9; 4]]])];
    let good = recipe.build(|_, _| Pose::REST).model;
    let gpu = noop(webgl2());
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    let crowd = Crowd::with_model(&mut renderer, &good, Default::default());
    drop(crowd.unwrap());
    let wrong: [fn(&mut Model); 11] = [
        |m| m.meta.textures.to_mut()[0].layers = 0,
        |m| m.meta.textures.to_mut()[0].layers = 2,
        |m| m.meta.materials.to_mut()[0].variant_layers = vec![0, 0].into(),
        |m| m.meta.textures.to_mut()[0].width = 0,
        |m| m.meta.textures.to_mut()[0].height = 2,
        |m| m.meta.textures.to_mut()[0].levels = 4,
        |m| m.textures.to_mut()[1].levels.to_mut()[1].len = 4,
        |m| m.textures.to_mut()[1].levels.to_mut()[2].offset = 1 << 40,
        |m| m.textures = vec![].into(),
        |m| m.meta.textures.to_mut()[0].formats = vec![ColorFormat::Rgba8].into(),
        |m| m.meta.materials.to_mut()[0].base_color_texture = Some(nearest(1)),
    ];
    for (i, change) in wrong.into_iter().enumerate() {
        let mut model = good.clone();
        change(&mut model);
        let error = Crowd::with_model(&mut renderer, &model, Default::default()).unwrap_err();
        assert!(matches!(error, Error::Model { .. }), "{i}: {error}");
    }
    let mut model = good;
    model.meta.textures.to_mut()[0].width = 4096;
    let error = Crowd::with_model(&mut renderer, &model, Default::default()).unwrap_err();
    assert!(error.to_string().contains("4096 needed, but the device allows 2048"), "{error}");
}

pub fn views_of_another_renderer_are_refused() {
    let gpu = noop(webgl2());
    let renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    let view = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap().add_view();
    let camera = Camera::orthographic_look_at([0.0; 3], [0.0, 0.0, -1.0], 1.0, 1.0, 1.0);
    let error = renderer.prepare_view(&gpu.queue, view, &camera).unwrap_err().to_string();
    assert!(error.contains("add_view"), "{error}");
}

pub fn handles_are_send_and_sync() {
    fn of_any_thread<T: Send + Sync>() {}
    of_any_thread::<Crowd<Dynamic>>();
    of_any_thread::<CrowdRenderer>();
    of_any_thread::<Capture>();
}
