//! The control: meshes with `StandardMaterial` that the CPU poses.

use bevy::asset::RenderAssetUsages;
use bevy::image::{Image, ImageAddressMode, ImageFilterMode, ImageSampler, ImageSamplerDescriptor};
use bevy::mesh::{Indices, Mesh, PrimitiveTopology};
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy_gpuskin::gpuskin_rt::tools::CpuModel;
use bevy_gpuskin::gpuskin_rt::{BakedModel, InstanceRecord, Model, ModelVariant};

/// Spawns an instance as it is at a time, seconds: a mesh per material. Returns their entities.
pub fn spawn<M: BakedModel>(app: &mut App, instance: &InstanceRecord, tint: Color, time: f64) -> Vec<Entity> {
    spawn_variant(app, instance, (tint, ModelVariant::<M>::BASE), time)
}

/// Spawns an instance as [`spawn`] does, with the base colour of a variant.
pub fn spawn_variant<M: BakedModel>(
    app: &mut App,
    instance: &InstanceRecord,
    look: (Color, ModelVariant<M>),
    time: f64,
) -> Vec<Entity> {
    spawn_encoding(app, M::MODEL, instance, look, time)
}

/// Spawns an instance as [`spawn_variant`] does, of the model in one of its encodings.
pub fn spawn_encoding<M: BakedModel>(
    app: &mut App,
    encoded: &Model,
    instance: &InstanceRecord,
    (tint, variant): (Color, ModelVariant<M>),
    time: f64,
) -> Vec<Entity> {
    let model = CpuModel::new(encoded).unwrap();
    let vertices = model.vertices(instance, time);
    let mut entities = Vec::new();
    for (index, material) in (0..).zip(M::MODEL.meta.materials()) {
        let triangles = model.triangles(index);
        assert!(!triangles.is_empty(), "a material without triangles shows nothing");
        let tint = tint.to_linear();
        let mut mesh = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
            .with_inserted_attribute(
                Mesh::ATTRIBUTE_POSITION,
                vertices.iter().map(|v| v.position()).collect::<Vec<_>>(),
            )
            .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vertices.iter().map(|v| v.normal()).collect::<Vec<_>>())
            .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, vertices.iter().map(|v| v.uv()).collect::<Vec<_>>())
            .with_inserted_indices(Indices::U32(triangles.into_iter().flatten().collect()));
        let layer = material.base_color_layer(variant.index()).unwrap_or(0);
        let has_texture = index == 0 && material.base_color_texture.is_some();
        let texture = has_texture.then(|| texture(M::MODEL.meta.name.as_ref(), layer.into()));
        let [r, g, b, a] = material.base_color;
        let base_color = if material.tint_mask {
            // Vertices with the share of the tint at their texel: masks of the tests do not change within a triangle.
            let share_of = tint_shares();
            let color = |uv: [f32; 2]| {
                let share = share_of(uv);
                let [r, g, b] = [tint.red, tint.green, tint.blue].map(|tint| 1.0 + share * (tint - 1.0));
                [r, g, b, 1.0]
            };
            mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, vertices.iter().map(|v| color(v.uv())).collect::<Vec<_>>());
            LinearRgba::new(r, g, b, a * tint.alpha)
        } else {
            LinearRgba::new(r * tint.red, g * tint.green, b * tint.blue, a * tint.alpha)
        };
        let standard = StandardMaterial {
            base_color: base_color.into(),
            alpha_mode: match material.alpha_cutoff {
                _ if material.alpha_blend => AlphaMode::Blend,
                Some(cutoff) => AlphaMode::Mask(cutoff),
                None => AlphaMode::Opaque,
            },
            base_color_texture: texture.map(|texture| app.world_mut().resource_mut::<Assets<Image>>().add(texture)),
            metallic: material.metallic,
            perceptual_roughness: material.roughness,
            double_sided: material.double_sided,
            cull_mode: (!material.double_sided).then_some(bevy::render::render_resource::Face::Back),
            ..default()
        };
        let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
        let standard = app.world_mut().resource_mut::<Assets<StandardMaterial>>().add(standard);
        entities.push(app.world_mut().spawn((Mesh3d(mesh), MeshMaterial3d(standard))).id());
    }
    entities
}

/// Returns the function from texture coordinates to the share of the tint, by the mask of the guards.
fn tint_shares() -> impl Fn([f32; 2]) -> f32 {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/sample-models/guard-cloth.png");
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut texels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut texels).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    move |uv| {
        let size = [info.width, info.height];
        let [x, y] = core::array::from_fn(|i| ((uv[i] * size[i] as f32) as usize).min(size[i] as usize - 1));
        f32::from(texels[3 * (y * info.width as usize + x)]) / 255.0
    }
}

/// Reads a layer of the texture of a sample model, in RGBA8, with all mip levels.
fn texture(model: &str, layer: usize) -> Image {
    let folder = std::fs::read_dir(format!("{}/{model}", bevy_gpuskin_sample_models::BAKED)).unwrap();
    let files = folder.map(|entry| entry.unwrap().path().join("color-0-rgba8.ktx2"));
    let [file] = &files.filter(|file| file.is_file()).collect::<Vec<_>>()[..] else { panic!("not one bake") };
    let bytes = std::fs::read(file).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let (format, width, height, levels) = (word(12), word(20), word(24), word(40));
    assert_eq!((format, word(44)), (43, 0), "not RGBA8 in sRGB without supercompression");
    let layers = word(32).max(1) as usize;
    // The layers of a level follow each other.
    let level = |i: usize| {
        let (start, length) = (long(80 + 24 * i), long(88 + 24 * i) / layers);
        bytes[start + layer * length..][..length].to_vec()
    };
    let data = (0..levels as usize).flat_map(level);
    let size = Extent3d { width, height, depth_or_array_layers: 1 };
    let format = TextureFormat::Rgba8UnormSrgb;
    let mut image = Image::new_uninit(size, TextureDimension::D2, format, RenderAssetUsages::RENDER_WORLD);
    image.data = Some(data.collect());
    image.texture_descriptor.mip_level_count = levels;
    image.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        address_mode_u: ImageAddressMode::Repeat,
        address_mode_v: ImageAddressMode::Repeat,
        mag_filter: ImageFilterMode::Linear,
        min_filter: ImageFilterMode::Linear,
        mipmap_filter: ImageFilterMode::Linear,
        ..default()
    });
    image
}
