//! Fields, against meshes in the poses of their instances.

use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::prepass::{DepthPrepass, MotionVectorPrepass};
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy_gpuskin::gpuskin_rt::{BakedModel, FieldDescriptor, ModelVariant, Wind};
use bevy_gpuskin::{CharacterField, CharacterPlugin, CharacterRenderer};
use bevy_gpuskin_sample_models::clips;
use bevy_gpuskin_sample_models::models::{Jelly, Soldier};

use crate::common::{self, control};
use crate::{assert_equal, scene, scene_of};

fn descriptor() -> FieldDescriptor<Soldier> {
    FieldDescriptor {
        origin: [-2.4, 0.0, -2.0],
        size: [4, 3],
        spacing: [1.2, 1.3],
        jitter: 0.3,
        tints: [[1.0; 4], [1.0, 0.4, 0.2, 1.0]],
        clips: vec![clips::SOLDIER_IDLE, clips::SOLDIER_WALK],
        ..FieldDescriptor::default()
    }
}

/// Draws the instances of a field as meshes, at the time of the field.
fn control<M: BakedModel>(app: &mut App, image: &Handle<Image>, field: Entity) -> Vec<[u8; 4]> {
    let time = common::stop_time(app);
    app.world_mut().entity_mut(field).insert(Visibility::Hidden);
    let renderer = app.sub_app(RenderApp).world().resource::<CharacterRenderer>();
    let uniform = renderer.field_of::<M>(field).unwrap().uniform();
    // The bake with an animation texture.
    let encoded = &M::MODEL.others[0];
    let mut meshes = Vec::new();
    for i in 0..12 {
        let [r, g, b, a] = uniform.appearance(i).tint.map(|byte| f32::from(byte) / 255.0);
        let look = (Color::linear_rgba(r, g, b, a), ModelVariant::<M>::BASE);
        meshes.extend(control::spawn_encoding(app, encoded, &uniform.instance(i, time), look, time));
    }
    common::settle(app);
    let picture = common::read(app, image);
    meshes.into_iter().for_each(|mesh| {
        app.world_mut().despawn(mesh);
    });
    app.world_mut().entity_mut(field).insert(Visibility::Visible);
    picture
}

#[test]
fn field_is_drawn_as_meshes_are() {
    let (mut app, image) = scene();
    let camera = app.world_mut().query_filtered::<Entity, With<Camera3d>>().single(app.world()).unwrap();
    app.world_mut().entity_mut(camera).insert((Msaa::Off, DepthPrepass, MotionVectorPrepass));
    common::settle(&mut app);
    let empty = common::read(&mut app, &image);
    let field = app.world_mut().spawn(CharacterField::new(descriptor())).id();
    common::settle(&mut app);
    common::stop_time(&mut app);
    let drawn = common::read(&mut app, &image);
    common::save("field.png", &drawn);
    let meshes = control::<Soldier>(&mut app, &image, field);
    common::save("field-control.png", &meshes);
    assert_equal(&drawn, &meshes, &empty);

    // A change of the descriptor shows.
    let mut component = app.world_mut().get_mut::<CharacterField<Soldier>>(field).unwrap();
    component.descriptor.origin[0] += 0.6;
    component.descriptor.wind = Some(Wind { gust: Some(clips::SOLDIER_ATTACK), ..Wind::default() });
    common::settle(&mut app);
    let changed = common::read(&mut app, &image);
    common::save("field-changed.png", &changed);
    assert!(common::different(&changed, &drawn) > 10_000);
    app.world_mut().entity_mut(field).insert(RenderLayers::layer(3));
    app.update();
    assert_eq!(common::different(&common::read(&mut app, &image), &empty), 0, "no camera shows layer 3");
    app.world_mut().entity_mut(field).remove::<RenderLayers>();
    app.update();
    assert_eq!(common::different(&common::read(&mut app, &image), &changed), 0);
    app.world_mut().despawn(field);
    app.update();
    assert_eq!(common::different(&common::read(&mut app, &image), &empty), 0, "the field is gone");
}

#[test]
fn field_of_a_model_with_morph_targets_is_drawn_as_meshes_are() {
    let (mut app, image) = scene_of(CharacterPlugin::<Jelly>::default());
    let empty = common::read(&mut app, &image);
    let field = app.world_mut().spawn(CharacterField::<Jelly>::new(FieldDescriptor {
        origin: [-2.8, 0.0, -2.0],
        size: [4, 3],
        spacing: [1.4, 1.4],
        scatter: 1.0,
        clips: vec![clips::JELLY_WOBBLE],
        ..FieldDescriptor::default()
    }));
    let field = field.id();
    common::settle(&mut app);
    common::stop_time(&mut app);
    let drawn = common::read(&mut app, &image);
    common::save("field-morphs.png", &drawn);
    let meshes = control::<Jelly>(&mut app, &image, field);
    common::save("field-morphs-control.png", &meshes);
    assert_equal(&drawn, &meshes, &empty);
}
