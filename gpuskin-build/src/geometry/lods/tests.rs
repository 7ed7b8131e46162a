use glam::{DVec2, DVec3, Mat3, Vec3};
use gpuskin_rt::internals::vertex::Vertex;

use super::*;
use crate::model::{Influences, Primitive};

/// Returns an open tube along z with `rings` rings and a radius of 0.2, whose halves are skinned to
/// two bones.
fn tube(rings: u32, around: u32, part: Option<u8>, material: usize, at: DVec3) -> Primitive {
    let mut influences = Influences::default();
    let (mut positions, mut uvs, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
    for ring in 0..rings {
        for i in 0..around {
            let (sin, cos) = (f64::from(i) / f64::from(around) * std::f64::consts::TAU).sin_cos();
            let z = f64::from(ring) / f64::from(rings - 1);
            positions.push(at + DVec3::new(0.2 * cos, 0.2 * sin, z));
            uvs.push(DVec2::new(f64::from(i) / f64::from(around), z));
            let bent = (z * 4.0 - 1.5).clamp(0.0, 1.0);
            match bent {
                0.0 => influences.push([(0, 1.0)]),
                1.0 => influences.push([(1, 1.0)]),
                _ => influences.push([(0, 1.0 - bent), (1, bent)]),
            }
            let next = (i + 1) % around;
            if ring + 1 < rings {
                let [a, b, c, d] =
                    [ring * around + i, ring * around + next, (ring + 1) * around + i, (ring + 1) * around + next];
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
    }
    let normals = positions.iter().map(|p| (*p - at).with_z(0.0).normalize()).collect();
    Primitive { part, material, positions, normals: Some(normals), uvs, influences, triangles, ..Primitive::default() }
}

/// Returns the rest pose, and poses with the upper half rotated about x by each angle.
fn bent(geometry: &Geometry, angles: &[f32]) -> LodPoses {
    let pose = |angle: &f32| {
        let (sin, cos) = angle.sin_cos();
        let at = |v: &Vertex| {
            let weight = v.joints.iter().zip(v.weights).filter(|(bone, _)| **bone == 1).map(|(_, w)| w).sum::<f32>();
            let p = v.position - Vec3::Z * 0.5;
            let turned = Vec3::new(p.x, p.y * cos - p.z * sin, p.y * sin + p.z * cos);
            v.position.lerp(turned + Vec3::Z * 0.5, weight)
        };
        geometry.vertices.iter().map(at).collect()
    };
    std::iter::once(&0.0).chain(angles).map(pose).collect()
}

fn geometry(primitives: Vec<Primitive>) -> Geometry {
    let material = || crate::model::Material::default();
    let bone = || crate::model::Bone { name: String::new(), node: 0, inverse_bind: glam::DMat4::IDENTITY };
    let materials = (0..2).map(|_| material()).collect();
    let model = crate::model::Model { primitives, materials, bones: vec![bone(), bone()], ..Default::default() };
    Geometry::with_at_most(&model, 4)
}

fn triangles(level: &LodMesh) -> usize {
    level.parts.iter().map(Vec::len).sum::<usize>() / 3
}

#[test]
fn lods_halve_to_a_few_dozen_triangles_and_errors_grow() {
    let geometry = geometry(vec![tube(41, 32, None, 0, DVec3::ZERO)]);
    let poses = bent(&geometry, &[0.7, 1.5]);
    let levels = levels(&geometry, &poses, 7, MIN_TRIANGLES);
    let counts: Vec<usize> = levels.iter().map(triangles).collect();
    assert!(levels.len() >= 4 && *counts.last().unwrap() < 120, "{counts:?}");
    assert!(levels[0].error < 0.01, "{}", levels[0].error);
    let mut before = 2560;
    for (level, count) in levels.iter().zip(&counts) {
        assert!(count * 10 <= before * 8 && *count >= 40, "{counts:?}");
        before = *count;
        let used = level.parts[0].iter().max().copied().unwrap() as usize;
        assert!(used < geometry.vertices.len());
        assert!(level.error > 0.0 && level.error < 0.1);
    }
    assert!(levels.is_sorted_by_key(|level| level.error));
    // The result is reproducible, and truncated if fewer LODs are wanted.
    assert_eq!(super::levels(&geometry, &poses, 7, MIN_TRIANGLES), levels);
    assert_eq!(super::levels(&geometry, &poses, 2, MIN_TRIANGLES), levels[..2]);
    assert!(super::levels(&geometry, &poses, 0, MIN_TRIANGLES).is_empty());
}

/// A manifest that asks for more LODs than lead to 64 triangles gets them.
#[test]
fn more_lods_go_on_to_a_dozen_triangles() {
    let geometry = geometry(vec![tube(11, 16, None, 0, DVec3::ZERO)]);
    let poses = bent(&geometry, &[0.7]);
    let [usual, more] = [MIN_TRIANGLES, FEWEST_TRIANGLES].map(|fewest| levels(&geometry, &poses, 7, fewest));
    assert_eq!(more[..usual.len()], usual);
    let counts: Vec<usize> = more[usual.len()..].iter().map(triangles).collect();
    assert!(matches!(counts[..], [18..=28, 8..=14]), "{counts:?}");
    let errors: Vec<f32> = more.iter().map(|level| level.error).collect();
    assert!(errors.is_sorted() && errors.iter().all(|error| *error < 0.3), "{errors:?}");
}

/// The error is measured in all poses: straight triangles along the tube do not fit the fold of the
/// bent tube.
#[test]
fn a_bending_joint_keeps_its_triangles() {
    let geometry = geometry(vec![tube(41, 32, None, 0, DVec3::ZERO)]);
    let (straight, poses) = (bent(&geometry, &[]), bent(&geometry, &[1.5]));
    let truth = LodErrorMeter::new(&geometry, &poses, vec![vec![0]]);
    for level in [1, 2] {
        let (blind, seeing) = (
            &levels(&geometry, &straight, 7, MIN_TRIANGLES)[level],
            &levels(&geometry, &poses, 7, MIN_TRIANGLES)[level],
        );
        // Reordered triangles are measured at other points.
        assert!(seeing.error >= 0.95 * truth.error(&seeing.parts));
        assert!(
            seeing.error < 0.7 * truth.error(&blind.parts),
            "level {level}: {} at {} against {} at {}",
            seeing.error,
            triangles(seeing),
            truth.error(&blind.parts),
            triangles(blind)
        );
    }
}

#[test]
fn parts_and_materials_stay_apart_and_none_vanishes() {
    // Two materials on one tube, and a small part that can be hidden.
    let mut body = [tube(41, 32, None, 0, DVec3::ZERO), tube(41, 32, None, 1, DVec3::ZERO)];
    body[0].triangles.retain(|t| t[0] < 20 * 32);
    body[1].triangles.retain(|t| t[0] >= 20 * 32);
    let [a, b] = body;
    let geometry = geometry(vec![a, b, tube(5, 8, Some(0), 0, DVec3::X)]);
    assert_eq!(geometry.parts.len(), 3);
    let of_part: Vec<std::collections::BTreeSet<u32>> = geometry
        .parts
        .iter()
        .map(|p| geometry.indices[p.first_index as usize..][..p.index_count as usize].iter().copied().collect())
        .collect();
    let levels = levels(&geometry, &bent(&geometry, &[0.5]), 7, MIN_TRIANGLES);
    assert!(levels.len() >= 3);
    for level in &levels {
        assert_eq!(level.parts.len(), 3);
        for (indices, known) in level.parts.iter().zip(&of_part) {
            assert!(!indices.is_empty() && indices.iter().all(|v| known.contains(v)));
        }
        // At the border of the materials, both use the same points, so that no gap opens.
        let at_border = |part: usize| {
            let points = level.parts[part].iter().map(|&v| geometry.vertices[v as usize].position);
            let mut points: Vec<[u32; 3]> = points
                .filter(|p| (p.z - 0.5).abs() < 1e-6)
                .map(|p| p.to_array().map(|c| (c + 0.0).to_bits()))
                .collect();
            points.sort_unstable();
            points.dedup();
            points
        };
        assert_eq!(at_border(0), at_border(1));
        assert!(!at_border(0).is_empty());
    }
}

#[test]
fn meshes_of_hard_edges_are_simplified() {
    let tube = tube(31, 24, None, 0, DVec3::ZERO);
    let mut hard = Primitive { normals: Some(Vec::new()), ..Primitive::default() };
    for t in &tube.triangles {
        let corners = t.map(|v| tube.positions[v as usize]);
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize();
        let first = hard.positions.len() as u32;
        hard.triangles.push([first, first + 1, first + 2]);
        hard.positions.extend(corners);
        hard.normals.as_mut().unwrap().extend([normal; 3]);
        t.iter().for_each(|&v| hard.influences.push(tube.influences.of(v as usize).iter().copied()));
    }
    let geometry = geometry(vec![hard]);
    assert!(geometry.vertices.len() > 1400);
    let levels = levels(&geometry, &bent(&geometry, &[0.5]), 7, MIN_TRIANGLES);
    assert!(triangles(levels.last().unwrap()) <= 64, "{:?}", levels.iter().map(triangles).collect::<Vec<_>>());
}

/// A straight tube has the same shape whichever rings it loses: its second texture coordinates decide.
#[test]
fn vertices_that_second_texture_coordinates_need_are_kept() {
    let (rings, around, noisy) = (31, 24, 23);
    let mut tube = tube(rings, around, None, 0, DVec3::ZERO);
    // Not linear at one end.
    let noise = |v: u32| if v / around >= noisy { f64::from((v * 7) % 5) / 10.0 } else { 0.0 };
    tube.second_uvs = (0..).zip(&tube.uvs).map(|(v, uv)| *uv + noise(v)).collect();
    let geometry = geometry(vec![tube]);
    let levels = levels(&geometry, &bent(&geometry, &[0.0]), 1, MIN_TRIANGLES);
    let mut used: Vec<u32> = levels[0].parts.concat();
    used.sort_unstable();
    used.dedup();
    let end = f32::from(noisy as u8) / f32::from(rings as u8 - 1) - 1e-4;
    let (kept, others): (Vec<u32>, Vec<u32>) =
        used.iter().partition(|v| geometry.vertices[**v as usize].position.z > end);
    // The end has 192 vertices, and the rest 552.
    assert!(kept.len() > 150 && others.len() < 276, "{} and {} others", kept.len(), others.len());
}

/// Returns separate boxes with hard edges, of two materials in turn, the last one a part that can be
/// hidden. Each side is a grid.
fn boxes(count: usize) -> Vec<Primitive> {
    let side = 6_u32;
    let mut all = Vec::new();
    for n in 0..count {
        let mut one = Primitive { normals: Some(Vec::new()), material: n % 2, ..Primitive::default() };
        one.part = (n + 1 == count).then_some(0);
        for (axis, sign) in (0..3).flat_map(|axis| [(axis, 1.0), (axis, -1.0)]) {
            let turned = |p: DVec3| [p, DVec3::new(p.z, p.x, p.y), DVec3::new(p.y, p.z, p.x)][axis] * sign;
            let first = one.positions.len() as u32;
            for i in 0..(side + 1) * (side + 1) {
                let (x, y) = (f64::from(i % (side + 1)), f64::from(i / (side + 1)));
                let p = DVec3::new(x, y, f64::from(side) / 2.0) / f64::from(side) - DVec3::new(0.5, 0.5, 0.0);
                one.positions.push(turned(p) * 0.2 + DVec3::Z * (n as f64 * 0.15));
                one.normals.as_mut().unwrap().push(turned(DVec3::Z));
                one.influences.push([((n % 2) as u16, 1.0)]);
                if x < f64::from(side) && y < f64::from(side) {
                    let [a, b, c, d] = [0, 1, side + 1, side + 2].map(|k| first + i + k);
                    one.triangles.extend([[a, b, c], [b, d, c]]);
                }
            }
        }
        all.push(one);
    }
    all
}

#[test]
fn every_mesh_gets_down_to_64_triangles() {
    for count in [1, 3, 15] {
        let geometry = geometry(boxes(count));
        let total = geometry.indices.len() / 3;
        let levels = levels(&geometry, &bent(&geometry, &[0.5, 1.2]), 7, MIN_TRIANGLES);
        let counts: Vec<usize> = levels.iter().map(triangles).collect();
        assert!(counts.last().is_some_and(|last| *last <= 64), "{count} boxes of {total} triangles: {counts:?}");
        assert!(levels.iter().all(|level| level.error.is_finite()));
        // A part that can be hidden is never empty, with any material.
        let hidden = |level: &LodMesh| -> usize {
            geometry.parts.iter().zip(&level.parts).filter(|(p, _)| p.part.is_some()).map(|(_, i)| i.len()).sum()
        };
        assert!(levels.iter().all(|level| hidden(level) > 0), "{count}");
    }
    for total in [65, 100, 127, 128, 190, 6_144, 65_408, 1_000_000] {
        let wanted = wanted(total, MIN_TRIANGLES);
        assert!(wanted.len() < MAX_LODS && wanted.is_sorted_by(|a, b| a > b) && wanted[0] < total as f64, "{total}");
        assert!(*wanted.last().unwrap() <= 64.0 && *wanted.last().unwrap() > 47.0, "{total}: {wanted:?}");
    }
}

#[test]
fn small_meshes_have_no_lods_and_degenerate_ones_do_not_panic() {
    let small = geometry(vec![tube(5, 8, None, 0, DVec3::ZERO)]);
    assert!(levels(&small, &bent(&small, &[]), 7, MIN_TRIANGLES).is_empty());
    // All vertices at one point; and non-finite positions.
    let geometry = geometry(vec![tube(21, 16, None, 0, DVec3::ZERO)]);
    let count = geometry.vertices.len();
    for place in [Vec3::ZERO, Vec3::NAN, Vec3::INFINITY] {
        levels(&geometry, &vec![vec![place; count]; 3], 7, MIN_TRIANGLES);
    }
}

#[test]
fn merged_vertices_are_close_in_all_poses_and_thin_parts_remain() {
    let mut thin = tube(81, 12, None, 0, DVec3::ZERO);
    thin.positions.iter_mut().for_each(|p| *p *= DVec3::new(0.1, 0.1, 1.0));
    let geometry = geometry(vec![thin, tube(41, 32, Some(0), 1, DVec3::X)]);
    let poses = bent(&geometry, &[0.7, 1.5]);
    let measure = LodErrorMeter::new(&geometry, &poses, worn(&geometry));
    let part =
        |p: &gpuskin_rt::internals::MeshPart| &geometry.indices[p.first_index as usize..][..p.index_count as usize];
    let finest: Vec<&[u32]> = geometry.parts.iter().map(part).collect();
    let surfaces = measure.worn().iter().map(|worn| worn.iter().map(|&p| finest[p]).collect()).collect();
    let clusters = Clusters::new(&geometry, &poses, surfaces);
    let mut before = f32::INFINITY;
    for wanted in [24, 48, 96, 192] {
        let parts = measure.of_mesh(clusters.within(clusters.radius(wanted).unwrap()));
        assert!(parts.iter().all(|part| !part.is_empty()) && count(&parts) <= wanted, "{wanted}: {}", count(&parts));
        // Each part uses only its own vertices, and no triangle is drawn twice.
        for (part, finest) in parts.iter().zip(&finest) {
            assert!(part.iter().all(|v| finest.contains(v)), "{wanted}");
            let triangles: BTreeSet<&[u32; 3]> = part.as_chunks::<3>().0.iter().collect();
            assert_eq!(triangles.len() * 3, part.len());
        }
        let error = measure.error(&parts);
        assert!(error < before, "{wanted}: {error} after {before}");
        before = error;
    }
    assert!(before < 0.08, "{before}");
    // The thin tube keeps triangles too, although no three kept vertices surround it.
    let thin = measure.of_mesh(clusters.within(clusters.radius(24).unwrap()));
    let ends = thin[0].iter().map(|&v| poses[0][v as usize].z);
    assert!(ends.clone().fold(1.0, f32::min) < 0.1 && ends.fold(0.0, f32::max) > 0.9);
    // More triangles than the kept vertices can form.
    assert!(clusters.radius(100_000).is_none());
}

/// Half-edge collapses keep both surfaces within the limit that they return, in all poses, and leave seams closed.
#[test]
fn collapses_keep_within_their_limit() {
    let geometry = geometry(vec![tube(41, 32, None, 0, DVec3::ZERO), tube(21, 16, None, 1, DVec3::X)]);
    let poses = bent(&geometry, &[0.7, 1.5]);
    let measure = LodErrorMeter::new(&geometry, &poses, worn(&geometry));
    let part =
        |p: &gpuskin_rt::internals::MeshPart| &geometry.indices[p.first_index as usize..][..p.index_count as usize];
    let finest: Vec<Vec<u32>> = geometry.parts.iter().map(|p| part(p).to_vec()).collect();
    let total = count(&finest);
    let mut before = 0.0;
    for wanted in [total / 2, total / 8, total / 16] {
        let collapse = HalfEdgeCollapse::new(&geometry, &poses, measure.finest(0), &finest, SeamRule::Kept).unwrap();
        let Collapsed { limit, groups: parts, .. } = collapse.simplify(wanted, 1.0).expect("a simpler surface");
        assert!((wanted - 2..=wanted).contains(&count(&parts)), "{wanted}: {}", count(&parts));
        let error = measure.error_of_sample(&parts, error::EVERYTHING);
        assert!(error <= limit * 1.06, "{wanted}: {error} m, limit {limit} m");
        assert!(limit < 1e-3 || error > limit * 0.2, "{wanted}: {error} m, limit {limit} m");
        assert!(limit > before, "{limit} after {before}");
        before = limit;
        for (part, finest) in parts.iter().zip(&finest) {
            assert!(!part.is_empty() && part.iter().all(|v| finest.contains(v)));
            assert!(part.as_chunks::<3>().0.iter().all(|[a, b, c]| a != b && b != c && c != a));
        }
    }
    // A smaller limit than is needed.
    let collapse = HalfEdgeCollapse::new(&geometry, &poses, measure.finest(0), &finest, SeamRule::Kept).unwrap();
    assert!(collapse.simplify(total / 16, before / 4.0).is_none());
}

/// The stored error contains what the rest pose hides.
#[test]
fn hidden_pieces_are_measured_where_they_show() {
    let geometry = geometry(vec![tube(41, 32, None, 0, DVec3::ZERO), tube(21, 32, None, 0, DVec3::X)]);
    let mut poses = bent(&geometry, &[0.7, 0.0]);
    let spike = geometry.vertices.iter().rposition(|v| v.position.x > 0.9).expect("a second tube");
    poses[2][spike] += Vec3::X;
    for positions in &mut poses[..2] {
        for (p, v) in positions.iter_mut().zip(&geometry.vertices) {
            *p = if v.position.x > 0.5 { Vec3::X.lerp(v.position, 0.01) } else { *p };
        }
    }
    let without = |t: &&[u32; 3]| !t.contains(&(spike as u32));
    let kept: Vec<u32> = geometry.indices.as_chunks::<3>().0.iter().filter(without).flatten().copied().collect();
    let meter = LodErrorMeter::new(&geometry, &poses, worn(&geometry));
    assert_eq!(meter.revealing, [2]);
    let error = meter.error(&[kept]);
    assert!(error > 0.5, "{error} m");
    let seen = bent(&geometry, &[0.7]);
    assert!(LodErrorMeter::new(&geometry, &seen, worn(&geometry)).revealing.is_empty());
}

/// A piece that others cover vanishes at its distance from them. A visible one of the same distance stays until the limit is half its
/// width.
#[test]
fn covered_pieces_vanish_and_wide_ones_stay() {
    let scaled = |by: DVec3| {
        let mut tube = tube(41, 32, None, 0, DVec3::ZERO);
        tube.positions.iter_mut().for_each(|p| *p *= by);
        tube
    };
    let simplified = |other: DVec3, angles: &[f32], triangles: usize| {
        let geometry = geometry(vec![scaled(DVec3::ONE), scaled(other)]);
        let poses = bent(&geometry, angles);
        let measure = LodErrorMeter::new(&geometry, &poses, worn(&geometry));
        let own = vec![geometry.indices.clone()];
        let collapse = HalfEdgeCollapse::new(&geometry, &poses, measure.finest(0), &own, SeamRule::Kept).unwrap();
        let Collapsed { limit, groups: parts, .. } =
            collapse.with_pieces().simplify(triangles, 1.0).expect("a simpler surface");
        assert!(measure.error_of_sample(&parts, error::EVERYTHING) <= limit * 1.06);
        let radius = |v: &u32| geometry.vertices[*v as usize].position.truncate().length();
        (limit, parts[0].iter().map(radius).collect::<Vec<f32>>())
    };
    for by in [0.9, 1.1] {
        let (limit, radii) = simplified(DVec3::new(by, by, 1.0), &[0.7, 1.5], 100);
        let outer = 0.2 * by.max(1.0) as f32;
        assert!((0.03..0.05).contains(&limit), "{by}: {limit} m");
        assert!(radii.iter().all(|radius| (radius - outer).abs() < 1e-3), "{by}: {radii:?}");
    }
    // A belt around one end, at the first limit that is far above its weighted distance.
    let all = [40, 32, 24, 16, 12].map(|triangles| simplified(DVec3::new(1.1, 1.1, 0.1), &[], triangles));
    let (limit, radii) = all.iter().find(|(limit, _)| *limit > 0.08).expect("a limit");
    assert!(*limit < 0.2, "{limit} m");
    assert!([0.2, 0.22].iter().all(|of| radii.iter().any(|radius| (radius - of).abs() < 1e-3)), "{radii:?}");
}

/// Vertices with thousands of triangles cost bounded work. Triangles on top of others, and numbers whose squares overflow, stay as
/// they are.
#[test]
fn collapses_of_broken_meshes_end() {
    let sheet = |triangles: Vec<[u32; 3]>, count: u32, size: f64| {
        let mut one = Primitive { normals: Some(Vec::new()), triangles, ..Primitive::default() };
        for i in 0..count {
            let (sin, cos) = (f64::from(i) / f64::from(count) * std::f64::consts::TAU).sin_cos();
            one.positions.push(if i == 0 { DVec3::ZERO } else { DVec3::new(cos, sin, 0.1 * cos * sin) * size });
            one.normals.as_mut().unwrap().push(DVec3::Z);
            one.influences.push([(0, 1.0)]);
        }
        geometry(vec![one])
    };
    let fan = |count: u32| -> Vec<[u32; 3]> { (1..count - 1).map(|i| [0, i, i + 1]).collect() };
    let mut twice = fan(60);
    twice.extend(fan(60).into_iter().map(|[a, b, c]| [a, c, b]));
    for (name, geometry, possible) in [
        ("hub", sheet(fan(20_000), 20_000, 1.0), true),
        ("both sides", sheet(twice, 60, 1.0), false),
        ("overflow", sheet(fan(100), 100, 1e25), false),
        ("usual size", sheet(fan(100), 100, 1.0), true),
    ] {
        let poses = bent(&geometry, &[]);
        let measure = LodErrorMeter::new(&geometry, &poses, worn(&geometry));
        let own = vec![geometry.indices.clone()];
        let collapse = HalfEdgeCollapse::new(&geometry, &poses, measure.finest(0), &own, SeamRule::Kept).unwrap();
        assert_eq!(collapse.simplify(count(&own) / 2, f32::MAX).is_some(), possible, "{name}");
        levels(&geometry, &poses, 7, MIN_TRIANGLES);
    }
}

/// Compares the first LOD of each shared model, in the rest pose and in all poses, with what `meshopt` makes of the mesh alone: as many triangles
/// by positions and attributes of the rest pose.
#[test]
#[ignore = "needs the shared models; run by `cargo xtask test --only shared-models`"]
fn shared_models_lose_no_more_than_with_meshopt() {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("GPUSKIN_SHARED").map_or(beside, std::path::PathBuf::from).join("models");
    let mut ratios = Vec::new();
    for name in [
        "CesiumMan",
        "Fox",
        "Knight",
        "KnightCharacter",
        "RiggedFigure",
        "RiggedSimple",
        "RobotExpressive",
        "SynthHeavy",
    ] {
        let text = format!("[[model]]\nname = \"m\"\npath = \"{name}/{name}.glb\"\n");
        let manifest = crate::Manifest::parse(&folder.join("gpuskin.toml"), text).expect("a manifest");
        let (mut diagnostics, mut inputs) = (crate::Diagnostics::default(), BTreeSet::new());
        let pixels = crate::import::Pixels::SizeOnly;
        let model = crate::import::import(&manifest, &manifest.models[0], pixels, &mut diagnostics, &mut inputs);
        let model = model.expect("a model");
        let geometry = Geometry::with_at_most(&model, 8);
        let poses = BonePoses::new(&model, geometry.vertices.len()).positions(&geometry);
        let first = levels(&geometry, &poses, 1, MIN_TRIANGLES).remove(0);
        let finest = geometry.parts.iter();
        let groups: Vec<&[u32]> =
            finest.map(|part| &geometry.indices[part.first_index as usize..][..part.index_count as usize]).collect();
        let alone = CollapsibleSurface::new(&geometry, &poses, &groups, Seams::Kept).of_rest_pose();
        let alone = alone.simplify(triangles(&first), f32::MAX, meshopt::SimplifyOptions::None, &BTreeSet::new());
        let total = geometry.indices.len() / 3;
        if count(&alone) as f64 > 1.02 * triangles(&first) as f64 {
            println!("{name}: {total} to {} triangles; meshopt alone stops at {}", triangles(&first), count(&alone));
            continue;
        }
        let rest = vec![poses[0].clone()];
        let [at_rest, in_all] = [&rest, &poses].map(|poses| {
            let meter = LodErrorMeter::new(&geometry, poses, worn(&geometry));
            [&first.parts, &alone].map(|parts| meter.error_of_sample(parts, error::EVERYTHING))
        });
        let [resting, ratio] = [at_rest, in_all].map(|[ours, theirs]| ours / theirs);
        println!(
            "{name}: {total} to {} triangles; over meshopt alone: {resting:.2} at rest, {ratio:.2} in all poses",
            triangles(&first)
        );
        assert!(resting <= 1.0 && ratio <= 1.0, "{name}: {at_rest:?} m at rest, {in_all:?} m in all poses");
        ratios.push([resting, ratio]);
    }
    let means = [0, 1].map(|i| ratios.iter().map(|ratio| ratio[i]).sum::<f32>() / ratios.len() as f32);
    println!("means: {:.2} at rest, {:.2} in all poses", means[0], means[1]);
    assert!(ratios.len() >= 5 && means[0] <= 0.7 && means[1] <= 0.6, "{ratios:?}");
}

/// Returns a sheet of 8 x 8 squares that faces up, and after it the vertices of one that faces down at the same places.
fn sheet_and_lining() -> Geometry {
    let side = 9;
    let (mut positions, mut normals, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
    for (first, normal) in [(0, DVec3::Z), (side * side, DVec3::NEG_Z)] {
        for i in 0..side * side {
            positions.push(DVec3::new(f64::from(i % side), f64::from(i / side), 0.0));
            normals.push(normal);
            if i % side + 1 < side && i / side + 1 < side {
                let [a, b, c, d] = [i, i + 1, i + side, i + side + 1].map(|v| v + first);
                let up = [[a, b, c], [b, d, c]];
                triangles.extend(if first == 0 { up } else { up.map(|[a, b, c]| [a, c, b]) });
            }
        }
    }
    let mut influences = Influences::default();
    positions.iter().for_each(|_| influences.push([(0, 1.0)]));
    let uvs = positions.iter().map(|p| DVec2::new(p.x, p.y)).collect();
    let normals = Some(normals);
    geometry(vec![Primitive { positions, normals, uvs, influences, triangles, ..Primitive::default() }])
}

/// Returns the vertex at a place with a normal.
fn vertex_at(geometry: &Geometry, x: f32, y: f32, normal: Vec3) -> u32 {
    let is_it = |v: &Vertex| v.position == Vec3::new(x, y, 0.0) && v.normal == normal;
    geometry.vertices.iter().position(is_it).unwrap() as u32
}

#[test]
fn corners_whose_normals_face_away_get_others() {
    let geometry = sheet_and_lining();
    let [up, down] = [Vec3::Z, Vec3::NEG_Z];
    // Two triangles that face up. One corner of each has a vertex of the lining; one of these faces up in the other triangle.
    let [a, b, d] = [(0.0, 0.0), (8.0, 0.0), (8.0, 8.0)].map(|(x, y)| vertex_at(&geometry, x, y, up));
    let [far_a, far_c] = [(0.0, 0.0), (0.0, 8.0)].map(|(x, y)| vertex_at(&geometry, x, y, down));
    let made = |axes: Mat3, geometry: &Geometry, most: usize| {
        let positions: Vec<Vec3> = geometry.vertices.iter().map(|vertex| axes * vertex.position).collect();
        let level = LodMesh { error: 1.0, parts: vec![vec![far_a, b, d, a, d, far_c]] };
        let mut set = LodSet { levels: vec![level], copies: Vec::new() };
        let axes = vec![axes; positions.len()];
        NormalFit::new(geometry, &positions, &axes).fit(&mut set.levels[0].parts, most, &mut set.copies);
        set
    };
    let turned = Mat3::from_rotation_x(1.0) * Mat3::from_diagonal(Vec3::new(1.0, 2.0, 0.5));
    for axes in [Mat3::IDENTITY, turned, Mat3::from_diagonal(Vec3::new(1.0, 1.0, -1.0))] {
        let LodSet { levels, copies } = made(axes, &geometry, 9);
        let mut copied = Vec::new();
        for index in levels[0].parts[0].iter().map(|index| *index as usize) {
            let vertex =
                geometry.vertices.get(index).unwrap_or_else(|| &copies[index - geometry.vertices.len()].vertex);
            assert!(vertex.normal.dot(up) > 0.999, "{axes}: {}", vertex.normal);
            copied.extend((index >= geometry.vertices.len()).then_some(vertex.position));
        }
        assert_eq!((copies.len(), copied.len()), (2, 2), "{axes}");
        for of in [far_a, far_c] {
            let source = geometry.vertices[of as usize];
            let copy = copies.iter().find(|copy| copy.of == of).unwrap().vertex;
            assert_eq!(Vertex { normal: copy.normal, tangent: copy.tangent, ..source }, copy);
        }
    }
    assert_eq!(made(Mat3::IDENTITY, &geometry, 1).copies.len(), 1);
    // Flat parts have no normals.
    let mut other = geometry.clone();
    other.parts[0].flat = true;
    assert!(made(Mat3::IDENTITY, &other, 9).copies.is_empty());
    // Matrices without an inverse.
    let squashed = Mat3::from_diagonal(Vec3::new(1.0, 1.0, 0.0));
    assert!(made(squashed, &geometry, 9).copies.is_empty());
}

#[test]
fn vertices_of_small_levels_belong_to_one_level() {
    let model = crate::model::fixtures::model(tube(33, 48, None, 0, DVec3::ZERO));
    let geometry = Geometry::with_at_most(&model, 4);
    let bones = BonePoses::new(&model, geometry.vertices.len());
    let made = |geometry: &Geometry| LodSet::new(&model, geometry, &bones, (7, MIN_TRIANGLES), true);
    let LodSet { levels, copies } = made(&geometry);
    let before = geometry.vertices.len();
    let mut owners = vec![BTreeSet::new(); copies.len()];
    for (number, level) in levels.iter().enumerate() {
        for index in level.parts.iter().flatten().filter(|index| **index as usize >= before) {
            owners[*index as usize - before].insert(number);
        }
    }
    assert!(owners.iter().all(|levels| levels.len() == 1) && owners.iter().flatten().max() > Some(&1), "{owners:?}");
    assert!(levels.is_sorted_by(|a, b| a.error <= b.error));
    // Indices of 16 bits stay.
    let mut many = geometry.clone();
    many.vertices.resize((1 << 16) - 1, geometry.vertices[0]);
    assert!(made(&many).copies.len() <= 1);
    let without = LodSet::new(&model, &geometry, &bones, (7, MIN_TRIANGLES), false);
    assert_eq!(without.levels, super::levels(&geometry, &bones.positions(&geometry), 7, MIN_TRIANGLES));
    assert!(without.copies.is_empty());
}

/// A tube whose texture has an island per four rings and eighth of the circumference.
#[test]
fn triangles_of_textured_levels_are_on_one_island() {
    let whole = tube(33, 48, None, 0, DVec3::ZERO);
    let mut split = Primitive { normals: Some(Vec::new()), ..Primitive::default() };
    for corners in whole.triangles.as_chunks::<2>().0.iter().flatten() {
        // Around the tube and along it, in islands.
        let at = |p: DVec3| DVec2::new(p.y.atan2(p.x) / std::f64::consts::TAU * 8.0 + 4.0, p.z * 8.0);
        let middle = corners.iter().map(|corner| whole.positions[*corner as usize]).sum::<DVec3>() / 3.0;
        let island = at(middle).floor();
        let first = split.positions.len() as u32;
        for corner in corners.map(|corner| corner as usize) {
            let position = whole.positions[corner];
            split.positions.push(position);
            // Islands of 0.1 with gaps of 0.025 between them.
            let on_island = (at(position) - island).clamp(DVec2::ZERO, DVec2::ONE);
            split.uvs.push(island * 0.125 + on_island * 0.1);
            split.normals.iter_mut().for_each(|normals| normals.push(position.with_z(0.0).normalize()));
            let bent = (position.z * 4.0 - 1.5).clamp(0.0, 1.0);
            split.influences.push([(0, 1.0 - bent), (1, bent)]);
        }
        split.triangles.push([first, first + 1, first + 2]);
    }
    let mut model = crate::model::fixtures::model(split);
    let wrap = [gpuskin_rt::internals::Wrap::Repeat; 2];
    let texture = crate::model::Texture { image: 0, wrap, nearest: false, second_uv: false };
    let geometry = Geometry::with_at_most(&model, 4);
    let bones = BonePoses::new(&model, geometry.vertices.len());
    let crossed = |model: &Model| -> Vec<usize> {
        let LodSet { levels, copies } = LodSet::new(model, &geometry, &bones, (7, MIN_TRIANGLES), true);
        let vertex = |index: u32| geometry.vertices.get(index as usize).copied();
        let uv =
            |index: u32| vertex(index).unwrap_or_else(|| copies[index as usize - geometry.vertices.len()].vertex).uv;
        let island = |index: u32| (uv(index) * 8.0 + 0.1).floor();
        let is_crossed = |triangle: &&[u32; 3]| triangle.iter().any(|corner| island(*corner) != island(triangle[0]));
        let of = |level: &LodMesh| level.parts[0].as_chunks::<3>().0.iter().filter(is_crossed).count();
        levels.iter().map(of).collect()
    };
    let untextured = crossed(&model);
    assert!(untextured.iter().sum::<usize>() > 50, "{untextured:?}");
    model.materials[0].base_color_texture = Some(texture);
    assert_eq!(crossed(&model), vec![0; untextured.len()]);
}
