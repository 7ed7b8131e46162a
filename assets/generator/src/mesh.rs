//! Closed surfaces: lofts through cross-sections, plates and grids, with normals and skin weights.

use crate::math::{TAU, catmull_rom, smoothstep};
use glam::{DVec2, DVec3, dvec2};
use std::collections::BTreeMap;

/// Rectangle of the texture, in pixels from its upper left corner.
#[derive(Clone, Copy)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) w: f64,
    pub(crate) h: f64,
}

impl Rect {
    pub(crate) const fn new(x: f64, y: f64, w: f64, h: f64) -> Self {
        Self { x, y, w, h }
    }

    /// Texture coordinates of a point given in 0..1 of the rectangle. Leaves half a pixel at the
    /// border, against bleeding.
    pub(crate) fn uv(&self, u: f64, v: f64, size: f64) -> DVec2 {
        dvec2(self.x + 0.5 + u * (self.w - 1.0), self.y + 0.5 + v * (self.h - 1.0)) / size
    }
}

/// Up to four bones and their weights in 255ths, which sum to 255.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Influences {
    pub(crate) bones: [u8; 4],
    pub(crate) weights: [u8; 4],
}

impl Influences {
    /// Keeps the four strongest of `all`, rounded so that the sum is exactly one.
    pub(crate) fn new(all: &[(usize, f64)]) -> Self {
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
pub(crate) struct Vertex {
    /// Position, metres.
    pub(crate) position: DVec3,
    pub(crate) normal: DVec3,
    pub(crate) uv: DVec2,
    pub(crate) skin: Influences,
}

/// Closed surface; triangles are counter-clockwise seen from outside.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

impl Part {
    /// Creates a part from points. All triangles must have the same winding; the sign of the volume
    /// tells which one it is.
    pub(crate) fn new(name: &str, points: Vec<(DVec3, DVec2)>, triangles: Vec<[u32; 3]>) -> Self {
        let vertices = points
            .into_iter()
            .map(|(position, uv)| Vertex { position, normal: DVec3::Y, uv, skin: Influences::default() })
            .collect();
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

    /// Signed volume, cubic metres: positive if the triangles face outwards.
    pub(crate) fn volume(&self) -> f64 {
        self.triangles
            .iter()
            .map(|t| t.map(|i| self.vertices[i as usize].position))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
            .sum()
    }

    /// Recomputes normals from the faces, weighted by area. Vertices at the same position share a
    /// normal, so that seams do not show.
    pub(crate) fn smooth(&mut self) {
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

    /// Splits all faces from each other, for hard edges.
    pub(crate) fn faceted(self) -> Self {
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

    pub(crate) fn map(mut self, f: impl Fn(DVec3) -> DVec3) -> Self {
        self.vertices.iter_mut().for_each(|v| v.position = f(v.position));
        if self.volume() < 0.0 {
            self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        self.smooth();
        self
    }

    pub(crate) fn skinned(mut self, weights: impl Fn(DVec3) -> Vec<(usize, f64)>) -> Self {
        self.vertices.iter_mut().for_each(|v| v.skin = Influences::new(&weights(v.position)));
        self
    }
}

/// Cross-section: a superellipse with separate extents to the front and to the back.
#[derive(Clone, Copy)]
pub(crate) struct Ring {
    pub(crate) center: DVec3,
    /// Half of the width, to both sides.
    pub(crate) side: DVec3,
    pub(crate) front: DVec3,
    /// Extent behind the centre; points forward, like `front`.
    pub(crate) back: DVec3,
    /// 2 is an ellipse; more is boxier.
    pub(crate) power: f64,
}

impl Ring {
    /// Point at `u` turns from the middle of the back, over the positive side, to the front and on.
    pub(crate) fn point(&self, u: f64) -> DVec3 {
        let (s, c) = (libm::sin(u * TAU), -libm::cos(u * TAU));
        let bend = |x: f64| libm::copysign(libm::pow(libm::fabs(x), 2.0 / self.power), x);
        let depth = if c > 0.0 { self.front } else { -self.back };
        self.center + self.side * bend(s) + depth * libm::fabs(bend(c))
    }
}

/// Creates a surface through `rings`, capped at both ends. Texture: u runs around, v from the first
/// ring to the last by distance.
pub(crate) fn loft(name: &str, rings: &[Ring], segments: usize, rect: Rect, size: f64) -> Part {
    let mut along = vec![0.0];
    for w in rings.windows(2) {
        along.push(along.last().unwrap() + (w[1].center - w[0].center).length().max(1e-4));
    }
    let total = *along.last().unwrap();
    let vs: Vec<f64> = along.iter().map(|a| a / total).collect();
    grid(name, rings.len(), segments, rect, size, |row, i| {
        let u = i as f64 / segments as f64;
        // The last column repeats the first, with u = 1.
        (rings[row].point(if i == segments { 0.0 } else { u }), u, vs[row])
    })
}

/// Creates a round tube through `points`, with a radius each.
pub(crate) fn tube(name: &str, points: &[(DVec3, f64)], side: DVec3, segments: usize, rect: Rect, size: f64) -> Part {
    let last = points.len() - 1;
    let rings: Vec<Ring> = (0..=last)
        .map(|i| {
            let tangent = (points[(i + 1).min(last)].0 - points[i.saturating_sub(1)].0).normalize();
            let x = (side - tangent * tangent.dot(side)).normalize();
            let front = tangent.cross(x) * points[i].1;
            Ring { center: points[i].0, side: x * points[i].1, front, back: front, power: 2.0 }
        })
        .collect();
    loft(name, &rings, segments, rect, size)
}

/// Creates a thick plate: `at(row, column)` returns a point of its outer and of its inner face, for
/// both arguments in 0..=1.
pub(crate) fn plate(
    name: &str,
    rows: usize,
    columns: usize,
    rect: Rect,
    size: f64,
    at: impl Fn(f64, f64) -> (DVec3, DVec3),
) -> Part {
    // Each row runs over the outer face and back over the inner one.
    let around = 2 * columns;
    capped(name, rows, around, rect, size, Cap::Strip, |row, i| {
        let v = row as f64 / (rows - 1) as f64;
        let k = i % around;
        let column = if k < columns { k } else { around - 1 - k };
        let u = column as f64 / (columns - 1) as f64;
        let (outer, inner) = at(v, u);
        (if k < columns { outer } else { inner }, u, v)
    })
}

/// Cap at the ends of a surface.
#[derive(Clone, Copy)]
enum Cap {
    /// Fan around the centre of the ring, for rings that enclose their centre.
    Fan,
    /// Strip between the two halves of the ring, for flat and bent rings.
    Strip,
}

/// Creates a surface of `rows` rings with `segments` points each, capped at both ends. `at(row,
/// column)` returns the point with its u and v; column `segments` has the position of column 0.
pub(crate) fn grid(
    name: &str,
    rows: usize,
    segments: usize,
    rect: Rect,
    size: f64,
    at: impl Fn(usize, usize) -> (DVec3, f64, f64),
) -> Part {
    capped(name, rows, segments, rect, size, Cap::Fan, at)
}

fn capped(
    name: &str,
    rows: usize,
    segments: usize,
    rect: Rect,
    size: f64,
    cap: Cap,
    at: impl Fn(usize, usize) -> (DVec3, f64, f64),
) -> Part {
    let width = segments as u32 + 1;
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    for row in 0..rows {
        for i in 0..=segments {
            let (p, u, v) = at(row, i);
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
        let mut push = |[a, b, c]: [u32; 3]| triangles.push(if flip { [a, c, b] } else { [a, b, c] });
        match cap {
            Cap::Fan => {
                let ring = &points[first as usize..first as usize + segments];
                let center = ring.iter().map(|p| p.0).sum::<DVec3>() / segments as f64;
                let middle = points.len() as u32;
                points.push((center, rect.uv(0.5, row as f64 / (rows - 1) as f64, size)));
                (first..first + segments as u32).for_each(|a| push([middle, a, a + 1]));
            }
            Cap::Strip => {
                let last = first + segments as u32 - 1;
                for k in 0..segments as u32 / 2 - 1 {
                    let (a, b) = (first + k, last - k);
                    push([b, a, a + 1]);
                    push([b, a + 1, b - 1]);
                }
            }
        }
    }
    Part::new(name, points, triangles)
}

/// Interpolates rows of numbers smoothly. The first number of a row is its position on the curve,
/// ascending.
pub(crate) fn profile<const N: usize>(keys: &[[f64; N]], x: f64) -> [f64; N] {
    let at: Vec<f64> = keys.iter().map(|k| k[0]).collect();
    let terms = catmull_rom(&at, x);
    core::array::from_fn(|c| terms.iter().map(|&(k, w)| keys[k][c] * w).sum())
}

/// Weights along a chain of bones at distance `s`; `joints`: (bone, start, half the width of the
/// blend at the start).
pub(crate) fn chain(s: f64, joints: &[(usize, f64, f64)]) -> Vec<(usize, f64)> {
    let reached = |i: usize| {
        if i == 0 { 1.0 } else { joints.get(i).map_or(0.0, |&(_, at, half)| smoothstep(at - half, at + half, s)) }
    };
    (0..joints.len()).map(|i| (joints[i].0, (reached(i) - reached(i + 1)).max(0.0))).collect()
}
