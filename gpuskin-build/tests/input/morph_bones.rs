//! Morph targets in bone mode, from a manifest to drawn vertices.

use std::path::Path;

use crate::common::build::Gltf;
use crate::common::samples::{face, talk};
use glam::DVec3;
use gpuskin_build::internals::pose::{PosePath, PoseRequest, PoseTimes, pose};
use gpuskin_build::{BakeOptions, Baked, Manifest, bake};
use gpuskin_rt::internals::{Encoding, MAX_CLIPS};
use serde_json::json;

/// Returns the manifest of a file with the given keys.
fn manifest(folder: &Path, g: &Gltf, keys: &str) -> Manifest {
    std::fs::write(folder.join("m.glb"), g.glb()).unwrap();
    let text = format!("[[model]]\nname = \"m\"\npath = \"m.glb\"\n{keys}");
    Manifest::parse(&folder.join("gpuskin.toml"), text).unwrap_or_else(|e| panic!("{e}"))
}

fn baked(g: &Gltf, keys: &str) -> Result<Baked, String> {
    let folder = tempfile::tempdir().unwrap();
    bake(&manifest(folder.path(), g, keys), &BakeOptions::default()).map_err(|failed| failed.diagnostics.to_string())
}

/// Returns a face whose clip moves both targets, and whose node turns. `STEP`, `LINEAR` or `CUBICSPLINE`.
fn talking(interpolation: &str) -> Gltf {
    let mut g = face();
    g.json["meshes"][0]["extras"] = json!({ "targetNames": ["Smile", "Smile"] });
    let values = [0.0, 0.2, 1.0, 0.0, 0.25, 1.5, -0.5, 0.0];
    let values: Vec<f32> = match interpolation {
        "CUBICSPLINE" => values.as_chunks::<2>().0.iter().flat_map(|v| [0.0, 1.0, v[0], v[1], 2.0, 0.0]).collect(),
        _ => values.to_vec(),
    };
    talk(&mut g, interpolation, &[0.0, 0.25, 0.5, 1.0], &values);
    let (input, output) = (g.floats("SCALAR", &[0.0, 1.0]), g.floats("VEC3", &[0.0, 0.0, 0.0, 3.0, 2.0, 1.0]));
    let animation = &mut g.json["animations"][0];
    animation["samplers"].as_array_mut().unwrap().push(json!({ "input": input, "output": output }));
    let target = json!({ "node": 0, "path": "translation" });
    animation["channels"].as_array_mut().unwrap().push(json!({ "sampler": 1, "target": target }));
    g
}

/// Returns the greatest distance between the drawn vertices and the source at the frames, and the printed errors at
/// frames and between them, over all clips, in metres.
fn errors(g: &Gltf, keys: &str, encoding: Encoding, metres: f64) -> [f64; 3] {
    errors_of(g, keys, Some(encoding), metres).0
}

/// Returns what [`errors`] returns in an encoding, or in the one that the bake chooses, and the encoding.
fn errors_of(g: &Gltf, keys: &str, wanted: Option<Encoding>, metres: f64) -> ([f64; 3], Encoding) {
    let folder = tempfile::tempdir().unwrap();
    let manifest = manifest(folder.path(), g, keys);
    let options = BakeOptions { encoding: wanted, ..BakeOptions::default() };
    let baked = bake(&manifest, &options).unwrap_or_else(|e| panic!("{}", e.diagnostics));
    assert!(!baked.warnings.to_string().contains("morph"), "{}", baked.warnings);
    let clips = &baked.models[0].meta.clips;
    assert!(clips.len() < MAX_CLIPS);
    let mut found = 0.0_f64;
    for clip in clips.iter() {
        let of = |path| {
            let (model, clip) = ("m".to_owned(), clip.name.to_string());
            let request = PoseRequest { model, clip, times: PoseTimes::AllFrames, path, encoding: wanted };
            pose(&manifest, &request).unwrap_or_else(|e| panic!("{e}")).frames
        };
        let (source, drawn) = (of(PosePath::Source), of(PosePath::Cpu));
        let apart = |((a, _), (b, _)): (&(DVec3, DVec3), &(DVec3, DVec3))| a.distance(*b) * metres;
        let all = source.iter().flatten().zip(drawn.iter().flatten()).map(apart);
        found = all.fold(found, f64::max);
    }
    let printed = |of: fn(&gpuskin_rt::ClipInfo) -> f32| clips.iter().map(of).fold(0.0, f32::max).into();
    let errors = [found, printed(|clip| clip.encoding_error.max), printed(|clip| clip.motion_error.max)];
    (errors, baked.models[0].meta.encoding)
}

#[test]
fn printed_errors_are_those_of_the_drawn_vertices() {
    for interpolation in ["LINEAR", "STEP", "CUBICSPLINE"] {
        let g = talking(interpolation);
        for encoding in Encoding::ALL.into_iter().filter(|encoding| !encoding.is_vertex()) {
            let keys = "scale = 0.01\nup = \"z\"\nlods = false\n";
            let [found, at_frames, _] = errors(&g, keys, encoding, 0.01);
            // The model has a diagonal of 12 cm.
            let near = (found - at_frames).abs() <= 0.02 * at_frames + 2e-8;
            assert!(near, "{interpolation} {encoding:?}: found {found}, printed {at_frames}");
            let most = if encoding == Encoding::Fixed16 { 0.02 } else { 1e-3 };
            assert!(at_frames < most, "{interpolation} {encoding:?}: {at_frames}");
        }
        let [_, at_frames, between] = errors(&g, "lods = false\n", Encoding::LocalPacked, 1.0);
        assert!(at_frames < 0.01 && between < 0.2, "{interpolation}: {at_frames} at frames, {between} between them");
    }
}

/// `mode = "auto"` compares vertices with bones and weights. Whichever is chosen draws the source.
#[test]
fn automatic_mode_draws_morph_targets_in_either_mode() {
    let keys = "lods = false\nmode = \"auto\"\n";
    // Three vertices take less than the bones of a node and of 24 weights.
    let mut few = talking("LINEAR");
    few.json["nodes"].as_array_mut().unwrap().truncate(1);
    few.json["scenes"][0]["nodes"] = json!([0]);
    let lift = few.json["meshes"][0]["primitives"][0]["targets"][0].clone();
    few.json["meshes"][0]["primitives"][0]["targets"] = json!(vec![lift; 24]);
    few.json["meshes"][0]["weights"] = json!(vec![0.0; 24]);
    let weights: Vec<f32> = (0..96_u16).map(|i| f32::from(i * 29 % 17) / 17.0).collect();
    few.json["animations"][0]["samplers"][0]["output"] = json!(few.floats("SCALAR", &weights));
    let ([found, at_frames, _], of_few) = errors_of(&few, keys, None, 1.0);
    assert!(of_few.is_vertex(), "{of_few:?}");
    assert!(found < 2e-3 && (found - at_frames).abs() <= 0.02 * at_frames + 1e-6, "{found}, {at_frames}");
    // Many vertices take more.
    let mut many = talking("LINEAR");
    many.json["nodes"].as_array_mut().unwrap().truncate(1);
    many.json["scenes"][0]["nodes"] = json!([0]);
    let corners = |height: f32| -> Vec<f32> {
        (0..900_u16).flat_map(|i| [f32::from(i / 30), f32::from(i % 30), height * f32::from(i % 7)]).collect()
    };
    let (positions, lifted) = (many.floats("VEC3", &corners(0.0)), many.floats("VEC3", &corners(0.1)));
    many.json["meshes"][0]["primitives"][0] =
        json!({ "attributes": { "POSITION": positions }, "targets": [{ "POSITION": lifted }, { "POSITION": lifted }] });
    let ([found, at_frames, _], of_many) = errors_of(&many, keys, None, 1.0);
    assert!(!of_many.is_vertex(), "{of_many:?}");
    assert!(found < 0.01 && (found - at_frames).abs() <= 0.02 * at_frames + 1e-6, "{found}, {at_frames}");
}

#[test]
fn root_motion_does_not_move_weights() {
    let keys = "lods = false\nroot = \"Face\"\n[model.clips.talk]\nroot_motion = \"full\"\n";
    let mut g = talking("LINEAR");
    // The other node would stay behind.
    g.json["nodes"].as_array_mut().unwrap().truncate(1);
    g.json["scenes"][0]["nodes"] = json!([0]);
    // The clip moves the first three targets; the fourth has a weight at rest, and the fifth none.
    let lift = g.json["meshes"][0]["primitives"][0]["targets"][0].clone();
    g.json["meshes"][0]["primitives"][0]["targets"] = json!(vec![lift; 5]);
    g.json["meshes"][0]["weights"] = json!([0.0, 0.0, 0.0, 0.3, 0.0]);
    g.json["animations"][0]["samplers"][0]["output"] = json!(g.floats(
        "SCALAR",
        &[0.0, 0.2, 0.0, 0.3, 0.0, 1.0, 0.0, 0.1, 0.3, 0.0, 0.25, 1.5, 0.0, 0.3, 0.0, -0.5, 0.0, 0.7, 0.3, 0.0]
    ));
    for encoding in [Encoding::LocalPacked, Encoding::TrsPacked, Encoding::MatrixF32] {
        let [found, at_frames, _] = errors(&g, keys, encoding, 1.0);
        assert!(
            found < 5e-3 && (found - at_frames).abs() <= 0.02 * at_frames + 2e-6,
            "{encoding:?}: {found}, {at_frames}"
        );
    }
}

#[test]
fn targets_have_names_bones_and_masks() {
    let baked = baked(&talking("LINEAR"), "masks = { face = { roots = [\"Face\"] } }\n").unwrap();
    let meta = &baked.models[0].meta;
    let places: Vec<_> = meta.morphs.iter().map(|m| (&*m.name, m.bone, m.axis)).collect();
    let expected = [("Face Smile", 2, 0), ("Face Smile", 2, 1), ("Twin Smile", 3, 0), ("Twin Smile", 3, 1)];
    assert_eq!((places, meta.bones.len()), (expected.to_vec(), 4));
    // The bones of the weights of node `Face` are in its mask; those of `Twin` are not.
    assert!(meta.masks[0].contains(2) && !meta.masks[0].contains(3));
    let text = String::from_utf8_lossy(&baked.files["gpuskin.rs"]);
    assert!(text.contains("pub mod morphs"), "{text}");
    for constant in ["M_FACE_SMILE:", "M_FACE_SMILE_2:", "M_TWIN_SMILE:"] {
        assert!(text.contains(constant), "{constant} is missing");
    }
    assert!(!text.to_lowercase().contains("bone<models::m> = bone::new(2)"), "weights are no bones of a game");
}

#[test]
fn targets_that_move_nothing_take_nothing() {
    let mut g = face();
    g.clip("Hop", &[0]);
    let zero = g.floats("VEC3", &[0.0; 9]);
    g.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": zero }, { "POSITION": zero }]);
    let baked = baked(&g, "").unwrap();
    let meta = &baked.models[0].meta;
    assert_eq!((meta.morphs.len(), meta.mesh.morphs.len, meta.bones.len()), (0, 0, 2));
}

#[test]
fn too_many_targets_are_refused_with_advice() {
    let g = talking("LINEAR");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.glb"), g.glb()).unwrap();
    let text = "[limits]\nbones = 3\n[[model]]\nname = \"m\"\npath = \"m.glb\"\n".to_owned();
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).unwrap();
    let errors = bake(&manifest, &BakeOptions::default()).unwrap_err().diagnostics.to_string();
    assert!(errors.contains("4 bones") && errors.contains("4 morph targets"), "{errors}");
    assert!(errors.contains("morphs = false"), "{errors}");
}
