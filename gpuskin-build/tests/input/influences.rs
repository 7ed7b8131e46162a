//! Vertices with up to eight influences, from a file to skinned positions.

use crate::common::build::Gltf;
use glam::DVec3;
use gpuskin_build::internals::pose::{PosePath, PoseRequest, PoseTimes, pose};
use gpuskin_build::{BakeOptions, Baked, Manifest, bake};
use gpuskin_rt::internals::{Encoding, Packing};
use serde_json::json;

/// Angle in degrees by which each joint has turned about z at the end of the clip.
const TURNS: [f64; 8] = [0.0, 10.0, 20.0, 35.0, 50.0, 60.0, 75.0, 90.0];
const WEIGHTS: [f32; 8] = [0.24, 0.2, 0.16, 0.12, 0.1, 0.08, 0.06, 0.04];
const CORNERS: [DVec3; 3] = [DVec3::ZERO, DVec3::X, DVec3::Y];

/// Returns a triangle whose corners follow eight joints, which all turn about the origin.
fn fan() -> Gltf {
    let mut g = Gltf::new();
    let joints: Vec<usize> = (0..8).map(|i| g.node(None, json!({ "name": format!("Joint{i}") }))).collect();
    let mesh = g.triangle();
    let half =
        |of: usize| -> (Vec<u8>, Vec<f32>) { (0..3).flat_map(|_| (of..of + 4).map(|i| (i as u8, WEIGHTS[i]))).unzip() };
    for set in 0..2 {
        let (indices, weights) = half(4 * set);
        let (indices, weights) = (g.bytes("VEC4", 3, &indices), g.floats("VEC4", &weights));
        let attributes = &mut g.json["meshes"][mesh]["primitives"][0]["attributes"];
        attributes[format!("JOINTS_{set}")] = json!(indices);
        attributes[format!("WEIGHTS_{set}")] = json!(weights);
    }
    let skin = g.push("skins", json!({ "joints": joints }));
    g.node(None, json!({ "name": "Fan", "mesh": mesh, "skin": skin }));
    let input = g.floats("SCALAR", &[0.0, 1.0]);
    let (mut samplers, mut channels) = (vec![], vec![]);
    for (i, joint) in joints.iter().enumerate() {
        let (sin, cos) = (TURNS[i].to_radians() / 2.0).sin_cos();
        let output = g.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, sin as f32, cos as f32]);
        samplers.push(json!({ "input": input, "output": output }));
        channels.push(json!({ "sampler": i, "target": { "node": joint, "path": "rotation" } }));
    }
    g.push("animations", json!({ "name": "open", "channels": channels, "samplers": samplers }));
    g
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("fan.glb"), fan().glb()).unwrap();
        Self(folder)
    }

    fn manifest(&self, keys: &str) -> Manifest {
        let text = format!("[[model]]\nname = \"fan\"\npath = \"fan.glb\"\n{keys}");
        Manifest::parse(&self.0.path().join("gpuskin.toml"), text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn baked(&self, keys: &str) -> Baked {
        let options = BakeOptions::default();
        bake(&self.manifest(keys), &options).unwrap_or_else(|failed| panic!("{}", failed.diagnostics))
    }

    /// Returns the greatest distance of the drawn corners from the definition of linear blend skinning.
    fn distance(&self, keys: &str, encoding: Encoding) -> f64 {
        let (times, path) = (PoseTimes::AllFrames, PosePath::Cpu);
        let request = PoseRequest { model: "fan".into(), clip: "open".into(), times, path, encoding: Some(encoding) };
        let poses = pose(&self.manifest(keys), &request).unwrap();
        let last = poses.frames.len() - 1;
        let mut worst = 0.0_f64;
        for (i, frame) in poses.frames.iter().enumerate() {
            let time = i as f64 / last as f64;
            for (corner, (position, _)) in CORNERS.iter().zip(frame) {
                // Rotations about one axis: spherical interpolation is linear in the angle.
                let turned = |k: usize| {
                    let (sin, cos) = (TURNS[k].to_radians() * time).sin_cos();
                    DVec3::new(cos * corner.x - sin * corner.y, sin * corner.x + cos * corner.y, 0.0)
                };
                let expected: DVec3 = (0..8).map(|k| turned(k) * f64::from(WEIGHTS[k])).sum();
                worst = worst.max(position.distance(expected));
            }
        }
        worst
    }
}

#[test]
fn eight_influences_are_skinned() {
    let folder = Folder::new();
    for (encoding, most) in [
        (Encoding::MatrixF32, 1e-6),
        (Encoding::LocalPacked, 1e-4),
        (Encoding::TrsPacked, 1e-4),
        (Encoding::MatrixF16, 1e-3),
    ] {
        let distance = folder.distance("", encoding);
        assert!(distance <= most, "{encoding:?}: {distance}");
    }
    // Four are several centimetres off: the last four have 28 % of the weight.
    assert!(folder.distance("influences = 4\n", Encoding::MatrixF32) > 0.05);
}

#[test]
fn influences_follow_the_tolerance() {
    let folder = Folder::new();
    let packing = |baked: &Baked| baked.models[0].meta.mesh.format.packing;
    let auto = folder.baked("");
    assert_eq!(packing(&auto), Packing::Wide8);
    assert!(!auto.warnings.to_string().contains("influences"), "{}", auto.warnings);
    assert_eq!(packing(&folder.baked("encoding = \"matrix-f32\"\nmotion_tolerance = \"1 m\"\n")), Packing::Full8);
    let four = folder.baked("influences = 4\n");
    assert!(packing(&four).influences() == 4);
    let warnings = four.warnings.to_string();
    assert!(warnings.contains("3 vertices have more than 4 influences") && warnings.contains("28.0 %"), "{warnings}");
    let loose = folder.baked("tolerance = \"1 m\"\nnormal_tolerance = \"180 deg\"\nmotion_tolerance = \"1 m\"\n");
    assert_eq!(packing(&loose).influences(), 4);
}
