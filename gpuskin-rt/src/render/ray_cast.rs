//! Rays against the triangles of posed instances, on the CPU.

use core::fmt;
use core::marker::PhantomData;

use glam::Vec3;

use super::cpu_model::{CpuModel, indices};
use super::payload::load;
use super::{Error, model_checks};
use crate::cull::{instance_box, pack_bounds};
use crate::{Appearance, BakedModel, Bone, Dynamic, InstancePose, Metadata, Model, Time};

/// Casts rays on the triangles of posed instances, on the CPU: for picking, projectiles and hit zones.
///
/// The poses are those that the GPU draws, with crossfades, layers and live bones, in the finest level of detail. Holes of cut-out
/// materials are hit; attachments are not. Back faces are hit if their material is double-sided.
///
/// ```
/// # use gpuskin_rt::*;
/// # fn example<Soldier: BakedModel>(soldiers: &[InstanceRecord], now: Time) -> Result<(), Error> {
/// let caster = RayCaster::<Soldier>::new()?;                    // once
/// let ray = Ray { origin: [0.0, 1.6, 0.0], direction: [0.0, 0.0, -1.0] };
/// // The box of an instance costs little, its triangles as much as skinning all its vertices.
/// for soldier in soldiers.iter().filter(|soldier| caster.reach(&ray, *soldier, now).is_some()) {
///     if let Some(hit) = caster.pose(soldier, now).hit(&ray, &Appearance::default()) {
///         println!("{:?} is hit at {} m", hit.bone, hit.distance);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RayCaster<'m, M> {
    meta: &'m Metadata,
    mesh: CpuModel<'m>,
    triangles: Vec<Triangle>,
    /// Words of [`pack_bounds`]; `None`: everything may be hit.
    bounds: Option<Vec<u32>>,
    model: PhantomData<fn() -> M>,
}

#[derive(Debug)]
struct Triangle {
    vertices: [u32; 3],
    /// Bits of [`Appearance::hidden`] that hide it.
    hidden: u32,
    double_sided: bool,
}

/// A ray. World space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Start, metres.
    pub origin: [f32; 3],
    /// Direction, of any length.
    pub direction: [f32; 3],
}

/// Point at which a [`Ray`] hits an instance. World space.
#[non_exhaustive]
pub struct RayHit<M> {
    /// Distance from the origin of the ray, metres.
    pub distance: f32,
    /// Position, metres.
    pub position: [f32; 3],
    /// Unit normal of the triangle, on its front side.
    pub normal: [f32; 3],
    /// Bone that moves the point most; `None` for a model that was baked in vertex mode.
    pub bone: Option<Bone<M>>,
}

// Not derived: a derive would require the same trait of `M`.
impl<M> Clone for RayHit<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for RayHit<M> {}

impl<M> PartialEq for RayHit<M> {
    fn eq(&self, other: &Self) -> bool {
        (self.distance, self.position, self.normal, self.bone)
            == (other.distance, other.position, other.normal, other.bone)
    }
}

impl<M> fmt::Debug for RayHit<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { distance, position, normal, bone } = self;
        let mut hit = f.debug_struct("RayHit");
        hit.field("distance", distance).field("position", position).field("normal", normal);
        hit.field("bone", &bone.map(Bone::index)).finish()
    }
}

/// Triangles of an instance at a time: made by [`RayCaster::pose`].
#[derive(Debug)]
pub struct PosedInstance<'c, M> {
    caster: &'c RayCaster<'c, M>,
    /// World space, metres.
    positions: Vec<Vec3>,
}

impl<M: BakedModel> RayCaster<'static, M> {
    /// Reads the mesh and the animation of a model that is baked into the program.
    ///
    /// # Errors
    /// If a file of the model is missing or comes from another bake, or the model contradicts itself.
    pub fn new() -> Result<Self, Error> {
        Self::of(M::MODEL)
    }
}

impl<'m, M: BakedModel> RayCaster<'m, M> {
    /// Reads the mesh and the animation of a later bake of the model, loaded at run time, as
    /// [`Crowd::reloaded`](crate::Crowd::reloaded) draws it.
    ///
    /// # Errors
    /// If the loaded model lacks what the program's constants name, or has it in another order; or as [`RayCaster::new`].
    pub fn reloaded(model: &'m Model) -> Result<Self, Error> {
        model_checks::constants::<M>(model)?;
        Self::of(model)
    }
}

impl<'m> RayCaster<'m, Dynamic> {
    /// Reads the mesh and the animation of a model that is known only at run time.
    ///
    /// # Errors
    /// If a file of the model is missing or comes from another bake, or the model contradicts itself.
    pub fn with_model(model: &'m Model) -> Result<Self, Error> {
        Self::of(model)
    }
}

impl<'m, M> RayCaster<'m, M> {
    fn of(model: &'m Model) -> Result<Self, Error> {
        let (meta, mesh) = (&model.meta, CpuModel::new(model)?);
        let indices = indices(meta, &load(meta, &model.mesh)?)?;
        let mut triangles = Vec::new();
        for part in meta.mesh.parts.iter() {
            let first = part.first_index as usize;
            let of_part = indices.get(first..first + part.index_count as usize).unwrap_or_default();
            let hidden = Appearance::INVISIBLE_BIT | part.part.map_or(0, Appearance::part_bit);
            let double_sided = meta.materials.get(part.material as usize).is_some_and(|material| material.double_sided);
            let triangle = |vertices: &[u32; 3]| Triangle { vertices: *vertices, hidden, double_sided };
            triangles.extend(of_part.as_chunks().0.iter().map(triangle));
        }
        Ok(Self { meta, mesh, triangles, bounds: pack_bounds(meta), model: PhantomData })
    }

    /// Returns the metadata of the model.
    #[doc(hidden)]
    pub fn meta(&self) -> &'m Metadata {
        self.meta
    }

    /// Returns the distance, metres, at which a ray reaches the bounding box of an instance at `time`: 0 if it starts inside, and for
    /// an instance with live bones, which have no bounds. `None`: the ray does not hit the instance.
    pub fn reach<'a>(&self, ray: &Ray, pose: impl Into<InstancePose<'a>>, time: impl Into<Time>) -> Option<f32> {
        let (pose, time) = (pose.into(), time.into());
        let (origin, direction) = ray.unit()?;
        let layers = pose.layers.filter(|layers| !layers.is_over(time));
        let live = layers.is_some_and(|layers| layers.has_live_bones(time));
        let record = pose.record.with_layer_set(layers.is_some().into());
        let bounds = self.bounds.as_ref().filter(|_| record.clip_index() < self.meta.clips.len());
        match bounds.and_then(|bounds| instance_box(bounds, &record, live, time)) {
            Some((centre, edges)) => box_distance(origin, direction, centre, edges),
            None => Some(0.0),
        }
    }

    /// Poses the triangles of an instance at `time`. `pose` is an instance record, or an [`InstancePose`] for an instance with
    /// layers or live bones.
    pub fn pose<'a>(&self, pose: impl Into<InstancePose<'a>>, time: impl Into<Time>) -> PosedInstance<'_, M> {
        let (InstancePose { record, layers, live }, time) = (pose.into(), time.into());
        let over = layers.map(|layers| layers.sample(&self.mesh.records, live, time));
        let in_model = self.mesh.positions(record.pose_blend(&self.mesh.records, time), over.as_ref());
        PosedInstance { caster: self, positions: in_model.into_iter().map(|p| record.point(p)).collect() }
    }

    /// Returns the bone with the greatest weight at a point of a triangle. `weights`: of its vertices.
    fn bone(&self, triangle: &Triangle, weights: [f32; 3]) -> Option<Bone<M>> {
        if self.meta.encoding.is_vertex() {
            return None;
        }
        let mut sums: Vec<(u32, f32)> = Vec::new();
        for (vertex, share) in triangle.vertices.into_iter().zip(weights) {
            let vertex = self.mesh.vertex(vertex);
            for (joint, weight) in vertex.joints.into_iter().zip(vertex.weights) {
                match sums.iter_mut().find(|(bone, _)| *bone == joint) {
                    Some((_, sum)) => *sum += share * weight,
                    None => sums.push((joint, share * weight)),
                }
            }
        }
        let most = sums.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        u16::try_from(most.0).ok().map(Bone::new)
    }
}

impl<M> PosedInstance<'_, M> {
    /// Returns the nearest point at which a ray hits the instance. `appearance` decides which parts are visible.
    pub fn hit(&self, ray: &Ray, appearance: &Appearance) -> Option<RayHit<M>> {
        let (origin, direction) = ray.unit()?;
        let mut nearest: Option<(f32, [f32; 3], &Triangle, Vec3)> = None;
        for triangle in self.caster.triangles.iter().filter(|triangle| triangle.hidden & appearance.hidden == 0) {
            let [a, b, c] = triangle.vertices.map(|vertex| self.positions[vertex as usize]);
            let Some((distance, weights, normal)) = triangle_hit(origin, direction, [a, b, c], triangle.double_sided)
            else {
                continue;
            };
            if nearest.as_ref().is_none_or(|(nearest, ..)| distance < *nearest) {
                nearest = Some((distance, weights, triangle, normal));
            }
        }
        let (distance, weights, triangle, normal) = nearest?;
        Some(RayHit {
            distance,
            position: (origin + direction * distance).into(),
            normal: normal.normalize_or_zero().into(),
            bone: self.caster.bone(triangle, weights),
        })
    }
}

impl Ray {
    /// Returns the origin and the unit direction; `None` if the ray has no direction.
    fn unit(&self) -> Option<(Vec3, Vec3)> {
        let origin = Vec3::from(self.origin);
        Vec3::from(self.direction).try_normalize().filter(|_| origin.is_finite()).map(|direction| (origin, direction))
    }
}

/// Returns the distance at which a ray reaches a box; `None` if it misses the box. `edges`: half edges.
fn box_distance(origin: Vec3, direction: Vec3, centre: Vec3, edges: [Vec3; 3]) -> Option<f32> {
    let (mut near, mut far) = (0.0_f32, f32::INFINITY);
    // A box without extent along an axis has no plane there.
    for edge in edges.into_iter().filter(|edge| edge.length_squared() > 0.0) {
        // In half edges.
        let square = edge.length_squared();
        let (to_centre, along) = (edge.dot(centre - origin) / square, edge.dot(direction) / square);
        if along == 0.0 {
            if to_centre.abs() > 1.0 {
                return None;
            }
            continue;
        }
        let (a, b) = ((to_centre - 1.0) / along, (to_centre + 1.0) / along);
        (near, far) = (near.max(a.min(b)), far.min(a.max(b)));
    }
    (near <= far).then_some(near)
}

/// Returns the distance at which a ray hits a triangle, the weights of its corners there, and its normal, of any length.
fn triangle_hit(
    origin: Vec3,
    direction: Vec3,
    [a, b, c]: [Vec3; 3],
    double_sided: bool,
) -> Option<(f32, [f32; 3], Vec3)> {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    // Positive on the front side.
    let facing = -direction.dot(normal);
    if facing == 0.0 || !double_sided && facing < 0.0 {
        return None;
    }
    let from_a = origin - a;
    let across = from_a.cross(direction);
    let (v, w) = (ac.dot(across) / facing, -ab.dot(across) / facing);
    let distance = from_a.dot(normal) / facing;
    // A NaN is outside.
    let inside = v >= 0.0 && w >= 0.0 && v + w <= 1.0 && distance >= 0.0;
    inside.then_some((distance, [1.0 - v - w, v, w], normal))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIANGLE: [Vec3; 3] = [Vec3::ZERO, Vec3::new(2.0, 0.0, 0.0), Vec3::new(0.0, 4.0, 0.0)];

    #[test]
    fn triangles_are_hit_from_the_front() {
        let towards = |x, y| (Vec3::new(x, y, 3.0), Vec3::NEG_Z);
        let hit = |(origin, direction), double_sided| triangle_hit(origin, direction, TRIANGLE, double_sided);
        let (distance, weights, normal) = hit(towards(0.5, 1.0), false).unwrap();
        assert_eq!((distance, weights), (3.0, [0.5, 0.25, 0.25]));
        assert_eq!(normal.normalize(), Vec3::Z);
        for (x, y) in [(-0.1, 1.0), (0.5, -0.1), (1.5, 1.5)] {
            assert!(hit(towards(x, y), true).is_none(), "{x}, {y}");
        }
        let behind = (Vec3::new(0.5, 1.0, -3.0), Vec3::Z);
        assert!(hit(behind, false).is_none());
        assert_eq!(hit(behind, true).unwrap().0, 3.0);
        assert!(hit((Vec3::new(0.5, 1.0, 3.0), Vec3::Z), true).is_none(), "away");
        assert!(hit((Vec3::new(0.5, 1.0, 0.0), Vec3::X), true).is_none(), "parallel");
    }

    #[test]
    fn boxes_are_reached_at_their_faces() {
        let edges = [Vec3::X * 2.0, Vec3::Y, Vec3::Z];
        let centre = Vec3::new(10.0, 0.0, 0.0);
        assert_eq!(box_distance(Vec3::ZERO, Vec3::X, centre, edges), Some(8.0));
        assert_eq!(box_distance(Vec3::ZERO, Vec3::NEG_X, centre, edges), None);
        assert_eq!(box_distance(centre, Vec3::Y, centre, edges), Some(0.0));
        assert_eq!(box_distance(Vec3::Y * 1.1, Vec3::X, centre, edges), None);
        let flat = [Vec3::X * 2.0, Vec3::ZERO, Vec3::Z];
        assert_eq!(box_distance(Vec3::ZERO, Vec3::X, centre, flat), Some(8.0));
        let turned = edges.map(|edge| glam::Quat::from_rotation_y(0.5) * edge);
        assert!(
            (box_distance(Vec3::ZERO, Vec3::X, centre, turned).unwrap() - (10.0 - 2.0 / 0.5_f32.cos())).abs() < 0.3
        );
    }
}
