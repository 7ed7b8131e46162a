//! Morph targets, against meshes that the CPU morphs and poses.

use bevy::prelude::*;
use bevy_gpuskin::gpuskin_rt::Instance;
use bevy_gpuskin::{Character, CharacterPlugin};
use bevy_gpuskin_sample_models::clips;
use bevy_gpuskin_sample_models::models::{JELLY, Jelly};

use crate::common::{self, control};
use crate::{assert_equal, of, scene_of};

fn place(i: usize) -> Transform {
    Transform::from_xyz(i as f32 * 1.2 - 1.9, 0.0, 0.8).with_rotation(Quat::from_rotation_y(0.9 * i as f32))
}

/// Draws drops of jelly, or their control. Also returns the picture without them. `phases`: whether they are at different times of
/// the clip, or all at its start, where no target has a weight.
fn jellies(is_control: bool, phases: bool) -> [Vec<[u8; 4]>; 2] {
    let (mut app, image) = scene_of(CharacterPlugin::<Jelly>::default());
    let empty = common::read(&mut app, &image);
    for i in 0..4 {
        let phase = if phases { 0.2 + 0.2 * i as f32 } else { 0.0 };
        if is_control {
            let instance = Instance::at([0.0; 3]).with_transform(of(place(i))).play(clips::JELLY_WOBBLE);
            let record = instance.phase(phase).speed(0.0).record(&JELLY.meta, 0.0.into());
            control::spawn::<Jelly>(&mut app, &record, Color::WHITE, 0.0);
        } else {
            app.world_mut().spawn((Character::playing(clips::JELLY_WOBBLE).phase(phase).speed(0.0), place(i)));
        }
    }
    common::settle(&mut app);
    [common::read(&mut app, &image), empty]
}

#[test]
fn morph_targets_are_drawn_as_morphed_meshes_are() {
    let ([drawn, empty], [control, _], [at_start, _]) =
        (jellies(false, true), jellies(true, true), jellies(true, false));
    common::save("jellies.png", &drawn);
    common::save("jellies-control.png", &control);
    assert!(common::different(&control, &at_start) > 5000, "the targets do not show in the control");
    assert_equal(&drawn, &control, &empty);
}
