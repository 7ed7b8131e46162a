//! Orders of triangles and vertices for GPU caches.

/// Assumed size of the vertex cache, in vertices: small enough for every GPU of the last decade.
const CACHE: u32 = 16;

/// Returns the triangles with three different vertices.
pub(super) fn without_degenerate(indices: &[u32]) -> Vec<u32> {
    let triangles = indices.as_chunks::<3>().0.iter().filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]);
    triangles.flatten().copied().collect()
}

/// Reorders triangles for drawing, so that few vertices are shaded more than once: Forsyth 2006, "Linear-speed vertex cache
/// optimisation". The scores are sums of constants, so the order is the same on any machine.
pub(crate) fn for_drawing(indices: &[u32], vertex_count: usize) -> Vec<u32> {
    meshopt::optimize_vertex_cache(indices, vertex_count)
}

/// Reorders triangles so that neighbours follow each other, for numbers of vertices: Tipsify (Sander, Nehab, Barczak 2007, "Fast
/// triangle reordering for vertex locality and reduced overdraw"), linear in the number of triangles.
pub(super) fn for_vertex_cache(indices: &[u32], vertex_count: usize) -> Vec<u32> {
    // Triangles around each vertex.
    let mut first = vec![0_u32; vertex_count + 1];
    indices.iter().for_each(|&v| first[v as usize + 1] += 1);
    for v in 0..vertex_count {
        first[v + 1] += first[v];
    }
    let mut around = vec![0_u32; indices.len()];
    let mut next = first.clone();
    for (corner, &v) in indices.iter().enumerate() {
        around[next[v as usize] as usize] = corner as u32 / 3;
        next[v as usize] += 1;
    }
    let mut live: Vec<u32> = (0..vertex_count).map(|v| first[v + 1] - first[v]).collect();

    let mut out = Vec::with_capacity(indices.len());
    let mut emitted = vec![false; indices.len() / 3];
    let mut cached_at = vec![0_u32; vertex_count];
    let mut now = CACHE + 1;
    let mut dead_ends = Vec::new();
    let mut cursor = 0;
    let mut fan = indices.first().copied();
    while let Some(center) = fan {
        let mut candidates = Vec::new();
        for &t in &around[first[center as usize] as usize..first[center as usize + 1] as usize] {
            if std::mem::replace(&mut emitted[t as usize], true) {
                continue;
            }
            for &v in &indices[t as usize * 3..][..3] {
                out.push(v);
                dead_ends.push(v);
                candidates.push(v);
                live[v as usize] -= 1;
                if now - cached_at[v as usize] > CACHE {
                    cached_at[v as usize] = now;
                    now += 1;
                }
            }
        }
        // Prefers the candidate that has been in the cache longest and will still be there after
        // its fan.
        let age = |v: u32| now - cached_at[v as usize];
        let best = candidates.iter().copied().filter(|&v| live[v as usize] > 0).max_by_key(|&v| {
            let stays = age(v) + 2 * live[v as usize] <= CACHE;
            (if stays { age(v) } else { 0 }, std::cmp::Reverse(v))
        });
        fan = best.or_else(|| {
            while let Some(v) = dead_ends.pop() {
                if live[v as usize] > 0 {
                    return Some(v);
                }
            }
            while cursor < vertex_count {
                cursor += 1;
                if live[cursor - 1] > 0 {
                    return Some(cursor as u32 - 1);
                }
            }
            None
        });
    }
    out
}

/// Returns the new index of each vertex: the order of first use, then unused vertices.
pub(super) fn by_first_use(indices: &[u32], vertex_count: usize) -> Vec<u32> {
    let mut new_of_old = vec![u32::MAX; vertex_count];
    let mut next = 0;
    for v in indices.iter().copied().chain(0..vertex_count as u32) {
        if new_of_old[v as usize] == u32::MAX {
            new_of_old[v as usize] = next;
            next += 1;
        }
    }
    new_of_old
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a grid of squares, row by row.
    fn grid(side: u32) -> Vec<u32> {
        let at = |x: u32, y: u32| y * (side + 1) + x;
        let square = |x, y| [at(x, y), at(x + 1, y), at(x, y + 1), at(x, y + 1), at(x + 1, y), at(x + 1, y + 1)];
        (0..side * side).flat_map(|i| square(i % side, i / side)).collect()
    }

    /// Returns the number of vertices shaded per triangle with a FIFO cache.
    fn misses(indices: &[u32], size: usize) -> f64 {
        let mut cache = std::collections::VecDeque::new();
        let mut misses = 0;
        for v in indices {
            if !cache.contains(v) {
                misses += 1;
                cache.push_back(*v);
                if cache.len() > size {
                    cache.pop_front();
                }
            }
        }
        f64::from(misses) / (indices.len() / 3) as f64
    }

    #[test]
    fn reordering_keeps_triangles_and_uses_the_cache() {
        let before = grid(60);
        let (after, drawn) = (for_vertex_cache(&before, 61 * 61), for_drawing(&before, 61 * 61));
        let sorted = |indices: &[u32]| {
            // Rotated to start at the least corner, with the same winding.
            let mut triangles: Vec<[u32; 3]> = indices
                .as_chunks::<3>()
                .0
                .iter()
                .map(|t| {
                    let least = (0..3).min_by_key(|&k| t[k]).unwrap();
                    [t[least], t[(least + 1) % 3], t[(least + 2) % 3]]
                })
                .collect();
            triangles.sort_unstable();
            triangles
        };
        assert_eq!([sorted(&after), sorted(&drawn)], [sorted(&before), sorted(&before)]);
        assert!(misses(&before, 16) > 1.0);
        assert!(misses(&after, 16) < 0.75, "{}", misses(&after, 16));
        assert!(misses(&drawn, 16) < 0.7, "{}", misses(&drawn, 16));
    }

    #[test]
    fn first_use_orders_vertices_and_keeps_the_unused() {
        assert_eq!(by_first_use(&[3, 1, 3, 0], 5), [2, 1, 3, 0, 4]);
        assert!(for_vertex_cache(&[], 3).is_empty());
        assert_eq!(without_degenerate(&[0, 1, 1, 0, 1, 2]), [0, 1, 2]);
    }
}
