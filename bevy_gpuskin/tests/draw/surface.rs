//! Surfaces that a function of the game changes, against meshes with such a material.

use bevy::prelude::*;
use bevy_gpuskin::gpuskin_rt::Instance;
use bevy_gpuskin::{Character, CharacterPlugin};
use bevy_gpuskin_sample_models::clips;
use bevy_gpuskin_sample_models::models::{GUARD, Guard};

use crate::common::{self, control};
use crate::{assert_equal, of, scene, scene_of};

const SURFACE: &str = "
    fn test_color(word: u32) -> vec3<f32> {
        return vec3<f32>(f32(word) * 0.25, 0.4, 0.1);
    }

    fn surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint {
        var changed = point;
        // The time is read, but does not change the picture.
        changed.base_color = test_color(point.custom.x) + min(globals.time, 0.0);
        changed.metallic = 0.5;
        changed.roughness = select(0.9, 0.3, point.custom.y == 7u);
        changed.emitted = vec3<f32>(0.0, 0.0, 0.2 * f32(point.custom.x));
        changed.occlusion = 64.0 / 255.0;
        return changed;
    }
";

/// Occlusion of [`SURFACE`], of 255.
const OCCLUSION: u8 = 64;

fn place(i: usize) -> Transform {
    Transform::from_xyz(i as f32 * 1.1 - 1.6, 0.0, 1.0).with_rotation(Quat::from_rotation_y(0.7 * i as f32))
}

fn custom(i: usize) -> [u32; 2] {
    [i as u32, if i > 1 { 7 } else { 0 }]
}

fn control() -> Vec<[u8; 4]> {
    let (mut app, image) = scene();
    let occlusion = app.world_mut().resource_mut::<Assets<Image>>().add(occlusion());
    for i in 0..4 {
        let instance = Instance::at([0.0; 3]).with_transform(of(place(i))).play(clips::GUARD_RUN).phase(0.2 * i as f32);
        let record = instance.speed(0.0).record(&GUARD.meta, 0.0.into());
        for entity in control::spawn::<Guard>(&mut app, &record, Color::WHITE, 0.0) {
            let handle = app.world().get::<MeshMaterial3d<StandardMaterial>>(entity).unwrap().0.clone();
            let mut materials = app.world_mut().resource_mut::<Assets<StandardMaterial>>();
            let mut material = materials.get_mut(&handle).unwrap();
            let [word, second] = custom(i);
            material.base_color_texture = None;
            material.base_color = LinearRgba::rgb(word as f32 * 0.25, 0.4, 0.1).into();
            (material.metallic, material.perceptual_roughness) = (0.5, if second == 7 { 0.3 } else { 0.9 });
            material.emissive = LinearRgba::rgb(0.0, 0.0, 0.2 * word as f32);
            material.occlusion_texture = Some(occlusion.clone());
        }
    }
    common::settle(&mut app);
    common::read(&mut app, &image)
}

/// A texture of one texel.
fn occlusion() -> Image {
    use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
    let size = Extent3d { width: 1, height: 1, depth_or_array_layers: 1 };
    let usage = bevy::asset::RenderAssetUsages::RENDER_WORLD;
    Image::new(size, TextureDimension::D2, vec![OCCLUSION; 4], TextureFormat::Rgba8Unorm, usage)
}

#[test]
fn surfaces_are_changed_before_they_are_lit() {
    let (mut app, image) = scene_of(CharacterPlugin::<Guard>::default().with_surface(SURFACE));
    let empty = common::read(&mut app, &image);
    for i in 0..4 {
        let guard = Character::playing(clips::GUARD_RUN).phase(0.2 * i as f32).speed(0.0).custom(custom(i));
        app.world_mut().spawn((guard, place(i)));
    }
    common::settle(&mut app);
    let characters = common::read(&mut app, &image);
    common::save("surface.png", &characters);
    let control = control();
    common::save("surface-control.png", &control);
    assert_equal(&characters, &control, &empty);
}
