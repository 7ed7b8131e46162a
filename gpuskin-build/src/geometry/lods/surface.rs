//! The distance of a point from a surface that moves: a tree of boxes, made once and fitted to each pose.

use glam::Vec3;

/// Triangles of a leaf.
const LEAF: usize = 4;

/// Triangles, and the boxes around them.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    triangles: Vec<[u32; 3]>,
    /// Parents before their children, the first child right behind its parent.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
enum Node {
    /// Triangles from one to another.
    Leaf(u32, u32),
    /// Its second child.
    Fork(u32),
}

impl Tree {
    /// Over triangles as they lie in a pose.
    pub(super) fn new(mut triangles: Vec<[u32; 3]>, positions: &[Vec3]) -> Self {
        let mut nodes = Vec::new();
        let end = triangles.len();
        if end > 0 {
            split(&mut triangles, 0, positions, &mut nodes);
        }
        Self { triangles, nodes }
    }

    pub(super) fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// As it lies in a pose.
    pub(super) fn fit<'a>(&'a self, positions: &'a [Vec3]) -> Fitted<'a> {
        let mut boxes = vec![(Vec3::INFINITY, Vec3::NEG_INFINITY); self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate().rev() {
            boxes[i] = match *node {
                Node::Leaf(start, end) => {
                    let corners = self.triangles[start as usize..end as usize].iter().flatten();
                    corners.fold(boxes[i], |(least, greatest), &v| {
                        let p = positions[v as usize];
                        (least.min(p), greatest.max(p))
                    })
                }
                Node::Fork(second) => {
                    let ((a, b), (c, d)) = (boxes[i + 1], boxes[second as usize]);
                    (a.min(c), b.max(d))
                }
            };
        }
        Fitted { tree: self, positions, boxes }
    }
}

/// Splits triangles, of which the first has a number, in halves along the longest side of the box of their middles. It goes
/// as deep as the logarithm of their number.
fn split(triangles: &mut [[u32; 3]], first: usize, positions: &[Vec3], nodes: &mut Vec<Node>) {
    let here = nodes.len();
    nodes.push(Node::Leaf(first as u32, (first + triangles.len()) as u32));
    if triangles.len() <= LEAF {
        return;
    }
    let middle = |t: &[u32; 3]| t.map(|v| positions[v as usize]).iter().sum::<Vec3>();
    let (least, greatest) =
        triangles.iter().map(middle).fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), m| (a.min(m), b.max(m)));
    let side = greatest - least;
    let axis = if side.x >= side.y && side.x >= side.z {
        0
    } else if side.y >= side.z {
        1
    } else {
        2
    };
    let half = triangles.len() / 2;
    // By their vertices where they lie alike: the same tree on any machine.
    triangles.select_nth_unstable_by(half, |a, b| middle(a)[axis].total_cmp(&middle(b)[axis]).then(a.cmp(b)));
    let (low, high) = triangles.split_at_mut(half);
    split(low, first, positions, nodes);
    nodes[here] = Node::Fork(nodes.len() as u32);
    split(high, first + half, positions, nodes);
}

/// A [`Tree`] in a pose.
pub(super) struct Fitted<'a> {
    tree: &'a Tree,
    positions: &'a [Vec3],
    boxes: Vec<(Vec3, Vec3)>,
}

impl Fitted<'_> {
    /// Distance of a point, metres; infinite where there are no triangles.
    pub(super) fn distance(&self, p: Vec3) -> f32 {
        let mut best = f32::INFINITY;
        let mut stack = vec![0_u32];
        if self.boxes.is_empty() {
            return best;
        }
        while let Some(i) = stack.pop() {
            if self.box_distance(i, p) >= best {
                continue;
            }
            match self.tree.nodes[i as usize] {
                Node::Leaf(start, end) => {
                    for t in &self.tree.triangles[start as usize..end as usize] {
                        let [a, b, c] = t.map(|v| self.positions[v as usize]);
                        best = best.min(closest(p, a, b, c).distance_squared(p));
                    }
                }
                Node::Fork(second) => {
                    let mut children = [i + 1, second];
                    if self.box_distance(children[0], p) < self.box_distance(children[1], p) {
                        children.swap(0, 1);
                    }
                    stack.extend(children);
                }
            }
        }
        best.sqrt()
    }

    /// Squared distance from a box.
    fn box_distance(&self, i: u32, p: Vec3) -> f32 {
        let (least, greatest) = self.boxes[i as usize];
        (least - p).max(p - greatest).max(Vec3::ZERO).length_squared()
    }
}

/// The point of a triangle that is closest to another: Ericson, "Real-Time Collision Detection", 5.1.5.
fn closest(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3).max(f32::MIN_POSITIVE));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6).max(f32::MIN_POSITIVE));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)).max(f32::MIN_POSITIVE));
    }
    let sum = va + vb + vc;
    if sum > 0.0 { a + ab * (vb / sum) + ac * (vc / sum) } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_all_triangles_one_by_one() {
        // A bent sheet, and the same bent the other way.
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
        let tree = Tree::new(triangles.clone(), &sheet(1.0));
        assert_eq!(tree.triangles().len(), triangles.len());
        for positions in [sheet(1.0), sheet(-0.4)] {
            let fitted = tree.fit(&positions);
            for k in 0..200 {
                let p = Vec3::new((k * 7 % 31) as f32 * 0.6 - 4.0, (k * 5 % 17) as f32, (k % 13) as f32 - 6.0);
                let corner = |t: &[u32; 3]| t.map(|v| positions[v as usize]);
                let one_by_one = triangles.iter().map(corner).map(|[a, b, c]| closest(p, a, b, c).distance(p));
                assert_eq!(fitted.distance(p), one_by_one.fold(f32::INFINITY, f32::min));
            }
        }
        assert_eq!(Tree::new(Vec::new(), &[]).fit(&[]).distance(Vec3::ZERO), f32::INFINITY);
    }

    #[test]
    fn the_closest_point_of_a_triangle() {
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
        // A point, and a line.
        assert_eq!(closest(Vec3::Z, a, a, a), a);
        assert!(closest(Vec3::new(1.0, 1.0, 0.0), a, b, b).distance(Vec3::X) < 1e-6);
    }
}
