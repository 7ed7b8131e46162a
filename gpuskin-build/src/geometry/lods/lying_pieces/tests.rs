use glam::{DMat4, DVec2};
use gpuskin_rt::internals::morph::MorphDelta;

use super::*;
use crate::geometry::Geometry;
use crate::geometry::lods::error::THOROUGH;
use crate::geometry::lods::{LodSet, MIN_TRIANGLES};
use crate::geometry::morphs::VertexMorphs;
use crate::model::fixtures::model;
use crate::model::{Influences, Model, Primitive};

/// Depth of the face in its middle.
const DEPTH: f64 = 0.2;

/// Height of the face, which has a spike on its border: no vertex is stored higher than the highest of the mesh.
fn face_at(x: f64, y: f64) -> f64 {
    if (x, y) == (1.0, 0.0) { 0.1 } else { DEPTH * ((x * x + y * y) / 2.0 - 1.0) }
}

/// Adds a grid of squares around the middle. `half`: half its width. `z`: its height at a place.
fn add_grid(to: &mut Primitive, half: f64, squares: u32, z: impl Fn(f64, f64) -> f64) {
    let first = to.positions.len() as u32;
    let at = |i: u32| (f64::from(i) / f64::from(squares) * 2.0 - 1.0) * half;
    for (x, y) in (0..=squares).flat_map(|j| (0..=squares).map(move |i| (at(i), at(j)))) {
        to.positions.push(DVec3::new(x, y, z(x, y)));
        to.normals.get_or_insert_default().push(DVec3::Z);
        to.uvs.push(DVec2::ZERO);
        to.influences.push(vec![(0, 1.0)]);
    }
    for corner in (0..squares).flat_map(|j| (0..squares).map(move |i| first + j * (squares + 1) + i)) {
        let [a, b, c, d] = [corner, corner + 1, corner + squares + 1, corner + squares + 2];
        to.triangles.extend([[a, b, c], [b, d, c]]);
    }
}

/// A hollow face of two metres, and a square of 20 cm over its middle for each height in metres, each smaller than the one before.
/// Bones enlarge the model by `scale`.
fn hollow_face(heights: &[f64], scale: f64) -> Model {
    let mut all = Primitive { normals: Some(Vec::new()), influences: Influences::default(), ..Primitive::default() };
    add_grid(&mut all, 1.0, 16, face_at);
    for (i, height) in heights.iter().enumerate() {
        add_grid(&mut all, 0.1 - 0.02 * i as f64, 1, |x, y| face_at(x, y) + height);
    }
    let mut model = model(all);
    model.bones.iter_mut().for_each(|bone| bone.inverse_bind = DMat4::from_scale(DVec3::splat(scale)));
    model
}

/// Moves the squares of a LOD whose face is flat. Returns the heights of the squares before skinning, over where the face was, and the
/// errors before and after. `known`: the error if it is not measured.
fn moved(model: &Model, change: impl FnOnce(&mut Geometry), known: Option<f32>) -> (Vec<f32>, [f32; 2]) {
    let mut geometry = Geometry::with_at_most(model, 4);
    change(&mut geometry);
    let bones = BonePoses::new(model, geometry.vertices.len());
    let poses = bones.positions(&geometry);
    let measure = LodErrorMeter::new(&geometry, &poses, vec![vec![0]]);
    let corner = |x: f32, y: f32| {
        let is = |v: &gpuskin_rt::internals::vertex::Vertex| v.position.truncate() == glam::Vec2::new(x, y);
        geometry.vertices.iter().position(is).unwrap() as u32
    };
    let [a, b, c, d] = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].map(|(x, y)| corner(x, y));
    let is_square = |triangle: &&[u32; 3]| {
        let of_face = |v: f32| (v * 8.0).fract() == 0.0;
        triangle.iter().all(|v| !of_face(geometry.vertices[*v as usize].position.x))
    };
    let squares = geometry.indices.as_chunks::<3>().0.iter().filter(is_square).flatten().copied();
    let parts = [[a, b, c, b, d, c].into_iter().chain(squares).collect::<Vec<_>>()];
    let pieces = LyingPieces::new(&bones, &measure);
    let before = known.unwrap_or_else(|| measure.error_of_sample(&parts, THOROUGH));
    let mut level = LevelVertices::new(&geometry, &parts, &[]);
    let lies = pieces.any(&parts, &[], before);
    let after = pieces.apply(&mut level, before);
    let of_squares = level.parts[0][6..].as_chunks::<6>().0;
    let heights: Vec<f32> =
        of_squares.iter().map(|square| level.vertices[square[0] as usize].vertex.position.z).collect();
    assert!(lies || before == after);
    assert!(level.parts[0][..6].iter().all(|v| level.vertices[*v as usize].vertex.position.z == 0.0));
    (heights, [before, after])
}

fn assert_near(found: &[f32], expected: &[f32]) {
    let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-3);
    assert!(found.len() == expected.len() && near, "{found:?}, {expected:?}");
}

#[test]
fn pieces_stay_over_a_face_that_became_flat() {
    for scale in [1.0, 3.0] {
        let (heights, [before, after]) = moved(&hollow_face(&[0.02], scale), |_| (), None);
        assert!(
            (before / (DEPTH * scale) as f32 - 1.0).abs() < 0.1 && after <= before * MAX_GROWTH,
            "{before} {after}"
        );
        // As far as the error allows.
        assert!(heights[0] > 0.005 && heights[0] < 0.021, "{heights:?}");
    }
    // One on another.
    let (heights, _) = moved(&hollow_face(&[0.02, 0.03], 1.0), |_| (), None);
    assert!(heights[0] > 0.005 && heights[1] > heights[0] + 0.005 && heights[1] < 0.031, "{heights:?}");
}

#[test]
fn other_pieces_stay() {
    let stays = |heights: &[f64], known: Option<f32>| {
        let (found, [before, after]) = moved(&hollow_face(heights, 1.0), |_| (), known);
        let expected: Vec<f32> = heights.iter().map(|height| (face_at(0.1, 0.1) + height) as f32).collect();
        assert_near(&found, &expected);
        assert_eq!(before, after);
    };
    // Below the face, or so far over it that it is not hidden.
    stays(&[-0.02], None);
    stays(&[0.12], None);
    // The error would grow.
    stays(&[0.02], Some(0.12));
    // Vertices that morph targets move are found by their index.
    let fixed = |geometry: &mut Geometry| {
        let lists = vec![Vec::new(), vec![MorphDelta::unpack([1, 0, 0, 0])]];
        geometry.morphs = VertexMorphs { lists, of: vec![1; geometry.vertices.len()], words: Vec::new() };
    };
    assert!(moved(&hollow_face(&[0.02], 1.0), fixed, None).0[0] < -0.1);
}

/// A face that bulges and is hollow in turns, with an eye of many triangles close over it.
#[test]
fn simplification_does_not_hide_an_eye() {
    let mut all = Primitive { normals: Some(Vec::new()), influences: Influences::default(), ..Primitive::default() };
    let wave = |x: f64, y: f64| 0.05 * (libm::cos(x * 9.0) + libm::cos(y * 9.0));
    add_grid(&mut all, 1.0, 64, wave);
    add_grid(&mut all, 0.25, 16, |x, y| wave(x, y) + 0.003);
    let model = model(all);
    let geometry = Geometry::with_at_most(&model, 4);
    let bones = BonePoses::new(&model, geometry.vertices.len());
    let hidden_in = |LodSet { levels, copies }: LodSet| -> Vec<[usize; 2]> {
        let own = |index: u32| copies.get((index as usize).wrapping_sub(geometry.vertices.len()));
        let source = |index: u32| geometry.vertices[own(index).map_or(index, |copy| copy.of) as usize].position;
        let position = |index: &u32| own(*index).map_or_else(|| source(*index), |copy| copy.vertex.position);
        let is_eye = |triangle: &&[u32; 3]| {
            let p = source(triangle[0]);
            p.z - wave(p.x.into(), p.y.into()) as f32 > 0.0015
        };
        let of_level = |level: &crate::geometry::lods::LodMesh| {
            let all = level.parts[0].as_chunks::<3>().0.iter();
            let (eye, face): (Vec<&[u32; 3]>, Vec<&[u32; 3]>) = all.partition(is_eye);
            let corners = |triangle: &[u32; 3]| [0, 1, 2].map(|corner| position(&triangle[corner]));
            let is_hidden = |triangle: &&&[u32; 3]| {
                let [a, b, c] = corners(triangle);
                let middle = (a + b + c) / 3.0;
                face.iter().map(|triangle| corners(triangle)).any(|[a, b, c]| {
                    let depth = (a - middle).dot((b - a).cross(c - a).normalize_or_zero());
                    depth > 0.0 && closest(middle, a, b, c).distance(middle) < depth * 1.05
                })
            };
            [eye.iter().filter(is_hidden).count(), eye.len()]
        };
        levels.iter().map(of_level).collect()
    };
    let made = |may_copy| hidden_in(LodSet::new(&model, &geometry, &bones, (7, MIN_TRIANGLES), may_copy));
    let (before, after) = (made(false), made(true));
    let sum = |levels: &[[usize; 2]]| levels.iter().map(|[hidden, _]| *hidden).sum::<usize>();
    assert!(sum(&before) > 30 && sum(&after) < 10, "{before:?}, {after:?}");
    // All levels still have an eye.
    assert!(after.len() == 7 && after.iter().all(|[_, eye]| *eye > 0), "{after:?}");
}
