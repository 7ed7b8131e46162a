//! CPU work of live bones: uploads of a game's own poses, compared with one plain write of as many
//! bytes.

use gpuskin_rt::internals::local::{LocalTracks, LocalTransform};
use gpuskin_rt::internals::{
    Camera, Crowd, CrowdDescriptor, CrowdRenderer, Instance, InstanceId, LiveBones, RendererDescriptor, files, wgpu,
};

use crate::context::Context;
use crate::report::{Asked, compared, heading, median, seconds, time};

/// Bones of all instances: as many as 1,000 instances of 64 bones have.
const BONES: usize = 64_000;
const FRAMES: usize = 40;

pub(crate) fn measure(context: &Context) -> Result<(), String> {
    let failed = |e: gpuskin_rt::internals::Error| e.to_string();
    let model = context.models.iter().find(|m| m.meta.encoding.needs_compute()).ok_or("no model in local-packed")?;
    let bytes = files::load(&model.animation, &model.meta.content_hash).map_err(|e| e.to_string())?;
    let level = model.animation.levels[0];
    let words = &bytes[level.offset as usize..][..level.len as usize];
    let tracks = LocalTracks::new(words).ok_or("the animation's words are invalid")?;
    for (what, each) in [("bone matrices", tracks.bone_count()), ("node transforms", tracks.node_count())] {
        let count = BONES / each;
        heading(&format!(
            "live bones: {count} instances with {each} {what} per frame, as many as 1,000 instances with 64"
        ));
        let mut renderer = CrowdRenderer::new(&context.device, &context.queue, RendererDescriptor::default())
            .map_err(|e| e.to_string())?;
        let descriptor = CrowdDescriptor { capacity: count as u32, ..Default::default() };
        let crowd = Crowd::with_model(&mut renderer, model, descriptor).map_err(failed)?;
        let matrices: Vec<[[f32; 4]; 3]> = (0..count * each)
            .map(|i| [[1.0, 0.0, 0.0, i as f32], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
            .collect();
        let locals = vec![LocalTransform::IDENTITY; count * each];
        let live = |i: usize| match what {
            "bone matrices" => LiveBones::Model(&matrices[i * each..][..each]),
            _ => LiveBones::Local(&locals[i * each..][..each]),
        };
        let ids: Vec<InstanceId> = (0..count).map(|i| crowd.spawn(Instance::at([i as f32, 0.0, 0.0]))).collect();
        for (i, id) in ids.iter().enumerate() {
            crowd.set_live_bones(*id, live(i), 0.0).map_err(failed)?;
        }
        let stride = tracks.bone_count().max(tracks.node_count());
        // Not zero: a buffer of zeros would be a single page, which is always in the CPU's cache.
        let same: Vec<u8> = (0..count * stride * 48).map(|i| i as u8).collect();
        let plain = context.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("plain"),
            size: same.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let all = match what {
            "bone matrices" => LiveBones::Model(&matrices),
            _ => LiveBones::Local(&locals),
        };
        let camera = Camera::perspective_look_at([0.0, 2.0, 5.0], [0.0, 1.0, 0.0], 1.0, 1.6, 0.1, 1000.0);
        // Seconds of a frame and its submission, with `before` ahead of them.
        let mut frame = |number: usize, before: &dyn Fn() -> Result<(), gpuskin_rt::internals::Error>| {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            let (time, result) = seconds(|| {
                before()?;
                let result = renderer.prepare(&context.queue, &mut encoder, &camera, number as f64 / 60.0);
                context.queue.submit([encoder.finish()]);
                result
            });
            context.wait()?;
            result.map(|()| time).map_err(failed)
        };
        let [mut write, mut each_of_them, mut together] = [const { Vec::new() }; 3];
        for number in (0..FRAMES * 3).step_by(3) {
            write.push(frame(number, &|| {
                context.queue.write_buffer(&plain, 0, &same);
                Ok(())
            })?);
            each_of_them.push(frame(number + 1, &|| {
                ids.iter().enumerate().try_for_each(|(i, id)| crowd.update_live_bones(&[*id], live(i)).map(|_| ()))
            })?);
            together.push(frame(number + 2, &|| crowd.update_live_bones(&ids, all).map(|_| ()))?);
        }
        let name = format!("frame with one write of {} bytes", same.len());
        let write = median(write);
        time(&name, write);
        compared("with update_live_bones of each", median(each_of_them), ("one write", write), None);
        let asked = Some(Asked::AtMost(1.3));
        compared("with update_live_bones of all", median(together), ("one write", write), asked);
    }
    Ok(())
}
