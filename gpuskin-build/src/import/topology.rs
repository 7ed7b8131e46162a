//! Conversion of glTF primitive modes to triangle lists.

use gltf::json::mesh::Mode;

/// Returns the triangles of a primitive with the winding that glTF defines, without triangles that
/// have fewer than three different vertices. Returns `None` for points and lines.
pub(super) fn triangles(mode: Mode, indices: &[u32]) -> Option<Vec<[u32; 3]>> {
    let mut triangles = Vec::new();
    let mut push = |a: u32, b: u32, c: u32| {
        if a != b && b != c && c != a {
            triangles.push([a, b, c]);
        }
    };
    let count = indices.len();
    match mode {
        Mode::Triangles => {
            let mut i = 0;
            while i + 2 < count {
                push(indices[i], indices[i + 1], indices[i + 2]);
                i += 3;
            }
        }
        Mode::TriangleStrip => {
            for i in 0..count.saturating_sub(2) {
                // Every other triangle of a strip has the opposite winding.
                let (b, c) = if i % 2 == 0 { (i + 1, i + 2) } else { (i + 2, i + 1) };
                push(indices[i], indices[b], indices[c]);
            }
        }
        Mode::TriangleFan => {
            for i in 1..count.saturating_sub(1) {
                push(indices[i], indices[i + 1], indices[0]);
            }
        }
        Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip => return None,
    }
    Some(triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_become_triangle_lists() {
        assert_eq!(triangles(Mode::Triangles, &[0, 1, 2, 2, 1, 3, 9]), Some(vec![[0, 1, 2], [2, 1, 3]]));
        assert_eq!(triangles(Mode::TriangleStrip, &[0, 1, 2, 3, 4]), Some(vec![[0, 1, 2], [1, 3, 2], [2, 3, 4]]));
        assert_eq!(triangles(Mode::TriangleFan, &[0, 1, 2, 3]), Some(vec![[1, 2, 0], [2, 3, 0]]));
        assert_eq!(triangles(Mode::Points, &[0, 1, 2]), None);
        assert_eq!(triangles(Mode::LineStrip, &[0, 1, 2]), None);
        for mode in [Mode::Triangles, Mode::TriangleStrip, Mode::TriangleFan] {
            for few in [&[][..], &[0], &[0, 1]] {
                assert_eq!(triangles(mode, few), Some(vec![]));
            }
        }
    }

    #[test]
    fn degenerate_triangles_keep_the_parity_of_a_strip() {
        assert_eq!(triangles(Mode::TriangleStrip, &[0, 1, 2, 2, 3, 4]), Some(vec![[0, 1, 2], [2, 4, 3]]));
    }
}
