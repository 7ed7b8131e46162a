//! A crowd of {{count}} instances of one model, each with its own clip and phase.

mod app;

use gpuskin_rt::{Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Instance, Repeat, RendererDescriptor, wgpu};

// Modules that build.rs baked: `models`, `clips`, `bones`, `masks`, `parts`.
gpuskin_rt::include_baked!();

type Error = Box<dyn std::error::Error>;

/// Clips that the instances play in turn.
const CLIPS: [Clip<models::{{type}}>; {{clips}}] = [
{{clip-list}}
];
/// Instances per side of the square.
const SIDE: u32 = {{side}};
/// Distance between neighbours, in metres.
const SPACING: f32 = {{spacing}};
/// Height of the model, in metres.
const HEIGHT: f32 = {{height}};

fn main() -> Result<(), Error> {
    app::run()
}

/// Renderer and crowd of the game.
struct Game {
    renderer: CrowdRenderer,
    // Instances are drawn as long as their crowd lives. `self.crowd.play(id, clip, ..)` changes one.
    #[expect(dead_code, reason = "the template spawns instances and leaves them alone")]
    crowd: Crowd<models::{{type}}>,
}

impl Game {
    fn new(device: &wgpu::Device, queue: &wgpu::Queue, color_format: wgpu::TextureFormat) -> Result<Self, Error> {
        let mut renderer = CrowdRenderer::new(
            device,
            queue,
            RendererDescriptor {
                color_format,
                depth_format: Some(app::DEPTH),
                sample_count: app::SAMPLES,
                ..Default::default()
            },
        )?;
        let capacity = SIDE * SIDE;
        let crowd = Crowd::<models::{{type}}>::new(&mut renderer, CrowdDescriptor { capacity, ..Default::default() })?;
        for i in 0..capacity {
            let [x, z] = [i % SIDE, i / SIDE].map(|n| (n as f32 - 0.5 * (SIDE - 1) as f32) * SPACING);
            let clip = CLIPS[i as usize % CLIPS.len()];
            // Irregular phases: neighbours do not move in step.
            let phase = (i as f32 * 0.618) % 1.0;
            crowd.spawn(Instance::at([x, 0.0, z]).play(clip).phase(phase).repeat(Repeat::Loop));
        }
        Ok(Self { renderer, crowd })
    }

    /// Draws one frame. `time`: seconds since the start.
    fn draw(&mut self, queue: &wgpu::Queue, frame: &mut app::Frame<'_>, time: f64) -> Result<(), Error> {
        // The camera circles the crowd once every 40 seconds.
        let angle = time as f32 * std::f32::consts::TAU / 40.0;
        let distance = 0.7 * SIDE as f32 * SPACING + 2.0 * HEIGHT;
        let eye = [distance * angle.sin(), 0.3 * distance, distance * angle.cos()];
        let target = [0.0, 0.3 * HEIGHT, 0.0];
        let camera =
            Camera::perspective_look_at(eye, target, 0.7, frame.aspect, 0.01 * distance, 10.0 * distance);
        self.renderer.prepare(queue, frame.encoder, &camera, time)?;
        self.renderer.draw(&mut frame.begin_pass());
        Ok(())
    }
}
