//! A crowd of {{count}} instances of one model, each with its own clip and phase.

mod app;
mod ground;

use gpuskin_rt::{
    Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Fog, FogDensity, Instance, Lighting,
    LightingFeatures, RendererDescriptor, Repeat, Shading, ShadowDescriptor, Sun, ToneMapping, wgpu,
};

use ground::Ground;

// Modules that build.rs baked: `models`, `clips`, `bones`, `masks`, `parts`.
gpuskin_rt::include_baked!();

type Error = Box<dyn std::error::Error>;

/// Clips that the instances play in turn.
const CLIPS: [Clip<models::{{type}}>; {{clips}}] = [
{{clip-list}}
];
{{hidden}}/// Instances per side of the square.
const SIDE: u32 = {{side}};
/// Distance between neighbours, in metres.
const SPACING: f32 = {{spacing}};
/// Height of the model, in metres.
const HEIGHT: f32 = {{height}};
/// Distance of the camera from the middle of the crowd on the ground, in metres.
const DISTANCE: f32 = 0.7 * SIDE as f32 * SPACING + 2.0 * HEIGHT;

fn main() -> Result<(), Error> {
    app::run()
}

/// Crowd and ground, and the renderer that draws them.
struct Game {
    renderer: CrowdRenderer,
    ground: Ground,
    // Instances are drawn as long as their crowd lives. `self.crowd.play(id, clip, ..)` changes one.
    #[expect(dead_code, reason = "the template spawns instances and leaves them alone")]
    crowd: Crowd<models::{{type}}>,
}

impl Game {
    fn new(device: &wgpu::Device, queue: &wgpu::Queue, color_format: wgpu::TextureFormat) -> Result<Self, Error> {
        // Features that are off cost nothing. `Shading::Diffuse`, the default, is the cheapest material.
        let features = LightingFeatures {
            shadows: Some(ShadowDescriptor {
                distance: 2.0 * DISTANCE,
                caster_distance: 2.0 * DISTANCE,
                ..Default::default()
            }),
            fog: true,
            tone_mapping: ToneMapping::Neutral,
            ..Default::default()
        };
        let descriptor = RendererDescriptor {
            color_format,
            depth_format: Some(app::DEPTH),
            sample_count: app::SAMPLES,
            shading: Shading::MetallicRoughness(features),
            ..Default::default()
        };
        let mut renderer = CrowdRenderer::new(device, queue, descriptor)?;
        let density = FogDensity::Exponential { density: 0.1 / DISTANCE };
        renderer.set_lighting(&Lighting {
            sun: Sun { to_sun: [0.6, 0.8, 0.3], color: [1.0, 0.93, 0.8], illuminance: 5.0 },
            fog: Fog { color: [0.55, 0.66, 0.78], density, ..Default::default() },
            ..Default::default()
        });
        let ground = Ground::new(device, &renderer, color_format)?;
        let capacity = SIDE * SIDE;
        let crowd = Crowd::<models::{{type}}>::new(&mut renderer, CrowdDescriptor { capacity, ..Default::default() })?;
        for i in 0..capacity {
            let [x, z] = [i % SIDE, i / SIDE].map(|n| (n as f32 - 0.5 * (SIDE - 1) as f32) * SPACING);
            let clip = CLIPS[i as usize % CLIPS.len()];
            // Irregular phases: neighbours do not move in step.
            let phase = (i as f32 * 0.618) % 1.0;
            let instance = Instance::at([x, 0.0, z]).play(clip).phase(phase).repeat(Repeat::Loop);
            crowd.spawn({{instance}});
        }
        Ok(Self { renderer, ground, crowd })
    }

    /// Draws one frame. `time`: seconds since the start.
    fn draw(&mut self, queue: &wgpu::Queue, frame: &mut app::Frame<'_>, time: f64) -> Result<(), Error> {
        // The camera circles the crowd once every 40 seconds.
        let angle = time as f32 * std::f32::consts::TAU / 40.0;
        let eye = [DISTANCE * angle.sin(), 0.3 * DISTANCE, DISTANCE * angle.cos()];
        let target = [0.0, 0.3 * HEIGHT, 0.0];
        let camera =
            Camera::perspective_look_at(eye, target, 0.7, frame.aspect, 0.01 * DISTANCE, 10.0 * DISTANCE);
        self.renderer.prepare(queue, frame.encoder, &camera, time)?;
        self.renderer.draw_shadows(frame.encoder);
        let mut pass = frame.begin_pass();
        self.ground.draw(&mut pass, &self.renderer);
        self.renderer.draw(&mut pass);
        Ok(())
    }
}
