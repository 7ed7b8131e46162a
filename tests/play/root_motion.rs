//! A baked model whose root motion was taken out of the poses, and whose instances follow it, is drawn as the same model with
//! the motion in its poses.

use gpuskin_build::{BakeOptions, Manifest, bake};
use gpuskin_rt::internals::{Camera, Clip, Crowd, CrowdRenderer, Dynamic, Instance, Model, Motion, RendererDescriptor};
use gpuskin_tests::gpu::{BACKENDS, Canvas, Gpu, Picture, open, open_compute};
use gpuskin_tests::shared::assets;

const SIDE: u32 = 256;
/// Times within the clip, seconds.
const TIMES: [f64; 5] = [0.0, 0.3, 0.65, 1.1, 5.0];

/// Bakes the soldier that falls, with its motion in the poses or as root motion.
fn falling(root_motion: &str) -> Model {
    let text = format!(
        "[bake]\ndevices = [\"compute\", \"webgl2\"]\n[[model]]\nname = \"soldier\"\npath = \"soldier.glb\"\nlods = false\ntextures = [\"rgba8\"]\n[model.clips.die]\nloop = \
         false\n{root_motion}\n"
    );
    let manifest = Manifest::parse(&assets().join("gpuskin.toml"), text).unwrap();
    let baked = bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    baked.runtime_models().remove(0)
}

fn pictures(gpu: &Gpu, model: &Model, instance: Instance<Dynamic>) -> [Picture; 5] {
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor::default()).unwrap();
    let crowd = Crowd::with_model(&mut renderer, model, Default::default()).unwrap();
    crowd.spawn(instance.play(Clip::new(0)));
    let camera = Camera::perspective_look_at([2.5, 2.0, 3.0], [0.0, 0.8, 0.0], 0.9, 1.0, 0.1, 50.0);
    TIMES.map(|time| {
        let canvas = Canvas::new(gpu, SIDE);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare(&gpu.queue, &mut encoder, &camera, time).unwrap();
        canvas.pass(&mut encoder, |pass| renderer.draw(pass));
        canvas.finish(gpu, encoder)
    })
}

/// Number of pixels that one of both pictures covers.
fn apart(a: &Picture, b: &Picture) -> usize {
    let all = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)));
    all.filter(|&(x, y)| a.covered(x, y) != b.covered(x, y)).count()
}

fn covered(picture: &Picture) -> usize {
    let all = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)));
    all.filter(|&(x, y)| picture.covered(x, y)).count()
}

pub fn followed_root_motion_is_drawn_as_the_source() {
    let (source, extracted) = (falling(""), falling("root_motion = \"full\""));
    assert!(extracted.meta.clips()[0].has_root_motion() && !source.meta.clips()[0].has_root_motion());
    let devices = BACKENDS.into_iter().filter_map(open).chain(BACKENDS.into_iter().filter_map(open_compute));
    for gpu in devices {
        let there = Instance::at([0.2, 0.0, -0.3]).facing(0.7).scaled(0.9);
        let expected = pictures(&gpu, &source, there);
        let found = pictures(&gpu, &extracted, there.moving(Motion::following_root()));
        let standing = pictures(&gpu, &extracted, there);
        for (i, time) in TIMES.into_iter().enumerate() {
            let all = covered(&expected[i]);
            let apart_by = apart(&expected[i], &found[i]);
            assert!(all > 1000 && apart_by * 100 < all, "{} at {time}: {apart_by} of {all} pixels differ", gpu.name);
        }
        assert!(apart(&expected[4], &standing[4]) * 5 > covered(&expected[4]), "the clip has no root motion");
    }
}
