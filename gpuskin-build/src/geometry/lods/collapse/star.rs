//! Triangles around a place that is removed: which vanish, what the others become, and whether the
//! surface stays whole.

use glam::{Vec2, Vec3};
use gpuskin_rt::internals::vertex::Vertex;

use super::state::{COORDINATES, HalfEdgeCollapse, SeamRule};
use crate::geometry::lods::error::SurfacePoint;
use crate::geometry::lods::surface::closest;
use crate::vector_math::{distance_squared, dot, sub};

/// Changes at a removed vertex that count as much as a distance: of a normal by one radian and of a
/// colour by its range, relative to the longest side of the surface; and of texture coordinates,
/// relative to the distance by which the texture moves on the surface.
const NORMAL_WEIGHT: f32 = 0.005;
const COLOR_WEIGHT: f32 = 0.005;
const UV_WEIGHT: f32 = 0.12;

/// Maximum number of triangles at a place that is removed, or at its neighbour.
const MAX_AROUND: usize = 128;
/// Minimum cosine of the angle by which a collapse turns a triangle, in the rest pose and in other
/// poses.
const MIN_COSINES: [f32; 2] = [0.25, 0.0];

/// Triangles around a place before and after a collapse.
#[derive(Default)]
pub(super) struct Star {
    /// Triangles that vanish.
    pub(super) gone: Vec<u32>,
    /// Triangles that stay.
    pub(super) kept: Vec<u32>,
    /// Corners at the place, and the corners that replace them.
    pub(super) moved: Vec<(u32, u32)>,
    /// Places of each triangle in `kept`, after the collapse.
    pub(super) after: Vec<[u32; 3]>,
    /// Corners of each triangle in `kept`, after the collapse.
    pub(super) corners: Vec<[u32; 3]>,
    /// Neighbours of the place, each with its number of triangles at the place.
    pub(super) neighbours: Vec<(u32, usize)>,
    /// Places that are neighbours of both ends of the edge.
    pub(super) common: Vec<u32>,
    /// Samples of the triangles that are not their corners, each with the index of a triangle in `after` that is probably close:
    /// at first the one it belongs to, then the closest one in the last pose.
    pub(super) samples: Vec<(u32, usize)>,
    /// Points of the changed triangles, each with a triangle of the finest LOD that may be close.
    pub(super) points: Vec<(SurfacePoint, u32)>,
}

impl HalfEdgeCollapse<'_> {
    /// Finds the triangles around place `v` before and after it moves to place `u`. Returns `false`
    /// if that would tear or fold the surface, or needs a corner that `u` does not have.
    pub(super) fn find_star(&mut self, v: u32, u: u32, star: &mut Star) -> bool {
        star.gone.clear();
        star.kept.clear();
        star.moved.clear();
        star.after.clear();
        star.corners.clear();
        star.neighbours.clear();
        star.common.clear();
        let [own, other] = [v, u].map(|p| self.around[p as usize].len());
        if own.max(other) > MAX_AROUND {
            return false;
        }
        self.tests += own * (own + other) / 16;
        for &t in &self.around[v as usize] {
            let [a, b, c] = self.places_of(t);
            if a == u || b == u || c == u { star.gone.push(t) } else { star.kept.push(t) }
        }
        // Most entries of the queue end here: places that are no neighbours any more.
        if star.gone.is_empty() || star.gone.len() > 2 || star.kept.is_empty() {
            return false;
        }
        for &t in &self.around[v as usize] {
            for p in self.places_of(t) {
                if p == v {
                    continue;
                }
                match star.neighbours.iter_mut().find(|(other, _)| *other == p) {
                    Some((_, count)) => *count += 1,
                    None => star.neighbours.push((p, 1)),
                }
            }
        }
        // Edges with more than two triangles stay. Vertices on a border move along the border.
        let border = star.neighbours.iter().filter(|(_, count)| *count == 1).count();
        let fits = star.gone.len() == if border > 0 { 1 } else { 2 };
        if !fits || border > 2 || star.neighbours.iter().any(|(_, count)| *count > 2) {
            return false;
        }
        // Two triangles at the same three places would remain otherwise.
        self.mark += 1;
        for &t in &self.around[u as usize] {
            for p in self.places_of(t) {
                self.marks[p as usize] = self.mark;
            }
        }
        for &(p, _) in &star.neighbours {
            if p != u && self.marks[p as usize] == self.mark {
                star.common.push(p);
            }
        }
        star.common.len() == star.gone.len() && self.move_corners(v, u, star)
    }

    /// Finds the corners at `u` that replace those at `v`. Returns `false` if there are none, or
    /// several for one.
    fn move_corners(&self, v: u32, u: u32, star: &mut Star) -> bool {
        for &t in &star.gone {
            let (corners, places) = (self.triangles[t as usize], self.places_of(t));
            let corner = |at: u32| (0..3).find(|&i| places[i] == at).map(|i| corners[i]);
            let (Some(from), Some(to)) = (corner(v), corner(u)) else { return false };
            match star.moved.iter().find(|(corner, _)| *corner == from) {
                Some((_, known)) if *known != to => return false,
                Some(_) => {}
                None => star.moved.push((from, to)),
            }
        }
        for &t in &star.kept {
            let (mut corners, mut places) = (self.triangles[t as usize], self.places_of(t));
            for i in 0..3 {
                if places[i] != v {
                    continue;
                }
                let known = star.moved.iter().find(|(from, _)| *from == corners[i]).map(|(_, to)| *to);
                let similar = || Some(self.similar(corners[i], u)?).filter(|_| self.seams == SeamRule::Crossed);
                let Some(to) = known.or_else(similar) else { return false };
                if known.is_none() {
                    star.moved.push((corners[i], to));
                }
                (corners[i], places[i]) = (to, u);
            }
            star.corners.push(corners);
            star.after.push(places);
        }
        true
    }

    /// Returns the corner at a place, of the same group, whose attributes are closest to those of
    /// another corner.
    fn similar(&self, corner: u32, place: u32) -> Option<u32> {
        let vertex = |corner: u32| &self.geometry.vertices[self.corners[corner as usize].vertex as usize];
        let off = |c: &u32| {
            let (a, b) = (vertex(*c), vertex(corner));
            let turned = a.normal.distance(b.normal) * NORMAL_WEIGHT * self.side;
            let shifted = |(of, scale): (fn(&Vertex) -> Vec2, f32)| of(a).distance(of(b)) * UV_WEIGHT * scale;
            COORDINATES.into_iter().zip(self.uv_scales).map(shifted).fold(turned, |sum, off| sum + off)
        };
        let all = self.around[place as usize].iter().flat_map(|&t| self.triangles[t as usize]);
        let group = self.corners[corner as usize].group;
        let same = |c: &u32| self.corners[*c as usize].place == place && self.corners[*c as usize].group == group;
        all.filter(same).min_by(|a, b| off(a).total_cmp(&off(b)).then(a.cmp(b)))
    }

    /// Returns whether a collapse turns a triangle too far in a pose, or makes it degenerate.
    pub(super) fn turns(&self, pose: usize, star: &Star) -> bool {
        let normal = |t: [u32; 3]| {
            let [a, b, c] = t.map(|v| self.at(pose, v));
            let (x, y) = (sub(b, a), sub(c, a));
            Vec3::new(x.y * y.z - x.z * y.y, x.z * y.x - x.x * y.z, x.x * y.y - x.y * y.x)
        };
        let least = MIN_COSINES[usize::from(pose > 0)];
        star.kept.iter().zip(&star.after).any(|(&t, &after)| {
            let (before, after) = (normal(self.places_of(t)), normal(after));
            let (cosine, lengths) = (dot(before, after), dot(before, before) * dot(after, after));
            cosine < least * lengths.sqrt() || pose == 0 && dot(before, before) > 0.0 && cosine <= 0.0
        })
    }

    /// Returns the change of attributes at a place that is removed, as a distance in metres.
    pub(super) fn changed_attributes(&mut self, v: u32, star: &Star) -> f32 {
        let p = self.at(0, v);
        let mut most = 0.0_f32;
        for &(corner, _) in &star.moved {
            // The closest of the triangles that had this corner.
            let mut best: Option<(f32, [u32; 3], Vec3)> = None;
            for (i, &t) in star.kept.iter().enumerate() {
                if self.triangles[t as usize].contains(&corner) {
                    let [a, b, c] = star.after[i].map(|place| self.at(0, place));
                    let q = closest(p, a, b, c);
                    self.tests += 1;
                    let squared = distance_squared(p, q);
                    if best.is_none_or(|(least, ..)| squared < least) {
                        best = Some((squared, star.corners[i], barycentric(q, a, b, c)));
                    }
                }
            }
            let Some((_, after, part)) = best else { continue };
            let own = &self.geometry.vertices[self.corners[corner as usize].vertex as usize];
            let [a, b, c] = self.vertices_of(after).map(|v| &self.geometry.vertices[v as usize]);
            let normal = (a.normal * part.x + b.normal * part.y + c.normal * part.z).normalize_or_zero();
            let mixed = |of: fn(&Vertex) -> Vec2| of(a) * part.x + of(b) * part.y + of(c) * part.z;
            let color = (a.color * part.x + b.color * part.y + c.color * part.z - own.color).truncate();
            for (of, scale) in COORDINATES.into_iter().zip(self.uv_scales) {
                most = most.max(mixed(of).distance(of(own)) * UV_WEIGHT * scale);
            }
            most = most.max(normal.distance(own.normal) * NORMAL_WEIGHT * self.side);
            most = most.max(color.length() * COLOR_WEIGHT * self.side);
        }
        most
    }

    /// Finds the samples and the points whose distances a collapse changes.
    pub(super) fn find_points(&self, v: u32, u: u32, star: &mut Star) {
        star.samples.clear();
        // The triangle that a sample belongs to is probably the closest one afterwards, too.
        for (&t, near) in star.gone.iter().zip(std::iter::repeat(0)).chain(star.kept.iter().zip(0..)) {
            for &sample in &self.samples[t as usize] {
                // Neighbours stay corners of the surface.
                if sample != v && !star.neighbours.iter().any(|(place, _)| *place == sample) {
                    star.samples.push((sample, near));
                }
            }
        }
        star.points.clear();
        for (&corners, &places) in star.corners.iter().zip(&star.after) {
            let after = self.vertices_of(corners);
            star.points.push((after, self.near[places[0] as usize]));
            // Edges without `u` stay as they were.
            for (i, j) in [(0, 1), (1, 2), (2, 0)] {
                if places[i] == u || places[j] == u {
                    star.points.push(([after[i], after[i], after[j]], self.near[places[i] as usize]));
                }
            }
        }
    }
}

/// Returns the weights of the corners of a triangle at a point in its plane.
fn barycentric(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> Vec3 {
    let (ab, ac, ap) = (sub(b, a), sub(c, a), sub(p, a));
    let (d00, d01, d11) = (dot(ab, ab), dot(ab, ac), dot(ac, ac));
    let (d20, d21) = (dot(ap, ab), dot(ap, ac));
    let area = d00 * d11 - d01 * d01;
    if area > 0.0 {
        let (v, w) = ((d11 * d20 - d01 * d21) / area, (d00 * d21 - d01 * d20) / area);
        Vec3::new(1.0 - v - w, v, w)
    } else {
        Vec3::X
    }
}
