//! GPU frame times of the built-in material: diffuse, metallic-roughness, and the share of each feature, over the
//! same instances. The last rows draw cached poses, whose vertices are skinned already, and the model without bones.

use std::time::Instant;

use gpuskin_rt::internals::{
    ByteRange, Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Data, Dynamic, Fog, FogDensity, Instance,
    LightShadowDescriptor, Lighting, LightingFeatures, Model, ModelVariant, Payload, PoseSharing, PunctualLight,
    RendererDescriptor, Repeat, Shading, ShadowDescriptor, Str, ToneMapping, files,
};

use super::gpu::{Frame, SIZE, Timer};
use super::subjects;
use crate::Options;
use crate::context::Context;
use crate::report::{Asked, compared, heading, median};

const FRAMES: usize = 31;
/// Frames on a software renderer.
const SOFTWARE_FRAMES: usize = 5;
/// Distance between instances, metres.
const SPACING: f32 = 1.4;

/// Number of variants of a row.
const VARIANTS: u8 = 20;

/// Deviation of a row from the plain model.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    None,
    /// Poses are cached.
    Cached,
    /// The model has [`VARIANTS`].
    Variants,
    /// The alpha of base colours is a mask of the tint.
    Masked,
    /// Lights have no range.
    Endless,
    /// The model has neither bones nor clips.
    Still,
}

/// Rows: name, features of the metallic-roughness model, and what else differs.
fn rows() -> [(&'static str, Shading, Change); 15] {
    let shadows = Some(ShadowDescriptor { cascades: 4, ..Default::default() });
    let plain = LightingFeatures::default();
    let air = LightingFeatures { fog: true, tone_mapping: ToneMapping::Neutral, ..plain.clone() };
    let shadowed = LightingFeatures { shadows: shadows.clone(), ..plain.clone() };
    let all = LightingFeatures { shadows, ..air.clone() };
    let lights = |lights| LightingFeatures { lights, ..LightingFeatures::default() };
    let one_shadow = LightingFeatures { light_shadows: Some(LightShadowDescriptor::default()), ..lights(16) };
    [
        ("diffuse", Shading::Diffuse, Change::None),
        ("  with 20 variants", Shading::Diffuse, Change::Variants),
        ("metallic-roughness", Shading::MetallicRoughness(plain.clone()), Change::None),
        ("  with 20 variants", Shading::MetallicRoughness(plain.clone()), Change::Variants),
        ("  with tint masks", Shading::MetallicRoughness(plain), Change::Masked),
        ("  with fog and tone mapping", Shading::MetallicRoughness(air), Change::None),
        ("  with 16 point lights", Shading::MetallicRoughness(lights(16)), Change::None),
        ("  with 16 point lights, one with shadows", Shading::MetallicRoughness(one_shadow), Change::None),
        ("  with 16 point lights without range", Shading::MetallicRoughness(lights(16)), Change::Endless),
        ("  with 256 point lights", Shading::MetallicRoughness(lights(256)), Change::None),
        ("  with 1,024 point lights", Shading::MetallicRoughness(lights(1024)), Change::None),
        ("  with four shadow cascades, drawn and received", Shading::MetallicRoughness(shadowed), Change::None),
        ("  with all of them", Shading::MetallicRoughness(all.clone()), Change::None),
        ("  with all of them, cached poses of a time grid", Shading::MetallicRoughness(all.clone()), Change::Cached),
        ("  with all of them, static", Shading::MetallicRoughness(all), Change::Still),
    ]
}

pub(crate) fn measure(context: &Context, options: &Options) -> Result<(), String> {
    let usual = [if context.is_software() { 200 } else { 10_000 }];
    let counts = if options.counts.is_empty() { &usual[..] } else { &options.counts };
    let model = context.models.iter().find(|model| model.meta.encoding.needs_compute());
    let model = model.ok_or("no model in local-packed")?;
    let still = subjects::still(options, model)?;
    counts.iter().try_for_each(|count| table(context, (model, &still), *count))
}

fn table(context: &Context, (model, still): (&Model, &Model), count: u32) -> Result<(), String> {
    heading(&format!("material: {count} instances of {}, {} x {}", model.meta.name, SIZE[0], SIZE[1]));
    let rows = rows();
    let varied = with_variants(model)?;
    let mut masked = model.clone();
    masked.meta.materials.to_mut().iter_mut().for_each(|material| material.tint_mask = true);
    let renderers = rows.iter().map(|(_, shading, change)| {
        let model = match change {
            Change::None | Change::Cached | Change::Endless => model,
            Change::Variants => &varied,
            Change::Masked => &masked,
            Change::Still => still,
        };
        renderer(context, model, count, shading, *change)
    });
    let mut renderers = renderers.collect::<Result<Vec<_>, _>>()?;
    let (target, timer) = (Frame::new(&context.device), Timer::new(context));
    let mut times = vec![Vec::new(); rows.len()];
    let across = (count as f32).sqrt() * SPACING;
    let aspect = SIZE[0] as f32 / SIZE[1] as f32;
    let eye = [0.0, across * 0.5, across * 0.75];
    let camera = Camera::perspective_look_at(eye, [0.0; 3], 0.9, aspect, 0.1, across * 4.0).with_height(SIZE[1]);
    for frame in 0..if context.is_software() { SOFTWARE_FRAMES } else { FRAMES } {
        // Interleaved, so that clock rates and other load on the machine affect all alike.
        for ((renderer, _), times) in renderers.iter_mut().zip(&mut times) {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            timer.as_ref().inspect(|timer| timer.mark(&mut encoder, 0));
            let time = 10.0 + frame as f64 / 60.0;
            renderer.prepare(&context.queue, &mut encoder, &camera, time).map_err(|e| e.to_string())?;
            renderer.draw_shadows(&mut encoder);
            target.pass(&mut encoder, |pass| renderer.draw(pass));
            let (seconds, _) = Timer::submit_timed(timer.as_ref(), context, encoder)?;
            // The first frames upload all instances, and fill the cache.
            if frame > 1 {
                times.push(seconds);
            }
        }
    }
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    for ((name, ..), seconds) in rows.iter().zip(&medians) {
        compared(name, *seconds, ("diffuse", medians[0]), None);
    }
    for ((_, shading, change), (renderer, _)) in rows.iter().zip(&mut renderers) {
        let lights = lamps(shading, count, *change);
        if lights.len() > 16 {
            print_cost_of_lights(context, renderer, &camera, &lights)?;
        }
    }
    let [.., all, cached, still] = medians[..] else { return Ok(()) };
    compared("own poses over cached poses", all, ("cached", cached), None);
    compared("own poses over static models", all, ("static", still), Some(Asked::AtMost(1.02)));
    Ok(())
}

/// Prints the CPU time of `set_lights` and what `prepare` adds for it, of a row with point lights.
fn print_cost_of_lights(
    context: &Context,
    renderer: &mut CrowdRenderer,
    camera: &Camera,
    lights: &[PunctualLight],
) -> Result<(), String> {
    let mut times = [Vec::new(), Vec::new()];
    for frame in 0..2 * FRAMES {
        let mut encoder = context.device.create_command_encoder(&Default::default());
        let start = Instant::now();
        if frame % 2 == 1 {
            renderer.set_lights(lights).map_err(|e| e.to_string())?;
        }
        let time = 20.0 + frame as f64 / 60.0;
        renderer.prepare(&context.queue, &mut encoder, camera, time).map_err(|e| e.to_string())?;
        times[frame % 2].push(start.elapsed().as_secs_f64());
        context.queue.submit([encoder.finish()]);
        context.wait()?;
    }
    let [kept, replaced] = times.map(median);
    compared(&format!("CPU, {} lights replaced", lights.len()), replaced, ("lights kept", kept), None);
    Ok(())
}

/// Lights of a row, spread evenly over the crowd, at the height of two metres.
fn lamps(shading: &Shading, count: u32, change: Change) -> Vec<PunctualLight> {
    let lights = if let Shading::MetallicRoughness(features) = shading { features.lights } else { 0 };
    let across = f64::from(count).sqrt() as f32 * SPACING;
    let lamp = |i: u32| {
        let [x, z] = [0.618_034, 0.754_878].map(|step| ((i as f32 * step).fract() - 0.5) * across);
        // The one next to the middle; the renderer has room for its shadows, or for none.
        let shadow = i == 1;
        let range = (change != Change::Endless).then_some(6.0);
        PunctualLight { position: [x, 2.0, z], intensity: 5.0, range, shadow, ..Default::default() }
    };
    (0..lights).map(lamp).collect()
}

/// Returns a model in which each texture of a base colour has a layer per variant, with equal images.
fn with_variants(model: &Model) -> Result<Model, String> {
    let mut varied = model.clone();
    let layers = usize::from(VARIANTS);
    varied.meta.variants = (0..VARIANTS).map(|i| Str::from(format!("variant_{i}"))).collect();
    let mut changed = vec![false; varied.meta.textures.len()];
    for material in varied.meta.materials.to_mut() {
        let Some(texture) = material.base_color_texture else { continue };
        material.variant_layers = (0..VARIANTS).collect();
        changed[texture.texture as usize] = true;
    }
    let mut payloads = varied.textures.to_mut().iter_mut();
    for (texture, changed) in varied.meta.textures.to_mut().iter_mut().zip(changed) {
        for payload in payloads.by_ref().take(texture.formats.len()).filter(|p| changed && !p.is_left_out()) {
            let file = files::load(payload, &model.meta.content_hash).map_err(|e| e.to_string())?;
            let mut bytes = model.meta.content_hash.to_vec();
            let mut levels = Vec::new();
            for range in payload.levels.iter() {
                let (start, len) = (range.offset as usize, range.len as usize);
                let image = file.get(start..start + len).ok_or("a texture is cut off")?;
                levels.push(ByteRange { offset: bytes.len() as u64, len: (len * layers) as u64 });
                bytes.extend(image.repeat(layers));
            }
            let size = bytes.len() as u64;
            *payload = Payload { data: Data::Bytes(bytes.into()), size, hash_at: 0, levels: levels.into() };
        }
        texture.layers = if changed { VARIANTS.into() } else { 1 };
    }
    Ok(varied)
}

fn renderer(
    context: &Context,
    model: &Model,
    count: u32,
    shading: &Shading,
    change: Change,
) -> Result<(CrowdRenderer, Crowd<Dynamic>), String> {
    let failed = |e: gpuskin_rt::internals::Error| e.to_string();
    let descriptor = RendererDescriptor { shading: shading.clone(), ..Default::default() };
    let mut renderer = CrowdRenderer::new(&context.device, &context.queue, descriptor).map_err(failed)?;
    let density = FogDensity::Exponential { density: 0.01 };
    let fog = Fog { color: [0.5; 3], sun_glow: [0.0; 3], density };
    renderer.set_lighting(&Lighting { fog, ..Default::default() });
    renderer.set_lights(&lamps(shading, count, change)).map_err(failed)?;
    let descriptor = CrowdDescriptor {
        capacity: count,
        time_grid: (change == Change::Cached).then_some(1.0 / 30.0),
        sharing: PoseSharing::Always,
        ..Default::default()
    };
    let crowd = Crowd::with_model(&mut renderer, model, descriptor).map_err(failed)?;
    let (side, clips) = (f64::from(count).sqrt().ceil() as u32, model.meta.clips.len() as u32);
    for i in 0..count {
        let [x, z] = [i % side, i / side].map(|c| (c as f32 - side as f32 / 2.0) * SPACING);
        let instance = Instance::at([x, 0.0, z]).facing(i as f32 * 2.4).play(Clip::new((i % clips) as u16));
        let variant = if change == Change::Variants {
            ModelVariant::new((i % u32::from(VARIANTS)) as u8)
        } else {
            ModelVariant::BASE
        };
        crowd.spawn(instance.phase(i as f32 * 0.618).repeat(Repeat::Loop).variant(variant));
    }
    Ok((renderer, crowd))
}
