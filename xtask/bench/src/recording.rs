//! CPU work of recording draw calls: one call for all levels of detail, where the device supports
//! it, compared with one call per level.

use gpuskin_rt::internals::{
    Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, RendererDescriptor, View, wgpu,
};

use crate::context::Context;
use crate::draw::target;
use crate::report::{heading, line, median, seconds};

const CROWDS: [usize; 2] = [1, 20];
/// Number of views: the main one, and four shadow maps.
const VIEWS: usize = 5;
const INSTANCES: u32 = 4;
const FRAMES: usize = 60;
const SIDE: u32 = 16;

pub(crate) fn measure(context: &Context) -> Result<(), String> {
    let at_once = wgpu::Features::INDIRECT_FIRST_INSTANCE;
    if !context.device.features().contains(at_once) {
        heading("CPU time of recording draw calls: the device needs one call per level of detail");
        return Ok(());
    }
    heading(&format!(
        "CPU time of recording {VIEWS} views: one draw call for all levels of detail; one call per level"
    ));
    let contexts = [context, &context.without(at_once)?];
    for crowds in CROWDS {
        let mut scenes =
            [Scene::new(contexts[0], crowds)?, Scene::new(contexts[1], crowds)?].map(|scene| (scene, Vec::new()));
        for frame in 0..FRAMES {
            for ((scene, times), context) in scenes.iter_mut().zip(contexts) {
                let time = scene.frame(context, frame)?;
                if frame > 0 {
                    times.push(time);
                }
            }
        }
        let [(draws, once), (all_draws, each)] =
            scenes.map(|(scene, times)| (scene.crowds[0].explain(&scene.renderer).draws, median(times)));
        line(
            &format!("{crowds} crowd{}", if crowds == 1 { "" } else { "s" }),
            format!(
                "{:.1} us, {draws} calls per crowd and view; {:.1} us, {all_draws}: {:.2} x",
                once * 1e6,
                each * 1e6,
                once / each
            ),
        );
    }
    Ok(())
}

struct Scene {
    renderer: CrowdRenderer,
    crowds: Vec<Crowd<Dynamic>>,
    views: Vec<View>,
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Scene {
    fn new(context: &Context, crowds: usize) -> Result<Self, String> {
        let failed = |e: gpuskin_rt::internals::Error| e.to_string();
        let model =
            context.models.iter().find(|m| m.meta.encoding.needs_compute()).ok_or("no model in local-packed")?;
        let descriptor = RendererDescriptor::default();
        let texture = |format| target(&context.device, format, [SIDE; 2]).create_view(&Default::default());
        let color = texture(descriptor.color_format);
        let depth = texture(descriptor.depth_format.ok_or("no depth")?);
        let mut renderer = CrowdRenderer::new(&context.device, &context.queue, descriptor).map_err(failed)?;
        let crowd = |_| {
            let descriptor = CrowdDescriptor { capacity: INSTANCES, ..Default::default() };
            let crowd = Crowd::with_model(&mut renderer, model, descriptor)?;
            (0..INSTANCES).for_each(|i| {
                crowd.spawn(Instance::at([i as f32, 0.0, 0.0]).play(Clip::new(0)));
            });
            Ok(crowd)
        };
        let crowds: Result<Vec<_>, _> = (0..crowds).map(crowd).collect();
        let crowds = crowds.map_err(failed)?;
        let more: Vec<View> = (1..VIEWS).map(|_| renderer.add_view()).collect();
        Ok(Self { renderer, crowds, views: std::iter::once(View::MAIN).chain(more).collect(), color, depth })
    }

    /// Seconds for recording and submitting the draw calls.
    fn frame(&mut self, context: &Context, frame: usize) -> Result<f64, String> {
        let camera = Camera::perspective_look_at([0.0, 2.0, 60.0], [0.0, 1.0, 0.0], 1.0, 1.0, 0.1, 1000.0);
        let mut encoder = context.device.create_command_encoder(&Default::default());
        for view in &self.views[1..] {
            self.renderer.prepare_view(&context.queue, *view, &camera).map_err(|e| e.to_string())?;
        }
        let time = frame as f64 / 60.0;
        self.renderer.prepare(&context.queue, &mut encoder, &camera, time).map_err(|e| e.to_string())?;
        context.queue.submit([encoder.finish()]);
        context.wait()?;
        let (time, ()) = seconds(|| {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            for view in &self.views {
                let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                    color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                        view: &self.color,
                        depth_slice: None,
                        resolve_target: None,
                        ops: wgpu::Operations::default(),
                    })],
                    depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                        view: &self.depth,
                        depth_ops: Some(wgpu::Operations {
                            load: wgpu::LoadOp::Clear(1.0),
                            store: wgpu::StoreOp::Store,
                        }),
                        stencil_ops: None,
                    }),
                    ..Default::default()
                });
                self.renderer.draw_view(&mut pass, *view);
            }
            context.queue.submit([encoder.finish()]);
        });
        context.wait()?;
        Ok(time)
    }
}
