//! CPU work of live bones: poses of a game's own against one plain write of the same bytes.

use gpuskin_rt::local::{LocalTracks, LocalTransform};
use gpuskin_rt::{
    Camera, Crowd, CrowdDescriptor, CrowdRenderer, Instance, InstanceId, LiveBones, RendererDescriptor, files, wgpu,
};

use crate::context::Context;
use crate::report::{heading, line, median, seconds};

/// 1,000 instances of 64 bones.
const BONES: usize = 64_000;
const FRAMES: usize = 40;

pub(crate) fn measure(context: &Context) -> Result<(), String> {
    let failed = |e: gpuskin_rt::Error| e.to_string();
    let model = context.models.iter().find(|m| m.meta.encoding.needs_compute()).ok_or("no model in local-packed")?;
    let bytes = files::load(&model.animation, &model.meta.content_hash).map_err(|e| e.to_string())?;
    let level = model.animation.levels[0];
    let words = &bytes[level.offset as usize..][..level.len as usize];
    let tracks = LocalTracks::new(words).ok_or("its words lead nowhere")?;
    for (what, each) in [("matrices of bones", tracks.bone_count()), ("transforms of nodes", tracks.node_count())] {
        let count = BONES / each;
        heading(&format!("live bones: {count} instances of {each} {what} a frame, as many as 1,000 of 64"));
        let mut renderer = CrowdRenderer::new(&context.device, &context.queue, RendererDescriptor::default())
            .map_err(|e| e.to_string())?;
        let descriptor = CrowdDescriptor { capacity: count as u32 };
        let crowd = Crowd::with_model(&mut renderer, model, descriptor).map_err(failed)?;
        let matrices: Vec<[[f32; 4]; 3]> = (0..count * each)
            .map(|i| [[1.0, 0.0, 0.0, i as f32], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
            .collect();
        let locals = vec![LocalTransform::IDENTITY; count * each];
        let live = |i: usize| match what {
            "matrices of bones" => LiveBones::Model(&matrices[i * each..][..each]),
            _ => LiveBones::Local(&locals[i * each..][..each]),
        };
        let ids: Vec<InstanceId> = (0..count).map(|i| crowd.spawn(Instance::at([i as f32, 0.0, 0.0]))).collect();
        for (i, id) in ids.iter().enumerate() {
            crowd.set_live(*id, live(i), 0.0).map_err(failed)?;
        }
        let stride = tracks.bone_count().max(tracks.node_count());
        // Written to, or all of it would be one page of zeros, which is always in the cache.
        let same: Vec<u8> = (0..count * stride * 48).map(|i| i as u8).collect();
        let plain = context.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("plain"),
            size: same.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let camera = Camera::perspective_look_at([0.0, 2.0, 5.0], [0.0, 1.0, 0.0], 1.0, 1.6, 0.1, 1000.0);
        let [mut ours, mut writes] = [const { Vec::new() }; 2];
        for frame in 0..FRAMES {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            let (time, result) = seconds(|| {
                for (i, id) in ids.iter().enumerate() {
                    crowd.update_live(*id, live(i))?;
                }
                renderer.prepare(&context.queue, &mut encoder, &camera, frame as f64 / 60.0)
            });
            result.map_err(failed)?;
            context.queue.submit([encoder.finish()]);
            context.wait()?;
            let (write, ()) = seconds(|| context.queue.write_buffer(&plain, 0, &same));
            context.queue.submit([]);
            context.wait()?;
            // The first frame makes buffers.
            if frame > 0 {
                ours.push(time);
                writes.push(write);
            }
        }
        let (ours, writes) = (median(ours), median(writes));
        line(&format!("one write of {} bytes", same.len()), format!("{:.3} ms", writes * 1e3));
        line("update_live of each, and prepare", format!("{:.3} ms: {:.2} x", ours * 1e3, ours / writes));
    }
    Ok(())
}
