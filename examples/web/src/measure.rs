//! Measurements of the browser test, on a page and natively: poses that the device computes, a picture, and
//! the CPU's time per frame. `tests/browser.rs` compares both.

use std::any::Any;
use std::future::Future;

use baked::environments::SKY;
use baked::models::Surfaces;
use baked::variants::{SURFACES_BASE, SURFACES_PAINTED};
use crowd::baked::models;
use gpuskin_rt::internals::render::DrawPath;
use gpuskin_rt::tools::Capture;
use gpuskin_rt::{
    Ambient, BakedModel, Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Error, Field, FieldDescriptor, Fog,
    FogDensity, Instance, InstanceRecord, LightShadowDescriptor, Lighting, LightingFeatures, Model, PunctualLight,
    RendererDescriptor, Repeat, Shading, ShadowDescriptor, Time, ToneMapping, Wind, wgpu,
};

/// Constants of the model that `build.rs` baked.
#[allow(missing_docs, reason = "generated")]
mod baked {
    gpuskin_rt::include_baked!();
}

/// Size of the picture in pixels.
pub const SIZE: [u32; 2] = [320, 240];
/// Time of the picture, seconds.
const PICTURE_TIME: f64 = 1.7;
/// Number of point lights of the picture in the metallic-roughness model: as many as WebGL2 can have.
const LIGHTS: u32 = 341;
/// Number of instances whose CPU time is measured.
const INSTANCES: u32 = 10_000;
/// Number of blocks of frames that are measured, and frames per block: clocks of browsers are coarse.
const BLOCKS: u32 = 10;
const FRAMES: u32 = 10;

/// Models whose poses are compared.
pub fn models() -> [&'static Model; 2] {
    [&models::SOLDIER, &models::HOUND]
}

/// Pictures that are compared.
#[derive(Debug, Clone, Copy)]
pub enum Picture {
    /// Models of the demo in the plain material.
    Diffuse,
    /// Models of the demo in the metallic-roughness material, with all its features but an environment.
    Lit,
    /// Spheres with all kinds of surfaces and deformations, as a crowd and as a field, in an environment. Without the
    /// other features: with them, Chromium's software renderer takes more than twice as long.
    Surfaces,
}

impl Picture {
    /// All pictures, with their names.
    pub const ALL: [(&str, Self); 3] = [("diffuse", Self::Diffuse), ("lit", Self::Lit), ("surfaces", Self::Surfaces)];
}

fn lighting_features() -> LightingFeatures {
    LightingFeatures {
        shadows: Some(ShadowDescriptor { cascades: 2, size: 512, distance: 20.0, caster_distance: 20.0 }),
        light_shadows: Some(LightShadowDescriptor { tiles: 6, size: 128 }),
        lights: LIGHTS,
        fog: true,
        tone_mapping: ToneMapping::Neutral,
        ..Default::default()
    }
}

/// Lights around the models; the first one casts shadows.
fn lights() -> Vec<PunctualLight> {
    let lamp = |i: u32| {
        let [x, y, z] = [0.618_034, 0.754_878, 0.569_84].map(|step| (i as f32 * step).fract());
        let (intensity, range, shadow) = if i == 0 { (6.0, Some(8.0), true) } else { (0.6, Some(0.8), false) };
        let position = [6.0 * x - 3.0, 2.2 * y + 0.1, 5.0 * z - 3.5];
        PunctualLight { position, color: [x, 1.0 - y, z], intensity, range, shadow, cone: None }
    };
    (0..LIGHTS).map(lamp).collect()
}

/// Instances and times whose poses are compared: all clips at several phases, some in crossfades.
pub fn frames(model: &Model) -> Vec<(InstanceRecord, Time)> {
    let clips = model.meta.clips().len() as u16;
    let of_clip = |clip: u16| {
        (0..4).map(move |i| {
            let at = [0.1 * f32::from(clip), 0.0, -0.2 * i as f32];
            let instance = Instance::<gpuskin_rt::Dynamic>::at(at).facing(0.7 * i as f32).play(Clip::new(clip));
            let instance = instance.repeat(Repeat::Loop).phase(0.13 + 0.21 * i as f32);
            (instance.record(&model.meta, Time::ZERO), Time::from_secs(0.37 * f64::from(i)))
        })
    };
    (0..clips).flat_map(of_clip).collect()
}

/// Returns the positions that the device computes for [`frames`], world space, metres.
///
/// # Errors
/// If the model cannot be loaded, or the device cannot be read back.
pub async fn positions(device: &wgpu::Device, queue: &wgpu::Queue, model: &Model) -> Result<Vec<[f32; 3]>, Error> {
    let captured = Capture::new(device, queue, model)?.frames_async(&frames(model)).await?;
    Ok(captured.iter().flatten().map(|vertex| vertex.position).collect())
}

/// Returns a picture, RGBA, sRGB, rows from the top.
///
/// # Errors
/// If a model cannot be loaded, or the device cannot be read back.
pub async fn picture(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    picture: Picture,
    path: Option<DrawPath>,
) -> Result<Vec<u8>, Error> {
    let (format, depth) = (wgpu::TextureFormat::Rgba8UnormSrgb, wgpu::TextureFormat::Depth24Plus);
    let shading = match picture {
        Picture::Diffuse => Shading::Diffuse,
        Picture::Lit => Shading::MetallicRoughness(lighting_features()),
        Picture::Surfaces => Shading::MetallicRoughness(LightingFeatures { environment: true, ..Default::default() }),
    };
    let descriptor =
        RendererDescriptor { color_format: format, depth_format: Some(depth), shading, ..Default::default() };
    let mut renderer = CrowdRenderer::new(device, queue, descriptor)?;
    let mut lighting = Lighting::default();
    if let Picture::Lit = picture {
        let density = FogDensity::Exponential { density: 0.03 };
        lighting.fog = Fog { color: [0.3, 0.35, 0.4], sun_glow: [0.0; 3], density };
        renderer.set_lights(&lights())?;
    }
    // Crowds and fields are drawn as long as their handles exist.
    let (handles, camera): (Box<dyn Any>, _) = if let Picture::Surfaces = picture {
        renderer.set_environment(Some(&SKY))?;
        lighting.ambient = Ambient::environment(&SKY);
        let spheres = (crowd_of_spheres(&mut renderer, path)?, field_of_spheres(&mut renderer)?);
        let camera = Camera::perspective_look_at([0.0, 0.0, 5.5], [0.0; 3], 0.75, 4.0 / 3.0, 0.1, 60.0);
        (Box::new(spheres), camera)
    } else {
        let crowds = (crowd(&mut renderer, 12, -0.6, path)?, crowd_of_hounds(&mut renderer, path)?);
        let camera = Camera::perspective_look_at([0.0, 2.2, 5.0], [0.0, 0.8, 0.0], 0.8, 4.0 / 3.0, 0.1, 60.0);
        (Box::new(crowds), camera)
    };
    renderer.set_lighting(&lighting);
    let color = target(device, format, wgpu::TextureUsages::COPY_SRC);
    let depth = target(device, depth, wgpu::TextureUsages::empty());
    let mut encoder = device.create_command_encoder(&Default::default());
    renderer.prepare(queue, &mut encoder, &camera.with_height(SIZE[1]), PICTURE_TIME)?;
    renderer.draw_shadows(&mut encoder);
    draw(&renderer, &mut encoder, [&color, &depth]);
    let row = SIZE[0] * 4;
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("picture"),
        size: u64::from(row * SIZE[1]),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    encoder.copy_texture_to_buffer(
        color.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None },
        },
        color.size(),
    );
    queue.submit([encoder.finish()]);
    drop(handles);
    gpuskin_rt::internals::render::map_for_reading(&buffer).await?;
    let bytes = buffer.get_mapped_range(..).map_err(|error| Error::Readback { reason: error.to_string() })?;
    Ok(bytes.to_vec())
}

/// Rows of soldiers that play all clips.
fn crowd(
    renderer: &mut CrowdRenderer,
    count: u32,
    first_z: f32,
    path: Option<DrawPath>,
) -> Result<Crowd<models::Soldier>, Error> {
    let crowd = Crowd::new(renderer, CrowdDescriptor { capacity: count, path, ..Default::default() })?;
    let clips = models::Soldier::MODEL.meta.clips().len() as u32;
    for i in 0..count {
        let (column, row) = ((i % 4) as f32, (i / 4) as f32);
        let instance = Instance::at([1.1 * (column - 1.5), 0.0, first_z - 1.3 * row]).facing(0.4 * column - 0.5);
        let instance = instance.play(Clip::new((i % clips) as u16)).repeat(Repeat::Loop);
        crowd.spawn(instance.starting(Time::ZERO).phase(0.17 * i as f32));
    }
    Ok(crowd)
}

fn crowd_of_hounds(renderer: &mut CrowdRenderer, path: Option<DrawPath>) -> Result<Crowd<models::Hound>, Error> {
    let crowd = Crowd::new(renderer, CrowdDescriptor { capacity: 2, path, ..Default::default() })?;
    for (i, x) in [-1.3, 1.2].into_iter().enumerate() {
        let instance = Instance::at([x, 0.0, 0.9]).facing(0.9 - x).play(Clip::new(i as u16)).repeat(Repeat::Loop);
        crowd.spawn(instance.starting(Time::ZERO).phase(0.3 * i as f32));
    }
    Ok(crowd)
}

/// Two rows of spheres in their own look, and two in another variant with a tint.
fn crowd_of_spheres(renderer: &mut CrowdRenderer, path: Option<DrawPath>) -> Result<Crowd<Surfaces>, Error> {
    let crowd = Crowd::new(renderer, CrowdDescriptor { capacity: 2, path, ..Default::default() })?;
    let looks = [(SURFACES_BASE, [1.0; 4]), (SURFACES_PAINTED, [1.0, 0.4, 0.8, 1.0])];
    for (y, (variant, tint)) in [1.0, -1.0].into_iter().zip(looks) {
        let instance = Instance::at([0.0, y, 0.0]).variant(variant).tinted(tint).play(Clip::new(0));
        crowd.spawn(instance.repeat(Repeat::Loop).starting(Time::ZERO));
    }
    Ok(crowd)
}

/// Spheres behind those of [`crowd_of_spheres`].
fn field_of_spheres(renderer: &mut CrowdRenderer) -> Result<Field<Surfaces>, Error> {
    let wind = Wind { size: 5.0, velocity: [1.0, 0.5], ..Default::default() };
    Field::new(
        renderer,
        FieldDescriptor {
            origin: [-7.0, -1.0, -6.0],
            size: [7, 2],
            spacing: [2.0, 2.0],
            scale: [0.8, 1.6],
            tints: [[1.0, 1.0, 0.3, 1.0], [0.3, 1.0, 1.0, 1.0]],
            random_variants: true,
            wind: Some(wind),
            ..Default::default()
        },
    )
}

/// Returns the CPU's time per frame, milliseconds: with 10,000 instances that play on, and without any. The
/// fastest block of frames, because other programs of the machine only add time. `now` returns milliseconds, `rest` waits for the device between frames.
///
/// # Errors
/// If the model cannot be loaded.
pub async fn frame_times<R: Future<Output = ()>>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    now: impl Fn() -> f64,
    rest: impl Fn() -> R,
) -> Result<[f64; 2], Error> {
    let (format, depth) = (wgpu::TextureFormat::Rgba8UnormSrgb, wgpu::TextureFormat::Depth24Plus);
    let color = target(device, format, wgpu::TextureUsages::empty());
    let depth_target = target(device, depth, wgpu::TextureUsages::empty());
    // Few of the instances are in view, so that a device without a GPU keeps up.
    let camera = Camera::perspective_look_at([0.0, 1.6, 5.0], [0.0, 1.0, 0.0], 0.5, 4.0 / 3.0, 0.1, 12.0);
    let mut times = [0.0; 2];
    for (time, count) in times.iter_mut().zip([INSTANCES, 0]) {
        let descriptor = RendererDescriptor { color_format: format, depth_format: Some(depth), ..Default::default() };
        let mut renderer = CrowdRenderer::new(device, queue, descriptor)?;
        let crowd = (count > 0).then(|| crowd(&mut renderer, count, 0.0, None)).transpose()?;
        *time = f64::INFINITY;
        // The first block creates pipelines.
        for block in 0..=BLOCKS {
            let mut spent = 0.0;
            for frame in 0..FRAMES {
                let start = now();
                let mut encoder = device.create_command_encoder(&Default::default());
                renderer.prepare(queue, &mut encoder, &camera, f64::from(block * FRAMES + frame) / 60.0)?;
                draw(&renderer, &mut encoder, [&color, &depth_target]);
                queue.submit([encoder.finish()]);
                spent += now() - start;
                rest().await;
            }
            if block > 0 {
                *time = time.min(spent / f64::from(FRAMES));
            }
        }
        drop(crowd);
    }
    Ok(times)
}

fn draw(renderer: &CrowdRenderer, encoder: &mut wgpu::CommandEncoder, targets: [&wgpu::Texture; 2]) {
    let [color, depth] = targets.map(|texture| texture.create_view(&Default::default()));
    let clear = wgpu::Color { r: 0.05, g: 0.07, b: 0.1, a: 1.0 };
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("measure"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &color,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(clear), store: wgpu::StoreOp::Store },
        })],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &depth,
            depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
            stencil_ops: None,
        }),
        ..Default::default()
    });
    renderer.draw(&mut pass);
}

fn target(device: &wgpu::Device, format: wgpu::TextureFormat, usage: wgpu::TextureUsages) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("measure"),
        size: wgpu::Extent3d { width: SIZE[0], height: SIZE[1], depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
        view_formats: &[],
    })
}
