//! Pictures are equal on every draw path: directly from the texture, or through palettes of all or
//! of visible instances. At frame times, when both encodings have the same poses.

use crate::common::model::{CLIPS, Pose, Random, Recipe, TestModel, plain};
use crate::common::{BACKENDS, Canvas, Gpu, Picture, compute, gpu_with};
use glam::{Mat3, Quat, Vec3};
use gpuskin_rt::internals::*;
use gpuskin_test_harness::note;

const SIDE: u32 = 256;
const COUNT: u32 = 120;
const BONES: u32 = 24;
/// Greatest fraction of the pixels that may differ by more than one of 255 steps.
const MOST_OTHER: f64 = 0.001;

fn recipe(encoding: Encoding) -> Recipe {
    let format = VertexFormat { packing: Packing::Full, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut Random(7), encoding, format, BONES);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    recipe
}

/// Makes models with the same poses in `local-packed` and as matrices.
fn models() -> [TestModel; 2] {
    let local = recipe(Encoding::LocalPacked).build(|_, _| Pose::REST).with_bounds();
    let tracks = local.tracks();
    let frames = |record: &ClipRecord| record.first_frame..record.first_frame + record.stored;
    let poses: Vec<Vec<Affine3>> = local
        .records
        .iter()
        .flat_map(|record| {
            frames(record).map(|a| tracks.pose(FramePair { a, b: a, t: 0.0, first: record.first_frame }))
        })
        .collect();
    let direct = recipe(Encoding::MatrixF32).build(|frame, bone| {
        let rows = poses[frame as usize][bone as usize].rows;
        Pose {
            rotation: Quat::IDENTITY,
            scale: 1.0,
            shear: Mat3::from_cols_array_2d(&rows.map(|row| row.truncate().to_array())).transpose(),
            translation: Vec3::from(rows.map(|row| row.w)),
        }
    });
    [local, direct]
}

/// Draws all instances with paused poses; `later` shifts each pose by some frames.
fn picture(gpu: &Gpu, model: &Model, culling: bool, later: u32) -> Picture {
    let mut renderer =
        CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor { culling, ..Default::default() }).unwrap();
    let crowd = Crowd::with_model(&mut renderer, model, Default::default()).unwrap();
    let mut random = Random(5);
    for i in 0..COUNT {
        let clip = [0, 2][i as usize % 2];
        let phase = ((i + later) % CLIPS[0].intervals) as f32 / CLIPS[0].intervals as f32;
        let at = random.vector() * 14.0;
        let instance = Instance::at(at).rotated(random.direction().extend(random.unit()).to_array());
        let instance = instance.scaled(random.within(0.5, 1.5)).tinted([1.0, random.unit(), random.unit(), 1.0]);
        crowd.spawn(instance.play(Clip::new(clip)).phase(phase).speed(0.0));
    }
    let camera = Camera::perspective_look_at([0.0, 3.0, 16.0], [0.0; 3], 1.0, 1.0, 0.1, 60.0);
    let canvas = Canvas::new(gpu, SIDE);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &camera, 2.5).unwrap();
    canvas.pass(&mut encoder, |pass| renderer.draw(pass));
    canvas.finish(gpu, encoder)
}

/// Returns the fraction of the pixels that differ by more than one step in any channel.
fn others(a: &Picture, b: &Picture) -> f64 {
    let differ = |(a, b): &(&[u8; 4], &[u8; 4])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 1);
    a.pixels.iter().zip(&b.pixels).filter(differ).count() as f64 / a.pixels.len() as f64
}

pub fn every_draw_path_matches_direct_path() {
    let [local, direct] = models();
    for backend in BACKENDS {
        let Some(gpu) = compute(backend) else { continue };
        let mut limits = wgpu::Limits::downlevel_defaults();
        limits.max_storage_buffer_binding_size = (u64::from(BONES) * 48 * 47).max(local.model.animation.levels[0].len);
        let Some(small) = gpu_with(backend, limits) else { continue };
        let expected = picture(&gpu, &direct.model, true, 0);
        assert!(expected.covered() > expected.pixels.len() / 5, "{} pixels", expected.covered());
        for (path, found) in [
            ("palette", picture(&gpu, &local.model, false, 0)),
            ("palette, culled", picture(&gpu, &local.model, true, 0)),
            ("several palettes, culled", picture(&small, &local.model, true, 0)),
        ] {
            let others = others(&expected, &found);
            note!("{path} on {}: {:.3} % of the pixels differ", gpu.name, others * 100.0);
            assert!(others <= MOST_OTHER, "{path} on {}: {:.3} % of the pixels differ", gpu.name, others * 100.0);
        }
        // Other poses give another picture.
        let later = others(&expected, &picture(&gpu, &local.model, true, 1));
        assert!(later > 10.0 * MOST_OTHER, "a frame later, only {:.3} % of the pixels differ", later * 100.0);
    }
}
