//! Shaders of the game: functions for surfaces and light, and a pipeline that draws outlines.

use crowd::baked::models::Soldier;
use crowd::baked::{bones, clips, parts};
use gpuskin_rt::pipeline::{self, CustomDraw, Variant};
use gpuskin_rt::{
    Attachment, AttachmentId, BakedModel, Camera, Crowd, Error, Field, FieldDescriptor, Instance, LightingFeatures,
    Time, wgpu,
};

use super::baked::clips::{BANNER_HANG, BANNER_WAVE};
use super::baked::models::Banner;
use super::canvas::{COLOR, DEPTH};
use super::scene::{Scene, Stage, TIME};

/// Snow on surfaces that face up.
const SURFACE: &str = r"
    fn surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint {
        var snowy = point;
        let snow = smoothstep(0.3, 0.6, point.normal.y);
        snowy.base_color = mix(point.base_color, vec3<f32>(0.9), snow);
        return snowy;
    }
";

/// Light in two steps, as in a cartoon.
const LIGHT: &str = r"
    fn light(point: SurfacePoint, to_light: vec3<f32>, color: vec3<f32>) -> vec3<f32> {
        let facing = dot(point.normal, to_light);
        return color * point.base_color * 0.35 * (step(0.0, facing) + step(0.6, facing));
    }
";

/// Back faces, moved outwards, in the colour that each instance has.
const OUTLINE: &str = r"
    struct View {
        view_proj: mat4x4<f32>,
        time: vec4<u32>,
    }
    @group(0) @binding(0) var<uniform> view: View;

    struct Varyings {
        @builtin(position) position: vec4<f32>,
        @location(0) @interpolate(flat) color: u32,
    }

    @vertex
    fn vertex(input: GpuskinInput) -> Varyings {
        let skinned = gpuskin_skin_vertex(input, view.time.xy);
        let position = view.view_proj * vec4<f32>(skinned.position + 0.04 * skinned.normal, 1.0);
        return Varyings(position, gpuskin_appearance_of(input).custom.x);
    }

    @fragment
    fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
        return gpuskin_unorm4x8(varyings.color);
    }
";

pub(super) fn features() -> LightingFeatures {
    LightingFeatures { surface: Some(SURFACE.into()), light: Some(LIGHT.into()), ..Default::default() }
}

/// Soldiers with outlines, two of which carry a banner, and behind them a field of banners with outlines.
/// The custom data of an instance of a field, and so the colour of its outline, is a random number.
pub(super) struct Outlined {
    soldiers: Crowd<Soldier>,
    banner: AttachmentId,
    field: Field<Banner>,
    view: wgpu::BindGroup,
    /// Pipelines of the soldiers, of their banners, and of the field.
    pipelines: [wgpu::RenderPipeline; 3],
}

impl Outlined {
    pub(super) fn new(stage: &mut Stage<'_>) -> Result<Self, Error> {
        let soldiers = stage.crowd(3)?;
        let soldier = |x: f32| Instance::at([x, 0.0, 0.0]).facing(0.4 * x).starting(Time::ZERO);
        let ids = soldiers.spawn_many([
            soldier(-1.3)
                .play(clips::SOLDIER_WALK)
                .without(parts::SOLDIER_HELMET)
                .without(parts::SOLDIER_SWORD)
                .custom([0xff20_20ff, 0]),
            soldier(0.0).play(clips::SOLDIER_RUN).custom([0xff20_ff20, 0]),
            soldier(1.3).play(clips::SOLDIER_ATTACK).without(parts::SOLDIER_SWORD).custom([0xffff_a020, 0]),
        ]);
        let hand = Attachment::to(bones::SOLDIER_HAND_R).scaled(0.9);
        let banner = soldiers.attach(stage.renderer, Banner::MODEL, hand)?;
        soldiers.set_attachment_visible(ids[1], banner, false)?;
        let field = FieldDescriptor {
            origin: [-2.6, 0.0, -3.2],
            size: [4, 2],
            spacing: [1.3, 1.3],
            random_variants: true,
            clips: vec![BANNER_WAVE, BANNER_HANG],
            ..Default::default()
        };
        let field = Field::new(stage.renderer, field)?;

        let device = stage.device;
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("outlines"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::VERTEX,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let [seconds, fraction] = Time::from_secs(TIME).words();
        let camera = bytemuck::cast::<_, [u32; 16]>(camera().view_proj);
        let words = [&camera[..], &[seconds, fraction, 0, 0]].concat();
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("outlines"),
            size: size_of_val(&words[..]) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        stage.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
        let view = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("outlines"),
            layout: &layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        });
        let of_crowd = |variant: Variant| {
            let (source, buffers) = (pipeline::source(variant, 1), pipeline::vertex_buffers(variant));
            pipeline(device, source, [&layout, stage.renderer.model_layout(variant)], &buffers.layouts())
        };
        let variant = field.variant();
        let (source, buffers) = (pipeline::field_source(variant, 1), pipeline::field_vertex_buffers(variant));
        let of_model = stage.renderer.field_layout(variant).expect("fields of this variant exist");
        let of_field = pipeline(device, source, [&layout, of_model], &buffers.layouts());
        let pipelines = [of_crowd(soldiers.variant()), of_crowd(soldiers.attachment_variant(banner)?), of_field];
        Ok(Self { soldiers, banner, field, view, pipelines })
    }
}

fn camera() -> Camera {
    Camera::perspective_look_at([0.0, 1.4, 4.4], [0.0, 0.95, 0.0], 0.6, 4.0 / 3.0, 0.1, 60.0)
}

impl Scene for Outlined {
    fn camera(&self) -> Camera {
        camera()
    }

    fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        let [of_soldiers, of_banner, of_field] = &self.pipelines;
        pass.set_bind_group(0, &self.view, &[]);
        pass.set_pipeline(of_soldiers);
        self.soldiers.draw_with(pass, CustomDraw::new(1), |_, _| {});
        pass.set_pipeline(of_banner);
        self.soldiers.draw_with(pass, CustomDraw::new(1).attachment(self.banner), |_, _| {});
        pass.set_pipeline(of_field);
        self.field.draw_with(pass, CustomDraw::new(1), |_, _| {});
    }
}

/// Returns a pipeline. `source`: WGSL of the runtime.
fn pipeline(
    device: &wgpu::Device,
    source: String,
    layouts: [&wgpu::BindGroupLayout; 2],
    buffers: &[Option<wgpu::VertexBufferLayout<'_>>],
) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("outlines"),
        source: wgpu::ShaderSource::Wgsl((source + OUTLINE).into()),
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("outlines"),
        bind_group_layouts: &layouts.map(Some),
        ..Default::default()
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("outlines"),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            buffers,
        },
        primitive: wgpu::PrimitiveState { cull_mode: Some(wgpu::Face::Front), ..Default::default() },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            targets: &[Some(COLOR.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
