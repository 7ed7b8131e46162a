//! Picking: rays of Bevy's pointers on the triangles of characters.

use bevy::camera::visibility::RenderLayers;
use bevy::ecs::entity::EntityHashMap;
use bevy::picking::backend::ray::RayMap;
use bevy::picking::backend::{HitData, PointerHits};
use bevy::picking::{Pickable, PickingSystems};
use bevy::prelude::*;
use gpuskin_rt::{
    Appearance, BakedModel, InstancePose, InstanceRecord, LayerSet, PosedInstance, Ray, RayCaster, Time as Timestamp,
};

use crate::bake::Bake;
use crate::character::Character;
use crate::collect::instance_transform;
use crate::live::LiveBones;

pub(crate) fn build<M: BakedModel>(app: &mut App) {
    app.add_systems(PreUpdate, pick::<M>.in_set(PickingSystems::Backend).run_if(resource_exists::<RayMap>));
}

/// Mesh and animation of a model, read when the first pointer is there.
#[derive(Default)]
enum Mesh<M> {
    #[default]
    Unread,
    Failed,
    Read(Box<RayCaster<'static, M>>),
}

/// A character that a pointer may hit.
type Target<M> = (
    Entity,
    &'static Character<M>,
    &'static GlobalTransform,
    &'static InheritedVisibility,
    (Option<&'static RenderLayers>, Option<&'static Pickable>, Option<&'static LiveBones<M>>),
);

/// A character whose bounding box a ray reaches.
struct Reached<'a> {
    entity: Entity,
    record: InstanceRecord,
    layers: Option<&'a LayerSet>,
    live: Option<gpuskin_rt::LiveBones<'a>>,
    hidden: u32,
    blocks: bool,
    /// Metres.
    distance: f32,
}

/// Casts the rays of all pointers on the characters as they were drawn last.
fn pick<M: BakedModel>(
    bake: Res<Bake<M>>,
    time: Res<Time<Virtual>>,
    rays: Res<RayMap>,
    cameras: Query<(&Camera, Option<&RenderLayers>)>,
    characters: Query<Target<M>>,
    mut mesh: Local<Mesh<M>>,
    mut hits: MessageWriter<PointerHits>,
) {
    if bake.is_changed() {
        *mesh = Mesh::Unread;
    }
    if rays.map.is_empty() || characters.is_empty() {
        return;
    }
    if matches!(*mesh, Mesh::Unread) {
        *mesh = match RayCaster::<M>::reloaded(bake.model()) {
            Ok(caster) => Mesh::Read(Box::new(caster)),
            Err(error) => {
                error!("pointers do not hit the characters of the model {}: {error}", M::MODEL.meta.name);
                Mesh::Failed
            }
        };
    }
    let Mesh::Read(caster) = &*mesh else { return };
    let drawn = Timestamp::from_secs((time.elapsed() - time.delta()).as_secs_f64());
    let sphere = Sphere::around(&bake.meta().bounds);
    let default = const { &RenderLayers::layer(0) };
    let mut posed: EntityHashMap<PosedInstance<'_, M>> = EntityHashMap::default();
    for (id, ray) in rays.iter() {
        let Ok((camera, camera_layers)) = cameras.get(id.camera) else { continue };
        let camera_layers = camera_layers.unwrap_or(default);
        let cast = Ray { origin: ray.origin.to_array(), direction: ray.direction.to_array() };
        let mut reached: Vec<_> = characters
            .iter()
            .filter_map(|(entity, character, place, visibility, (layers, pickable, live))| {
                // The cheapest test that most characters fail.
                let is_far = live.is_none() && sphere.is_far(ray, place);
                if is_far && !character.has_released_pose() {
                    return None;
                }
                let is_shown = visibility.get() && layers.unwrap_or(default).intersects(camera_layers);
                let is_target = is_shown && pickable.is_none_or(|pickable| pickable.is_hoverable);
                let (playing, released) = character.last_frame(drawn).filter(|_| is_target)?;
                let live = match live.and_then(LiveBones::pose) {
                    Some(pose) => Some(pose),
                    None => (!released.is_empty()).then_some(gpuskin_rt::LiveBones::Model(released)),
                };
                if is_far && live.is_none() {
                    return None;
                }
                let mut record = playing.record;
                record.set_transform(instance_transform(place.compute_transform()));
                let layers = playing.layers.as_deref();
                let distance = caster.reach(&cast, pose(&record, layers, live), drawn)?;
                let blocks = pickable.is_none_or(|pickable| pickable.should_block_lower);
                Some(Reached { entity, record, layers, live, hidden: playing.hidden, blocks, distance })
            })
            .collect();
        reached.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance));
        let (mut picks, mut blocked) = (Vec::new(), f32::INFINITY);
        for Reached { entity, record, layers, live, hidden, blocks, distance } in reached {
            if distance > blocked {
                break;
            }
            let posed = posed.entry(entity).or_insert_with(|| caster.pose(pose(&record, layers, live), drawn));
            let Some(hit) = posed.hit(&cast, &Appearance { hidden, ..Appearance::default() }) else { continue };
            if blocks {
                blocked = blocked.min(hit.distance);
            }
            let (position, normal) = (Some(hit.position.into()), Some(hit.normal.into()));
            picks.push((entity, HitData::new_with_extra(id.camera, hit.distance, position, normal, hit)));
        }
        if !picks.is_empty() {
            hits.write(PointerHits::new(id.pointer, picks, camera.order as f32));
        }
    }
}

fn pose<'a>(
    record: &'a InstanceRecord,
    layers: Option<&'a LayerSet>,
    live: Option<gpuskin_rt::LiveBones<'a>>,
) -> InstancePose<'a> {
    let pose = InstancePose::new(record);
    let pose = layers.map_or(pose, |layers| pose.with_layers(layers));
    live.map_or(pose, |live| pose.with_live_bones(live))
}

/// Sphere that contains every pose without live bones. Model space, metres.
struct Sphere {
    center: Vec3,
    radius: f32,
}

impl Sphere {
    /// Makes the sphere of a model from the bounds of its clips.
    fn around(bounds: &gpuskin_rt::Aabb) -> Self {
        let (min, max) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
        // Layers leave the box by half of its diagonal per axis at most, as `gpuskin_rt` culls them.
        let diagonal = (max - min).length();
        Self { center: 0.5 * (min + max), radius: diagonal * 0.5 * (1.0 + 3.0_f32.sqrt()) }
    }

    /// Whether a ray passes a character at a distance; `false` if its scale is not uniform.
    fn is_far(&self, ray: &Ray3d, place: &GlobalTransform) -> bool {
        let affine = place.affine();
        let matrix = affine.matrix3;
        let squares = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| axis.length_squared());
        let (least, greatest) =
            (squares[0].min(squares[1]).min(squares[2]), squares[0].max(squares[1]).max(squares[2]));
        // Mirrored characters are drawn otherwise, too.
        if greatest - least > 1e-3 * greatest || matrix.determinant() <= 0.0 {
            return false;
        }
        let to_center = affine.transform_point3(self.center) - ray.origin;
        let aside = to_center - *ray.direction * ray.direction.dot(to_center).max(0.0);
        aside.length_squared() > self.radius * self.radius * greatest * 1.01
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use bevy::picking::backend::ray::RayId;
    use bevy::picking::pointer::PointerId;
    use bevy_gpuskin_sample_models::{bones, clips, models::Soldier};

    use super::*;
    use crate::collect::{collect, finish};
    use crate::live::collect_live;
    use crate::outbox::Outbox;

    /// Hits of the last frame: entity and distance, metres.
    #[derive(Resource, Default)]
    struct Hits(Vec<(Entity, f32)>);

    fn keep(mut hits: ResMut<Hits>, mut messages: MessageReader<PointerHits>) {
        hits.0 = messages.read().flat_map(|hits| &hits.picks).map(|(entity, hit)| (*entity, hit.depth)).collect();
    }

    /// An app with a pointer per ray.
    fn app(rays: &[Ray3d]) -> App {
        let mut app = App::new();
        app.init_resource::<Outbox<Soldier>>().init_resource::<Time<Virtual>>().init_resource::<Hits>();
        app.init_resource::<Bake<Soldier>>();
        app.add_message::<PointerHits>();
        let camera = app.world_mut().spawn(Camera::default()).id();
        let map = (0..).zip(rays).map(|(i, ray)| (RayId::new(camera, PointerId::Touch(i)), *ray));
        app.insert_resource(RayMap { map: map.collect() });
        let collects = (collect::<Soldier>, collect_live::<Soldier>, finish::<Soldier>).chain();
        app.add_systems(PreUpdate, (pick::<Soldier>, keep).chain()).add_systems(PostUpdate, collects);
        app
    }

    fn soldier(place: Transform) -> (Character<Soldier>, GlobalTransform, InheritedVisibility) {
        let shown = InheritedVisibility::VISIBLE;
        (Character::playing(clips::SOLDIER_IDLE).speed(0.0), GlobalTransform::from(place), shown)
    }

    fn advance(app: &mut App, seconds: f32) {
        app.world_mut().resource_mut::<Time<Virtual>>().advance_by(Duration::from_secs_f32(seconds));
        app.update();
    }

    fn ray(from: Vec3, to: Vec3) -> Ray3d {
        Ray3d::new(from, Dir3::new(to - from).unwrap())
    }

    #[test]
    fn live_bones_that_have_faded_out_do_not_count() {
        let mut app = app(&[]);
        let entity = app.world_mut().spawn(soldier(Transform::IDENTITY)).id();
        let body = app.world_mut().spawn(GlobalTransform::from_xyz(9.0, 1.0, 0.0)).id();
        advance(&mut app, 0.1);
        let live = LiveBones::<Soldier>::bodies([(bones::SOLDIER_HEAD, body)]).fading(0.5);
        app.world_mut().entity_mut(entity).insert(live);
        advance(&mut app, 0.1);
        app.world_mut().entity_mut(entity).remove::<LiveBones<Soldier>>();
        advance(&mut app, 0.1);
        let released = |app: &App, seconds: f64| {
            let character = app.world().get::<Character<Soldier>>(entity).unwrap();
            !character.last_frame(Timestamp::from_secs(seconds)).unwrap().1.is_empty()
        };
        assert!(released(&app, 0.4) && !released(&app, 2.0));
    }

    /// Prints the time per pointer. Needs optimised code:
    /// `cargo test --features picking --lib --config profile.dev.package.bevy_gpuskin.opt-level=3 pointers -- --ignored --nocapture`.
    #[test]
    #[ignore = "a measurement"]
    fn pointers_among_ten_thousand_characters() {
        let eye = Vec3::new(0.0, 12.0, 40.0);
        for (name, to) in [
            ("sky", Vec3::new(0.0, 30.0, 0.0)),
            ("near", Vec3::new(0.3, 1.0, 30.0)),
            ("along the ground", Vec3::new(3.0, 1.2, -60.0)),
        ] {
            let from = if name == "along the ground" { eye.with_y(1.4) } else { eye };
            let mut app = app(&[ray(from, to)]);
            let place = |i: i32| Transform::from_xyz((i % 100 - 50) as f32, 0.0, (i / 100 - 70) as f32);
            let soldiers: Vec<_> = (0..10_000).map(|i| soldier(place(i))).collect();
            app.world_mut().spawn_batch(soldiers);
            (0..3).for_each(|_| advance(&mut app, 0.01));
            let hits = app.world().resource::<Hits>().0.len();
            let mut times: Vec<_> = (0..50)
                .map(|_| {
                    let start = Instant::now();
                    app.world_mut().run_schedule(PreUpdate);
                    start.elapsed()
                })
                .collect();
            times.sort_unstable();
            println!("{name}: {:?} per pointer, {hits} hits", times[times.len() / 2]);
        }
    }
}
