//! Distance of a point from an animated surface, with a tree of boxes that is built once and
//! refitted to each pose.

use glam::{DVec3, Vec3};

use crate::vector_math::{Lanes, add, distance_squared, dot, greatest, least, scale, sub};

/// Maximum number of triangles per leaf.
const LEAF: usize = 4;
/// Size of the traversal stack: the depth of a tree that halves 2^32 triangles, and one sibling per
/// level.
const DEEPEST: usize = 34;
/// Factor of a squared distance that exceeds rounding errors.
const GUESS_MARGIN: f32 = 1.001;

/// Triangles, and a tree over them.
#[derive(Clone, Debug)]
pub(super) struct BoxTree {
    triangles: Vec<[u32; 3]>,
    /// Nodes, parents before their children; the first child directly follows its parent.
    nodes: Vec<TreeNode>,
    /// Parent of each node, except the first.
    parents: Vec<u32>,
    /// Leaf of each triangle.
    leaves: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
enum TreeNode {
    /// Range of triangles: start and end.
    Leaf(u32, u32),
    /// Index of the second child.
    Fork(u32),
}

impl BoxTree {
    /// Builds a tree from the positions of a pose.
    pub(super) fn new(mut triangles: Vec<[u32; 3]>, positions: &[Vec3]) -> Self {
        let mut nodes = Vec::new();
        let end = triangles.len();
        if end > 0 {
            split(&mut triangles, 0, positions, &mut nodes);
        }
        let mut parents = vec![0; nodes.len()];
        let mut leaves = vec![0; end];
        for (i, node) in nodes.iter().enumerate() {
            match *node {
                TreeNode::Leaf(start, end) => leaves[start as usize..end as usize].fill(i as u32),
                TreeNode::Fork(second) => {
                    parents[i + 1] = i as u32;
                    parents[second as usize] = i as u32;
                }
            }
        }
        Self { triangles, nodes, parents, leaves }
    }

    pub(super) fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Returns the boxes of all nodes in a pose.
    pub(super) fn boxes(&self, positions: &[Vec3]) -> NodeBoxes {
        let mut boxes = vec![(Vec3::INFINITY, Vec3::NEG_INFINITY); self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate().rev() {
            match *node {
                TreeNode::Leaf(start, end) => {
                    let (mut low, mut high) = boxes[i];
                    for &[a, b, c] in &self.triangles[start as usize..end as usize] {
                        let [a, b, c] = [positions[a as usize], positions[b as usize], positions[c as usize]];
                        low = least(low, least(a, least(b, c)));
                        high = greatest(high, greatest(a, greatest(b, c)));
                    }
                    boxes[i] = (low, high);
                }
                TreeNode::Fork(second) => {
                    let ((a, b), (c, d)) = (boxes[i + 1], boxes[second as usize]);
                    boxes[i] = (least(a, c), greatest(b, d));
                }
            }
        }
        boxes
    }
}

/// Splits triangles into halves along the longest side of the box of their centres. `first` is the
/// index of the first triangle. The depth is logarithmic in their number.
fn split(triangles: &mut [[u32; 3]], first: usize, positions: &[Vec3], nodes: &mut Vec<TreeNode>) {
    let here = nodes.len();
    nodes.push(TreeNode::Leaf(first as u32, (first + triangles.len()) as u32));
    if triangles.len() <= LEAF {
        return;
    }
    let middle = |t: &[u32; 3]| {
        let [a, b, c] = *t;
        add(add(positions[a as usize], positions[b as usize]), positions[c as usize])
    };
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for t in triangles.iter() {
        let m = middle(t);
        (low, high) = (least(low, m), greatest(high, m));
    }
    let side = high - low;
    let axis = if side.x >= side.y && side.x >= side.z {
        0
    } else if side.y >= side.z {
        1
    } else {
        2
    };
    let half = triangles.len() / 2;
    // Triangles with equal centres are sorted by their vertices, so that the tree is the same on
    // every machine.
    triangles.select_nth_unstable_by(half, |a, b| middle(a)[axis].total_cmp(&middle(b)[axis]).then(a.cmp(b)));
    let (low, high) = triangles.split_at_mut(half);
    split(low, first, positions, nodes);
    nodes[here] = TreeNode::Fork(nodes.len() as u32);
    split(high, first + half, positions, nodes);
}

/// Least and greatest corner of each node's box.
pub(super) type NodeBoxes = Vec<(Vec3, Vec3)>;

/// A [`BoxTree`] fitted to a pose.
pub(super) struct FittedTree<'a> {
    pub(super) tree: &'a BoxTree,
    pub(super) positions: &'a [Vec3],
    pub(super) boxes: &'a [(Vec3, Vec3)],
}

/// The triangle closest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClosestPoint {
    /// Distance in metres; infinite if there are no triangles.
    pub(super) distance: f32,
    /// Index into [`BoxTree::triangles`].
    pub(super) triangle: u32,
}

/// A search for the triangle closest to a point.
struct Search {
    p: Vec3,
    /// Squared distance at which the search ends.
    enough: f32,
    /// Squared distance of the closest triangle so far.
    best: f32,
    triangle: u32,
    /// Number of triangles whose distance was computed.
    tests: usize,
}

impl Search {
    fn found(&self) -> ClosestPoint {
        ClosestPoint { distance: self.best.sqrt(), triangle: self.triangle }
    }
}

impl FittedTree<'_> {
    /// Returns the triangle closest to a point, or the first one found within `enough`, in metres.
    /// `near` is a guess: the closer it is, the fewer triangles are tested.
    pub(super) fn closest(&self, p: Vec3, near: u32, enough: f32) -> ClosestPoint {
        let mut search = self.search(p, near, enough);
        if !self.boxes.is_empty() && search.best > search.enough {
            self.visit(0, 0.0, &mut search, |_| true);
        }
        search.found()
    }

    /// Returns the closest of the triangles that `counts` accepts, by their index. The distance is infinite if there is none.
    /// `near` is a guess: the closer it is, the fewer triangles are tested.
    pub(super) fn closest_of(&self, p: Vec3, near: u32, counts: impl Fn(u32) -> bool) -> ClosestPoint {
        self.closest_of_counted(p, near, counts).0
    }

    /// Returns [`Self::closest_of`], and the number of triangles whose distance was computed.
    pub(super) fn closest_of_counted(&self, p: Vec3, near: u32, counts: impl Fn(u32) -> bool) -> (ClosestPoint, usize) {
        let mut search = Search { p, enough: 0.0, best: f32::INFINITY, triangle: 0, tests: 0 };
        if !self.boxes.is_empty() {
            let squared = self.squared(near, p);
            if squared.is_finite() && counts(near) {
                // Farther than the guess, so that the first of equally close triangles is found, as without a guess.
                search.best = squared * GUESS_MARGIN + f32::MIN_POSITIVE;
                search.triangle = near;
            }
            self.visit(0, 0.0, &mut search, counts);
        }
        (search.found(), search.tests)
    }

    /// Returns the same distance as [`closest`](Self::closest), at once if `near` is close to the
    /// point: its neighbours in the tree are tested first.
    pub(super) fn closest_around(&self, p: Vec3, near: u32, enough: f32) -> ClosestPoint {
        let mut search = self.search(p, near, enough);
        if self.boxes.is_empty() || search.best <= search.enough {
            return search.found();
        }
        let mut node = self.tree.leaves[near as usize];
        self.visit(node, 0.0, &mut search, |_| true);
        while node > 0 && search.best > search.enough {
            let parent = self.tree.parents[node as usize];
            let sibling = match self.tree.nodes[parent as usize] {
                TreeNode::Fork(second) if node == parent + 1 => second,
                _ => parent + 1,
            };
            let away = self.box_squared(sibling, p);
            if away < search.best {
                self.visit(sibling, away, &mut search, |_| true);
            }
            node = parent;
        }
        search.found()
    }

    /// Starts a search with a triangle.
    fn search(&self, p: Vec3, near: u32, enough: f32) -> Search {
        let squared = if self.boxes.is_empty() { f32::INFINITY } else { self.squared(near, p) };
        let best = if squared.is_nan() { f32::INFINITY } else { squared };
        Search { p, enough: enough * enough, best, triangle: near, tests: 0 }
    }

    /// Searches a node, whose box has a squared distance of `away`, for triangles that `counts` accepts.
    fn visit(&self, node: u32, away: f32, search: &mut Search, counts: impl Fn(u32) -> bool) {
        // Nodes to visit, with the squared distances of their boxes.
        let mut stack = [(node, away); DEEPEST];
        let mut waiting = 1;
        while waiting > 0 && search.best > search.enough {
            waiting -= 1;
            let (i, away) = stack[waiting];
            if away >= search.best {
                continue;
            }
            match self.tree.nodes[i as usize] {
                TreeNode::Leaf(start, end) => {
                    let mut four = FourTriangles::default();
                    for (lane, t) in (start..end).enumerate() {
                        four.set(lane, self.corners(t));
                    }
                    let mut squared = Lanes::default();
                    four.squared_distances(search.p, &mut squared);
                    search.tests += (end - start) as usize;
                    for (t, squared) in (start..end).zip(squared) {
                        if squared < search.best && counts(t) {
                            (search.best, search.triangle) = (squared, t);
                        }
                    }
                }
                TreeNode::Fork(second) => {
                    let first = i + 1;
                    let (a, b) = (self.box_squared(first, search.p), self.box_squared(second, search.p));
                    let [near, far] = if a < b { [(first, a), (second, b)] } else { [(second, b), (first, a)] };
                    (stack[waiting], stack[waiting + 1]) = (far, near);
                    waiting += 2;
                }
            }
        }
    }

    /// Returns the squared distance of a triangle.
    fn squared(&self, triangle: u32, p: Vec3) -> f32 {
        let [a, b, c] = self.corners(triangle);
        distance_squared(closest(p, a, b, c), p)
    }

    fn corners(&self, triangle: u32) -> [Vec3; 3] {
        let [a, b, c] = self.tree.triangles[triangle as usize];
        [self.positions[a as usize], self.positions[b as usize], self.positions[c as usize]]
    }

    /// Returns the squared distance of a box.
    fn box_squared(&self, i: u32, p: Vec3) -> f32 {
        let (low, high) = self.boxes[i as usize];
        distance_squared(least(greatest(p, low), high), p)
    }
}

/// Returns the point of a triangle that is closest to another point (Ericson, "Real-Time Collision
/// Detection", 5.1.5).
pub(super) fn closest(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> Vec3 {
    let (ab, ac, ap) = (sub(b, a), sub(c, a), sub(p, a));
    let (d1, d2) = (dot(ab, ap), dot(ac, ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = sub(p, b);
    let (d3, d4) = (dot(ab, bp), dot(ac, bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return add(a, scale(ab, d1 / at_least_tiny(d1 - d3)));
    }
    let cp = sub(p, c);
    let (d5, d6) = (dot(ab, cp), dot(ac, cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return add(a, scale(ac, d2 / at_least_tiny(d2 - d6)));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return add(b, scale(sub(c, b), (d4 - d3) / at_least_tiny((d4 - d3) + (d5 - d6))));
    }
    let sum = va + vb + vc;
    if sum > 0.0 { add(a, add(scale(ab, vb / sum), scale(ac, vc / sum))) } else { a }
}

/// Returns the barycentric coordinates of the point of a triangle that is closest to another point; `None` if it has no area.
pub(super) fn barycentric(p: Vec3, [a, b, c]: [Vec3; 3]) -> Option<DVec3> {
    let [to_b, to_c, to_p] = [b, c, closest(p, a, b, c)].map(|q| (q - a).as_dvec3());
    let (bb, bc, cc) = (to_b.dot(to_b), to_b.dot(to_c), to_c.dot(to_c));
    let (pb, pc) = (to_p.dot(to_b), to_p.dot(to_c));
    let determinant = bb * cc - bc * bc;
    let (of_b, of_c) = ((cc * pb - bc * pc) / determinant, (bb * pc - bc * pb) / determinant);
    (determinant > 0.0).then(|| DVec3::new(1.0 - of_b - of_c, of_b, of_c))
}

/// Four triangles, in one lane each.
#[derive(Default)]
struct FourTriangles {
    /// Coordinates of each corner.
    corners: [[Lanes; 3]; 3],
}

impl FourTriangles {
    fn set(&mut self, lane: usize, [a, b, c]: [Vec3; 3]) {
        let [p, q, r] = &mut self.corners;
        (p[0][lane], p[1][lane], p[2][lane]) = (a.x, a.y, a.z);
        (q[0][lane], q[1][lane], q[2][lane]) = (b.x, b.y, b.z);
        (r[0][lane], r[1][lane], r[2][lane]) = (c.x, c.y, c.z);
    }

    /// Computes the squared distances of a point, with the operations of [`closest`] but without its branches.
    #[inline(never)]
    fn squared_distances(&self, p: Vec3, squared: &mut Lanes) {
        let [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] = &self.corners;
        for i in 0..4 {
            let a = Vec3 { x: ax[i], y: ay[i], z: az[i] };
            let b = Vec3 { x: bx[i], y: by[i], z: bz[i] };
            let c = Vec3 { x: cx[i], y: cy[i], z: cz[i] };
            let (ab, ac, bc) = (sub(b, a), sub(c, a), sub(c, b));
            let (ap, bp, cp) = (sub(p, a), sub(p, b), sub(p, c));
            let (d1, d2) = (dot(ab, ap), dot(ac, ap));
            let (d3, d4) = (dot(ab, bp), dot(ac, bp));
            let (d5, d6) = (dot(ab, cp), dot(ac, cp));
            let (vc, vb, va) = (d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4);
            let sum = va + vb + vc;
            // The last case that holds is the first one of `closest`.
            let face = sum > 0.0;
            let one = if face { sum } else { 1.0 };
            let (mut origin, mut edge) = (a, ab);
            let (mut along, mut across) = (if face { vb / one } else { 0.0 }, if face { vc / one } else { 0.0 });
            let in_bc = (va <= 0.0) & (d4 - d3 >= 0.0) & (d5 - d6 >= 0.0);
            let part = (d4 - d3) / at_least_tiny((d4 - d3) + (d5 - d6));
            origin = select(in_bc, b, origin);
            edge = select(in_bc, bc, edge);
            (along, across) = (if in_bc { part } else { along }, if in_bc { 0.0 } else { across });
            let in_ac = (vb <= 0.0) & (d2 >= 0.0) & (d6 <= 0.0);
            let part = d2 / at_least_tiny(d2 - d6);
            origin = select(in_ac, a, origin);
            edge = select(in_ac, ac, edge);
            (along, across) = (if in_ac { part } else { along }, if in_ac { 0.0 } else { across });
            let at_c = (d6 >= 0.0) & (d5 <= d6);
            origin = select(at_c, c, origin);
            (along, across) = (if at_c { 0.0 } else { along }, if at_c { 0.0 } else { across });
            let in_ab = (vc <= 0.0) & (d1 >= 0.0) & (d3 <= 0.0);
            let part = d1 / at_least_tiny(d1 - d3);
            origin = select(in_ab, a, origin);
            edge = select(in_ab, ab, edge);
            (along, across) = (if in_ab { part } else { along }, if in_ab { 0.0 } else { across });
            let at_b = (d3 >= 0.0) & (d4 <= d3);
            origin = select(at_b, b, origin);
            let at_a = (d1 <= 0.0) & (d2 <= 0.0);
            origin = select(at_a, a, origin);
            let at_corner = at_a | at_b;
            (along, across) = (if at_corner { 0.0 } else { along }, if at_corner { 0.0 } else { across });
            let q = add(origin, add(scale(edge, along), scale(ac, across)));
            squared[i] = distance_squared(q, p);
        }
    }
}

#[inline(always)]
fn select(first: bool, a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: if first { a.x } else { b.x }, y: if first { a.y } else { b.y }, z: if first { a.z } else { b.z } }
}

#[inline(always)]
fn at_least_tiny(x: f32) -> f32 {
    x.max(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_distances_equal_brute_force() {
        // A bent sheet, and a copy bent the other way.
        let side = 12;
        let sheet = |bend: f32| -> Vec<Vec3> {
            let at = |i: usize| Vec3::new((i % side) as f32, (i / side) as f32, 0.0);
            (0..side * side).map(|i| at(i) + Vec3::Z * (bend * at(i).x.sin() * at(i).y)).collect()
        };
        let mut triangles = Vec::new();
        for i in (0..side * (side - 1)).filter(|i| i % side + 1 < side) {
            let [a, b, c, d] = [i, i + 1, i + side, i + side + 1].map(|v| v as u32);
            triangles.extend([[a, b, c], [b, d, c]]);
        }
        let tree = BoxTree::new(triangles.clone(), &sheet(1.0));
        assert_eq!(tree.triangles().len(), triangles.len());
        for positions in [sheet(1.0), sheet(-0.4)] {
            let boxes = tree.boxes(&positions);
            let fitted = FittedTree { tree: &tree, positions: &positions, boxes: &boxes };
            for k in 0..200 {
                let p = Vec3::new((k * 7 % 31) as f32 * 0.6 - 4.0, (k * 5 % 17) as f32, (k % 13) as f32 - 6.0);
                let corner = |t: &[u32; 3]| t.map(|v| positions[v as usize]);
                let one_by_one = triangles.iter().map(corner).map(|[a, b, c]| closest(p, a, b, c).distance(p));
                let expected = one_by_one.fold(f32::INFINITY, f32::min);
                // The start triangle does not affect the result.
                for near in [0, k as u32 % triangles.len() as u32] {
                    let found = fitted.closest(p, near, 0.0);
                    assert_eq!(found.distance, expected);
                    assert_eq!(fitted.closest_around(p, near, 0.0).distance, expected);
                    let enough = fitted.closest(p, near, 1.5).distance;
                    assert!(enough == expected || (expected..=1.5).contains(&enough));
                    let odd = |t: u32| t % 2 == 1;
                    let of_odd = (0..).zip(tree.triangles()).filter(|(t, _)| odd(*t)).map(|(_, t)| corner(t));
                    let least = of_odd.map(|[a, b, c]| closest(p, a, b, c).distance(p)).fold(f32::INFINITY, f32::min);
                    let found_odd = fitted.closest_of(p, near, odd);
                    assert!(found_odd.distance == least && odd(found_odd.triangle));
                    // Triangle 0 is none of those, so that this search has no guess.
                    assert_eq!(found_odd, fitted.closest_of(p, 0, odd));
                    assert_eq!(fitted.closest_of(p, near, |_| false).distance, f32::INFINITY);
                    let [a, b, c] = corner(&tree.triangles()[found.triangle as usize]);
                    assert_eq!(closest(p, a, b, c).distance(p), expected);
                }
            }
        }
        let nothing = FittedTree { tree: &BoxTree::new(Vec::new(), &[]), positions: &[], boxes: &[] };
        assert_eq!(nothing.closest(Vec3::ZERO, 0, 0.0).distance, f32::INFINITY);
        assert_eq!(nothing.closest_around(Vec3::ZERO, 0, 0.0).distance, f32::INFINITY);
    }

    #[test]
    fn weights_give_the_closest_point() {
        let corners = [Vec3::new(1.0, 0.0, 2.0), Vec3::new(3.0, 0.5, 2.0), Vec3::new(0.0, 2.0, 1.0)];
        for p in [Vec3::new(1.0, 1.0, 1.0), Vec3::new(9.0, 0.0, 0.0), Vec3::new(-4.0, -4.0, 3.0)] {
            let weights = barycentric(p, corners).unwrap().as_vec3();
            let at = corners[0] * weights.x + corners[1] * weights.y + corners[2] * weights.z;
            assert!(at.distance(closest(p, corners[0], corners[1], corners[2])) < 1e-6);
        }
        assert_eq!(barycentric(Vec3::ONE, [Vec3::X, Vec3::X * 2.0, Vec3::X * 3.0]), None);
    }

    #[test]
    fn closest_point_of_a_triangle() {
        let [a, b, c] = [Vec3::ZERO, Vec3::X * 2.0, Vec3::Y * 2.0];
        for (p, expected) in [
            (Vec3::new(0.5, 0.5, 3.0), Vec3::new(0.5, 0.5, 0.0)),
            (Vec3::new(-1.0, -1.0, 1.0), a),
            (Vec3::new(5.0, -1.0, 0.0), b),
            (Vec3::new(-1.0, 9.0, 0.0), c),
            (Vec3::new(1.0, -2.0, 0.0), Vec3::X),
            (Vec3::new(-2.0, 1.0, 0.0), Vec3::Y),
            (Vec3::new(2.0, 2.0, 0.0), Vec3::new(1.0, 1.0, 0.0)),
        ] {
            assert_eq!(closest(p, a, b, c), expected, "{p}");
        }
        // Triangles degenerated to a point and to a line.
        assert_eq!(closest(Vec3::Z, a, a, a), a);
        assert!(closest(Vec3::new(1.0, 1.0, 0.0), a, b, b).distance(Vec3::X) < 1e-6);
    }

    #[test]
    fn four_distances_equal_single_ones() {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // A coarse grid, on which many points are corners, or lie on edges.
            (state >> 29) as f32 - 3.0
        };
        let mut point = || Vec3::new(next(), next(), next() * 0.5);
        for _ in 0..20_000 {
            let p = point();
            let triangles = [0; 4].map(|_| [point(), point(), point()]);
            let mut four = FourTriangles::default();
            (0..4).for_each(|lane| four.set(lane, triangles[lane]));
            let mut squared = Lanes::default();
            four.squared_distances(p, &mut squared);
            assert_eq!(
                squared,
                triangles.map(|[a, b, c]| distance_squared(closest(p, a, b, c), p)),
                "{p}: {triangles:?}"
            );
        }
    }
}
