//! Foxes of `bevy_open_vat`.

use bevy::asset::RenderAssetUsages;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy_gpuskin::gpuskin_rt::tools::{CpuModel, SkinnedVertex};
use bevy_gpuskin::gpuskin_rt::{BakedModel, Instance, Time as GpuskinTime};
use bevy_open_vat::prelude::*;

use crate::{Foxes, SPEED, clips, models, spawn_rings};

/// Frames per second, and first and last frame of the clips in the texture of the crate's example.
const FPS: f32 = 30.0;
const WALK: [u32; 2] = [0, 17];
const RUN: [u32; 2] = [17, 45];
const SURVEY: [u32; 2] = [45, 127];
/// Frames of that texture.
const FRAMES: u32 = 128;

/// Adds the plugin and the foxes to the app.
pub(crate) fn build(app: &mut App, foxes: Foxes) {
    app.add_plugins(OpenVatPlugin);
    let model = CpuModel::new(models::Fox::MODEL).expect("the build script baked it");
    let frames: Vec<_> = (0..FRAMES).map(|frame| pose(&model, frame)).collect();
    let rest = &frames[0];
    // An offset of a vertex, in the axes of Blender.
    let blender = |v: Vec3| Vec3::new(v.x, -v.z, v.y);
    let at = |v: &SkinnedVertex| Vec3::from(v.position());
    let offsets: Vec<Vec<Vec3>> = frames
        .iter()
        .map(|frame| frame.iter().zip(rest).map(|(v, rest)| blender(at(v) - at(rest))).collect())
        .collect();
    let (min, max) = offsets
        .iter()
        .flatten()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(min, max), offset| (min.min(*offset), max.max(*offset)));
    let range = (max - min).max(Vec3::splat(f32::MIN_POSITIVE));
    let positions = offsets.iter().flatten().map(|offset| (*offset - min) / range);
    let normals = frames.iter().flatten().map(|v| blender(Vec3::from(v.normal())) * 0.5 + 0.5);
    let texels: Vec<u8> = positions
        .chain(normals)
        .flat_map(|texel| [texel.x, texel.y, texel.z, 1.0])
        .flat_map(f32::to_le_bytes)
        .collect();
    let size = Extent3d { width: rest.len() as u32, height: 2 * FRAMES, depth_or_array_layers: 1 };
    println!("bevy_open_vat: {} bytes of texture, as it stores them", size.width * size.height * 8);
    let image = Image::new(size, TextureDimension::D2, texels, TextureFormat::Rgba32Float, RenderAssetUsages::all());
    let clip = |[start_frame, end_frame]: [u32; 2]| VatAnimationClip {
        start_frame,
        end_frame,
        frame_rate: FPS,
        looping: true,
    };
    let remap = RemapInfo {
        os_remap: OsRemap { min: min.to_array(), max: max.to_array(), frames: FRAMES },
        animations: HashMap::default(),
    };
    let mesh = mesh(&model, rest, size);

    let world = app.world_mut();
    let image = world.resource_mut::<Assets<Image>>().add(image);
    let remap = world.resource_mut::<Assets<RemapInfo>>().add(remap);
    let run = world.resource_mut::<Assets<VatAnimationClip>>().add(clip(RUN));
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = world.resource_mut::<Assets<StandardMaterial>>().add(StandardMaterial::default());
    spawn_rings(app, &foxes, |_, fox| {
        let animator = VatAnimator::new(remap.clone(), image.clone(), run.clone());
        let animator = animator.with_speed(SPEED).with_elapsed(fox.seconds);
        (Mesh3d(mesh.clone()), MeshMaterial3d(material.clone()), animator)
    });
}

/// Vertices in a frame of the texture: a clip begins one frame after the last one of the clip before, and its last frame repeats
/// the first one.
fn pose(model: &CpuModel<'_>, frame: u32) -> Vec<SkinnedVertex> {
    let (clip, first) = match frame {
        0..=17 => (clips::FOX_WALK, WALK[0]),
        18..=45 => (clips::FOX_RUN, RUN[0]),
        _ => (clips::FOX_SURVEY, SURVEY[0]),
    };
    let meta = &models::Fox::MODEL.meta;
    let record = Instance::at([0.0; 3]).play(clip).record(meta, GpuskinTime::ZERO);
    model.vertices(&record, f64::from(frame - first) / f64::from(FPS))
}

fn mesh(model: &CpuModel<'_>, rest: &[SkinnedVertex], size: Extent3d) -> Mesh {
    let texel = |i: usize| [(i as f32 + 0.5) / size.width as f32, 0.5 / size.height as f32];
    let materials = 0..models::Fox::MODEL.meta.materials().len() as u32;
    let triangles = materials.flat_map(|material| model.triangles(material)).flatten().collect();
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::all())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, rest.iter().map(|v| v.position()).collect::<Vec<_>>())
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, rest.iter().map(|v| v.normal()).collect::<Vec<_>>())
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, rest.iter().map(|v| v.uv()).collect::<Vec<_>>())
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_1, (0..rest.len()).map(texel).collect::<Vec<_>>())
        .with_inserted_indices(Indices::U32(triangles))
}
