//! Spot lights, environment maps, reflection probes and irradiance volumes, against meshes that the CPU poses.

use bevy::asset::RenderAssetUsages;
use bevy::light::IrradianceVolume;
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::render_resource::{
    Extent3d, TextureDimension, TextureFormat, TextureViewDescriptor, TextureViewDimension,
};
use bevy::render::renderer::RenderDevice;
use bevy::render::settings::WgpuFeatures;
use bevy_gpuskin::gpuskin_rt::Instance;
use bevy_gpuskin::{Character, CharacterPlugin, GpuskinPlugin};
use bevy_gpuskin_sample_models::models::{SOLDIER, Soldier};

use crate::common::{self, control};
use crate::{Placed, of, placed};

/// Returns a cube map with a colour per face and mip level.
fn cube_map(size: u32, mip_levels: u32, seed: usize) -> Image {
    let texel = |face: usize, level: u32| {
        let share = |i: usize| ((face * 5 + i * 3 + seed) % 7) as f32 / 6.0 * (1.0 - 0.1 * level as f32);
        [share(0), share(1), share(2), 1.0].map(f32::to_le_bytes)
    };
    let face = |face: usize| {
        (0..mip_levels).flat_map(move |level| {
            let texels = (size >> level).pow(2) as usize;
            std::iter::repeat_n(texel(face, level), texels)
        })
    };
    let data: Vec<_> = (0..6).flat_map(face).flatten().flatten().collect();
    let extent = Extent3d { width: size, height: size, depth_or_array_layers: 6 };
    let (dimension, format) = (TextureDimension::D2, TextureFormat::Rgba32Float);
    let mut image = Image::new_uninit(extent, dimension, format, RenderAssetUsages::RENDER_WORLD);
    image.data = Some(data);
    image.texture_descriptor.mip_level_count = mip_levels;
    image.texture_view_descriptor =
        Some(TextureViewDescriptor { dimension: Some(TextureViewDimension::Cube), ..default() });
    image
}

/// Returns a volume of 2 x 2 x 2 voxels, with a colour per voxel and direction.
fn ambient_cubes() -> Image {
    let size = Extent3d { width: 2, height: 4, depth_or_array_layers: 6 };
    let texel = |i: usize| [(i * 3) % 7, (i * 5) % 11, (i * 7) % 13, 6].map(|share| (share as f32 / 6.0).to_le_bytes());
    let data = (0..2 * 4 * 6).flat_map(texel).flatten().collect();
    let (dimension, format) = (TextureDimension::D3, TextureFormat::Rgba32Float);
    Image::new(size, dimension, data, format, RenderAssetUsages::RENDER_WORLD)
}

fn environment(app: &mut App, seed: usize) -> EnvironmentMapLight {
    let mut images = app.world_mut().resource_mut::<Assets<Image>>();
    let [diffuse_map, specular_map] =
        [(1, 1, seed), (8, 4, seed + 1)].map(|(size, levels, seed)| images.add(cube_map(size, levels, seed)));
    EnvironmentMapLight {
        diffuse_map,
        specular_map,
        intensity: 400.0,
        rotation: Quat::from_rotation_y(0.4),
        ..default()
    }
}

/// Lights of the scene.
struct Lights {
    spot: Entity,
    /// With an environment map.
    camera: Entity,
    reflection_probe: Entity,
    irradiance_volume: Entity,
}

/// An app with ground, a spot light with shadows, environment maps and a camera.
fn scene() -> (App, Handle<Image>, Lights) {
    let mut app = common::app();
    app.add_plugins((GpuskinPlugin { lod_error: 0.0, ..default() }, CharacterPlugin::<Soldier>::default()));
    common::start(&mut app);
    let image = common::target(&mut app);
    let [far, near] = [0, 3].map(|seed| environment(&mut app, seed));
    let voxels = app.world_mut().resource_mut::<Assets<Image>>().add(ambient_cubes());
    let world = app.world_mut();
    let camera = common::camera(&image, Vec3::new(0.2, 1.7, 3.0), Vec3::new(0.0, 0.7, 0.0));
    let camera = world.spawn((camera, far)).id();
    // On the right and on the left half of the picture, with some overlap.
    let place = |x| Transform::from_xyz(x, 1.0, 0.0).with_scale(Vec3::new(2.4, 2.6, 3.0));
    let probe = LightProbe { falloff: Vec3::splat(0.3) };
    let reflection_probe = world.spawn((probe, near, place(1.1))).id();
    let volume = IrradianceVolume { voxels, intensity: 300.0, ..default() };
    let irradiance_volume = world.spawn((probe, volume, place(-1.1))).id();
    let spot = SpotLight {
        shadow_maps_enabled: true,
        intensity: 900_000.0,
        range: 30.0,
        inner_angle: 0.3,
        outer_angle: 0.55,
        ..default()
    };
    let at = Transform::from_xyz(2.5, 4.0, 3.0).looking_at(Vec3::new(0.0, 0.5, 0.0), Vec3::Y);
    let spot = world.spawn((spot, at)).id();
    let ground = world.resource_mut::<Assets<Mesh>>().add(Plane3d::default().mesh().size(40.0, 40.0));
    let grey = world.resource_mut::<Assets<StandardMaterial>>().add(Color::srgb(0.5, 0.55, 0.5));
    world.spawn((Mesh3d(ground), MeshMaterial3d(grey)));
    common::settle(&mut app);
    (app, image, Lights { spot, camera, reflection_probe, irradiance_volume })
}

fn control() -> Vec<[u8; 4]> {
    let (mut app, image, _) = scene();
    for Placed { transform, clip, phase, tint } in placed().into_iter().take(4) {
        let instance = Instance::at([0.0; 3]).with_transform(of(transform)).play(clip).phase(phase).speed(0.0);
        control::spawn::<Soldier>(&mut app, &instance.record(&SOLDIER.meta, 0.0.into()), tint, 0.0);
    }
    common::settle(&mut app);
    common::read(&mut app, &image)
}

#[test]
fn lights_and_probes_light_characters_as_standard_meshes() {
    let (mut app, image, Lights { spot, camera, reflection_probe, irradiance_volume }) = scene();
    let empty = common::read(&mut app, &image);
    for Placed { transform, clip, phase, tint } in placed().into_iter().take(4) {
        app.world_mut().spawn((Character::playing(clip).phase(phase).speed(0.0).tinted(tint), transform));
    }
    common::settle(&mut app);
    let characters = common::read(&mut app, &image);
    common::save("lights.png", &characters);
    let control = control();
    common::save("lights-control.png", &control);
    crate::assert_equal(&characters, &control, &empty);

    // Each light shows.
    let mut last = characters;
    let mut assert_shows = |app: &mut App, what: &str| {
        app.update();
        let without = common::read(app, &image);
        let shown = common::different(&last, &without);
        println!("{shown} pixels show the {what}");
        assert!(shown > 5000, "{shown} pixels show the {what}");
        last = without;
    };
    app.world_mut().get_mut::<SpotLight>(spot).unwrap().shadow_maps_enabled = false;
    assert_shows(&mut app, "shadows of the spot light");
    app.world_mut().despawn(spot);
    assert_shows(&mut app, "spot light");
    app.world_mut().despawn(irradiance_volume);
    assert_shows(&mut app, "irradiance volume");
    app.world_mut().despawn(reflection_probe);
    // On other devices, such as llvmpipe, Bevy shows none.
    let arrays = WgpuFeatures::TEXTURE_BINDING_ARRAY
        | WgpuFeatures::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING;
    if app.sub_app(RenderApp).world().resource::<RenderDevice>().features().contains(arrays) {
        assert_shows(&mut app, "reflection probe");
    }
    app.world_mut().entity_mut(camera).remove::<EnvironmentMapLight>();
    assert_shows(&mut app, "environment map");
}
