//! Share of the pixels that levels of detail change: instances at some allowed errors, beside the same in the finest level. For
//! comparison, the share that differs in the finest level if the camera turns by a fraction of a pixel.

use std::fs;
use std::path::Path;

use gpuskin_rt::internals::{
    Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, Model, RendererDescriptor, Repeat,
};

use super::gpu::{Frame, SIZE};
use crate::Options;
use crate::context::Context;
use crate::report::{heading, line};

/// Instances along a side of the square.
const SIDE: u32 = 30;
/// Allowed errors, pixels.
const ERRORS: [f32; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Turn of the camera for comparison, pixels in the middle of the picture.
const TURN: f32 = 0.1;
/// Greatest difference of a colour channel, out of 255, that does not count.
const SAME: u8 = 8;

pub(crate) fn measure(context: &Context, options: &Options) -> Result<(), String> {
    heading(&format!(
        "lods: {} instances, {} x {}: pixels that differ by more than {SAME}/255 from the finest level",
        SIDE * SIDE,
        SIZE[0],
        SIZE[1]
    ));
    for model in context.models.iter().filter(|model| !model.meta.mesh.levels.is_empty()) {
        let name = &model.meta.name;
        let mesh = &model.meta.mesh;
        for (level, lod) in (1..).zip(mesh.levels.iter()) {
            line(
                &format!("{name}, level {level}, {} triangles, error", mesh.triangles(level)),
                format!("{:.1} mm", lod.error * 1000.0),
            );
        }
        let finest = picture(context, model, 0.0, 0.0)?;
        save(options.pictures.as_deref(), &format!("{name}-finest"), &finest)?;
        let compare = |row: &str, picture: &[[u8; 4]]| {
            let differ = |(a, b): &(&[u8; 4], &[u8; 4])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > SAME);
            let others = finest.iter().zip(picture).filter(differ).count();
            line(&format!("{name}, {row}"), format!("{:.2} %", others as f64 / finest.len() as f64 * 100.0));
        };
        for error in ERRORS {
            let picture = picture(context, model, error, 0.0)?;
            save(options.pictures.as_deref(), &format!("{name}-{error}"), &picture)?;
            compare(&format!("allowed error of {error} pixels"), &picture);
        }
        compare(&format!("finest level, camera turned by {TURN} pixels"), &picture(context, model, 0.0, TURN)?);
    }
    Ok(())
}

/// Draws the instances, in a square that begins before the camera. `turn`: of the camera, pixels in the middle of the picture.
fn picture(context: &Context, model: &Model, lod_error: f32, turn: f32) -> Result<Vec<[u8; 4]>, String> {
    let failed = |e: gpuskin_rt::internals::Error| e.to_string();
    let descriptor = RendererDescriptor { lod_error, ..Default::default() };
    let mut renderer = CrowdRenderer::new(&context.device, &context.queue, descriptor).map_err(failed)?;
    let capacity = SIDE * SIDE;
    let of_crowd = CrowdDescriptor { capacity, ..Default::default() };
    let crowd: Crowd<Dynamic> = Crowd::with_model(&mut renderer, model, of_crowd).map_err(failed)?;
    let bounds = &model.meta.bounds;
    let [width, height, depth] = [0, 1, 2].map(|axis| bounds.max[axis] - bounds.min[axis]);
    let spacing = width.max(depth);
    let clips = model.meta.clips.len().max(1) as u32;
    crowd.spawn_many((0..capacity).map(|i| {
        let [x, z] = [i % SIDE, i / SIDE].map(|at| at as f32);
        let place = [(x - 0.5 * SIDE as f32) * spacing, 0.0, -z * spacing];
        let clip = Clip::new((i % clips) as u16);
        Instance::at(place).facing(i as f32 * 2.4).play(clip).repeat(Repeat::Loop).phase((i as f32 * 0.618).fract())
    }));
    let far = SIDE as f32 * spacing;
    let eye = [0.0, bounds.min[1] + 1.6 * height, 2.0 * spacing];
    let target = [0.0, bounds.min[1] + 0.3 * height, -0.3 * far];
    let fov_y = 60_f32.to_radians();
    let away = (target[1] - eye[1]).hypot(target[2] - eye[2]);
    let aside = turn * 2.0 * (0.5 * fov_y).tan() / SIZE[1] as f32 * away;
    let camera = Camera::perspective_look_at(
        eye,
        [aside, target[1], target[2]],
        fov_y,
        SIZE[0] as f32 / SIZE[1] as f32,
        0.05 * spacing,
        3.0 * far,
    );
    let camera = camera.with_height(SIZE[1]);
    let frame = Frame::new(&context.device);
    let mut encoder = context.device.create_command_encoder(&Default::default());
    renderer.prepare(&context.queue, &mut encoder, &camera, 1.0).map_err(failed)?;
    frame.pass(&mut encoder, |pass| renderer.draw(pass));
    context.queue.submit([encoder.finish()]);
    frame.read(context)
}

/// Writes a picture into a folder, as a PPM file.
fn save(folder: Option<&Path>, name: &str, picture: &[[u8; 4]]) -> Result<(), String> {
    let Some(folder) = folder else { return Ok(()) };
    let mut bytes = format!("P6 {} {} 255\n", SIZE[0], SIZE[1]).into_bytes();
    bytes.extend(picture.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]));
    let path = folder.join(format!("{name}.ppm"));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, bytes))
        .map_err(|error| format!("{}: {error}", path.display()))
}
