//! Closed surfaces: lofts through cross-sections, boxes, their normals and their skin weights.

use crate::math::{TAU, smoothstep};
use glam::{DVec2, DVec3, dvec2};
use std::collections::BTreeMap;

/// A rectangle of the texture, in pixels from its upper left corner.
#[derive(Clone, Copy)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub w: f64,
    pub h: f64,
}

impl Rect {
    pub const fn new(x: f64, y: f64, w: f64, h: f64) -> Self {
        Self { x, y, w, h }
    }

    /// Texture coordinates of a point given in 0..1 of the rectangle. Half a pixel is left free at the border, against bleeding.
    pub fn uv(&self, u: f64, v: f64, size: f64) -> DVec2 {
        dvec2(self.x + 0.5 + u * (self.w - 1.0), self.y + 0.5 + v * (self.h - 1.0)) / size
    }
}

/// Up to four bones and their weights in 255ths, which sum to 255.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Influences {
    pub bones: [u8; 4],
    pub weights: [u8; 4],
}

impl Influences {
    /// The four strongest of `all`, rounded so that the sum is exactly one.
    pub fn new(all: &[(usize, f64)]) -> Self {
        let mut merged: BTreeMap<usize, f64> = BTreeMap::new();
        for &(bone, w) in all {
            *merged.entry(bone).or_default() += w.max(0.0);
        }
        let mut list: Vec<(usize, f64)> = merged.into_iter().collect();
        list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        list.truncate(4);
        let sum: f64 = list.iter().map(|&(_, w)| w).sum();
        assert!(sum > 0.0, "a vertex without any weight");
        let mut out = Self::default();
        let mut left = 255i32;
        for (i, &(bone, w)) in list.iter().enumerate() {
            let units = (libm::round(w / sum * 255.0) as i32).min(left);
            left -= units;
            if units > 0 {
                out.bones[i] = bone as u8;
                out.weights[i] = units as u8;
            }
        }
        out.weights[0] += left as u8;
        out
    }
}

#[derive(Clone, Copy)]
pub struct Vertex {
    /// Metres.
    pub position: DVec3,
    pub normal: DVec3,
    pub uv: DVec2,
    pub skin: Influences,
}

/// One closed surface, triangles counter-clockwise seen from outside.
#[derive(Clone)]
pub struct Part {
    pub name: String,
    pub vertices: Vec<Vertex>,
    pub triangles: Vec<[u32; 3]>,
}

impl Part {
    /// From bare points. Triangles may run either way around, as long as all run the same way: the volume's sign tells which.
    pub fn new(name: &str, points: Vec<(DVec3, DVec2)>, triangles: Vec<[u32; 3]>) -> Self {
        let vertices =
            points.into_iter().map(|(position, uv)| Vertex { position, normal: DVec3::Y, uv, skin: Influences::default() }).collect();
        let mut part = Self { name: name.to_owned(), vertices, triangles };
        part.triangles.retain(|t| {
            let [a, b, c] = t.map(|i| part.vertices[i as usize].position);
            (b - a).cross(c - a).length() > 1e-9
        });
        if part.volume() < 0.0 {
            part.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        part.smooth();
        part
    }

    /// Signed volume, cubic metres: positive when the triangles face outwards.
    pub fn volume(&self) -> f64 {
        self.triangles.iter().map(|t| t.map(|i| self.vertices[i as usize].position)).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
    }

    /// Recomputes the normals from the faces, weighted by their area. Vertices at one place share theirs, so that seams do not show.
    pub fn smooth(&mut self) {
        let key = |p: DVec3| (p * 1e5).round().to_array().map(|x| x as i64);
        let mut sums: BTreeMap<[i64; 3], DVec3> = BTreeMap::new();
        for t in &self.triangles {
            let [a, b, c] = t.map(|i| self.vertices[i as usize].position);
            let n = (b - a).cross(c - a);
            for p in [a, b, c] {
                *sums.entry(key(p)).or_insert(DVec3::ZERO) += n;
            }
        }
        for v in &mut self.vertices {
            v.normal = sums.get(&key(v.position)).map_or(DVec3::Y, |n| n.normalize_or(DVec3::Y));
        }
    }

    /// Splits all faces from each other, for edges that shall look hard.
    pub fn faceted(self) -> Self {
        let mut vertices = Vec::new();
        let mut triangles = Vec::new();
        let mut seen: BTreeMap<[i64; 7], u32> = BTreeMap::new();
        for t in &self.triangles {
            let [a, b, c] = t.map(|i| self.vertices[i as usize].position);
            let normal = (b - a).cross(c - a).normalize();
            triangles.push(t.map(|i| {
                let v = Vertex { normal, ..self.vertices[i as usize] };
                let n = (normal * 200.0).round();
                let key = [i64::from(i), n.x as i64, n.y as i64, n.z as i64, 0, 0, 0];
                *seen.entry(key).or_insert_with(|| {
                    vertices.push(v);
                    vertices.len() as u32 - 1
                })
            }));
        }
        Self { name: self.name, vertices, triangles }
    }

    pub fn map(mut self, f: impl Fn(DVec3) -> DVec3) -> Self {
        self.vertices.iter_mut().for_each(|v| v.position = f(v.position));
        if self.volume() < 0.0 {
            self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        self.smooth();
        self
    }

    pub fn skinned(mut self, weights: impl Fn(DVec3) -> Vec<(usize, f64)>) -> Self {
        self.vertices.iter_mut().for_each(|v| v.skin = Influences::new(&weights(v.position)));
        self
    }
}

/// One cross-section: a superellipse with its own extent to the front and to the back.
#[derive(Clone, Copy)]
pub struct Ring {
    pub center: DVec3,
    /// Half the width, towards +-.
    pub side: DVec3,
    pub front: DVec3,
    /// The extent behind the center; points forward as `front` does.
    pub back: DVec3,
    /// 2 is an ellipse; more is boxier.
    pub power: f64,
}

impl Ring {
    /// `u` in turns from the middle of the back, over the +side, to the front and on.
    pub fn point(&self, u: f64) -> DVec3 {
        let (s, c) = (libm::sin(u * TAU), -libm::cos(u * TAU));
        let bend = |x: f64| libm::copysign(libm::pow(libm::fabs(x), 2.0 / self.power), x);
        let depth = if c > 0.0 { self.front } else { -self.back };
        self.center + self.side * bend(s) + depth * libm::fabs(bend(c))
    }
}

/// A surface through `rings`, closed at both ends by a cap. Texture: u around, v from the first ring to the last by distance.
pub fn loft(name: &str, rings: &[Ring], segments: usize, rect: Rect, size: f64) -> Part {
    let mut along = vec![0.0];
    for w in rings.windows(2) {
        along.push(along.last().unwrap() + (w[1].center - w[0].center).length().max(1e-4));
    }
    let total = *along.last().unwrap();
    let vs: Vec<f64> = along.iter().map(|a| a / total).collect();
    grid(name, rings.len(), segments, rect, size, |row, u| (rings[row].point(u), vs[row]))
}

/// A surface of `rows` rings of `segments` points each, closed at both ends. `at(row, u)` gives the point and its v.
pub fn grid(name: &str, rows: usize, segments: usize, rect: Rect, size: f64, at: impl Fn(usize, f64) -> (DVec3, f64)) -> Part {
    let width = segments as u32 + 1;
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    for row in 0..rows {
        for i in 0..=segments {
            // The last column is the first again, with u = 1.
            let u = i as f64 / segments as f64;
            let (p, v) = at(row, if i == segments { 0.0 } else { u });
            points.push((p, rect.uv(u, v, size)));
        }
    }
    for row in 0..rows as u32 - 1 {
        for i in 0..segments as u32 {
            let (a, b) = (row * width + i, (row + 1) * width + i);
            // The diagonal changes direction in the middle, so that left and right mirror each other.
            if (i as usize) < segments / 2 {
                triangles.extend([[a, b, b + 1], [a, b + 1, a + 1]]);
            } else {
                triangles.extend([[a, b, a + 1], [a + 1, b, b + 1]]);
            }
        }
    }
    for (row, flip) in [(0, false), (rows - 1, true)] {
        let first = row as u32 * width;
        let ring = &points[first as usize..first as usize + segments];
        let center = ring.iter().map(|p| p.0).sum::<DVec3>() / segments as f64;
        let middle = points.len() as u32;
        points.push((center, rect.uv(0.5, row as f64 / (rows - 1) as f64, size)));
        for i in 0..segments as u32 {
            let (a, b) = (first + i, first + i + 1);
            triangles.push(if flip { [middle, b, a] } else { [middle, a, b] });
        }
    }
    Part::new(name, points, triangles)
}

/// Weights of a chain of bones at distance `s` along it: `joints` are (bone, where it begins, half the width of the blend there).
pub fn chain(s: f64, joints: &[(usize, f64, f64)]) -> Vec<(usize, f64)> {
    let reached = |i: usize| if i == 0 { 1.0 } else { joints.get(i).map_or(0.0, |&(_, at, half)| smoothstep(at - half, at + half, s)) };
    (0..joints.len()).map(|i| (joints[i].0, (reached(i) - reached(i + 1)).max(0.0))).collect()
}
