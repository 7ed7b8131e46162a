//! Vertices of a LOD at places that move.

use std::collections::BTreeMap;

use glam::{DAffine3, DVec3, Vec3};

use super::poses::{BonePoses, LodPoses};
use super::vertices::LevelVertices;

/// Vertices of a LOD. Those at one place move together, so that the surface stays closed.
pub(super) struct PlacedVertices {
    /// Place of each vertex.
    pub(super) places: Vec<u32>,
    /// Whether each place may move.
    pub(super) free: Vec<bool>,
    /// Skinning matrices. `[vertex][pose]`
    pub(super) skinning: Vec<Vec<DAffine3>>,
    /// Positions of vertices that must stay as they are. `[vertex][pose]`
    fixed: Vec<Option<Vec<Vec3>>>,
    /// Least and greatest coordinates of the vertices of the mesh, between which coordinates can be stored.
    range: [Vec3; 2],
}

impl PlacedVertices {
    /// Returns the vertices, and their places before skinning. `poses`: positions of the vertices of the mesh.
    pub(super) fn new(level: &LevelVertices<'_>, bones: &BonePoses, poses: &LodPoses) -> (Self, Vec<DVec3>) {
        let mut known = BTreeMap::new();
        let (mut at, mut places, mut free, mut fixed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (vertex, own) in level.vertices.iter().enumerate() {
            let bits = [own.vertex.position, poses[0][own.of as usize]].map(|p| (p + 0.0).to_array().map(f32::to_bits));
            let place = *known.entry(bits).or_insert(at.len());
            if place == at.len() {
                at.push(own.vertex.position.as_dvec3());
                free.push(true);
            }
            let stays = level.is_fixed(vertex);
            free[place] &= !stays;
            places.push(place as u32);
            fixed.push(stays.then(|| poses.iter().map(|pose| pose[own.of as usize]).collect()));
        }
        let skinning = level.vertices.iter().map(|own| bones.affines(&own.vertex)).collect();
        (Self { places, free, skinning, fixed, range: level.range() }, at)
    }

    /// Returns vertices at these places, with one skinning matrix.
    #[cfg(test)]
    pub(super) fn of_places(places: &[u32], free: &[bool], skinning: DAffine3) -> Self {
        let skinning = vec![vec![skinning]; places.len()];
        let range = [Vec3::NEG_INFINITY, Vec3::INFINITY];
        Self { places: places.to_vec(), free: free.to_vec(), fixed: vec![None; places.len()], skinning, range }
    }

    /// Returns a place before skinning as vertices there will be stored.
    pub(super) fn stored(&self, at: DVec3) -> DVec3 {
        at.as_vec3().clamp(self.range[0], self.range[1]).as_dvec3()
    }

    /// Returns the positions of the vertices whose places are `at` before skinning. `count`: number of poses. `[pose][vertex]`
    pub(super) fn positions(&self, at: &[DVec3], count: usize) -> LodPoses {
        let of = |vertex: usize, pose: usize| match &self.fixed[vertex] {
            Some(fixed) => fixed[pose],
            None => self.skinning[vertex][pose].transform_point3(at[self.places[vertex] as usize]).as_vec3(),
        };
        (0..count).map(|pose| (0..self.places.len()).map(|vertex| of(vertex, pose)).collect()).collect()
    }

    /// Moves the vertices of a LOD to their places.
    pub(super) fn place(&self, at: &[DVec3], level: &mut LevelVertices<'_>) {
        for (own, place) in level.vertices.iter_mut().zip(&self.places) {
            if self.free[*place as usize] {
                own.vertex.position = at[*place as usize].as_vec3();
            }
        }
    }
}
