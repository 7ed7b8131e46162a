//! Organic shapes: capsules with two radii, blended into each other, and the mesh of their surface.

use crate::mesh::{Influences, Part, Vertex};
use glam::{DVec2, DVec3, dvec3};
use std::collections::BTreeMap;

/// Function from a point on a primitive to its bone weights.
pub(crate) type Skin = Box<dyn Fn(DVec3) -> Vec<(usize, f64)>>;

/// Capsule from `a` to `b`, with a radius at each end, stretched by `scale`. Metres.
pub(crate) struct Blob {
    pub(crate) a: DVec3,
    pub(crate) b: DVec3,
    pub(crate) radius: [f64; 2],
    /// 1 is round; 0.8 in x is narrower by a fifth. Scales x about the middle of the model, y and z
    /// about the centre of the capsule.
    pub(crate) scale: DVec3,
    /// Width of the blend with the capsules before it, metres.
    pub(crate) melt: f64,
    pub(crate) skin: Skin,
}

impl Blob {
    /// Distance to the surface, negative inside; exact for a scale of one, approximate otherwise.
    fn distance(&self, p: DVec3) -> f64 {
        let middle = dvec3(0.0, (self.a.y + self.b.y) / 2.0, (self.a.z + self.b.z) / 2.0);
        let squeeze = |q: DVec3| middle + (q - middle) / self.scale;
        let (p, a, b) = (squeeze(p), squeeze(self.a), squeeze(self.b));
        let axis = b - a;
        let t =
            if axis.length_squared() > 0.0 { ((p - a).dot(axis) / axis.length_squared()).clamp(0.0, 1.0) } else { 0.0 };
        let r = self.radius[0] + (self.radius[1] - self.radius[0]) * t;
        ((p - a - axis * t).length() - r) * self.scale.min_element()
    }
}

/// Blended capsules, standing on the ground. The shape is symmetric: blobs are given for x >= 0.
pub(crate) struct Shape {
    pub(crate) blobs: Vec<Blob>,
}

impl Shape {
    pub(crate) fn distance(&self, p: DVec3) -> f64 {
        let p = dvec3(libm::fabs(p.x), p.y, p.z);
        let mut d = f64::INFINITY;
        for blob in &self.blobs {
            let e = blob.distance(p);
            // Polynomial smooth minimum.
            let h = (blob.melt - libm::fabs(d - e)).max(0.0) / blob.melt;
            d = d.min(e) - if d.is_finite() { h * h * blob.melt / 4.0 } else { 0.0 };
        }
        // Soles are flat.
        d.max(0.001 - p.y)
    }

    fn gradient(&self, p: DVec3) -> DVec3 {
        const H: f64 = 1e-4;
        let along = |e: DVec3| (self.distance(p + e * H) - self.distance(p - e * H)) / (2.0 * H);
        dvec3(along(DVec3::X), along(DVec3::Y), along(DVec3::Z))
    }

    /// Projects a nearby point onto the surface.
    pub(crate) fn project(&self, mut p: DVec3) -> DVec3 {
        for _ in 0..3 {
            let g = self.gradient(p);
            p -= g * (self.distance(p) / g.length_squared().max(0.1));
        }
        p
    }

    /// Bone weights of a surface point: those of each blob, weighted by its distance. `right`
    /// returns the bone of the other side.
    fn skin(&self, p: DVec3, right: &impl Fn(usize) -> usize) -> Influences {
        const SPREAD: f64 = 0.017; // metres over which a blob's weight falls to a third
        let q = dvec3(libm::fabs(p.x), p.y, p.z);
        let near = self.blobs.iter().map(|b| b.distance(q)).fold(f64::INFINITY, f64::min);
        let mut all = Vec::new();
        for blob in &self.blobs {
            let w = libm::exp(-(blob.distance(q) - near) / SPREAD);
            if w > 0.004 {
                for (bone, part) in (blob.skin)(q) {
                    // Near the middle, bones of both sides contribute.
                    let left = crate::math::smoothstep(-0.03, 0.03, p.x);
                    all.push((bone, w * part * left));
                    all.push((right(bone), w * part * (1.0 - left)));
                }
            }
        }
        Influences::new(&all)
    }

    /// Creates the mesh of the surface: one vertex per grid cell that it crosses (surface nets),
    /// smoothed and projected back onto the surface. `lines`: planes of the grid per axis,
    /// ascending.
    pub(crate) fn mesh(
        &self,
        name: &str,
        lines: [&[f64]; 3],
        uv: impl Fn(DVec3) -> DVec2,
        right: impl Fn(usize) -> usize,
    ) -> Part {
        let [xs, ys, zs] = lines;
        let n = [xs.len(), ys.len(), zs.len()];
        let node = |i: usize, j: usize, k: usize| (k * n[1] + j) * n[0] + i;
        let mut field = vec![0.0; n[0] * n[1] * n[2]];
        for (k, &z) in zs.iter().enumerate() {
            for (j, &y) in ys.iter().enumerate() {
                for (i, &x) in xs.iter().enumerate() {
                    field[node(i, j, k)] = self.distance(dvec3(x, y, z));
                }
            }
        }
        let mut cells: BTreeMap<[usize; 3], u32> = BTreeMap::new();
        let mut points: Vec<DVec3> = Vec::new();
        for k in 0..n[2] - 1 {
            for j in 0..n[1] - 1 {
                for i in 0..n[0] - 1 {
                    let inside =
                        (0..8).filter(|c| field[node(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))] < 0.0).count();
                    if inside != 0 && inside != 8 {
                        cells.insert([i, j, k], points.len() as u32);
                        let middle = dvec3(xs[i] + xs[i + 1], ys[j] + ys[j + 1], zs[k] + zs[k + 1]) / 2.0;
                        points.push(self.project(middle));
                    }
                }
            }
        }
        // One quad per grid edge that the surface crosses.
        let mut quads: Vec<[u32; 4]> = Vec::new();
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut at = [0; 3];
            for k in 1..n[2] - 1 {
                for j in 1..n[1] - 1 {
                    for i in 1..n[0] - 1 {
                        at.copy_from_slice(&[i, j, k]);
                        let mut next = at;
                        next[axis] += 1;
                        let (a, b) =
                            (field[node(at[0], at[1], at[2])] < 0.0, field[node(next[0], next[1], next[2])] < 0.0);
                        if a == b || next[axis] >= n[axis] {
                            continue;
                        }
                        let cell = |du: usize, dv: usize| {
                            let mut c = at;
                            c[u] -= du;
                            c[v] -= dv;
                            cells[&c]
                        };
                        let quad = [cell(1, 1), cell(0, 1), cell(0, 0), cell(1, 0)];
                        quads.push(if a { quad } else { [quad[3], quad[2], quad[1], quad[0]] });
                    }
                }
            }
        }
        for _ in 0..6 {
            let mut sums = vec![(DVec3::ZERO, 0.0); points.len()];
            for q in &quads {
                for e in 0..4 {
                    let (a, b) = (q[e] as usize, q[(e + 1) % 4] as usize);
                    sums[a].0 += points[b];
                    sums[a].1 += 1.0;
                    sums[b].0 += points[a];
                    sums[b].1 += 1.0;
                }
            }
            points =
                points.iter().zip(&sums).map(|(&p, &(sum, count))| self.project(p.lerp(sum / count, 0.5))).collect();
        }
        let mut triangles = Vec::new();
        for q in &quads {
            let p = q.map(|i| points[i as usize]);
            // Splits along the shorter diagonal.
            if (p[0] - p[2]).length() <= (p[1] - p[3]).length() {
                triangles.extend([[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
            } else {
                triangles.extend([[q[0], q[1], q[3]], [q[1], q[2], q[3]]]);
            }
        }
        let vertices = points
            .iter()
            .map(|&position| Vertex {
                position,
                normal: self.gradient(position).normalize_or(DVec3::Y),
                uv: uv(position),
                skin: self.skin(position, &right),
            })
            .collect();
        Part { name: name.to_owned(), vertices, triangles }
    }
}
