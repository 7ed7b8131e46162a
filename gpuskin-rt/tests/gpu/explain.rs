//! Explanations of how a crowd is drawn. On wgpu's `noop` backend, which accepts any limits.

use crate::common::model::{Pose, Random, Recipe, TestModel};
use crate::common::{Gpu, noop};
use gpuskin_rt::internals::render::{CacheState, CullingState, DrawPath, PoseSharing};
use gpuskin_rt::internals::*;
use wgpu::Limits;

fn model(encoding: Encoding) -> TestModel {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    Recipe::random(&mut Random(1), encoding, format, 5).build(|_, _| Pose::REST)
}

struct Scene {
    gpu: Gpu,
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
}

fn scene(limits: Limits, model: &Model, culling: bool) -> Scene {
    let gpu = noop(limits);
    let descriptor = RendererDescriptor { culling, ..Default::default() };
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let crowd = Crowd::with_model(&mut renderer, model, Default::default()).unwrap();
    Scene { gpu, renderer, crowd }
}

impl Scene {
    fn explain(&mut self, instances: u32) -> Explanation {
        for _ in 0..instances {
            self.crowd.spawn(Instance::at([0.0; 3]));
        }
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let camera = Camera::orthographic_look_at([0.0; 3], [0.0, 0.0, -1.0], 1.0, 1.0, 1.0);
        self.renderer.prepare(&self.gpu.queue, &mut encoder, &camera, 0.0).unwrap();
        self.gpu.queue.submit([encoder.finish()]);
        self.crowd.explain(&self.renderer)
    }
}

pub fn explanation_names_encoding_views_and_buffers() {
    let local = model(Encoding::LocalPacked).with_bounds().model;
    let mut scene = scene(Limits::downlevel_defaults(), &local, true);
    let nobody = scene.explain(0);
    assert_eq!((nobody.path, nobody.instances, nobody.palettes, nobody.draws), (DrawPath::Palette, 0, 0, 0));
    let few = scene.explain(3);
    assert_eq!((few.path, few.encoding, few.lacks.clone()), (DrawPath::Palette, Encoding::LocalPacked, None));
    assert_eq!((few.instances, few.palettes, few.draws, few.bytes_per_instance), (3, 1, 1, 5 * 48));
    assert_eq!(few.culling, CullingState::On { views: 1 });
    assert_eq!(
        few.to_string(),
        "test: palette path for local-packed: a compute pass composes poses\n  \
         3 instances in 1 palette (240 bytes per instance), 1 draw per view\n  \
         culling: on, instances outside the view cost neither a pose nor a draw"
    );
    assert_eq!(few.uploaded_bytes, 3 * (32 + 48));
    assert_eq!(scene.explain(0).uploaded_bytes, 0, "no command, no upload");
    scene.renderer.add_view();
    let two = scene.explain(0).to_string();
    assert!(two.contains("outside all 2 views"), "{two}");
    for _ in 0..cull::MAX_VIEWS {
        scene.renderer.add_view();
    }
    let views = cull::MAX_VIEWS + 2;
    assert_eq!(scene.explain(0).culling, CullingState::TooManyViews { views, max: cull::MAX_VIEWS });
}

pub fn explanation_says_why_culling_is_off() {
    let bounded = model(Encoding::LocalPacked).with_bounds().model;
    let not_asked = scene(Limits::downlevel_defaults(), &bounded, false).explain(1);
    assert_eq!(not_asked.culling, CullingState::NotAsked);
    assert!(not_asked.to_string().contains("`RendererDescriptor::culling` is off"), "{not_asked}");
    let unbounded = model(Encoding::LocalPacked).model;
    assert_eq!(scene(Limits::downlevel_defaults(), &unbounded, true).explain(1).culling, CullingState::NoBounds);
}

pub fn palette_beyond_binding_size_is_split() {
    let local = model(Encoding::LocalPacked).model;
    let mut limits = Limits::downlevel_defaults();
    // 5 bones of 48 bytes: 64 instances.
    limits.max_storage_buffer_binding_size = (240 * 64).max(local.animation.levels[0].len);
    let each = (limits.max_storage_buffer_binding_size / 240).min((limits.max_storage_buffer_binding_size - 256) / 128);
    let each = each / 16 * 16;
    let several = scene(limits, &local, true).explain(1_000);
    assert_eq!(u64::from(several.palettes), 1_000_u64.div_ceil(each));
    assert!(several.palettes > 1 && several.draws == several.palettes, "{several}");
}

pub fn explanation_names_missing_device_features() {
    let mut both = model(Encoding::LocalPacked).model;
    both.others = vec![model(Encoding::MatrixF16).model].into();
    let other = scene(Limits::downlevel_webgl2_defaults(), &both, true).explain(2);
    assert_eq!((other.path, other.encoding), (DrawPath::Direct, Encoding::MatrixF16));
    assert_eq!((other.culling, other.palettes, other.bytes_per_instance), (CullingState::NoBounds, 0, 0));
    let text = other.to_string();
    for part in [
        "test: direct path for matrix-f16",
        "not the model's first encoding",
        "storage buffers",
        "2 instances, 1 draw per view",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(matches!(other.lacks, Some(Error::Limit { .. })), "{text}");

    let chosen = scene(Limits::downlevel_defaults(), &model(Encoding::TrsPacked).model, true).explain(1);
    assert_eq!((chosen.path, chosen.lacks), (DrawPath::Direct, None));
}

/// Makes a scene with the given descriptors.
fn asked(model: &Model, of_renderer: RendererDescriptor, descriptor: CrowdDescriptor) -> Result<Scene, Error> {
    let gpu = noop(Limits::downlevel_defaults());
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, of_renderer).unwrap();
    let crowd = Crowd::with_model(&mut renderer, model, descriptor)?;
    Ok(Scene { gpu, renderer, crowd })
}

pub fn explanation_says_whether_poses_are_shared() {
    let local = model(Encoding::LocalPacked).with_bounds().model;
    let grid = CrowdDescriptor { time_grid: Some(0.1), ..Default::default() };
    let mut scene = asked(&local, Default::default(), grid.clone()).unwrap();
    let on = scene.explain(3);
    // 0.7 s, 1 s and a clip of length zero; 150 vertices and 5 bones.
    let bytes = 21 * (150 * 16 + 5 * 48);
    assert_eq!(
        (on.path, on.cache),
        (DrawPath::Cache, CacheState::On { poses: 21, samples: 21, bytes, sharing: PoseSharing::WithinLodError })
    );
    assert_eq!((on.palettes, on.draws), (1, 2));
    assert_eq!(
        on.to_string(),
        "test: cache path for local-packed: a compute pass composes poses, and instances share them\n  \
         3 instances in 1 palette (240 bytes per instance), 2 draws per view\n  \
         cache: vertices of up to 21 poses are cached (21 samples of all clips; 0.1 MB), shared where the difference \
         cannot be seen\n  \
         culling: on, instances outside the view cost neither a pose nor a draw"
    );
    for _ in 0..cull::MAX_VIEWS {
        scene.renderer.add_view();
    }
    let on_palette = |explained: Explanation, state: CacheState, text: &str| {
        assert_eq!((explained.path, explained.cache), (DrawPath::Palette, state));
        assert!(explained.to_string().contains(text), "{explained}");
        explained
    };
    on_palette(scene.explain(0), CacheState::NotCulled, "instances are not culled");
    let of = |of_renderer: RendererDescriptor, descriptor: CrowdDescriptor| {
        asked(&local, of_renderer, descriptor).unwrap().explain(1)
    };
    let little = CrowdDescriptor { cache_bytes: bytes - 1, ..grid.clone() };
    let text = "holds only 20 of 21 samples of all clips";
    on_palette(of(Default::default(), little.clone()), CacheState::NoRoom { poses: 20, samples: 21 }, text);
    let forced = of(Default::default(), CrowdDescriptor { path: Some(DrawPath::Cache), ..little });
    assert!(matches!(forced.cache, CacheState::On { poses: 20, samples: 21, .. }), "{forced}");
    let palette = CrowdDescriptor { path: Some(DrawPath::Palette), ..grid.clone() };
    on_palette(of(Default::default(), palette), CacheState::Palette, "asks for the palette");
    let motion = RendererDescriptor { motion_vectors: true, ..Default::default() };
    on_palette(of(motion, grid.clone()), CacheState::MotionVectors, "motion_vectors");
    let unasked = of(Default::default(), CrowdDescriptor::default());
    assert_eq!((unasked.path, unasked.cache), (DrawPath::Palette, CacheState::NotAsked));
    assert!(!unasked.to_string().contains("cache"), "{unasked}");
}

pub fn unavailable_draw_path_is_refused() {
    let local = model(Encoding::LocalPacked).with_bounds().model;
    let texture = model(Encoding::MatrixF16).with_bounds().model;
    let grid = CrowdDescriptor { time_grid: Some(0.1), ..Default::default() };
    let path = |path, descriptor: &CrowdDescriptor| CrowdDescriptor { path: Some(path), ..descriptor.clone() };
    let refused = |model: &Model, of_renderer: RendererDescriptor, descriptor: CrowdDescriptor, text: &str| {
        let error = asked(model, of_renderer, descriptor).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("test: ") && error.contains(text), "{error}");
    };
    let plain = CrowdDescriptor::default();
    refused(&local, Default::default(), path(DrawPath::Cache, &plain), "set `time_grid`, to 1.0 / 30.0 for example");
    refused(&local, Default::default(), path(DrawPath::Direct, &plain), "add \"webgl2\" to `devices`");
    for path_of_poses in [DrawPath::Palette, DrawPath::Cache] {
        refused(&texture, Default::default(), path(path_of_poses, &grid), "the model plays matrix-f16");
    }
    for wrong in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let descriptor = CrowdDescriptor { time_grid: Some(wrong), ..plain.clone() };
        refused(&local, Default::default(), descriptor, "it must be finite and above zero");
    }
    let none = CrowdDescriptor { cache_bytes: 100, ..path(DrawPath::Cache, &grid) };
    refused(&local, Default::default(), none, "100 bytes hold no pose that the device can bind");
    let culled = RendererDescriptor { culling: false, ..Default::default() };
    refused(&local, culled, path(DrawPath::Cache, &grid), "instances are not culled");
    let motion = RendererDescriptor { motion_vectors: true, ..Default::default() };
    refused(&local, motion, path(DrawPath::Cache, &grid), "motion_vectors");
    // A model with a fallback in a texture is read from the texture.
    let mut both = local.clone();
    both.others = vec![texture.clone()].into();
    let direct = asked(&both, Default::default(), path(DrawPath::Direct, &plain)).unwrap().explain(1);
    assert_eq!((direct.path, direct.encoding), (DrawPath::Direct, Encoding::MatrixF16));
    let of_texture = asked(&texture, Default::default(), grid).unwrap().explain(1);
    assert_eq!((of_texture.path, of_texture.cache), (DrawPath::Direct, CacheState::NotAsked));
}
