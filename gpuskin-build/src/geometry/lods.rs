//! Levels of detail (LODs): fewer triangles over the same vertices, and the distance of their
//! surfaces from the finest LOD.
//!
//! LODs are selected at run time by their error, so the error must hold for an animated character.
//! Vertex positions in some poses of every clip decide which triangles are removed (`collapse`, and
//! `simplify` where that does not suffice), and the distance between both surfaces is measured in all
//! of these poses (`error`).

mod cluster;
mod collapse;
mod error;
mod influences;
mod islands;
mod layers;
mod lying_pieces;
mod normals;
mod places;
mod poses;
mod positions;
mod search_budget;
mod sets;
mod simplify;
mod surface;
mod vertices;

use std::cell::{Cell, OnceCell};
use std::collections::BTreeSet;

use glam::Vec3;
use gpuskin_rt::internals::{Aabb, MAX_LODS};

use super::Geometry;
use crate::model::Model;
use cluster::Clusters;
use collapse::{Collapsed, HalfEdgeCollapse, SeamRule};
use error::LodErrorMeter;
use influences::InfluenceReduction;
use islands::IslandFit;
use lying_pieces::LyingPieces;
use normals::NormalFit;
use positions::PositionFit;
use simplify::{CollapsibleSurface, Seams};

use poses::LodPoses;
pub(crate) use poses::{BonePoses, of_vertices};
pub(crate) use vertices::VertexCopy;
use vertices::{LevelVertices, narrow_room};

/// Wanted number of triangles of the coarsest LOD, and the maximum, unless the manifest asks for more LODs.
pub(crate) const MIN_TRIANGLES: f64 = 48.0;
const MAX_COARSEST: usize = 64;
/// Wanted number of triangles of the coarsest LOD, if the manifest asks for more LODs: for characters of a few pixels.
pub(crate) const FEWEST_TRIANGLES: f64 = 12.0;
/// Maximum ratio of triangles to the finer LOD. A LOD with more is not worth a draw call.
const MAX_TRIANGLE_RATIO: f64 = 0.8;
/// Maximum ratio of triangles to the wanted number. A result with more is rejected.
const MAX_OVERSHOOT: f64 = 1.2;
/// Number of attempts to simplify a surface; each locks the vertices with the greatest error of the
/// last one.
const ATTEMPTS: usize = 3;
/// Factor of the error below which merging vertices is preferred to edge collapses. Merging
/// distorts textures and tears small pieces apart, so it must be better by this factor.
const MERGE_PREFERENCE: f32 = 0.5;
/// Minimum number of triangles of a LOD with vertices of its own. Coarser ones are so small in pictures that vertices cost more than
/// is seen of their normals.
const MIN_FITTED: usize = 500;
/// Number of vertices of a LOD per vertex of its own, at least: vertices cost time.
const VERTICES_PER_OWN: usize = 20;
/// Maximum number of triangles of a LOD whose vertices move, and lose influences. Few instances are so close that they need a finer
/// one, and its vertices would take much memory.
const MAX_SMALL: usize = 1000;
/// Maximum error of a LOD, relative to the diagonal of the mesh.
const MAX_ERROR: f32 = 0.1;

/// A coarser LOD of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LodMesh {
    /// Maximum distance of its surface from the finest LOD, in metres.
    pub(crate) error: f32,
    /// Indices of each of [`Geometry::parts`].
    pub(crate) parts: Vec<Vec<u32>>,
}

/// The coarser LODs of a mesh, and vertices that only they have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LodSet {
    /// LODs from fine to coarse.
    pub(crate) levels: Vec<LodMesh>,
    /// Vertices whose indices follow those of [`Geometry::vertices`].
    pub(crate) copies: Vec<VertexCopy>,
}

impl LodSet {
    /// Makes LODs as [`levels`] does. `may_copy`: whether they may have vertices of their own.
    pub(crate) fn new(
        model: &Model,
        geometry: &Geometry,
        bones: &BonePoses,
        (most, fewest): (usize, f64),
        may_copy: bool,
    ) -> Self {
        let poses = bones.positions(geometry);
        let measure = LodErrorMeter::new(geometry, &poses, worn(geometry));
        let mut made = Self { levels: measured_levels(geometry, &measure, most, fewest), copies: Vec::new() };
        if may_copy {
            made.add_vertices(model, geometry, bones, &measure);
        }
        made
    }

    /// Gives LODs vertices of their own: with normals that differ from those of the finest LOD, with texture coordinates where
    /// triangles crossed seams, over surfaces that would hide them, and in small LODs at other positions and with fewer influences.
    /// `measure` has the poses of the bones.
    fn add_vertices(&mut self, model: &Model, geometry: &Geometry, bones: &BonePoses, measure: &LodErrorMeter<'_>) {
        let axes = bones.rest_axes(geometry);
        let normals = NormalFit::new(geometry, &measure.poses[0], &axes);
        let influences = InfluenceReduction::new(model);
        let positions = PositionFit::new(bones, measure);
        let lying = LyingPieces::new(bones, measure);
        let islands = IslandFit::new(model, geometry, bones, &measure.poses[0]);
        let before = geometry.vertices.len();
        let mut finer = 0.0;
        for level in &mut self.levels {
            let room = narrow_room(before, self.copies.len());
            let mut copies = Vec::new();
            if count(&level.parts) >= MIN_FITTED {
                let used: BTreeSet<u32> = level.parts.iter().flatten().copied().collect();
                normals.fit(&mut level.parts, room.min(used.len() / VERTICES_PER_OWN), &mut copies);
            }
            let (moves, crossed) = (count(&level.parts) <= MAX_SMALL, islands.are_crossed(&level.parts, &copies));
            let lies = lying.any(&level.parts, &copies, level.error);
            if moves || crossed || lies {
                let mut own = LevelVertices::new(geometry, &level.parts, &copies);
                if own.vertices.len() <= room {
                    if moves {
                        influences.iter().for_each(|influences| influences.apply(&mut own, level.error));
                        level.error = positions.apply(&mut own, level.error);
                    }
                    if lies {
                        level.error = lying.apply(&mut own, level.error);
                    }
                    islands.apply(&mut own, room);
                    (level.parts, copies) = own.into_copies();
                }
            }
            level.error = level.error.max(finer);
            finer = level.error;
            let indices = level.parts.iter_mut().flatten();
            indices.filter(|index| **index >= before as u32).for_each(|index| *index += self.copies.len() as u32);
            self.copies.append(&mut copies);
        }
    }
}

/// Returns at most `most` LODs coarser than the finest, from fine to coarse. Each has about half
/// the triangles of the previous one, or fewer if a few dozen triangles would not be reached by
/// halving. `fewest`: wanted number of triangles of the coarsest, if `most` suffices.
pub(crate) fn levels(geometry: &Geometry, poses: &LodPoses, most: usize, fewest: f64) -> Vec<LodMesh> {
    measured_levels(geometry, &LodErrorMeter::new(geometry, poses, worn(geometry)), most, fewest)
}

/// Returns the LODs of [`levels`], in the poses of a meter.
fn measured_levels(geometry: &Geometry, measure: &LodErrorMeter<'_>, most: usize, fewest: f64) -> Vec<LodMesh> {
    let poses = measure.poses;
    let total = geometry.indices.len() / 3;
    let mut levels: Vec<LodMesh> = Vec::new();
    if total as f64 * MIN_TRIANGLES <= MAX_COARSEST as f64 * fewest {
        return levels;
    }
    let box_of = |p: &Vec3| Aabb { min: (*p).into(), max: (*p).into() };
    let limit = poses[0].iter().map(box_of).fold(Aabb::EMPTY, Aabb::union).diagonal() * MAX_ERROR;
    // Squares of such distances overflow.
    if !limit.is_finite() {
        return levels;
    }
    let finest: Vec<&[u32]> =
        geometry.parts.iter().map(|p| &geometry.indices[p.first_index as usize..][..p.index_count as usize]).collect();
    let surfaces = || measure.worn().iter().map(|worn| worn.iter().map(|&p| finest[p]).collect()).collect();
    let clusters = OnceCell::new();
    let mut finer: Vec<Vec<u32>> = finest.iter().map(|part| part.to_vec()).collect();
    let rules = vec![[Cell::new(0), Cell::new(0)]; measure.worn().len()];
    let mut merged: Option<MergedVertices> = None;
    for wanted in wanted(total, fewest).into_iter().take(most) {
        let Simplified { parts, collapsed, error, .. } =
            LodBuilder { geometry, poses, measure, finer: &finer, rules: &rules, limit }.find(wanted);
        let before = levels.last().map_or(total, |level| count(&level.parts));
        let too_many = count(&parts) > most_triangles(before, wanted);
        let (mut error, mut chosen) = (error.unwrap_or_else(|| measure.error(&parts)), &parts);
        // Merged vertices were never twice as close as a LOD that collapses reached: 60 LODs of shared and sample models.
        if !collapsed || too_many {
            let clusters = clusters.get_or_init(|| Clusters::new(geometry, poses, surfaces()));
            let radius = clusters.radius(wanted as usize);
            // Some LODs of a large mesh have the same radius: that of all vertices in order.
            if radius != merged.as_ref().map(|merged: &MergedVertices| merged.radius) {
                merged = radius.map(|radius| MergedVertices::new(measure, clusters, radius));
            }
            if let Some(MergedVertices { error: off, parts: merged, .. }) = &merged {
                let off = *off;
                if off < error * MERGE_PREFERENCE || too_many {
                    (error, chosen) = (off, merged);
                }
            }
        }
        if count(chosen) as f64 > before as f64 * MAX_TRIANGLE_RATIO || !error.is_finite() {
            continue;
        }
        let error = error.max(levels.last().map_or(0.0, |level| level.error));
        levels.push(LodMesh { error, parts: chosen.clone() });
        finer = parts;
    }
    levels
}

/// Returns the wanted numbers of triangles of the LODs: halves, or fewer if there are too few LODs for
/// halving. Below [`MIN_TRIANGLES`], halves.
fn wanted(total: usize, fewest: f64) -> Vec<f64> {
    let ratio = libm::pow(total as f64 / MIN_TRIANGLES, 1.0 / (MAX_LODS - 1) as f64).max(2.0);
    let all = (1..MAX_LODS).map(|level| total as f64 / libm::pow(ratio, level as f64));
    // Allows for rounding errors.
    let mut wanted: Vec<f64> = all.take_while(|wanted| *wanted >= MIN_TRIANGLES * 0.99).collect();
    if wanted.last().is_none_or(|last| *last > MAX_COARSEST as f64) {
        wanted.push(MIN_TRIANGLES);
    }
    let half = |wanted: &[f64]| wanted.last().map(|last| last / 2.0).filter(|half| *half >= fewest);
    while let Some(half) = half(&wanted) {
        wanted.push(half);
    }
    wanted
}

/// Returns the maximum number of triangles of a LOD that is not made by merging vertices. `before`: number of the finer LOD.
fn most_triangles(before: usize, wanted: f64) -> usize {
    if wanted <= MAX_COARSEST as f64 { MAX_COARSEST } else { (before as f64 * MAX_TRIANGLE_RATIO) as usize }
}

/// Returns the maximum number of triangles of a simplified surface.
fn allowed(wanted: f64) -> usize {
    let allowed = (wanted * MAX_OVERSHOOT) as usize;
    if wanted <= MAX_COARSEST as f64 { allowed.min(MAX_COARSEST) } else { allowed }
}

/// Groups [`Geometry::parts`] by visibility part, as indices. A surface consists of the parts of
/// one group.
fn worn(geometry: &Geometry) -> Vec<Vec<usize>> {
    let mut worn: Vec<(Option<u8>, Vec<usize>)> = Vec::new();
    for (i, part) in geometry.parts.iter().enumerate() {
        match worn.last_mut().filter(|(name, _)| *name == part.part) {
            Some((_, parts)) => parts.push(i),
            None => worn.push((part.part, vec![i])),
        }
    }
    worn.into_iter().map(|(_, parts)| parts).collect()
}

/// A LOD whose vertices are merged within a radius.
struct MergedVertices {
    /// In metres.
    radius: f32,
    /// Distance from the finest LOD, in metres.
    error: f32,
    /// Indices of each part of the mesh.
    parts: Vec<Vec<u32>>,
}

impl MergedVertices {
    fn new(measure: &LodErrorMeter<'_>, clusters: &Clusters<'_>, radius: f32) -> Self {
        let parts = measure.of_mesh(clusters.within(radius));
        Self { radius, error: measure.error(&parts), parts }
    }
}

/// Builds a LOD from a finer one.
struct LodBuilder<'a> {
    geometry: &'a Geometry,
    poses: &'a LodPoses,
    measure: &'a LodErrorMeter<'a>,
    /// Indices of each part of the finer LOD.
    finer: &'a [Vec<u32>],
    /// Number of rules of [`SeamRule::ALL`] with which each surface could not be collapsed. Coarser
    /// LODs do not try them again. First where pieces are kept, then where they vanish.
    rules: &'a [[Cell<usize>; 2]],
    /// Limit of the error as defined by meshopt, in metres.
    limit: f32,
}

/// A simplified surface, or all of them.
struct Simplified {
    /// Limit that collapses needed, or a distance at few points, in metres.
    limit: f32,
    /// Distance from the finest LOD in metres, if it was measured.
    error: Option<f32>,
    /// Whether collapses reached the wanted number of triangles.
    collapsed: bool,
    /// Indices of each part.
    parts: Vec<Vec<u32>>,
}

impl LodBuilder<'_> {
    /// Returns about `wanted` triangles. The largest surface is simplified to its share of them, and the others up to the same error.
    fn find(&self, wanted: f64) -> Simplified {
        let worn = self.measure.worn();
        let sizes: Vec<usize> = (0..worn.len()).map(|i| count(&self.of(i))).collect();
        let largest = (0..worn.len()).max_by_key(|&i| (sizes[i], std::cmp::Reverse(i))).unwrap_or(0);
        let share = wanted / sizes.iter().sum::<usize>().max(1) as f64;
        let found = self.with(largest, (sizes[largest] as f64 * share) as usize);
        let mut parts = self.finer.to_vec();
        let mut take = |i: usize, way: Vec<Vec<u32>>| worn[i].iter().zip(way).for_each(|(&p, part)| parts[p] = part);
        for i in (0..worn.len()).filter(|&i| i != largest) {
            let mut best: Option<Vec<Vec<u32>>> = None;
            let mut triangles = sizes[i];
            // Halves the triangles while the error allows.
            while triangles > 1 {
                let next = self.with(i, triangles / 2);
                if next.limit > found.limit || count(&next.parts) >= triangles {
                    break;
                }
                triangles = count(&next.parts);
                best = Some(next.parts);
            }
            best.into_iter().for_each(|best| take(i, best));
        }
        take(largest, found.parts);
        Simplified { parts, error: found.error.filter(|_| worn.len() == 1), ..found }
    }

    /// Returns the parts of a surface in the finer LOD.
    fn of(&self, surface: usize) -> Vec<Vec<u32>> {
        self.measure.worn()[surface].iter().map(|&p| self.finer[p].clone()).collect()
    }

    /// Simplifies a surface by half-edge collapses, with the first rule that suffices. `pieces`: whether pieces vanish whole; `None` if
    /// there is only one.
    fn collapsed(
        &self,
        surface: usize,
        triangles: usize,
        own: &[Vec<u32>],
        rules: &Cell<usize>,
        pieces: bool,
    ) -> Option<Collapsed> {
        let finest = self.measure.finest(surface);
        if pieces && !finest.layers.has_pieces() {
            return None;
        }
        while let Some(&seams) = SeamRule::ALL.get(rules.get()) {
            let mut collapse = HalfEdgeCollapse::new(self.geometry, self.poses, finest, own, seams)?;
            if pieces {
                if !collapse.has_pieces() {
                    return None;
                }
                collapse = collapse.with_pieces();
            }
            let found = collapse.simplify(triangles, self.limit);
            if found.is_some() {
                return found;
            }
            rules.set(rules.get() + 1);
        }
        None
    }

    /// Returns the first of two simplified surfaces, unless the second one is closer to the finest LOD. Also returns the distance, if
    /// there are two.
    fn closer(&self, surface: usize, a: Option<Collapsed>, b: Option<Collapsed>) -> Option<(Collapsed, Option<f32>)> {
        let error = |found: &Collapsed| self.measure.of_surface(surface, &found.groups, error::THOROUGH).error;
        match (a, b) {
            (Some(a), Some(b)) => {
                let (of_a, of_b) = (error(&a), error(&b));
                Some(if of_b < of_a { (b, Some(of_b)) } else { (a, Some(of_a)) })
            }
            (a, b) => a.or(b).map(|found| (found, None)),
        }
    }

    /// Simplifies a surface to about `triangles` triangles: by half-edge collapses, or else with
    /// meshopt. Further attempts of meshopt lock the vertices with the greatest error; the best attempt
    /// is returned.
    fn with(&self, surface: usize, triangles: usize) -> Simplified {
        let own = self.of(surface);
        let groups: Vec<&[u32]> = own.iter().map(|part| &part[..]).collect();
        let enough = |way: &[Vec<u32>]| count(way) > 0 && count(way) <= allowed(triangles as f64);
        let [kept, removed] = &self.rules[surface];
        let found = self.collapsed(surface, triangles, &own, removed, true);
        let is_whole = found.as_ref().is_some_and(|found| !found.lost_pieces) && kept.get() == removed.get();
        // Later collapses may move surfaces away from pieces that vanished for them, so pieces are kept in another attempt.
        let other = if is_whole { None } else { self.collapsed(surface, triangles, &own, kept, false) };
        if let Some((Collapsed { limit, groups, .. }, error)) = self.closer(surface, found, other) {
            return Simplified { limit, error, collapsed: true, parts: groups };
        }
        let by_meshopt = |(limit, parts)| Simplified { limit, error: None, collapsed: false, parts };
        let mut least: Option<Vec<Vec<u32>>> = None;
        for (seams, options) in simplify::OPTIONS {
            let simplified = CollapsibleSurface::new(self.geometry, self.poses, &groups, seams);
            let limit = if seams == Seams::Kept { self.limit } else { f32::MAX };
            let mut best: Option<(f32, Vec<Vec<u32>>)> = None;
            let mut locked = BTreeSet::new();
            for attempt in 0..ATTEMPTS {
                let next = simplified.simplify(triangles, limit, options, &locked);
                if !enough(&next) {
                    if attempt == 0 && count(&next) > 0 && least.as_ref().is_none_or(|l| count(&next) < count(l)) {
                        least = Some(next);
                    }
                    break;
                }
                let found = self.measure.of_surface(surface, &next, error::QUICK_SAMPLE);
                if best.as_ref().is_none_or(|(error, _)| found.error < *error) {
                    best = Some((found.error, next));
                }
                let before = locked.len();
                locked.extend(found.vertices);
                if locked.len() == before {
                    break;
                }
            }
            if let Some(best) = best {
                return by_meshopt(best);
            }
        }
        // No attempt reached the target; the smallest result is used.
        let least = least.unwrap_or(own);
        by_meshopt((self.measure.of_surface(surface, &least, error::QUICK_SAMPLE).error, least))
    }
}

/// Number of triangles.
fn count(parts: &[Vec<u32>]) -> usize {
    parts.iter().map(Vec::len).sum::<usize>() / 3
}

#[cfg(test)]
mod tests;
