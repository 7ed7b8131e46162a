//! First frame of the sample models: their shaders are compiled in it.

use gpuskin_rt::internals::{
    Camera, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, LightingFeatures, RendererDescriptor, Shading,
    ShadowDescriptor, ToneMapping,
};

use super::gpu::Frame;
use crate::context::Context;
use crate::report::{compared, heading, median, seconds};

const ROUNDS: usize = 7;

/// Prints the time of the first frame over that of the second one. A driver that keeps compiled shaders on disk makes it
/// shorter: `MESA_SHADER_CACHE_DISABLE=true` turns that off.
pub(crate) fn measure(context: &Context) -> Result<(), String> {
    heading("first frame of all sample models, from the renderer on, over the second one");
    let shadows = Some(ShadowDescriptor { cascades: 4, size: 256, ..Default::default() });
    let all = LightingFeatures { shadows, fog: true, tone_mapping: ToneMapping::Neutral, ..Default::default() };
    let shadings =
        [("diffuse", Shading::Diffuse), ("metallic-roughness, shadows, fog, tones", Shading::MetallicRoughness(all))];
    let target = Frame::new(&context.device);
    for (name, shading) in shadings {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let (time, made) = seconds(|| {
                let mut made = crowds(context, &shading)?;
                draw(context, &target, &mut made.0)?;
                Ok::<_, String>(made)
            });
            first.push(time);
            let (mut renderer, _crowds) = made?;
            let (time, drawn) = seconds(|| draw(context, &target, &mut renderer));
            drawn?;
            second.push(time);
        }
        compared(name, median(first), ("the second frame", median(second)), None);
    }
    Ok(())
}

/// A renderer, and a crowd of one instance per model.
fn crowds(context: &Context, shading: &Shading) -> Result<(CrowdRenderer, Vec<Crowd<Dynamic>>), String> {
    let descriptor = RendererDescriptor { shading: shading.clone(), ..Default::default() };
    let mut renderer = CrowdRenderer::new(&context.device, &context.queue, descriptor).map_err(|e| e.to_string())?;
    let crowds = context.models.iter().map(|model| {
        let crowd = Crowd::with_model(&mut renderer, model, CrowdDescriptor::default())?;
        crowd.spawn(Instance::at([0.0; 3]));
        Ok(crowd)
    });
    let crowds = crowds.collect::<Result<_, gpuskin_rt::Error>>().map_err(|e| e.to_string())?;
    Ok((renderer, crowds))
}

fn draw(context: &Context, target: &Frame, renderer: &mut CrowdRenderer) -> Result<(), String> {
    let camera = Camera::perspective_look_at([0.0, 3.0, 60.0], [0.0; 3], 0.9, 1.8, 0.1, 100.0);
    let mut encoder = context.device.create_command_encoder(&Default::default());
    renderer.prepare(&context.queue, &mut encoder, &camera, 1.0).map_err(|e| e.to_string())?;
    renderer.draw_shadows(&mut encoder);
    target.pass(&mut encoder, |pass| renderer.draw(pass));
    context.queue.submit([encoder.finish()]);
    context.wait()
}
