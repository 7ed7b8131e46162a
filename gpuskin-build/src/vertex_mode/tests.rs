use glam::{DMat4, DVec2, DVec3};
use gpuskin_rt::internals::encoding::vat::VertexSample;
use gpuskin_rt::internals::morph::MorphLists;
use gpuskin_rt::internals::vertex::rest;
use gpuskin_rt::internals::{ClipRecord, Encoding, Normals};

use super::{Evaluator, RestMesh, VertexMesh, encode, measure, rest_mesh};
use crate::encode::shape;
use crate::frames::{FrameGrid, Hold};
use crate::measure::{ClipErrors, DrawnModel, MeasuredTimes};
use crate::model::fixtures::{cube, model};
use crate::model::*;

fn at(model: &Model, mesh: &VertexMesh, seconds: f64) -> Vec<VertexSample> {
    let pose = Evaluator::new(model, model.clips.first()).at(seconds);
    mesh.at(model, &pose).collect()
}

/// Whether every corner of every triangle has the normal of the triangle.
fn is_flat(mesh: &VertexMesh, samples: &[VertexSample]) -> bool {
    mesh.geometry.indices.as_chunks::<3>().0.iter().all(|triangle| {
        let [a, b, c] = [0, 1, 2].map(|k| samples[mesh.geometry.vertices[triangle[k] as usize].joints[0] as usize]);
        let face = (b.position - a.position).cross(c.position - a.position).normalize();
        [a, b, c].iter().all(|s| s.normal.distance(face) < 1e-9)
    })
}

#[test]
fn a_cube_stays_flat() {
    for normals in [true, false] {
        let model = model(cube(normals, |_| vec![(1, 1.0)]));
        let mesh = VertexMesh::new(&model);
        // Three normals at each of eight corners, whether generated or from the file.
        assert_eq!(mesh.rows(), 24);
        for seconds in [0.0, 0.3, 1.0] {
            assert!(is_flat(&mesh, &at(&model, &mesh, seconds)), "{normals} {seconds}");
        }
    }
}

#[test]
fn bent_meshes_without_normals_are_flat_in_every_frame() {
    // The upper half turns and the lower half is static, so triangles between them are sheared.
    let bent = |p: DVec3| if p.y > 0.0 { vec![(1, 1.0)] } else { vec![(0, 0.6), (1, 0.4)] };
    let model = model(cube(false, bent));
    let mesh = VertexMesh::new(&model);
    for seconds in [0.0, 0.4, 0.9] {
        assert!(is_flat(&mesh, &at(&model, &mesh, seconds)), "{seconds}");
    }
}

#[test]
fn vertices_that_differ_in_texture_coordinates_share_a_row() {
    let mut primitive = cube(true, |_| vec![(1, 1.0)]);
    // A copy of one face with different texture coordinates.
    let again = primitive.positions.len() as u32;
    for v in 0..4 {
        primitive.positions.push(primitive.positions[v]);
        let normals = primitive.normals.as_mut().unwrap();
        normals.push(normals[v]);
        primitive.uvs.push(primitive.uvs[v] + DVec2::X);
        primitive.influences.push([(1, 1.0)]);
    }
    primitive.triangles.push([again, again + 1, again + 2]);
    let mesh = VertexMesh::new(&model(primitive));
    assert_eq!((mesh.rows(), mesh.geometry.vertices.len()), (24, 28));
    let rows: Vec<u32> = mesh.geometry.vertices.iter().map(|v| v.joints[0]).collect();
    let mut first_use = 0;
    for row in rows {
        assert!(row <= first_use, "rows are in the order of their first use");
        first_use = first_use.max(row + 1);
    }
}

/// Returns the measured errors of a model in an encoding.
fn errors(model: &Model, encoding: Encoding) -> ClipErrors {
    let mesh = VertexMesh::new(model);
    let stepped = Hold::longest(&model.clips[0], true).stepped;
    let grids = [FrameGrid { stepped, ..FrameGrid::new(1.0, 4.0, false) }];
    let records = [ClipRecord { first_frame: 0, intervals: 4, stored: 5, held: grids[0].held_bits() }];
    let texture = shape(encoding, 5, mesh.rows() + encoding.range_rows(), None).unwrap();
    let (texels, misfits) = encode(model, &mesh, encoding, texture, &grids, &records);
    assert!(misfits.is_empty());
    let mut vertices = mesh.geometry.vertices.clone();
    vertices.iter_mut().for_each(|v| v.joints[0] += encoding.range_rows());
    let (texels, baked_of_source) = (texels.view(), &mesh.geometry.baked_of_source[..]);
    let drawn = DrawnModel {
        texels,
        vertices: &vertices,
        baked_of_source,
        morphs: MorphLists::default(),
        normals: Normals::Cofactor,
    };
    measure(model, &grids, &records, &drawn, MeasuredTimes::All)[0].0
}

#[test]
fn morph_targets_and_all_influences_are_baked() {
    let mut primitive = cube(true, |p| {
        let share = 0.05 * (p.x + 2.0);
        vec![(1, 1.0 - 5.0 * share), (0, share), (0, share), (1, share), (0, share), (1, share)]
    });
    let bulge = |p: &DVec3| DVec3::new(p.y, 0.5, -p.z);
    primitive.targets.push(MorphTarget {
        positions: primitive.positions.iter().map(bulge).collect(),
        normals: Some(primitive.positions.iter().map(|p| *p * 0.2).collect()),
        tangents: None,
    });
    let model = model(primitive);
    let mesh = VertexMesh::new(&model);
    let moved: f64 =
        at(&model, &mesh, 1.0).iter().zip(at(&model, &mesh, 0.0)).map(|(a, b)| a.position.distance(b.position)).sum();
    assert!(moved > 10.0);
    // Tolerances for a cube with a diagonal of 3.5 m.
    for (encoding, metres, degrees) in [
        (Encoding::VatF32, 1e-6, 1e-3),
        (Encoding::VatPackedFine, 1e-6, 0.01),
        (Encoding::VatUnorm24, 1e-6, 0.01),
        (Encoding::VatUnorm16, 1e-4, 0.01),
        (Encoding::VatPacked, 1e-4, 0.65),
        (Encoding::VatF16, 2e-3, 0.1),
        (Encoding::VatUnorm8, 2e-2, 0.01),
    ] {
        let found = errors(&model, encoding).encoding;
        assert!(found.max <= metres && found.normal_degrees <= degrees, "{encoding:?}: {found:?}");
    }
    let ClipErrors { encoding, motion, .. } = errors(&model, Encoding::VatF32);
    assert!(
        motion.max > 0.01,
        "vertices turn by 40 degrees per frame, and are interpolated linearly between frames: {motion:?}"
    );
    assert!(motion.normal_degrees > 0.1 && encoding.normal_degrees < 1e-3, "{motion:?} {encoding:?}");
}

#[test]
fn jumps_of_morph_weights_are_excluded_from_the_motion_error() {
    let mut primitive = cube(true, |_| vec![(0, 1.0)]);
    primitive.targets.push(MorphTarget { positions: vec![DVec3::X; 24], normals: None, tangents: None });
    let mut model = model(primitive);
    let smooth = errors(&model, Encoding::VatF32);
    assert_eq!((smooth.step_tracks, smooth.motion.max < 1e-5), (0, true));
    model.clips[0].morphs[0].curve.interpolation = Interpolation::Step;
    let jumps = errors(&model, Encoding::VatF32);
    assert_eq!((jumps.step_tracks, jumps.motion.max < 1e-5), (1, true));
    // Where nothing else moves, frames are held, and errors between them are measured.
    model.clips[0].channels.clear();
    let held = errors(&model, Encoding::VatF32);
    assert_eq!((held.step_tracks, held.motion.max < 1e-5), (0, true));
}

#[test]
fn the_rest_mesh_is_a_pose_of_a_clip() {
    let bent = |p: DVec3| vec![(1, 0.5 + 0.5 * p.y), (0, 0.5 - 0.5 * p.y)];
    for tangents in [false, true] {
        let mut model = model(cube(true, bent));
        model.materials[0].normal_map = tangents;
        let mesh = VertexMesh::new(&model);
        let grid = FrameGrid::new(1.0, 10.0, false);
        for (clip, seconds) in [(None, 0.0), (Some(0), 0.0), (Some(0), 0.37), (Some(0), 1.0)] {
            let RestMesh { info, words } = rest_mesh(&model, &mesh, clip.map(|clip| (clip, &grid, seconds)));
            let samples: Vec<VertexSample> = {
                let pose = Evaluator::new(&model, clip.map(|clip| &model.clips[clip])).at(seconds);
                mesh.at(&model, &pose).collect()
            };
            // Half a quantisation step in each of three axes, plus rounding errors.
            let most = f64::from(glam::Vec3::from(info.position_extent).length()) * (0.5 / 65_535.0) + 1e-6;
            let stride = rest::words(tangents);
            assert_eq!(words.len(), mesh.geometry.vertices.len() * stride);
            for (vertex, words) in mesh.geometry.vertices.iter().zip(words.chunks(stride)) {
                let sample = samples[vertex.joints[0] as usize];
                let mut found = *vertex;
                rest::place(&mut found, words, tangents, &info);
                assert!(found.position.as_dvec3().distance(sample.position) < most, "{clip:?} {seconds}");
                assert!(found.normal.as_dvec3().distance(sample.normal) < 1e-4);
                let along = found.tangent.truncate().as_dvec3().distance(sample.tangent.normalize());
                assert!(!tangents || (along < 2e-4 && found.tangent.w == vertex.tangent.w), "{along}");
            }
        }
    }
}

#[test]
fn vertices_out_of_range_are_reported() {
    let mut model = model(cube(true, |_| vec![(1, 1.0)]));
    model.root = DMat4::from_scale(DVec3::splat(1e5));
    let mesh = VertexMesh::new(&model);
    let grids = [FrameGrid::new(1.0, 4.0, false)];
    let records = [ClipRecord { first_frame: 0, intervals: 4, stored: 5, held: 0 }];
    for (encoding, fits) in [(Encoding::VatF16, false), (Encoding::VatPacked, true)] {
        let texture = shape(encoding, 5, mesh.rows() + encoding.range_rows(), None).unwrap();
        let (_, misfits) = encode(&model, &mesh, encoding, texture, &grids, &records);
        assert_eq!(misfits.is_empty(), fits, "{encoding:?}");
    }
}

#[test]
fn frames_stay_within_layers_at_any_width() {
    for width in [64, 128, 256, 512, 1024, 2048, 4096] {
        let texture = shape(Encoding::VatUnorm16, 300, 5000, Some(width)).unwrap();
        assert_eq!(texture.width, width);
        assert!(texture.height <= 2048 && texture.frames_per_layer * texture.layers >= 300);
        for frame in [0, 7, 298, 299] {
            let ends = [0, 4999].map(|row| texture.texel(Encoding::VatUnorm16, frame, row, 2));
            assert_eq!(ends[0][2], ends[1][2], "frame {frame} at width {width}: {texture:?}");
            assert!(ends[1][1] < texture.height && ends[1][2] < texture.layers);
        }
    }
    // 64 by 2048 texels hold 43,690 vertices of three texels each.
    assert!(shape(Encoding::VatUnorm16, 1, 43_690, Some(64)).is_some());
    assert!(shape(Encoding::VatUnorm16, 1, 43_691, Some(64)).is_none());
    assert!(shape(Encoding::VatPacked, 1, u32::MAX, None).is_none());
}
