//! `mode = "vertex"`, from a manifest to files.

use crate::common::build::Gltf;
use glam::Vec3;
use gpuskin_build::{BakeOptions, Baked, Manifest, bake};
use gpuskin_rt::internals::vertex::unpack;
use gpuskin_rt::internals::{Data, Encoding, Packing};
use serde_json::json;

/// Bakes a file with the given keys. Returns diagnostics as text.
fn baked(g: &Gltf, keys: &str) -> Result<Baked, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.glb"), g.glb()).unwrap();
    let text = format!("[[model]]\nname = \"m\"\npath = \"m.glb\"\n{keys}");
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).map_err(|e| e.to_string())?;
    bake(&manifest, &BakeOptions::default()).map_err(|failed| failed.diagnostics.to_string())
}

fn good(g: &Gltf, keys: &str) -> Baked {
    baked(g, keys).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns a triangle that a clip moves, and another that a clip morphs.
fn two_triangles() -> Gltf {
    let mut g = Gltf::new();
    let mesh = g.triangle();
    let moved = g.node(None, json!({ "name": "Moved", "mesh": mesh }));
    g.clip("Go", &[moved]);
    let morphed = g.triangle();
    let lift = g.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    g.json["meshes"][morphed]["primitives"][0]["targets"] = json!([{ "POSITION": lift }]);
    let face = g.node(None, json!({ "name": "Face", "mesh": morphed }));
    let (input, output) = (g.floats("SCALAR", &[0.0, 0.5, 1.0]), g.floats("SCALAR", &[0.0, 1.0, 0.0]));
    let samplers = json!([{ "input": input, "output": output }]);
    let channels = json!([{ "sampler": 0, "target": { "node": face, "path": "weights" } }]);
    g.push("animations", json!({ "name": "Talk", "channels": channels, "samplers": samplers }));
    g
}

#[test]
fn morph_targets_are_baked_without_warning() {
    let g = two_triangles();
    for keys in ["mode = \"vertex\"\n", "mode = \"auto\"\nmorphs = false\n", "encoding = \"vat-f32\"\n"] {
        let baked = good(&g, keys);
        let meta = &baked.models[0].meta;
        assert!(meta.encoding.is_vertex() && meta.mesh.format.packing == Packing::Static, "{keys}");
        assert!(!baked.warnings.to_string().contains("morph"), "{}", baked.warnings);
        // The raised corner in the second clip.
        assert!((meta.clips[1].bounds.max[2] - 2.0).abs() < 1e-3, "{:?}", meta.clips[1].bounds);
        assert!(meta.clips[1].looped, "a clip whose first and last poses are equal must loop");
        assert!(meta.clips.iter().all(|clip| clip.encoding_error.max < 1e-3), "{keys}");
    }
    let bones = good(&g, "");
    assert!(!bones.models[0].meta.encoding.is_vertex());
    assert!(!bones.warnings.to_string().contains("morph"));
    assert!((bones.models[0].meta.clips[1].bounds.max[2] - 2.0).abs() < 1e-3);
    assert!(good(&g, "morphs = false\n").warnings.to_string().contains("morph"));
}

#[test]
fn normal_tolerance_selects_the_encoding() {
    let of = |keys: &str| good(&two_triangles(), keys).models[0].meta.encoding;
    assert_eq!(of("mode = \"vertex\"\n"), Encoding::VatPacked);
    let g = {
        let mut g = two_triangles();
        // A normal that is not on the octahedral grid.
        let odd = g.floats("VEC3", &[0.297, 0.401, 0.866].repeat(3));
        g.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(odd);
        g
    };
    let fine = good(&g, "mode = \"vertex\"\nnormal_tolerance = \"0.01 deg\"\n");
    assert!(matches!(fine.models[0].meta.encoding, Encoding::VatUnorm16 | Encoding::VatPackedFine));
    assert!(fine.models[0].meta.clips.iter().all(|clip| clip.encoding_error.normal_degrees <= 0.01));
}

#[test]
fn texture_has_the_requested_width() {
    for width in [64, 256, 4096] {
        let baked = good(&two_triangles(), &format!("encoding = \"vat-unorm24\"\nwidth = {width}\n"));
        assert_eq!(baked.models[0].meta.texture.width, width);
    }
    let bones = good(&two_triangles(), "encoding = \"matrix-f16\"\nwidth = 512\n");
    assert_eq!(bones.models[0].meta.texture.width, 512);
}

/// Returns triangles side by side, all with different corners.
fn many(triangles: u32) -> Gltf {
    let mut g = Gltf::new();
    let at = |i: u32| {
        let (x, y) = ((i % 1000) as f32, (i / 1000) as f32);
        [x, y, 0.0, x + 0.5, y, 0.0, x, y + 0.5, 0.0]
    };
    let positions: Vec<f32> = (0..triangles).flat_map(at).collect();
    let position = g.floats("VEC3", &positions);
    let mesh = g.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": position } }] }));
    let node = g.node(None, json!({ "mesh": mesh }));
    g.clip("Go", &[node]);
    g
}

#[test]
fn frame_larger_than_a_layer_is_rejected_with_help() {
    // 64 by 2048 texels have room for 131,069 vertices and the range of their frame.
    let keys = "encoding = \"vat-packed\"\nwidth = 64\nfps = 1\n";
    let error = baked(&many(43_690), keys).unwrap_err();
    for part in ["131073 vertices in vat-packed", "does not fit into one layer", "width = 2048", "exclude"] {
        assert!(error.contains(part), "`{part}` is missing in {error}");
    }
    let wide = good(&many(43_690), "encoding = \"vat-packed\"\nfps = 1\n");
    let texture = wide.models[0].meta.texture;
    assert_eq!((texture.rows, texture.layers, texture.frames), (131_073, 1, 2));
    let paged = good(&many(43_000), keys);
    let texture = paged.models[0].meta.texture;
    assert_eq!((texture.width, texture.layers, texture.frames_per_layer), (64, 2, 1));
}

#[test]
fn clips_without_length_bake_and_huge_models_fail() {
    let mut g = two_triangles();
    let (input, output) = (g.floats("SCALAR", &[0.0]), g.floats("VEC3", &[0.0, 1.0, 0.0]));
    let samplers = json!([{ "input": input, "output": output }]);
    let channels = json!([{ "sampler": 0, "target": { "node": 0, "path": "translation" } }]);
    g.push("animations", json!({ "name": "Still", "channels": channels, "samplers": samplers }));
    for encoding in Encoding::ALL.into_iter().filter(|e| e.is_vertex()) {
        let still = good(&g, &format!("encoding = \"{}\"\n", encoding.name()));
        assert_eq!(still.models[0].meta.clips[2].stored, 1);
    }
    let error = baked(&g, "encoding = \"vat-f16\"\nscale = 1e6\n").unwrap_err();
    assert!(error.contains("out of the range of vat-f16") && error.contains("set `scale`"), "{error}");
    let error = baked(&g, "encoding = \"vat-packed\"\nscale = 1e39\n").unwrap_err();
    assert!(error.contains("outside the range of 32-bit floats"), "{error}");
}

#[test]
fn vertex_colours_are_baked_in_both_modes() {
    let mut g = two_triangles();
    let colors = [255, 0, 51, 255, 0, 102, 0, 255, 255, 255, 255, 204];
    let accessor = g.bytes("VEC4", 3, &colors);
    g.json["accessors"][accessor]["normalized"] = json!(true);
    g.json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = json!(accessor);
    for keys in ["encoding = \"matrix-f16\"\n", "encoding = \"trs-packed\"\n", "encoding = \"vat-f16\"\n"] {
        let baked = good(&g, keys);
        let (meta, model) = (&baked.models[0].meta, &baked.runtime_models()[0]);
        assert!(meta.mesh.format.color, "{keys}");
        let Data::Bytes(mesh) = &model.mesh.data else { panic!("expected an embedded mesh") };
        let vertices = &mesh[meta.mesh.vertices.offset as usize..][..meta.mesh.vertices.len as usize];
        let words: Vec<u32> = vertices.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
        let color = |v: usize| {
            let v = baked.models[0].trace().baked_of_source[v] as usize * meta.mesh.format.words();
            let vertex = unpack(&words[v..][..meta.mesh.format.words()], meta.mesh.format, &meta.mesh.range);
            vertex.color.to_array().map(|c| (c * 255.0).round() as u8)
        };
        assert_eq!([0, 1, 2].map(color).concat(), colors, "{keys}");
        // The other triangle stays white.
        assert_eq!([3, 4, 5].map(color), [[255; 4]; 3], "{keys}");
    }
    assert!(!good(&two_triangles(), "").models[0].meta.mesh.format.color);
}

#[test]
fn plain_normals_warn_in_vertex_mode() {
    let warned =
        |keys: &str| good(&two_triangles(), keys).warnings.to_string().contains("has no effect in vertex mode");
    assert!(
        warned("mode = \"vertex\"\nnormals = \"plain\"\n") && warned("encoding = \"vat-f16\"\nnormals = \"plain\"\n")
    );
    assert!(!warned("normals = \"plain\"\n") && !warned("mode = \"vertex\"\n"));
}

/// Returns positions and normals of all source vertices in the static mesh.
fn at_rest(baked: &Baked) -> Vec<(Vec3, Vec3)> {
    let (model, trace) = (&baked.runtime_models()[0], baked.models[0].trace());
    let rest = model.rest_mesh().unwrap().expect("a mesh of vertex mode");
    assert!(rest.indices.iter().all(|i| (*i as usize) < rest.vertices.len()) && rest.indices.len() % 3 == 0);
    trace.baked_of_source.iter().map(|v| rest.vertices[*v as usize]).map(|v| (v.position, v.normal)).collect()
}

#[test]
fn rest_mesh_shows_the_requested_frame() {
    let near = |found: &[(Vec3, Vec3)], expected: &dyn Fn(usize) -> Vec3| {
        // One quantisation step of 16 bits over two metres, and rounding.
        found.iter().enumerate().all(|(i, (at, _))| at.distance(expected(i)) < 2.0 * 2.0 / 65_535.0)
    };
    let g = two_triangles();
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let still = at_rest(&good(&g, "mode = \"vertex\"\n"));
    assert!(near(&still, &|i| corners[i % 3]) && still.iter().all(|(_, n)| n.distance(Vec3::Z) < 1e-3), "{still:?}");
    // Halfway to the position of the raised corner, at 60 frames per second.
    for time in ["time = 0.25", "frame = 15"] {
        for encoding in ["vat-f32", "vat-packed", "vat-unorm16"] {
            let keys = format!("encoding = \"{encoding}\"\nfps = 60\nrest_frame = {{ clip = \"talk\", {time} }}\n");
            let baked = good(&g, &keys);
            let lifted = at_rest(&baked);
            let expected = |i: usize| corners[i % 3] + if i == 5 { Vec3::Z } else { Vec3::ZERO };
            assert!(near(&lifted, &expected), "{keys}{lifted:?}");
            let rest = baked.models[0].meta.mesh.rest.unwrap();
            assert_eq!((rest.clip, rest.seconds), (Some(1), 0.25));
        }
    }
    assert!(good(&g, "").models[0].meta.mesh.rest.is_none());
    assert!(matches!(good(&g, "").runtime_models()[0].rest_mesh(), Ok(None)));
}

#[test]
fn unknown_rest_frames_are_rejected() {
    let wrong = |frame: &str| baked(&two_triangles(), &format!("mode = \"vertex\"\nfps = 10\nrest_frame = {frame}\n"));
    for (frame, message, help) in [
        ("{ clip = \"tlak\" }", "`rest_frame`: clip `tlak` not found", "did you mean `talk`?"),
        (
            "{ clip = \"talk\", frame = 11 }",
            "frame 11, but the last frame of clip `talk` is 10",
            "`time` takes seconds",
        ),
        ("{ clip = \"talk\", time = 1.01 }", "is at 1.01 s, but clip `talk` ends at 1.000 s", "within the clip"),
    ] {
        let error = wrong(frame).unwrap_err();
        assert!(error.contains(message) && error.contains(help), "{error}");
    }
    assert!(wrong("{ clip = \"talk\", frame = 10 }").is_ok());
    // With `auto`, bone mode can be smaller.
    let mut g = Gltf::new();
    let mesh = g.triangle();
    let node = g.node(None, json!({ "mesh": mesh }));
    g.clip("Go", &[node]);
    let baked = good(&g, "mode = \"auto\"\nrest_frame = { clip = \"go\" }\n");
    let warned = baked.warnings.to_string().contains("`rest_frame` has no effect");
    assert_eq!(warned, !baked.models[0].meta.encoding.is_vertex());
}

#[test]
fn held_frames_are_stored_once() {
    let mut g = two_triangles();
    let input = g.floats("SCALAR", &[0.0, 0.2, 0.7, 1.0]);
    let up = |heights: [f32; 4]| heights.map(|y| [0.0, y, 0.0]).as_flattened().to_vec();
    for (name, heights) in
        [("Loop", [0.0, 0.5, 0.5, 0.0]), ("Fall", [0.5, 0.2, 0.0, 0.0]), ("Wait", [0.0, 0.0, 0.1, 0.3])]
    {
        let output = g.floats("VEC3", &up(heights));
        let channels = json!([{ "sampler": 0, "target": { "node": 0, "path": "translation" } }]);
        let samplers = json!([{ "input": input, "output": output }]);
        g.push("animations", json!({ "name": name, "channels": channels, "samplers": samplers }));
    }
    for encoding in Encoding::ALL {
        let baked = good(&g, &format!("encoding = \"{}\"\nfps = 20\n", encoding.name()));
        let meta = &baked.models[0].meta;
        let clips = ["loop", "fall", "wait"].map(|name| meta.clips.iter().find(|clip| clip.name == name).unwrap());
        assert_eq!(
            clips.map(|clip| (clip.held.first, clip.held.count, clip.stored)),
            [(4, 10, 10), (14, 6, 15), (0, 4, 17)]
        );
        // Errors are measured at all frames, with the CPU reference implementation of the shader.
        for clip in clips {
            assert!(clip.encoding_error.max < 0.01 && clip.motion_error.max < 0.02, "{encoding:?} {clip:?}");
        }
        assert!(meta.texture.frames >= meta.clips.iter().map(|clip| clip.stored).sum());
    }
}

#[test]
fn clips_with_the_same_motion_share_frames() {
    let clips = "[model.clips.first]\nsource = \"Go\"\n[model.clips.again]\nsource = \"Go\"\n\
                 [model.clips.slow]\nsource = \"Go\"\nfps = 5\n[model.clips.slower]\nsource = \"Go\"\nfps = 5\n\
                 [model.clips.talk]\nsource = \"Talk\"\n";
    for encoding in ["vat-packed", "trs-packed", "matrix-f32"] {
        let encoding = format!("encoding = \"{encoding}\"\n");
        let (shared, alone) = (good(&two_triangles(), &(encoding.clone() + clips)), good(&two_triangles(), &encoding));
        let meta = &shared.models[0].meta;
        let places: Vec<_> = meta.clips.iter().map(|clip| (clip.first_frame, clip.stored)).collect();
        assert!(places[0] == places[1] && places[2] == places[3], "{encoding}{places:?}");
        assert!(places[0] != places[2] && places[4].0 != places[0].0, "{encoding}{places:?}");
        assert!(meta.clips.iter().all(|clip| clip.encoding_error.max < 1e-3), "{encoding}");
        assert_eq!(meta.clips[0].encoding_error, meta.clips[1].encoding_error);
        let own = alone.models[0].meta.texture.frames;
        let range = meta.encoding.range_frames();
        assert_eq!(meta.texture.frames, own + range + meta.clips[2].stored, "{encoding}");
    }
    let local = |clips: &str| {
        let baked = good(&two_triangles(), &format!("encoding = \"local-packed\"\n{clips}"));
        let meta = &baked.models[0].meta;
        assert!(meta.clips.iter().all(|clip| clip.encoding_error.max < 1e-3), "{:?}", meta.clips);
        meta.texture.byte_len(meta.encoding)
    };
    let one = "[model.clips.first]\nsource = \"Go\"\nfps = 240\n".to_owned();
    let (one, two) = (local(&one), local(&(one + "[model.clips.again]\nsource = \"Go\"\nfps = 240\n")));
    assert!(one > 1000 && two < one + 300, "{one} {two}");
}
