use super::*;
use crate::model::{Bone, Influences, Local, Material, Node, Trs};
use glam::{DMat4, DVec2};

fn material(normal_map: bool) -> Material {
    Material { name: String::new(), normal_map, ..Default::default() }
}

/// Returns a square of two triangles in the xy plane, with one bone.
fn square(material: usize) -> Primitive {
    let mut influences = Influences::default();
    (0..4).for_each(|_| influences.push([(0, 1.0)]));
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    Primitive {
        node: 0,
        mesh: 0,
        index: 0,
        skin: None,
        positions: corners.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec(),
        normals: Some(vec![DVec3::Z; 4]),
        tangents: None,
        uvs: corners.map(|[x, y]| DVec2::new(x, 1.0 - y)).to_vec(),
        second_uvs: vec![],
        second_normal_map: false,
        colors: None,
        influences,
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        material,
        ..Primitive::default()
    }
}

fn model(primitives: Vec<Primitive>, normal_map: bool) -> Model {
    Model {
        name: "m".into(),
        nodes: vec![Node { name: "n".into(), parent: None, local: Local::Trs(Trs::IDENTITY), weights: vec![] }],
        order: vec![0],
        root: DMat4::IDENTITY,
        bones: vec![Bone { name: "n".into(), node: 0, inverse_bind: DMat4::IDENTITY }],
        primitives,
        materials: vec![material(normal_map), material(false)],
        ..Model::default()
    }
}

#[test]
fn equal_vertices_are_welded_and_parts_follow_materials() {
    let mut other = square(1);
    other.positions.iter_mut().for_each(|p| p.z = 1.0);
    let g = Geometry::with_at_most(&model(vec![square(1), square(0), other, square(0)], false), 4);
    assert_eq!(g.vertices.len(), 8);
    assert_eq!(
        g.parts.iter().map(|p| (p.material, p.first_index, p.index_count)).collect::<Vec<_>>(),
        [(0, 0, 12), (1, 12, 12)]
    );
    assert_eq!(g.baked_of_source.len(), 16);
    assert_eq!(g.baked_of_source[..4], g.baked_of_source[4..8]);
    assert!(!g.tangents);
}

#[test]
fn triangles_without_normals_are_flat_and_share_corners() {
    let mut roof = square(0);
    roof.normals = None;
    roof.positions[3].z = 1.0;
    let g = Geometry::with_at_most(&model(vec![roof.clone(), square(0)], false), 4);
    assert_eq!(g.parts.iter().map(|part| (part.flat, part.index_count)).collect::<Vec<_>>(), [(false, 6), (true, 6)]);
    let (flat, roof_corners) = (&g.indices[6..], &g.baked_of_source[..4]);
    assert_eq!(flat.iter().collect::<std::collections::BTreeSet<_>>(), roof_corners.iter().collect());
    // Vertex normals are the area-weighted sums of the adjacent face normals.
    let faces: Vec<Vec3> = flat
        .as_chunks::<3>()
        .0
        .iter()
        .map(|t| [0, 1, 2].map(|i| g.vertices[t[i] as usize].position))
        .map(|[a, b, c]| (b - a).cross(c - a))
        .collect();
    let met = |v: u32| {
        flat.as_chunks::<3>().0.iter().zip(&faces).filter(|(t, _)| t.contains(&v)).map(|(_, face)| *face).sum::<Vec3>()
    };
    for &v in roof_corners {
        assert!(g.vertices[v as usize].normal.abs_diff_eq(met(v).normalize(), 1e-6));
    }
    // With a normal map, each corner has a tangent of its own triangle.
    let g = Geometry::with_at_most(&model(vec![roof], true), 4);
    assert!(g.vertices.len() == 6 && !g.parts[0].flat);
    for t in g.indices.as_chunks::<3>().0 {
        let [a, b, c] = [t[0], t[1], t[2]].map(|i| g.vertices[i as usize]);
        let face = (b.position - a.position).cross(c.position - a.position).normalize();
        assert!([a, b, c].iter().all(|v| v.normal.abs_diff_eq(face, 1e-6)));
    }
}

#[test]
fn tangents_are_generated_for_normal_maps() {
    let g = Geometry::with_at_most(&model(vec![square(0)], true), 4);
    assert!(g.tangents);
    // Texture coordinates run along x, and down where y runs up: a right-handed frame.
    assert!(g.vertices.iter().all(|v| v.tangent.abs_diff_eq(Vec4::new(1.0, 0.0, 0.0, 1.0), 1e-6)));
    let mut kept = square(0);
    kept.tangents = Some(vec![Vec4::new(0.0, 1.0, 0.0, -1.0).as_dvec4(); 4]);
    let g = Geometry::with_at_most(&model(vec![kept], true), 4);
    assert!(g.vertices.iter().all(|v| v.tangent == Vec4::new(0.0, 1.0, 0.0, -1.0)));
}

#[test]
fn a_fifth_influence_is_dropped_and_reported() {
    let mut p = square(0);
    p.influences = Influences::default();
    p.influences.push([(4, 0.4), (3, 0.3), (2, 0.15), (1, 0.1), (0, 0.05)]);
    (0..3).for_each(|_| p.influences.push([(0, 1.0)]));
    let g = Geometry::with_at_most(&model(vec![p], false), 4);
    assert_eq!(g.dropped.vertices, 1);
    assert!((g.dropped.weight - 0.05).abs() < 1e-12);
    let v = g.vertices[g.baked_of_source[0] as usize];
    assert_eq!(v.joints[..4], [4, 3, 2, 1]);
    assert!((v.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6 && (v.weights[0] - 0.4 / 0.95).abs() < 1e-6);
}

#[test]
fn unused_vertices_come_last() {
    let mut p = square(0);
    p.triangles.pop();
    let g = Geometry::with_at_most(&model(vec![p], false), 4);
    assert_eq!((g.vertices.len(), g.baked_of_source[3]), (4, 3));
}
