use glam::{DMat3, DVec3, DVec4};
use gpuskin_rt::internals::{ClipRecord, Encoding, Normals};

use super::{ClipErrors, DrawnModel, MeasuredTimes, MotionQuery, SampleTimes, drawn_pose, measure, motion_within};
use crate::encode::{Encoder, Ranges, shape};
use crate::frames::FrameGrid;
use crate::geometry::Geometry;
use crate::model::Model;
use crate::model::fixtures::{cube, model};
use crate::sample::{Rows, Sampler};

/// Returns a cube whose corners are moved by one bone, or by two with different weights, with
/// rounded normals and unequal sides.
fn bent_cube() -> Model {
    let mut model = model(cube(true, |corner| {
        let weight = (corner.x * 0.31 + corner.y * 0.17 + corner.z * 0.08 + 0.6) / 1.2;
        if corner.z < 0.0 { vec![(1, 1.0)] } else { vec![(0, weight), (1, 1.0 - weight)] }
    }));
    let primitive = &mut model.primitives[0];
    for (p, n) in primitive.positions.iter_mut().zip(primitive.normals.as_mut().unwrap()) {
        *n = (*n + *p * 0.4).normalize();
        *p = *p * DVec3::new(1.0, 0.7, 1.3) + DVec3::new(0.1, 0.2, 0.3);
    }
    model
}

/// Returns the errors measured in an encoding with a normal transform, and reference values
/// computed per vertex in `f64`: greatest distance at frames and at all times, greatest angle at
/// frames, and corners of the bounding box.
fn both(model: &Model, encoding: Encoding, normals: Normals) -> (ClipErrors, [f64; 3], [DVec3; 2]) {
    let clip = &model.clips[0];
    let grid = FrameGrid::new(1.0, 6.0, false);
    let record = ClipRecord { first_frame: 0, intervals: 6, stored: 7, held: 0 };
    let sampler = Sampler::in_place(model, clip, &grid);
    let poses: Vec<Vec<Rows>> = (0..7).map(|i| sampler.skin_matrices(grid.time(i))).collect();
    let mut encoder = Encoder::new(encoding, shape(encoding, 7, 2, None).unwrap(), model, Ranges::default().finish());
    assert!(encoder.clip(0, &poses).is_empty());
    let texels = encoder.finish();
    let geometry = Geometry::with_at_most(model, 4);
    let baked_of_source = &geometry.baked_of_source[..];
    let drawn = DrawnModel { texels: texels.view(), vertices: &geometry.vertices, baked_of_source, normals };
    let (found, curve) = measure(model, &[grid], &[record], &drawn, MeasuredTimes::All).remove(0);
    let mut of_vertices = vec![0.0_f64; geometry.vertices.len()];

    let ([mut at_frames, mut always, mut angle], mut bounds) = ([0.0_f64; 3], [DVec3::INFINITY, DVec3::NEG_INFINITY]);
    let SampleTimes { frames, between } = SampleTimes::new(clip, &grid, MeasuredTimes::All, false);
    for (sample, frame) in frames.iter().map(|at| (at, true)).chain(between.iter().map(|at| (at, false))) {
        let source = sampler.skin_matrices(sample.seconds);
        let shown = drawn_pose(&drawn.texels, &grid, &record, sample.seconds);
        let shown: Vec<Rows> = shown.iter().map(|m| m.rows.map(|row| row.as_dvec4().to_array())).collect();
        let primitive = &model.primitives[0];
        for (v, p) in primitive.positions.iter().enumerate() {
            let baked = &geometry.vertices[baked_of_source[v] as usize];
            let influences = primitive.influences.of(v).iter().map(|&(bone, w)| (usize::from(bone), w));
            let exact = blend(&source, influences);
            let lossy = blend(&shown, baked.joints.iter().zip(baked.weights).map(|(j, w)| (*j as usize, f64::from(w))));
            let place = exact.map(|row| row.dot(p.extend(1.0)));
            let there = lossy.map(|row| row.dot(baked.position.as_dvec3().extend(1.0)));
            let distance = DVec3::from(place).distance(DVec3::from(there));
            always = always.max(distance);
            if frame {
                at_frames = at_frames.max(distance);
                let of_vertex = &mut of_vertices[baked_of_source[v] as usize];
                *of_vertex = of_vertex.max(distance);
                bounds = [bounds[0].min(place.into()), bounds[1].max(place.into())];
                let a = turned(exact, primitive.normals.as_ref().unwrap()[v], Normals::Cofactor);
                angle = angle.max(a.angle_between(turned(lossy, baked.normal.as_dvec3(), normals)).to_degrees());
            }
        }
    }
    // Errors of vertices are in 31sts of the greatest.
    assert_eq!(curve.vertices.greatest, found.encoding.max);
    for (share, exact) in curve.vertices.shares.iter().zip(&of_vertices) {
        let error = f64::from(curve.vertices.greatest) * f64::from(*share) / 31.0;
        assert!((error - exact).abs() < at_frames / 61.0 + 2e-7, "{error} and {exact}");
    }
    assert_eq!(curve.vertices.shares.len(), of_vertices.len());
    (found, [at_frames, always, angle], bounds)
}

fn blend(bones: &[Rows], weights: impl Iterator<Item = (usize, f64)>) -> [DVec4; 3] {
    weights.fold([DVec4::ZERO; 3], |sum, (bone, w)| [0, 1, 2].map(|r| sum[r] + DVec4::from(bones[bone][r]) * w))
}

fn turned(rows: [DVec4; 3], normal: DVec3, how: Normals) -> DVec3 {
    let matrix = DMat3::from_cols_array_2d(&rows.map(|row| row.truncate().to_array())).transpose();
    match how {
        Normals::Plain => matrix * normal,
        Normals::Cofactor => matrix.inverse().transpose() * matrix.determinant().signum() * normal,
    }
}

#[test]
fn errors_equal_those_of_a_per_vertex_reference() {
    let model = bent_cube();
    for encoding in [Encoding::MatrixF32, Encoding::MatrixF16, Encoding::TrsF16] {
        for normals in [Normals::Cofactor, Normals::Plain] {
            let (found, [at_frames, always, angle], [low, high]) = both(&model, encoding, normals);
            // Tolerance relative to the error, plus the `f32` rounding error of a cube of 2 m.
            let near = |found: f32, exact: f64| (f64::from(found) - exact).abs() < 1e-3 * exact + 2e-7;
            assert!(near(found.encoding.max, at_frames), "{encoding:?}: {} and {at_frames}", found.encoding.max);
            assert!(near(found.motion.max, always), "{encoding:?}: {} and {always}", found.motion.max);
            let degrees = f64::from(found.encoding.normal_degrees);
            assert!((degrees - angle).abs() < 1e-3 * angle + 2e-5, "{encoding:?} {normals:?}: {degrees} and {angle}");
            let corners = [(found.bounds.min, low), (found.bounds.max, high)];
            assert!(corners.iter().all(|(found, exact)| DVec3::from(found.map(f64::from)).distance(*exact) < 1e-6));
            // Errors between frames are greater, and so are angles of plainly transformed normals.
            assert!(always > at_frames, "{always} {at_frames}");
            assert!(normals == Normals::Cofactor || angle > 1.0, "{angle}");
        }
    }
}

#[test]
fn nan_poses_have_infinite_errors() {
    let model = bent_cube();
    let grid = FrameGrid::new(1.0, 6.0, false);
    let record = ClipRecord { first_frame: 0, intervals: 6, stored: 7, held: 0 };
    let sampler = Sampler::in_place(&model, &model.clips[0], &grid);
    let mut poses: Vec<Vec<Rows>> = (0..7).map(|i| sampler.skin_matrices(grid.time(i))).collect();
    poses[3][1][0][0] = f64::NAN;
    let shape = shape(Encoding::MatrixF32, 7, 2, None).unwrap();
    let mut encoder = Encoder::new(Encoding::MatrixF32, shape, &model, Ranges::default().finish());
    encoder.clip(0, &poses);
    let texels = encoder.finish();
    let geometry = Geometry::with_at_most(&model, 4);
    let drawn = DrawnModel {
        texels: texels.view(),
        vertices: &geometry.vertices,
        baked_of_source: &geometry.baked_of_source,
        normals: Normals::Cofactor,
    };
    let ClipErrors { encoding, motion, .. } = measure(&model, &[grid], &[record], &drawn, MeasuredTimes::All)[0].0;
    assert_eq!([encoding.max, motion.max], [f32::INFINITY; 2]);
    assert_eq!([encoding.p9996, motion.p9996], [f32::INFINITY; 2]);
    // At the frame before, the NaN frame has weight zero, but zero times NaN is NaN.
    assert_eq!([encoding.time, motion.time], [1.0 / 3.0; 2]);
    let within = motion_within(&model, &[grid], &[record], &drawn, MotionQuery { clips: &[0], limit: 1e9 });
    assert_eq!(within, [false]);
}
