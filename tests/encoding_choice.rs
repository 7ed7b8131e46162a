//! Choice of encodings and frame rates by measured errors.

use std::path::Path;

use gpuskin_build::Manifest;
use gpuskin_build::{BakeFailure, BakeOptions, Baked, bake};
use gpuskin_rt::internals::{Encoding, Packing};

/// Bakes the sample soldier with extra manifest keys and uncompressed textures.
fn try_bake(keys: &str, explain: bool) -> Result<Baked, BakeFailure> {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets");
    let text = format!("[[model]]\nname = \"soldier\"\npath = \"soldier.glb\"\ntextures = [\"rgba8\"]\n{keys}");
    let manifest = Manifest::parse(&assets.join("gpuskin.toml"), text).unwrap_or_else(|e| panic!("{e}"));
    bake(&manifest, &BakeOptions { explain, ..Default::default() })
}

#[track_caller]
fn bakes(keys: &str) -> Baked {
    try_bake(keys, false).unwrap_or_else(|failed| panic!("{}", failed.diagnostics))
}

#[track_caller]
fn refuses(keys: &str, parts: &[&str]) {
    let findings = match try_bake(keys, false) {
        Ok(_) => panic!("expected an error with {parts:?}, but the bake succeeded"),
        Err(failed) => failed.diagnostics.to_string(),
    };
    let text = findings.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(text.contains(part), "expected `{part}` in:\n{findings}");
    }
}

#[test]
fn each_device_class_gets_an_encoding_within_tolerance() {
    let baked = bakes("devices = [\"webgl2\", \"compute\"]\n");
    let model = &baked.models[0];
    assert_eq!((model.meta.encoding, model.others[0].meta.encoding), (Encoding::TrsPacked, Encoding::LocalPacked));
    let diagonal = f64::from(model.meta.rest_bounds.diagonal());
    for clip in model.meta.clips.iter().chain(model.others[0].meta.clips.iter()) {
        assert!(f64::from(clip.encoding_error.max) <= diagonal * 5e-5, "{}: {:?}", clip.name, clip.encoding_error);
        assert!(f64::from(clip.motion_error.max) <= diagonal * 5e-3, "{}: {:?}", clip.name, clip.motion_error);
        assert!(clip.motion_error.normal_degrees <= 1.0, "{}: {:?}", clip.name, clip.motion_error);
    }
    let bytes = |at: usize| {
        let model = if at == 0 { model } else { &model.others[0] };
        model.meta.texture.byte_len(model.meta.encoding)
    };
    assert!(bytes(1) * 3 < bytes(0), "{} {}", bytes(0), bytes(1));
}

/// In a clip of one or two frames, data that is stored once per model makes `local-packed` larger than
/// other encodings. It is chosen nevertheless, because it has the most features.
#[test]
fn features_decide_before_bytes() {
    let keys = "motion_tolerance = \"10 m\"\nnormal_tolerance = \"180 deg\"\n[model.clips.idle]\nsource = \"idle\"\nfps = 0.1\n";
    let model = &bakes(keys).models[0];
    let explained = try_bake(keys, true).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    let candidates = &explained.models[0].candidates;
    let chosen = candidates.iter().find(|c| c.refused.is_none()).expect("one candidate is chosen");
    assert_eq!((model.meta.encoding, chosen.encoding), (Encoding::LocalPacked, Encoding::LocalPacked));
    let because = |why: &str| -> Vec<_> { candidates.iter().filter(|c| c.refused.as_deref() == Some(why)).collect() };
    let smaller = because("without layers, live bones, levels of detail and culling");
    assert!(!smaller.is_empty() && smaller.iter().all(|c| c.gpu_bytes < chosen.gpu_bytes));
    assert!(because("not smaller than the chosen encoding").iter().all(|c| c.gpu_bytes >= chosen.gpu_bytes));
}

/// Tolerances that are hard for `local-packed` make its budget finer, and lose its features last.
#[test]
fn tight_tolerances_refine_local_packed() {
    for tolerance in ["0.005 %", "0.002 %", "0.001 %"] {
        let baked = bakes(&format!("encoding = \"local-packed\"\ntolerance = \"{tolerance}\"\n"));
        assert!(baked.warnings.is_empty(), "{}", baked.warnings);
    }
}

#[test]
fn lost_features_have_a_warning_and_can_be_required() {
    let keys = "tolerance = \"0.0005 mm\"\n";
    let baked = bakes(keys);
    assert_eq!(baked.models[0].meta.encoding, Encoding::MatrixF32);
    let warnings = baked.warnings.to_string().replace("\n  │", "");
    for part in ["baked as matrix-f32, without layers", "local-packed has an error of", "require = [\"layers\"]"] {
        assert!(warnings.contains(part), "expected `{part}` in:\n{warnings}");
    }
    refuses(&format!("{keys}require = [\"layers\"]\n"), &["local-packed has an error of", "set `tolerance = "]);
    let baked = bakes("encoding = \"matrix-f32\"\ntolerance = \"0.0005 mm\"\n");
    let text = baked.warnings.to_string();
    assert!(!text.contains("without layers"), "whoever names an encoding knows its features: {text}");
}

/// Returns the value of a key that the help of an error suggests.
fn suggested(keys: &str, key: &str) -> String {
    let Err(failed) = try_bake(keys, false) else { panic!("expected an error with {keys}") };
    let text = failed.diagnostics.to_string();
    let start = text.find(&format!("`{key} = ")).unwrap_or_else(|| panic!("no `{key}` in:\n{text}")) + 1;
    text[start..].split('`').next().expect("text").replace("\n", " ")
}

#[test]
fn suggested_settings_work() {
    for (keys, key) in [
        ("fps = 15\n", "tolerance"),
        ("encoding = \"fixed16\"\n", "tolerance"),
        ("encoding = \"local-packed\"\n", "tolerance"),
    ] {
        let help = suggested(&format!("{keys}tolerance = \"0.00001 mm\"\n"), key);
        bakes(&format!("{keys}{help}\n"));
    }
    for keys in ["encoding = \"trs-packed\"\nmotion_tolerance = \"1 mm\"\n", "motion_tolerance = \"3 mm\"\n"] {
        let help = suggested(&format!("fps = 6\n{keys}"), "fps");
        assert_eq!(help, "fps = \"auto\"");
        bakes(&format!("{help}\n{keys}"));
    }
}

#[test]
fn explain_lists_every_candidate() {
    let baked = try_bake("", true).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    let candidates = &baked.models[0].candidates;
    let chosen: Vec<_> = candidates.iter().filter(|c| c.refused.is_none()).map(|c| c.encoding).collect();
    assert_eq!(chosen, [Encoding::LocalPacked]);
    for encoding in Encoding::ALL.into_iter().filter(|e| !e.is_vertex()) {
        let candidate = candidates.iter().find(|c| c.encoding == encoding).expect("a bone encoding");
        assert!(candidate.gpu_bytes > 0 && candidate.errors.len() == 5, "{encoding:?}");
    }
    let reason = |encoding| candidates.iter().find(|c| c.encoding == encoding).and_then(|c| c.refused.clone());
    assert!(reason(Encoding::MatrixF16).is_some_and(|why| why.contains("has an error of") && why.contains("allowed")));
}

#[test]
fn unreachable_tolerance_suggests_a_reachable_one() {
    refuses(
        "tolerance = \"0.00001 mm\"\n",
        &[
            "no encoding meets the tolerance; the closest: clip `",
            "matrix-f32 has an error of",
            "set `tolerance = \"0.000",
        ],
    );
    refuses(
        "encoding = \"fixed16\"\ntolerance = \"1 mm\"\n",
        &["fixed16 has an error of", "at most 1.00 mm is allowed; 4 other clips exceed it, too", "clip `"],
    );
    refuses("encoding = \"trs-packed\"\nfps = 6\nmotion_tolerance = \"1 mm\"\n", &["between frames", "fps = \"auto\""]);
    refuses("normal_tolerance = \"0.000000001 deg\"\n", &["degrees in its normals", "set `normal_tolerance = "]);
    refuses("influences = 1\ntolerance = \"1 mm\"\n", &["more influences than are stored"]);
}

#[test]
fn default_tolerances_give_way_with_a_warning() {
    let baked = bakes("devices = [\"webgl2\"]\nfps = \"source\"\n");
    let warnings = baked.warnings.to_string().replace("\n  │", "");
    for part in [" between frames, but at most ", "sets no `motion_tolerance`", "set `motion_tolerance = "] {
        assert!(warnings.contains(part), "expected `{part}` in:\n{warnings}");
    }
}

#[test]
fn named_encoding_above_a_default_tolerance_warns() {
    let warnings = bakes("encoding = \"fixed16\"\n").warnings.to_string().replace("\n  │", "");
    for part in ["fixed16 has an error of", "sets no `tolerance`, so it is used", "set `tolerance = "] {
        assert!(warnings.contains(part), "expected `{part}` in:\n{warnings}");
    }
    let accepted = "tolerance = \"5 cm\"\nmotion_tolerance = \"10 cm\"\nnormal_tolerance = \"90 deg\"\n";
    let baked = bakes(&format!("encoding = \"fixed16\"\n{accepted}"));
    assert!(!baked.warnings.to_string().contains("so it is used"), "{}", baked.warnings);
}

/// Influences that are left out cost every encoding about the same, 5.4 to 5.9 cm.
#[test]
fn features_are_kept_where_no_encoding_is_clearly_closer() {
    let baked = bakes("influences = 2\n");
    assert_eq!(baked.models[0].meta.encoding, Encoding::LocalPacked);
    assert!(!baked.warnings.to_string().contains("encoding::coarse"), "one error, two warnings:\n{}", baked.warnings);
    // With a tolerance that accepts it, the error is still named, once for all clips.
    let baked =
        bakes("influences = 2\ntolerance = \"10 cm\"\nmotion_tolerance = \"10 cm\"\nnormal_tolerance = \"90 deg\"\n");
    let warnings = baked.warnings.to_string().replace("\n  │", "");
    assert_eq!(warnings.matches("encoding::coarse").count(), 1, "{warnings}");
    assert!(warnings.contains("; 4 other clips have visible errors, too"), "{warnings}");
}

/// At 2 frames per second every encoding is above the default tolerance between frames. `local-packed`
/// is also above the one that is set.
#[test]
fn set_tolerances_are_met_where_default_ones_give_way() {
    let baked = bakes("fps = 2\ntolerance = \"0.0005 mm\"\n");
    let model = &baked.models[0];
    assert_eq!(model.meta.encoding, Encoding::MatrixF32);
    assert!(model.meta.clips.iter().all(|clip| clip.encoding_error.max <= 0.5e-6));
    let warnings = baked.warnings.to_string().replace("\n  │", "");
    for part in ["the manifest sets no `motion_tolerance`", "baked as matrix-f32, without layers"] {
        assert!(warnings.contains(part), "expected `{part}` in:\n{warnings}");
    }
}

#[test]
fn named_encoding_must_suit_the_devices() {
    refuses(
        "encoding = \"local-packed\"\ndevices = [\"compute\", \"webgl2\"]\n",
        &[
            "`encoding = \"local-packed\"` needs compute shaders, but `devices` contains \"webgl2\"",
            "remove `encoding`",
        ],
    );
    let baked =
        bakes("influences = 1\ntolerance = \"50 cm\"\nmotion_tolerance = \"50 cm\"\nnormal_tolerance = \"180 deg\"\n");
    assert!(baked.warnings.to_string().contains("vertices have more than 1 influences"), "{}", baked.warnings);
    let baked = bakes("encoding = \"fixed16\"\ndevices = [\"compute\", \"webgl2\"]\n");
    assert!(baked.models[0].others.is_empty());
}

#[test]
fn vertex_packing_follows_the_tolerance() {
    let packing = |keys: &str| bakes(keys).models[0].meta.mesh.format.packing;
    assert_eq!(packing("encoding = \"trs-packed\"\ntolerance = \"1 mm\"\n"), Packing::Narrow);
    assert_eq!(packing(""), Packing::Wide);
    assert_eq!(packing("encoding = \"matrix-f32\"\ntolerance = \"1 mm\"\n"), Packing::Full);
}

#[test]
fn auto_fps_finds_the_lowest_rate_within_tolerance() {
    let frames = |keys: &str| bakes(keys).models[0].meta.clips.iter().map(|c| c.intervals).sum::<u32>();
    let (source, auto) = (frames("fps = \"source\"\n"), frames("fps = \"auto\"\n"));
    assert!(auto * 5 < source * 4, "{auto} of {source}");
    let half = frames("fps = \"50 %\"\nmotion_tolerance = \"10 cm\"\n");
    assert!(half.abs_diff(source / 2) <= 5, "{half} of {source}");
    let tight = frames("fps = \"auto\"\nmotion_tolerance = \"2 mm\"\n");
    assert!(tight > auto, "{tight} {auto}");
    let baked = bakes("fps = \"auto\"\nencoding = \"trs-packed\"\nmotion_tolerance = \"4 mm\"\n");
    for clip in baked.models[0].meta.clips.iter() {
        assert!(clip.motion_error.max <= 4e-3, "{}: {:?}", clip.name, clip.motion_error);
    }
}

/// Blended matrices of fast clips turn normals by degrees between frames. A named encoding says so or is refused, and
/// searched frame rates make them small, whatever positions allow.
#[test]
fn normals_between_frames_are_within_tolerance() {
    let loose = "tolerance = \"5 cm\"\nmotion_tolerance = \"1 m\"\n";
    let slow = format!("encoding = \"matrix-f16\"\nfps = 6\n{loose}");
    let between = "degrees in its normals between frames, but at most 1.00 is allowed";
    let warnings = bakes(&slow).warnings.to_string().replace("\n  │", "");
    assert!(warnings.contains(between) && warnings.contains("sets no `normal_tolerance`"), "{warnings}");
    refuses(
        &format!("{slow}normal_tolerance = \"1 deg\"\n"),
        &[between, "set `fps = \"auto\"`", "`normal_tolerance = "],
    );
    let webgl2 = format!("devices = [\"webgl2\"]\nfps = \"auto\"\n{loose}");
    let clips =
        |normals: &str| bakes(&format!("{webgl2}normal_tolerance = \"{normals}\"\n")).models[0].meta.clips.to_vec();
    let (held, free) = (clips("1 deg"), clips("90 deg"));
    for (held, free) in held.iter().zip(&free) {
        let degrees = held.motion_error.normal_degrees;
        assert!(degrees <= 1.0 && held.intervals > free.intervals, "{}: {degrees} degrees", held.name);
    }
    assert!(free.iter().any(|clip| clip.motion_error.normal_degrees > 10.0));
}
