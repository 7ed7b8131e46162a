//! Crowds of the sample models, drawn as a game draws them: on Vulkan and OpenGL, with WebGL2's
//! limits where these suffice.

use glam::Vec3;
use gpuskin_build::Manifest;
use gpuskin_build::{BakeOptions, bake};
use gpuskin_rt::internals::morph::MorphLists;
use gpuskin_rt::internals::render::Capture;
use gpuskin_rt::internals::skin::skin_vertices;
use gpuskin_rt::internals::vertex::{Vertex, unpack};
use gpuskin_rt::internals::{
    ByteRange, Camera, Clip, ClipInfo, ClipRecord, Crowd, CrowdRenderer, Dynamic, Encoding, Instance, InstanceRecord,
    Model, RendererDescriptor, Texels, Time, Transition,
};
use gpuskin_test_harness::note;
use gpuskin_tests::gpu::{BACKENDS, Canvas, Gpu, Picture, open, open_compute};
use gpuskin_tests::shared::assets;
use gpuskin_tests::{clips, models};

const SIDE: u32 = 128;
/// Width and height of the picture in metres; the origin is at its lower left.
const METRES: f32 = 8.0;

fn camera() -> Camera {
    let half = METRES / 2.0;
    Camera::orthographic_look_at([half, half, 10.0], [half, half, 0.0], half, half, 20.0)
}

fn draw(gpu: &Gpu, renderer: &mut CrowdRenderer, seconds: f64) -> Picture {
    let canvas = Canvas::new(gpu, SIDE);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &camera(), seconds).unwrap();
    canvas.pass(&mut encoder, |pass| renderer.draw(pass));
    canvas.finish(gpu, encoder)
}

/// Counts the covered pixels in a rectangle, given in metres of the picture.
fn covered(picture: &Picture, x: [f32; 2], y: [f32; 2]) -> usize {
    let pixel = |metres: f32| (metres / METRES * SIDE as f32) as u32;
    let columns = pixel(x[0])..pixel(x[1]);
    let rows = SIDE - pixel(y[1])..SIDE - pixel(y[0]);
    rows.flat_map(|y| columns.clone().map(move |x| (x, y))).filter(|&(x, y)| picture.covered(x, y)).count()
}

const ALL: [f32; 2] = [0.0, METRES];

pub fn instances_are_drawn_at_their_positions() {
    for gpu in BACKENDS.into_iter().filter_map(open) {
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor::default()).unwrap();
        let soldiers = Crowd::<models::Soldier>::new(&mut renderer, Default::default()).unwrap();
        let hounds = Crowd::<models::Hound>::new(&mut renderer, Default::default()).unwrap();
        assert_eq!(
            covered(&draw(&gpu, &mut renderer, 0.0), ALL, ALL),
            0,
            "{}: expected an empty picture before the first spawn",
            gpu.name
        );

        let soldier = soldiers.spawn(Instance::at([2.0, 1.0, 0.0]).play(clips::SOLDIER_IDLE));
        let hound = hounds.spawn(Instance::at([6.0, 4.0, 0.0]).facing(1.0).play(clips::HOUND_IDLE));
        let picture = draw(&gpu, &mut renderer, 0.0);
        let (body, dog) = (covered(&picture, [1.0, 3.0], [0.9, 3.2]), covered(&picture, [4.5, 7.5], [3.8, 5.8]));
        // A pixel is 1/16 m: a body of 1.8 x 0.4 m, a dog of 0.6 x 0.5 m.
        assert!(body > 150 && dog > 60, "{}: {body} and {dog} pixels", gpu.name);
        assert_eq!(covered(&picture, ALL, ALL), body + dog, "{}: pixels outside of both instances", gpu.name);
        assert!(picture.colors() > 20, "{}: expected textured and lit colours", gpu.name);

        assert!(soldiers.move_to(soldier, [5.0, 1.0, 0.0]).is_ok());
        let turned = |yaw: f32| {
            Instance::<models::Soldier>::at([0.0; 3]).facing(yaw).record(soldiers.meta(), Time::ZERO).rotation
        };
        assert!(soldiers.move_and_face(soldier, [4.0, 1.0, 0.0], 1.0).is_ok());
        assert_eq!(soldiers.get(soldier).map(|r| (r.translation, r.rotation)), Some(([4.0, 1.0, 0.0], turned(1.0))));
        assert!(soldiers.face(soldier, 0.0).is_ok() && soldiers.move_to(soldier, [5.0, 1.0, 0.0]).is_ok());
        assert_eq!(soldiers.get(soldier).map(|r| r.rotation), Some(turned(0.0)));
        assert!(hounds.despawn(hound).is_ok());
        let picture = draw(&gpu, &mut renderer, 0.0);
        let moved = covered(&picture, [4.0, 6.0], [0.9, 3.2]);
        assert_eq!(covered(&picture, ALL, ALL), moved, "{}", gpu.name);
        assert!(moved.abs_diff(body) < body / 10, "{}: {moved} instead of {body} pixels", gpu.name);

        // `die` ends lying on the ground, and its last pose holds.
        assert!(soldiers.play(soldier, clips::SOLDIER_DIE, Transition::cut()).is_ok());
        let [falling, lying, later] = [0.3, 60.0, 3600.0].map(|seconds| draw(&gpu, &mut renderer, seconds));
        assert!(
            covered(&falling, ALL, [1.8, METRES]) > 0,
            "{}: expected an upright soldier 0.3 s after the start of `die`",
            gpu.name
        );
        assert_eq!(
            covered(&lying, ALL, [1.8, METRES]),
            0,
            "{}: expected a lying soldier 60 s after the start of `die`",
            gpu.name
        );
        assert!(covered(&lying, ALL, [0.9, 1.8]) > 60 && lying == later, "{}", gpu.name);

        // A running soldier moves between two frames.
        assert!(soldiers.play(soldier, clips::SOLDIER_RUN, Transition::crossfade(0.2)).is_ok());
        let [a, b] = [3600.1, 3600.3].map(|seconds| draw(&gpu, &mut renderer, seconds));
        assert!(a != b, "{}", gpu.name);
    }
}

/// Model with the data that the CPU reference needs.
struct Reference {
    model: Model,
    animation: Vec<u8>,
    vertices: Vec<Vertex>,
    morphs: Vec<u32>,
    records: Vec<ClipRecord>,
}

impl Reference {
    fn new(model: Model) -> Self {
        let load =
            |payload| gpuskin_rt::internals::files::load(payload, &model.meta.content_hash).unwrap().into_owned();
        let level = model.animation.levels[0];
        let animation = load(&model.animation)[level.offset as usize..][..level.len as usize].to_vec();
        let (mesh, file) = (&model.meta.mesh, load(&model.mesh));
        let part = |range: ByteRange| -> Vec<u32> {
            let bytes = &file[range.offset as usize..][..range.len as usize];
            bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect()
        };
        let (words, morphs) = (part(mesh.vertices), part(mesh.morphs));
        let vertices = words.chunks_exact(mesh.format.words()).map(|w| unpack(w, mesh.format, &mesh.range)).collect();
        let records = model.meta.clips.iter().map(ClipInfo::record).collect();
        Self { animation, vertices, morphs, records, model }
    }

    fn pose(&self, instance: &InstanceRecord, now: Time) -> Vec<Vec3> {
        let meta = &self.model.meta;
        let texels = Texels::new(meta.encoding, meta.texture, &self.animation).unwrap();
        let mesh = (&self.vertices[..], &MorphLists::new(&self.morphs));
        let skinned = skin_vertices(&texels, &self.records, instance, now, mesh, meta.normals);
        skinned.iter().map(|vertex| vertex.position).collect()
    }
}

/// Greatest distance between the GPU and the CPU reference, as a fraction of the drawn diagonal.
const REFERENCE_TOLERANCE: f32 = 2e-6;

/// Instances of every clip, away from the origin, at uneven times.
fn samples(model: &Model) -> Vec<(InstanceRecord, Time)> {
    let instance = |clip: usize| {
        let at = Instance::<Dynamic>::at([0.3, 0.0, -0.7]).facing(0.4 + clip as f32);
        at.play(Clip::new(clip as u16)).speed(0.9).phase(0.137).record(&model.meta, Time::from_secs(11.0))
    };
    let times = |clip| [11.0, 11.261, 12.777, 99.1].map(|now| (instance(clip), Time::from_secs(now)));
    (0..model.meta.clips.len()).flat_map(times).collect()
}

/// Greatest distance between the GPU and the CPU reference, as a fraction of the drawn diagonal.
fn worst(gpu: &Gpu, reference: &Reference) -> f32 {
    let frames = samples(&reference.model);
    let captured = Capture::new(&gpu.device, &gpu.queue, &reference.model).unwrap().frames(&frames).unwrap();
    let mut worst = 0.0_f32;
    for (vertices, (record, now)) in captured.iter().zip(&frames) {
        let expected = reference.pose(record, *now);
        assert_eq!(vertices.len(), expected.len());
        let bounds = |f: fn(Vec3, Vec3) -> Vec3| expected.iter().copied().reduce(f).unwrap();
        let diagonal = bounds(Vec3::max).distance(bounds(Vec3::min));
        assert!(diagonal > 0.5, "{diagonal} m");
        for (vertex, expected) in vertices.iter().zip(&expected) {
            let distance = Vec3::from(vertex.position).distance(*expected) / diagonal;
            worst = worst.max(if distance.is_finite() { distance } else { f32::INFINITY });
        }
    }
    worst
}

pub fn gpu_matches_the_cpu_reference() {
    let manifest = Manifest::load(&assets().join("gpuskin.toml")).unwrap();
    let bake = |encoding| {
        let options = BakeOptions { encoding: Some(encoding), skip_errors: true, ..Default::default() };
        bake(&manifest, &options).unwrap_or_else(|failed| panic!("{}", failed.diagnostics)).runtime_models()
    };
    let references: Vec<Reference> = Encoding::ALL.into_iter().flat_map(bake).map(Reference::new).collect();
    for (textured, computing) in BACKENDS.into_iter().filter_map(|b| Some((open(b)?, open_compute(b)?))) {
        for reference in &references {
            let gpu = if reference.model.meta.encoding.needs_compute() { &computing } else { &textured };
            let (worst, meta) = (worst(gpu, reference), &reference.model.meta);
            let of = format!("{} in {} on {}", meta.name, meta.encoding.name(), gpu.name);
            assert!(worst <= REFERENCE_TOLERANCE, "{of}: {worst:.1e} of the diagonal");
            note!("{of}: {worst:.1e} of the diagonal");
        }
    }
}
