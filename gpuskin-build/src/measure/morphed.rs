//! Points that morph targets move: their positions and normals before skinning change over time.

use std::collections::BTreeMap;

use glam::{DVec3, Vec3};
use gpuskin_rt::internals::morph::MorphDelta;

use super::DrawnModel;
use super::bone_matrices::BoneMatrices;
use super::bone_term::BoneTerm;
use crate::geometry::morphs::source_deltas;
use crate::model::{Model, Primitive};

/// A point that morph targets move, at rest.
#[derive(Clone)]
pub(super) struct MorphedPoint {
    pub(super) rest: [Placed; 2],
    /// Source weight and drawn weight of each bone of the group.
    pub(super) weights: Vec<[f64; 2]>,
    deltas: Vec<PointDelta>,
}

/// Position and normal before skinning.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub(super) position: DVec3,
    /// Zero if there is none.
    pub(super) normal: DVec3,
}

/// Deltas of a source vertex and of its drawn vertex, per metre of the bone's translation.
#[derive(Clone)]
struct PointDelta {
    /// Index of the bone times 3, plus the axis.
    row: u32,
    source: Placed,
    drawn: Placed,
}

impl MorphedPoint {
    /// Returns the point of a source vertex; `None` if no target moves it. `source` and `baked`: indices of the source
    /// vertex in its primitive, and of the drawn vertex.
    pub(super) fn new(
        model: &Model,
        drawn: &DrawnModel<'_>,
        primitive: &Primitive,
        (source, baked): (usize, usize),
        entries: &[BoneTerm],
    ) -> Option<Self> {
        let mut shown: Vec<MorphDelta> = drawn.morphs.of(baked).collect();
        let mut deltas: Vec<PointDelta> = Vec::new();
        for (track, [position, normal, _]) in source_deltas(model, primitive, source) {
            let row = (3 * track.bone + track.axis) as u32;
            let found = shown.iter().position(|delta| delta.row == row);
            let own = found.map_or_else(MorphDelta::default, |at| shown.swap_remove(at));
            let source = Placed { position: position / track.scale, normal: normal / track.scale };
            let drawn = Placed { position: own.position.as_dvec3(), normal: own.normal.as_dvec3() };
            if [source.position, source.normal, drawn.position, drawn.normal] != [DVec3::ZERO; 4] {
                deltas.push(PointDelta { row, source, drawn });
            }
        }
        if deltas.is_empty() {
            return None;
        }
        let vertex = &drawn.vertices[baked];
        let normal = primitive.normals.as_ref().map_or(DVec3::ZERO, |normals| normals[source]);
        let rest = [
            Placed { position: primitive.positions[source], normal },
            Placed { position: vertex.position.as_dvec3(), normal: vertex.normal.as_dvec3() },
        ];
        let weights = entries.iter().map(|entry| [entry.source[3], entry.drawn[3]].map(f64::from)).collect();
        Some(Self { rest, weights, deltas })
    }

    /// Returns the point in a pose, source and drawn.
    pub(super) fn at(&self, bones: &[BoneMatrices]) -> [Placed; 2] {
        let mut posed = self.rest;
        for delta in &self.deltas {
            let weights = translations(bones, delta.row);
            for ((posed, delta), weight) in posed.iter_mut().zip([&delta.source, &delta.drawn]).zip(weights) {
                posed.position += delta.position * weight;
                posed.normal += delta.normal * weight;
            }
        }
        // Without a normal of the source, there is none to compare.
        if self.rest[0].normal == DVec3::ZERO {
            posed.iter_mut().for_each(|placed| placed.normal = DVec3::ZERO);
        }
        posed
    }
}

/// Greatest deltas of the points of a group, by target.
#[derive(Clone, Debug, Default)]
pub(super) struct MorphReach {
    targets: Vec<TargetReach>,
    /// Greatest chord between a source normal and its drawn normal at rest.
    packed: f64,
}

/// Greatest lengths of the deltas of a target: of the source, and of the difference to the drawn ones. Deltas of normals
/// are relative to the length of the normal.
#[derive(Clone, Copy, Debug, Default)]
struct TargetReach {
    row: u32,
    position: f64,
    packed_position: f64,
    normal: f64,
    packed_normal: f64,
}

/// Upper bounds for the points of a group in a pose.
#[derive(Clone, Copy, Debug)]
pub(super) struct MorphBound {
    /// Distance by which morph targets move a drawn point before skinning.
    pub(super) moved: f32,
    /// Distance between the movements of a point and its drawn point.
    pub(super) lost: f32,
    /// Chord between a normal and its drawn normal before skinning; infinite if unknown.
    pub(super) chord: f32,
}

impl MorphReach {
    pub(super) fn new(points: &[MorphedPoint]) -> Self {
        let mut by_row: BTreeMap<u32, TargetReach> = BTreeMap::new();
        let mut packed = 0.0_f64;
        for point in points {
            let [source, drawn] = point.rest;
            let length = source.normal.length();
            if length > 0.0 {
                packed = packed.max(f64::from(chord([source.normal.as_vec3(), drawn.normal.as_vec3()])));
            }
            for delta in &point.deltas {
                let reach = by_row.entry(delta.row).or_insert(TargetReach { row: delta.row, ..TargetReach::default() });
                reach.position = reach.position.max(delta.source.position.length());
                reach.packed_position = reach.packed_position.max(delta.source.position.distance(delta.drawn.position));
                if length > 0.0 {
                    let own = delta.source.normal / length;
                    reach.normal = reach.normal.max(own.length());
                    reach.packed_normal = reach.packed_normal.max(own.distance(delta.drawn.normal));
                }
            }
        }
        Self { targets: by_row.into_values().collect(), packed }
    }

    /// Returns the bounds in a pose; `None` if no weight moves a point of the group.
    pub(super) fn bound(&self, bones: &[BoneMatrices]) -> Option<MorphBound> {
        let (mut moved, mut lost, mut turned, mut lost_turn) = (0.0, 0.0, 0.0, 0.0);
        for target in &self.targets {
            let [source, drawn] = translations(bones, target.row);
            let (apart, drawn) = ((source - drawn).abs(), drawn.abs());
            moved += drawn * (target.position + target.packed_position);
            lost += apart * target.position + drawn * target.packed_position;
            turned += (drawn + apart) * (target.normal + target.packed_normal);
            lost_turn += apart * target.normal + drawn * target.packed_normal;
        }
        if moved + lost + turned + lost_turn == 0.0 {
            return None;
        }
        // Vectors of lengths of at least l that are d apart have a chord of at most 2 d / l after both have unit length.
        let shortest = 1.0 - turned;
        let chord = if shortest > 0.0 { 2.0 * (self.packed + lost_turn) / shortest } else { f64::INFINITY };
        Some(MorphBound { moved: moved as f32, lost: lost as f32, chord: chord as f32 })
    }
}

/// Translation of a bone along an axis, source and drawn.
fn translations(bones: &[BoneMatrices], row: u32) -> [f64; 2] {
    let (bone, axis) = (&bones[row as usize / 3], row as usize % 3);
    let drawn = f64::from(bone.drawn[axis][3]);
    [drawn + f64::from(bone.difference[axis][3]), drawn]
}

/// Returns the distance between two vectors after both are made of unit length.
pub(super) fn chord([source, drawn]: [Vec3; 2]) -> f32 {
    source.normalize().distance(drawn.normalize())
}
