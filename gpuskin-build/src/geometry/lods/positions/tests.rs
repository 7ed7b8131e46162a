use std::collections::BTreeMap;

use glam::{DAffine3, DVec2};
use gpuskin_rt::internals::morph::MorphDelta;

use super::*;
use crate::geometry::Geometry;
use crate::geometry::lods::error::{EVERYTHING, THOROUGH};
use crate::geometry::lods::vertices::VertexCopy;
use crate::geometry::morphs::VertexMorphs;
use crate::model::fixtures::model;
use crate::model::{Influences, Model, Primitive};

const RINGS: u32 = 24;
const AROUND: u32 = 48;

/// Returns a ball whose triangles have vertices of their own, and whose upper half turns with the second bone.
fn ball() -> Model {
    let mut ball = Primitive { normals: Some(Vec::new()), influences: Influences::default(), ..Primitive::default() };
    let corner = |[ring, i]: [u32; 2]| {
        let [a, b] = [f64::from(ring) / f64::from(RINGS) * 0.5, f64::from(i % AROUND) / f64::from(AROUND)];
        let [(sin_a, cos_a), (sin_b, cos_b)] = [a, b].map(|turns| libm::sincos(turns * std::f64::consts::TAU));
        DVec3::new(sin_a * cos_b, sin_a * sin_b, cos_a)
    };
    for [ring, i] in (0..RINGS).flat_map(|ring| (0..AROUND).map(move |i| [ring, i])) {
        let [a, b, c, d] = [[ring, i], [ring, i + 1], [ring + 1, i], [ring + 1, i + 1]].map(corner);
        for triangle in [[a, c, b], [b, c, d]] {
            let normal = (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]);
            if normal.length() > 1e-9 {
                let first = ball.positions.len() as u32;
                ball.triangles.push([first, first + 1, first + 2]);
                for p in triangle {
                    let upper = (p.z * 2.0 + 0.5).clamp(0.0, 1.0);
                    ball.positions.push(p);
                    ball.normals.get_or_insert_default().push(normal.normalize());
                    ball.influences
                        .push([(0, 1.0 - upper), (1, upper)].into_iter().filter(|(_, weight)| *weight > 0.0));
                }
            }
        }
    }
    ball.uvs = vec![DVec2::ZERO; ball.positions.len()];
    model(ball)
}

/// Returns the triangles of a quarter of the rings, and of the vertices around. Vertices at one place take turns.
fn coarse(geometry: &Geometry) -> Vec<u32> {
    let mut at: BTreeMap<[u32; 3], Vec<u32>> = BTreeMap::new();
    // Rounded, as the same place is computed in several ways.
    let key = |p: Vec3| p.to_array().map(|c| (c * 1000.0).round() as i32 as u32);
    for (vertex, own) in (0..).zip(&geometry.vertices) {
        at.entry(key(own.position)).or_default().push(vertex);
    }
    let corner = |[ring, i]: [u32; 2]| {
        let [a, b] = [ring as f32 / RINGS as f32 * 0.5, (i % AROUND) as f32 / AROUND as f32];
        let [(sin_a, cos_a), (sin_b, cos_b)] = [a, b].map(|turns| (turns * std::f32::consts::TAU).sin_cos());
        let here = &at[&key(Vec3::new(sin_a * cos_b, sin_a * sin_b, cos_a))];
        here[(ring + i) as usize / 4 % here.len()]
    };
    let quads = (0..RINGS).step_by(4).flat_map(|ring| (0..AROUND).step_by(4).map(move |i| [ring, i]));
    let mut indices = Vec::new();
    for [ring, i] in quads {
        let [a, b, c, d] = [[ring, i], [ring, i + 4], [ring + 4, i], [ring + 4, i + 4]].map(corner);
        let triangles = [(ring > 0).then_some([a, c, b]), (ring + 4 < RINGS).then_some([b, c, d])];
        indices.extend(triangles.into_iter().flatten().flatten());
    }
    indices
}

/// Fits the coarse ball. Returns the errors before and after, and the vertices before and after.
fn fitted(geometry: &Geometry, model: &Model) -> ([f32; 2], Vec<(Vec3, Vec3)>) {
    let bones = BonePoses::new(model, geometry.vertices.len());
    let poses = bones.positions(geometry);
    let measure = LodErrorMeter::new(geometry, &poses, vec![vec![0]]);
    let indices = [coarse(geometry)];
    let mut level = LevelVertices::new(geometry, &indices, &[]);
    let known = measure.error_of_sample(&indices, THOROUGH);
    let error = PositionFit::new(&bones, &measure).apply(&mut level, known);
    // Measured again at all points, from the vertices alone.
    let skinning: Vec<Vec<DAffine3>> = level.vertices.iter().map(|own| bones.affines(&own.vertex)).collect();
    let in_pose = |pose: usize| {
        let at = |(own, skinning): (&VertexCopy, &Vec<DAffine3>)| {
            skinning[pose].transform_point3(own.vertex.position.as_dvec3()).as_vec3()
        };
        level.vertices.iter().zip(&skinning).map(at).collect()
    };
    let posed: LodPoses = (0..poses.len()).map(in_pose).collect();
    let all = measure.error_of_vertices(&level.parts, &posed, EVERYTHING);
    assert!((error..error * 1.1).contains(&all), "{error} m, or {all} m at all points");
    let moved = |own: &VertexCopy| (geometry.vertices[own.of as usize].position, own.vertex.position);
    ([measure.error_of_sample(&indices, EVERYTHING), all], level.vertices.iter().map(moved).collect())
}

#[test]
fn vertices_move_to_where_both_surfaces_are_closest() {
    let model = ball();
    let geometry = Geometry::with_at_most(&model, 4);
    let ([before, after], vertices) = fitted(&geometry, &model);
    assert!(after < before * 0.75, "{before} m before, {after} m after");
    // Vertices at one place stay at one place, within the range of positions that can be stored.
    let mut places: BTreeMap<[u32; 3], Vec3> = BTreeMap::new();
    for (from, to) in &vertices {
        assert_eq!(*places.entry(from.to_array().map(f32::to_bits)).or_insert(*to), *to, "{from}");
        assert!(to.abs().max_element() <= 1.0, "{to}");
    }
    assert!(places.len() < vertices.len() && vertices.iter().any(|(from, to)| from != to));
}

#[test]
fn vertices_that_morph_targets_move_stay() {
    let model = ball();
    let mut geometry = Geometry::with_at_most(&model, 4);
    // A place of the level.
    let fixed = coarse(&geometry)[30];
    let mut of = vec![0; geometry.vertices.len()];
    of[fixed as usize] = 1;
    let lists = vec![Vec::new(), vec![MorphDelta::unpack([0; 4])]];
    geometry.morphs = VertexMorphs { lists, of, words: Vec::new() };
    let (_, vertices) = fitted(&geometry, &model);
    let place = geometry.vertices[fixed as usize].position;
    let (there, others): (Vec<_>, Vec<_>) = vertices.iter().partition(|(from, _)| *from == place);
    assert!(!there.is_empty() && there.iter().all(|(from, to)| from == to), "{there:?}");
    assert!(others.iter().any(|(from, to)| from != to));
}
