//! Tint masks, against meshes with vertices in the masked colours.

use bevy::prelude::*;
use bevy_gpuskin::gpuskin_rt::Instance;
use bevy_gpuskin::{Character, ModelVariant};
use bevy_gpuskin_sample_models::models::{GUARD, Guard};
use bevy_gpuskin_sample_models::{clips, variants};

use crate::common::{self, control};
use crate::{assert_equal, of, scene};

/// Tint and variant of each guard. Stronger tints show where mip levels mix the shares of neighbours in the texture, which vertices do
/// not.
fn guards() -> [(Color, ModelVariant<Guard>); 4] {
    [
        (Color::linear_rgb(0.7, 1.0, 0.7), variants::GUARD_BASE),
        (Color::linear_rgb(1.0, 0.7, 0.7), variants::GUARD_BLUE),
        (Color::WHITE, variants::GUARD_BASE),
        (Color::linear_rgb(0.7, 0.7, 1.0), variants::GUARD_BASE),
    ]
}

fn place(i: usize) -> Transform {
    Transform::from_xyz(i as f32 * 1.1 - 1.6, 0.0, 1.0).with_rotation(Quat::from_rotation_y(0.7 * i as f32 - 0.7))
}

fn control() -> Vec<[u8; 4]> {
    let (mut app, image) = scene();
    for (i, look) in guards().into_iter().enumerate() {
        let instance = Instance::at([0.0; 3]).with_transform(of(place(i))).play(clips::GUARD_RUN);
        let record = instance.phase(0.2 * i as f32).speed(0.0).record(&GUARD.meta, 0.0.into());
        control::spawn_variant(&mut app, &record, look, 0.0);
    }
    common::settle(&mut app);
    common::read(&mut app, &image)
}

#[test]
fn tints_apply_where_the_mask_says() {
    assert!(GUARD.meta.materials()[0].has_tint_mask());
    let (mut app, image) = scene();
    let empty = common::read(&mut app, &image);
    for (i, (tint, variant)) in guards().into_iter().enumerate() {
        let guard = Character::playing(clips::GUARD_RUN).phase(0.2 * i as f32).speed(0.0);
        app.world_mut().spawn((guard.tinted(tint).with_variant(variant), place(i)));
    }
    common::settle(&mut app);
    let characters = common::read(&mut app, &image);
    common::save("tint-masks.png", &characters);
    let control = control();
    common::save("tint-masks-control.png", &control);
    assert_equal(&characters, &control, &empty);
}
