//! Small models for tests.

use glam::{DMat4, DQuat, DVec2, DVec3, DVec4};

use super::*;

/// Returns a cube with sides of 2 m and four corners per face. `of(corner)` returns the influences
/// of a corner.
pub(crate) fn cube(normals: bool, of: impl Fn(DVec3) -> Vec<(u16, f64)>) -> Primitive {
    let (mut positions, mut all_normals, mut triangles, mut influences) =
        (vec![], vec![], vec![], Influences::default());
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let first = positions.len() as u32;
            let [n, u, v] = [0, 1, 2].map(|i| DMat4::IDENTITY.col((axis + i) % 3).truncate());
            for [a, b] in [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] {
                let corner = n * side + u * a * side + v * b;
                positions.push(corner);
                all_normals.push(n * side);
                influences.push(of(corner));
            }
            triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    Primitive {
        node: 0,
        mesh: 0,
        index: 0,
        skin: None,
        uvs: positions.iter().map(|p| DVec2::new(p.x, p.y)).collect(),
        second_uvs: Vec::new(),
        second_normal_map: false,
        normals: normals.then_some(all_normals),
        tangents: None,
        colors: None,
        positions,
        influences,
        triangles,
        ..Primitive::default()
    }
}

/// Returns a model with two bones: the first is static, the second makes half a turn. Morph weights
/// of the first node go from 0 to 1.
pub(crate) fn model(primitive: Primitive) -> Model {
    let node =
        |name: &str, weights| Node { name: name.into(), parent: None, local: Local::Trs(Trs::IDENTITY), weights };
    let bone = |node: usize| Bone { name: format!("b{node}"), node, inverse_bind: DMat4::IDENTITY };
    let turns = (0..=4).map(|i| DVec4::from(DQuat::from_rotation_x(f64::from(i) * 0.7).to_array()));
    let turn = Curve {
        times: (0..=4).map(|i| f64::from(i) * 0.25).collect(),
        values: turns.collect(),
        interpolation: Interpolation::Linear,
    };
    let weights =
        WeightCurve { times: vec![0.0, 1.0], values: vec![0.0, 1.0], targets: 1, interpolation: Interpolation::Linear };
    let morphs = primitive.targets.len();
    let clip = Clip {
        name: "turn".into(),
        source: "turn".into(),
        index: 0,
        file: None,
        channels: vec![Channel { node: 1, property: Property::Rotation, curve: turn }],
        morphs: (morphs > 0).then_some(MorphChannel { node: 0, curve: weights }).into_iter().collect(),
        start: 0.0,
        end: 1.0,
        ..Clip::default()
    };
    Model {
        name: "m".into(),
        nodes: vec![node("stands", vec![0.0; morphs]), node("turns", vec![])],
        order: vec![0, 1],
        root: DMat4::IDENTITY,
        bones: vec![bone(0), bone(1)],
        primitives: vec![primitive],
        materials: vec![Material::default()],
        clips: vec![clip],
        ..Model::default()
    }
}
