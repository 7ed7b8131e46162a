use glam::{DMat4, DQuat};

use super::*;
use crate::geometry::Geometry;
use crate::model::fixtures::{cube, model};
use crate::model::{Bone, Local, Node, Trs};

/// Angles in degrees, by which the rest pose turns each of six bones about x.
const TURNS: [f64; 6] = [0.0, 10.0, 25.0, 45.0, 70.0, 100.0];

/// Returns a cube whose corners follow six bones, with the given weights; greatest first.
fn six(weights: [f64; 6]) -> Model {
    let influences = (0..6).map(|bone| (bone, weights[usize::from(bone)])).collect::<Vec<_>>();
    let mut model = model(cube(true, |_| influences.clone()));
    model.clips.clear();
    model.nodes.clear();
    model.bones.clear();
    for (node, turn) in TURNS.into_iter().enumerate() {
        let rotation = DQuat::from_rotation_x(turn.to_radians());
        let local = Local::Trs(Trs { rotation, ..Trs::IDENTITY });
        model.nodes.push(Node { name: format!("n{node}"), parent: None, local, weights: vec![] });
        model.bones.push(Bone { name: format!("b{node}"), node, inverse_bind: DMat4::IDENTITY });
    }
    model.order = (0..6).collect();
    model
}

/// Returns the distance by which a vertex moves with fewer influences, by the definition.
fn moved(model: &Model, vertex: usize, count: usize) -> f64 {
    let p = model.primitives[0].positions[vertex];
    let at = |influences: &[(u16, f64)]| -> DVec3 {
        let sum: f64 = influences.iter().map(|(_, weight)| weight).sum();
        let turned = |bone: u16| DQuat::from_rotation_x(TURNS[usize::from(bone)].to_radians()) * p;
        influences.iter().map(|&(bone, weight)| turned(bone) * (weight / sum)).sum()
    };
    let all = model.primitives[0].influences.of(vertex);
    at(&all[..count]).distance(at(all))
}

#[test]
fn fewest_influences_within_the_tolerance_are_kept() {
    const WEIGHTS: [f64; 6] = [0.4, 0.3, 0.15, 0.1, 0.04, 0.01];
    let model = six(WEIGHTS);
    let errors = [4, 5].map(|count| moved(&model, 0, count));
    assert!(errors[0] > errors[1] && errors[1] > 0.0, "{errors:?}");
    for (tolerance, count) in [(errors[0] * 1.01, 4), (errors[0] * 0.99, 5), (errors[1] * 0.99, 6), (0.0, 6)] {
        let kept = KeptInfluences::new(&model, InfluenceLimit::Auto, tolerance / SHARE, 180.0);
        assert_eq!(kept.of(0), count, "{tolerance}");
        assert!(!kept.is_loss(0));
    }
    // Normals count too: those along the axis of the bones do not turn, others turn by this angle.
    let blended = |count: usize| -> DVec3 {
        let turned = |k: usize| DQuat::from_rotation_x(TURNS[k].to_radians()) * DVec3::Y;
        (0..count).map(|k| turned(k) * WEIGHTS[k]).sum()
    };
    let angle = blended(4).angle_between(blended(6)).to_degrees();
    for (tolerance, count) in [(angle * 1.01, 4), (angle * 0.99, 5)] {
        let kept = KeptInfluences::new(&model, InfluenceLimit::Auto, 100.0, tolerance / SHARE);
        assert_eq!((kept.of(0), kept.of(8)), (4, count), "{tolerance}");
    }
    let kept = KeptInfluences::new(&model, InfluenceLimit::Most(3), 1.0, 1.0);
    assert!((0..24).all(|vertex| kept.of(vertex) == 3 && kept.is_loss(vertex)));
}

#[test]
fn drawn_vertices_have_the_kept_influences() {
    let model = six([0.3, 0.2, 0.2, 0.15, 0.1, 0.05]);
    let all = Geometry::new(&model, &KeptInfluences::new(&model, InfluenceLimit::Auto, 0.0, 0.0));
    assert_eq!(all.dropped.vertices, 0);
    assert!(all.vertices.iter().all(|v| v.joints == [0, 1, 2, 3, 4, 5, 0, 0] && v.weights[5] == 0.05));
    let five = Geometry::with_at_most(&model, 5);
    assert!(five.dropped.vertices == 24 && (five.dropped.weight - 0.05).abs() < 1e-12);
    // Influences within the tolerance are dropped without a report.
    let four = Geometry::new(&model, &KeptInfluences::new(&model, InfluenceLimit::Auto, 100.0, 720.0));
    assert!(four.dropped.vertices == 0 && four.vertices.iter().all(|v| v.weights[4] == 0.0));
}

#[test]
fn influences_beyond_the_format_are_reported() {
    let weights = [0.2, 0.15, 0.15, 0.1, 0.1, 0.1, 0.08, 0.06, 0.04, 0.02];
    let mut model = six([1.0 / 6.0; 6]);
    model.primitives[0].influences = Default::default();
    let bones = |k: usize| (k % 6) as u16;
    for _ in 0..24 {
        model.primitives[0].influences.push((0..10).map(|k| (bones(k), weights[k])));
    }
    let drawn = Geometry::new(&model, &KeptInfluences::new(&model, InfluenceLimit::Auto, 0.0, 0.0));
    assert!(drawn.dropped.vertices == 24 && (drawn.dropped.weight - 0.06).abs() < 1e-12, "{:?}", drawn.dropped);
}

#[test]
fn error_of_four_influences_is_the_greatest_distance() {
    let model = six([0.3, 0.2, 0.2, 0.15, 0.1, 0.05]);
    let expected = (0..24).map(|vertex| moved(&model, vertex, 4)).fold(0.0, f64::max);
    assert!(expected > 0.01, "{expected}");
    for limit in [InfluenceLimit::Auto, InfluenceLimit::Most(8), InfluenceLimit::Most(5)] {
        let geometry = Geometry::new(&model, &KeptInfluences::new(&model, limit, 0.0, 0.0));
        assert!((f64::from(geometry.influence_error) - expected).abs() < 1e-6, "{limit:?}: {geometry:?}");
    }
    // Vertices that keep four have no such error.
    for limit in [InfluenceLimit::Auto, InfluenceLimit::Most(4)] {
        let geometry = Geometry::new(&model, &KeptInfluences::new(&model, limit, 100.0, 720.0));
        assert_eq!(geometry.influence_error, 0.0, "{limit:?}");
    }
}
