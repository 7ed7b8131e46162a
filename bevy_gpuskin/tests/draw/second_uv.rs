//! Second texture coordinates, against the same model with first ones.

use bevy::pbr::MaterialExtension;
use bevy::prelude::*;
use bevy::render::render_resource::AsBindGroup;
use bevy_gpuskin::gpuskin_rt::{BakedModel, Clip};
use bevy_gpuskin::{Character, CharacterExtension, CharacterExtensionPlugin, CharacterPlugin};
use bevy_gpuskin_sample_models::clips;
use bevy_gpuskin_sample_models::models::{PLATES, Plates, PlatesTwin};

use crate::common;
use crate::{assert_equal, scene_of};

/// An extension with the shader of `StandardMaterial`.
#[derive(Asset, AsBindGroup, TypePath, Clone, Debug)]
struct Plain {
    #[uniform(100)]
    unused: Vec4,
}

impl MaterialExtension for Plain {}

/// Draws a model in a scene, and the scene alone.
fn drawn<M: BakedModel>(clip: Clip<M>, extended: bool) -> [Vec<[u8; 4]>; 2] {
    let (mut app, image) = scene_of((CharacterPlugin::<M>::default(), CharacterExtensionPlugin::<Plain>::default()));
    app.world_mut().insert_resource(GlobalAmbientLight { brightness: 400.0, ..default() });
    let empty = common::read(&mut app, &image);
    let entity = app.world_mut().spawn(Character::playing(clip).phase(0.3).speed(0.0)).id();
    if extended {
        let plain = app.world_mut().resource_mut::<Assets<Plain>>().add(Plain { unused: Vec4::ONE });
        app.world_mut().entity_mut(entity).insert(CharacterExtension::new(plain));
    }
    common::settle(&mut app);
    [common::read(&mut app, &image), empty]
}

#[test]
fn textures_read_the_coordinates_that_they_name() {
    assert!(PLATES.meta.materials().iter().all(|material| material.occlusion_second_uv));
    for extended in [false, true] {
        let [plates, empty] = drawn::<Plates>(clips::PLATES_SWAY, extended);
        let [twin, _] = drawn::<PlatesTwin>(clips::PLATES_TWIN_SWAY, extended);
        let name = if extended { "second-uv-extended" } else { "second-uv" };
        common::save(&format!("{name}.png"), &plates);
        common::save(&format!("{name}-twin.png"), &twin);
        assert_equal(&plates, &twin, &empty);
    }
}
