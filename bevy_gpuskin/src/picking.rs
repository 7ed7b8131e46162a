//! Picking: rays of Bevy's pointers on the triangles of characters.

use bevy::camera::visibility::RenderLayers;
use bevy::ecs::entity::EntityHashMap;
use bevy::picking::backend::ray::RayMap;
use bevy::picking::backend::{HitData, PointerHits};
use bevy::picking::{Pickable, PickingSystems};
use bevy::prelude::*;
use gpuskin_rt::{Appearance, BakedModel, InstancePose, InstanceRecord, LayerSet, PosedInstance, Ray, RayCaster};

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
    time: Res<Time<Virtual>>,
    rays: Res<RayMap>,
    cameras: Query<(&Camera, Option<&RenderLayers>)>,
    characters: Query<Target<M>>,
    mut mesh: Local<Mesh<M>>,
    mut hits: MessageWriter<PointerHits>,
) {
    if rays.map.is_empty() || characters.is_empty() {
        return;
    }
    if matches!(*mesh, Mesh::Unread) {
        *mesh = match RayCaster::<M>::new() {
            Ok(caster) => Mesh::Read(Box::new(caster)),
            Err(error) => {
                error!("pointers do not hit the characters of the model {}: {error}", M::MODEL.meta.name);
                Mesh::Failed
            }
        };
    }
    let Mesh::Read(caster) = &*mesh else { return };
    let drawn = (time.elapsed() - time.delta()).as_secs_f64();
    let radius = radius(&M::MODEL.meta.bounds);
    let default = const { &RenderLayers::layer(0) };
    let mut posed: EntityHashMap<PosedInstance<'_, M>> = EntityHashMap::default();
    for (id, ray) in rays.iter() {
        let Ok((camera, camera_layers)) = cameras.get(id.camera) else { continue };
        let camera_layers = camera_layers.unwrap_or(default);
        let cast = Ray { origin: ray.origin.to_array(), direction: ray.direction.to_array() };
        let mut reached: Vec<_> = characters
            .iter()
            .filter_map(|(entity, character, place, visibility, (layers, pickable, live))| {
                let is_shown = visibility.get() && layers.unwrap_or(default).intersects(camera_layers);
                let is_target = is_shown && pickable.is_none_or(|pickable| pickable.is_hoverable);
                let (playing, released) = character.last_frame().filter(|_| is_target)?;
                let live = match live.and_then(LiveBones::pose) {
                    Some(pose) => Some(pose),
                    None => (!released.is_empty()).then_some(gpuskin_rt::LiveBones::Model(released)),
                };
                if live.is_none() && is_far(ray, place, radius) {
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

/// Radius of a sphere around the origin of a model that contains every pose without live bones. Metres.
fn radius(bounds: &gpuskin_rt::Aabb) -> f32 {
    let (min, max) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
    // Blends of clips leave the box.
    min.abs().max(max.abs()).length() + (max - min).length()
}

/// Whether a ray passes a character at a distance. `radius`: of its model, metres.
fn is_far(ray: &Ray3d, place: &GlobalTransform, radius: f32) -> bool {
    let matrix = place.affine().matrix3;
    let scale = matrix.x_axis.length_squared().max(matrix.y_axis.length_squared()).max(matrix.z_axis.length_squared());
    let to_character = place.translation() - ray.origin;
    let aside = to_character - *ray.direction * ray.direction.dot(to_character).max(0.0);
    aside.length_squared() > radius * radius * scale
}
