//! Variants of a model, against meshes with the variant's base colour.

use bevy::light::NotShadowCaster;
use bevy::prelude::*;
use bevy_gpuskin::gpuskin_rt::Instance;
use bevy_gpuskin::{Character, ModelVariant};
use bevy_gpuskin_sample_models::models::{GUARD, Guard};
use bevy_gpuskin_sample_models::{clips, variants};

use crate::common::{self, control};
use crate::{assert_equal, of, scene};

const VARIANTS: [ModelVariant<Guard>; 4] =
    [variants::GUARD_BASE, variants::GUARD_BLUE, variants::GUARD_BLUE, variants::GUARD_BASE];

fn place(i: usize) -> Transform {
    Transform::from_xyz(i as f32 * 1.1 - 1.6, 0.0, 1.0).with_rotation(Quat::from_rotation_y(0.7 * i as f32))
}

/// Spawns a guard per variant. `spawned`: the variants with which they are spawned.
fn spawn(app: &mut App, spawned: [ModelVariant<Guard>; 4]) -> Vec<Entity> {
    let guard = |(i, variant): (usize, ModelVariant<Guard>)| {
        let character = Character::playing(clips::GUARD_RUN).phase(0.2 * i as f32).speed(0.0).with_variant(variant);
        app.world_mut().spawn((character, place(i))).id()
    };
    spawned.into_iter().enumerate().map(guard).collect()
}

fn control() -> Vec<[u8; 4]> {
    let (mut app, image) = scene();
    for (i, variant) in VARIANTS.into_iter().enumerate() {
        let instance = Instance::at([0.0; 3]).with_transform(of(place(i))).play(clips::GUARD_RUN);
        let record = instance.phase(0.2 * i as f32).speed(0.0).record(&GUARD.meta, 0.0.into());
        control::spawn_variant(&mut app, &record, (Color::WHITE, variant), 0.0);
    }
    common::settle(&mut app);
    common::read(&mut app, &image)
}

#[test]
fn variants_have_their_base_colours() {
    let (mut app, image) = scene();
    let empty = common::read(&mut app, &image);
    let entities = spawn(&mut app, [VARIANTS[0], VARIANTS[1], variants::GUARD_BASE, variants::GUARD_BLUE]);
    common::settle(&mut app);
    let before = common::read(&mut app, &image);
    for i in [2, 3] {
        let mut guard = app.world_mut().get_mut::<Character<Guard>>(entities[i]).unwrap();
        guard.set_variant(VARIANTS[i]);
        assert_eq!(guard.variant(), VARIANTS[i]);
    }
    app.update();
    let characters = common::read(&mut app, &image);
    common::save("variants.png", &characters);
    let control = control();
    common::save("variants-control.png", &control);
    let changed = common::different(&before, &control);
    assert!(changed > 2000, "{changed} pixels show that variants differ");
    assert_equal(&characters, &control, &empty);

    // In the crowd of another group, a character keeps its variant.
    app.world_mut().entity_mut(entities[1]).insert(NotShadowCaster);
    common::settle(&mut app);
    app.world_mut().entity_mut(entities[1]).remove::<NotShadowCaster>();
    app.update();
    assert_eq!(common::different(&characters, &common::read(&mut app, &image)), 0);
}
