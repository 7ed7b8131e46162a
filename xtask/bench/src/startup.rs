//! Start-up: uploading a crowd's model, compared with writing the same bytes without any of our
//! code.

use gpuskin_rt::internals::files::load;
use gpuskin_rt::internals::{
    BakedModel, ColorFormat, Crowd, CrowdDescriptor, CrowdRenderer, Encoding, Model, Payload, RendererDescriptor,
    TexelFormat, wgpu,
};
use stats_alloc::Region;

use crate::ALLOCATOR;
use crate::context::Context;
use crate::draw::first_frame;
use crate::models;
use crate::report::{heading, line, median, seconds};

const ROUNDS: usize = 31;

pub(crate) fn measure(context: &Context) -> Result<(), String> {
    heading("start-up: first crowd of a model, compared with plain creation and writes of the same bytes");
    for context in [context, &context.without_compute()?] {
        of_model::<models::Soldier>(context)?;
        of_model::<models::Hound>(context)?;
    }
    first_frame::measure(context)
}

fn of_model<M: BakedModel>(context: &Context) -> Result<(), String> {
    let (mut ours, mut plain, mut allocations) = (Vec::new(), Vec::new(), Vec::new());
    // One renderer, whose pipelines are made by the first crowd of the first round. Dropping a
    // crowd drops its model.
    let mut renderer = CrowdRenderer::new(&context.device, &context.queue, RendererDescriptor::default())
        .map_err(|e| e.to_string())?;
    let first = Crowd::<M>::new(&mut renderer, CrowdDescriptor::default()).map_err(|e| e.to_string())?;
    let model =
        played(M::MODEL, first.variant().encoding).ok_or("the device plays an encoding that the model lacks")?;
    drop(first);
    for _ in 0..ROUNDS {
        // Each side runs once unmeasured just before, so that its bytes are as warm in the caches.
        // A third set of resources is held meanwhile: otherwise the first side would ask the driver
        // for memory, and the second would reuse it.
        let _held = write_plainly(context, M::MODEL, model);
        let warm = Crowd::<M>::new(&mut renderer, CrowdDescriptor::default()).map_err(|e| e.to_string())?;
        drop(warm);
        flush(context)?;
        let region = Region::new(ALLOCATOR);
        let (time, result) = seconds(|| {
            let crowd = Crowd::<M>::new(&mut renderer, CrowdDescriptor::default());
            flush(context).map(|()| crowd)
        });
        allocations.push(region.change().allocations as f64);
        drop(result?.map_err(|e| e.to_string())?);
        ours.push(time);

        drop(write_plainly(context, M::MODEL, model));
        flush(context)?;
        let (time, result) = seconds(|| {
            let resources = write_plainly(context, M::MODEL, model);
            flush(context).map(|()| resources)
        });
        let _resources = result?;
        plain.push(time);
    }
    let (ours, plain) = (median(ours), median(plain));
    line(
        &format!("{}, {}: gpuskin, plain", model.meta.name, model.meta.encoding.name()),
        format!("{:.3} ms, {:.3} ms: {:.2} x", ours * 1e3, plain * 1e3, ours / plain),
    );
    let bytes = model.animation.levels[0].len + model.meta.mesh.vertices.len + model.meta.mesh.indices.len;
    line(
        "  allocations (wgpu's included)",
        format!(
            "{:.0} for {} KiB of animation and mesh, {} clips, {} bones, {} vertices",
            median(allocations),
            bytes / 1024,
            model.meta.clips.len(),
            model.meta.bones.len(),
            model.meta.mesh.vertex_count
        ),
    );
    Ok(())
}

/// Variant of the model in an encoding.
fn played(model: &'static Model, encoding: Encoding) -> Option<&'static Model> {
    std::iter::once(model).chain(model.others.iter()).find(|model| model.meta.encoding == encoding)
}

fn flush(context: &Context) -> Result<(), String> {
    context.queue.submit([]);
    context.wait()
}

/// Creates and writes the textures and buffers of a model, and nothing else. Colour textures are
/// those of the main variant, whichever variant the device plays.
fn write_plainly(context: &Context, main: &Model, model: &Model) -> (Vec<wgpu::Texture>, Vec<wgpu::Buffer>) {
    let meta = &model.meta;
    let mut textures = Vec::new();
    let mut buffers = Vec::new();
    let format = match meta.encoding.format() {
        TexelFormat::R32Uint => None,
        TexelFormat::Rgba8Uint => Some(wgpu::TextureFormat::Rgba8Uint),
        TexelFormat::Rgba16Uint => Some(wgpu::TextureFormat::Rgba16Uint),
        TexelFormat::Rgba32Uint => Some(wgpu::TextureFormat::Rgba32Uint),
        TexelFormat::Rgba16Float => Some(wgpu::TextureFormat::Rgba16Float),
        TexelFormat::Rgba32Float => Some(wgpu::TextureFormat::Rgba32Float),
    };
    let (shape, texel) = (meta.texture, meta.encoding.format().bytes() as u32);
    let size = wgpu::Extent3d { width: shape.width, height: shape.height, depth_or_array_layers: shape.layers };
    match format {
        Some(format) => textures.push(texture(context, &model.animation, &meta.content_hash, format, texel, size)),
        // Words that a compute pass reads.
        None => {
            let file = load(&model.animation, &meta.content_hash).expect("the bake's own file");
            let level = model.animation.levels[0];
            let words = &file[level.offset as usize..][..level.len as usize];
            buffers.push(buffer(context, wgpu::BufferUsages::STORAGE, level.len, words));
        }
    }
    // The device is requested without texture compression, so that it takes RGBA8.
    let files = meta.textures.iter().flat_map(|color| color.formats.iter().map(move |format| (color, *format)));
    for (payload, (color, _)) in main.textures.iter().zip(files).filter(|(_, file)| file.1 == ColorFormat::Rgba8) {
        let size = wgpu::Extent3d { width: color.width, height: color.height, depth_or_array_layers: 1 };
        let format = wgpu::TextureFormat::Rgba8UnormSrgb;
        textures.push(texture(context, payload, &main.meta.content_hash, format, 4, size));
    }
    let mesh = load(&model.mesh, &meta.content_hash).expect("the bake's own file");
    let whole = [meta.mesh.vertices, meta.mesh.indices, meta.mesh.clips];
    let usages = [wgpu::BufferUsages::VERTEX, wgpu::BufferUsages::INDEX, wgpu::BufferUsages::UNIFORM];
    for (range, usage) in whole.into_iter().zip(usages) {
        let size =
            if usage == wgpu::BufferUsages::UNIFORM { gpuskin_rt::internals::shader::MODEL_BYTES } else { range.len };
        buffers.push(buffer(context, usage, size, &mesh[range.offset as usize..][..range.len as usize]));
    }
    (textures, buffers)
}

fn buffer(context: &Context, usage: wgpu::BufferUsages, size: u64, bytes: &[u8]) -> wgpu::Buffer {
    let buffer = context.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    context.queue.write_buffer(&buffer, 0, bytes);
    buffer
}

fn texture(
    context: &Context,
    payload: &Payload,
    hash: &[u8; 16],
    format: wgpu::TextureFormat,
    texel: u32,
    size: wgpu::Extent3d,
) -> wgpu::Texture {
    let bytes = load(payload, hash).expect("the bake's own file");
    let texture = context.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: payload.levels.len() as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (level, range) in payload.levels.iter().enumerate() {
        let (width, height) = ((size.width >> level).max(1), (size.height >> level).max(1));
        context.queue.write_texture(
            wgpu::TexelCopyTextureInfo { mip_level: level as u32, ..texture.as_image_copy() },
            &bytes[range.offset as usize..][..range.len as usize],
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(width * texel), rows_per_image: Some(height) },
            wgpu::Extent3d { width, height, ..size },
        );
    }
    texture
}
