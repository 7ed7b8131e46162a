//! The ground and the sky: a pipeline of the game's own, in the light, shadows and fog of the crowd.

use gpuskin_rt::{CrowdRenderer, View, wgpu};

use crate::{Error, app};

/// The renderer's functions precede this text: those that begin with `gpuskin_`.
const SHADER: &str = r"
    struct Varyings {
        @builtin(position) position: vec4<f32>,
        @location(0) clip: vec2<f32>,
    }

    // A triangle that covers the picture.
    @vertex
    fn vertex(@builtin(vertex_index) index: u32) -> Varyings {
        let clip = vec2<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
        return Varyings(vec4<f32>(clip, 1.0, 1.0), clip);
    }

    // Direction from the eye: both planes through it contain the pixel.
    fn direction(clip: vec2<f32>) -> vec3<f32> {
        let m = transpose(gpuskin_view.view_proj);
        let along = cross(m[0].xyz - clip.x * m[3].xyz, m[1].xyz - clip.y * m[3].xyz);
        return normalize(along * sign(dot(along, m[3].xyz)));
    }

    @fragment
    fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
        let eye = gpuskin_view.eye;
        let along = direction(varyings.clip);
        let up = vec3<f32>(0.0, 1.0, 0.0);
        // The sky fades into the fog at the horizon.
        let horizon = gpuskin_fog_radiance(eye + along);
        var radiance = mix(vec3<f32>(0.12, 0.28, 0.60), horizon, exp(-5.0 * max(along.y, 0.0)));
        if along.y < 0.0 {
            let ground = eye - along * eye.y / along.y;
            let light = gpuskin_irradiance(ground, up, up);
            radiance = gpuskin_in_fog(vec3<f32>(0.26, 0.22, 0.14) * light, ground);
        }
        return vec4<f32>(gpuskin_tone_mapped(radiance), 1.0);
    }
";

pub struct Ground {
    pipeline: wgpu::RenderPipeline,
}

impl Ground {
    pub fn new(device: &wgpu::Device, renderer: &CrowdRenderer, format: wgpu::TextureFormat) -> Result<Self, Error> {
        let lighting = renderer.lighting_source(0).zip(renderer.lighting_layout());
        let (source, layout) = lighting.ok_or("the shading of the renderer is diffuse")?;
        let label = Some("ground");
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl((source + SHADER).into()),
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label,
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            // Behind everything.
            depth_stencil: Some(wgpu::DepthStencilState {
                format: app::DEPTH,
                depth_write_enabled: Some(false),
                depth_compare: Some(wgpu::CompareFunction::Always),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState { count: app::SAMPLES, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        Ok(Self { pipeline })
    }

    /// Draws the picture without the crowd.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>, renderer: &CrowdRenderer) {
        pass.set_bind_group(0, renderer.lighting_group(View::MAIN), &[]);
        pass.set_pipeline(&self.pipeline);
        pass.draw(0..3, 0..1);
    }
}
