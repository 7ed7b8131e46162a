//! Pointers on characters, against the pixels that show them.

use std::sync::{Arc, Mutex};

use bevy::asset::uuid::Uuid;
use bevy::camera::visibility::RenderLayers;
use bevy::camera::{ImageRenderTarget, NormalizedRenderTarget};
use bevy::picking::Pickable;
use bevy::picking::backend::PointerHits;
use bevy::picking::pointer::{Location, PointerId, PointerLocation};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_gpuskin::gpuskin_rt::RayHit;
use bevy_gpuskin::{Character, CharacterPlugin, GpuskinPlugin, LiveBones, Transition};
use bevy_gpuskin_sample_models::models::Soldier;
use bevy_gpuskin_sample_models::{bones, clips, masks, parts};

use crate::common::{self, HEIGHT, WIDTH};

/// Distance of the pointers, pixels.
const STEP: u32 = 16;

/// Hits of all pointers in the last frame, by pointer, the nearest first.
#[derive(Resource, Default)]
struct Hits(HashMap<PointerId, Vec<(Entity, f32)>>);

fn keep(mut hits: ResMut<Hits>, mut messages: MessageReader<PointerHits>) {
    hits.0.clear();
    for PointerHits { pointer, picks, .. } in messages.read() {
        let mut picks: Vec<_> = picks.iter().map(|(entity, hit)| (*entity, hit.depth)).collect();
        picks.sort_by(|a, b| a.1.total_cmp(&b.1));
        hits.0.insert(*pointer, picks);
    }
}

/// Soldiers that cover each other: with a layer, with live bones, without a shield, and one in front of the others.
fn soldiers(app: &mut App) -> [Entity; 4] {
    let soldiers = [0, 1, 2, 3].map(|i| {
        let place = Transform::from_xyz(i as f32 * 0.7 - 1.0, 0.0, if i == 3 { 1.2 } else { 0.3 * i as f32 })
            .with_rotation(Quat::from_rotation_y(0.8 * i as f32))
            .with_scale(Vec3::splat(0.8 + 0.1 * i as f32));
        let place = if i == 3 { place.with_translation(Vec3::new(0.0, -0.3, 1.2)) } else { place };
        app.world_mut().spawn((Character::playing(clips::SOLDIER_RUN).phase(0.2 * i as f32), place)).id()
    });
    app.update();
    let mut character = app.world_mut().get_mut::<Character<Soldier>>(soldiers[0]).unwrap();
    let upper_body = Some(masks::SOLDIER_UPPER_BODY);
    character.play_layer(0, clips::SOLDIER_ATTACK, upper_body, Transition::cut(), 1.0);
    let body = Transform::from_xyz(0.4, 1.2, 0.2).with_rotation(Quat::from_rotation_z(0.9));
    let body = app.world_mut().spawn(body).id();
    let live = LiveBones::<Soldier>::bodies([(bones::SOLDIER_SPINE, body)]).fading(0.0);
    app.world_mut().entity_mut(soldiers[1]).insert(live);
    let mut character = app.world_mut().get_mut::<Character<Soldier>>(soldiers[2]).unwrap();
    character.set_part_visible(parts::SOLDIER_SHIELD, false);
    soldiers
}

#[test]
fn pointers_hit_the_characters_under_them() {
    let mut app = common::app();
    let soldier = CharacterPlugin::<Soldier>::default().with_picking();
    app.add_plugins((GpuskinPlugin { lod_error: 0.0, ..default() }, soldier));
    app.init_resource::<Hits>().add_systems(Update, keep);
    common::start(&mut app);
    let image = common::target(&mut app);
    let camera = common::camera(&image, Vec3::new(0.0, 1.4, 4.0), Vec3::new(0.0, 0.8, 0.0));
    app.world_mut().spawn((camera, Msaa::Off));
    app.world_mut().insert_resource(GlobalAmbientLight { brightness: 3000.0, ..default() });
    // Bevy's pointers need one.
    app.world_mut().spawn(PrimaryWindow);
    common::settle(&mut app);
    let soldiers = soldiers(&mut app);
    (0..3).for_each(|_| app.update());
    common::stop_time(&mut app);
    let all = common::read(&mut app, &image);
    common::save("picking.png", &all);
    let mut shows = vec![None; all.len()];
    for soldier in soldiers {
        app.world_mut().entity_mut(soldier).insert(Visibility::Hidden);
        let without = common::read(&mut app, &image);
        for (shows, (with, without)) in shows.iter_mut().zip(all.iter().zip(&without)) {
            if with != without {
                *shows = Some(soldier);
            }
        }
        app.world_mut().entity_mut(soldier).insert(Visibility::Visible);
    }

    let target = NormalizedRenderTarget::Image(ImageRenderTarget::from(image.clone()));
    let location = |x: u32, y: u32| {
        let position = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
        PointerLocation::new(Location { target: target.clone(), position })
    };
    let pixels: Vec<_> = (0..WIDTH * HEIGHT / STEP / STEP)
        .map(|i| (i % (WIDTH / STEP) * STEP + STEP / 2, i / (WIDTH / STEP) * STEP + STEP / 2))
        .collect();
    let id = |i: usize| PointerId::Custom(Uuid::from_u128(i as u128 + 1));
    let pointer = |(i, (x, y)): (usize, &(u32, u32))| app.world_mut().spawn((id(i), location(*x, *y))).id();
    let pointers: Vec<_> = pixels.iter().enumerate().map(pointer).collect();
    // The first frame has the characters as they were before it.
    (0..2).for_each(|_| app.update());
    let (mut same, mut shown) = (0, [0; 4]);
    for (i, (x, y)) in pixels.iter().enumerate() {
        let hit = app.world().resource::<Hits>().0.get(&id(i)).map(|picks| picks[0].0);
        let expected = shows[(y * WIDTH + x) as usize];
        same += usize::from(hit == expected);
        for (soldier, shown) in soldiers.iter().zip(&mut shown) {
            *shown += usize::from(expected == Some(*soldier));
        }
    }
    println!("{same} of {} pointers hit what their pixels show; {shown:?} pixels show the soldiers", pixels.len());
    assert!(shown.iter().all(|shown| *shown > 10));
    // At outlines, the pixel of a pointer may be on the other side.
    assert!(same * 200 >= pixels.len() * 199, "{same} of {}", pixels.len());

    for pointer in pointers {
        app.world_mut().despawn(pointer);
    }

    // Events reach the entity, with the bone.
    let bones_hit = Arc::new(Mutex::new(Vec::new()));
    let sink = bones_hit.clone();
    app.world_mut().entity_mut(soldiers[3]).observe(move |over: On<PointerOver>| {
        let hit = over.hit.extra_as::<RayHit<Soldier>>().unwrap();
        assert_eq!(over.hit.position, Some(hit.position.into()));
        sink.lock().unwrap().push(hit.bone.unwrap().index());
    });
    let head = (0..all.len()).find(|i| shows[*i] == Some(soldiers[3])).unwrap() as u32 + 6 * WIDTH;
    app.world_mut().spawn((id(pixels.len()), location(head % WIDTH, head / WIDTH)));
    app.update();
    assert_eq!(*bones_hit.lock().unwrap(), [bones::SOLDIER_HEAD.index()]);

    // The pointer hits the next character behind one that is no target, is not shown, or lets pointers through.
    let over = |app: &mut App| {
        (0..2).for_each(|_| app.update());
        app.world().resource::<Hits>().0.get(&id(pixels.len())).map(|picks| picks.iter().map(|(e, _)| *e).collect())
    };
    let behind: Option<Vec<Entity>> = Some(vec![soldiers[3]]);
    assert_eq!(over(&mut app), behind);
    app.world_mut().entity_mut(soldiers[3]).insert(Pickable::IGNORE);
    let other = over(&mut app);
    assert_ne!(other, behind);
    app.world_mut().entity_mut(soldiers[3]).remove::<Pickable>().insert(RenderLayers::layer(4));
    assert_eq!(over(&mut app), other);
    app.world_mut().entity_mut(soldiers[3]).remove::<RenderLayers>().insert(Visibility::Hidden);
    assert_eq!(over(&mut app), other);
    let through = Pickable { should_block_lower: false, is_hoverable: true };
    app.world_mut().entity_mut(soldiers[3]).insert((Visibility::Visible, through));
    let both: Vec<_> = [soldiers[3]].into_iter().chain(other.into_iter().flatten()).collect();
    assert_eq!(over(&mut app), Some(both));
}
