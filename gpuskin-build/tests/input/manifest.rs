//! Parsing of `gpuskin.toml`, and its diagnostics.

use std::path::{Path, PathBuf};

use gpuskin_build::internals::manifest::{
    DeviceClass, ForwardAxis, Fps, Lods, LoopWish, ModelEntry, RestMoment, Storage, Tolerance, Tolerances, UpAxis,
};
use gpuskin_build::{Diagnostic, DiagnosticCode, Manifest, Style};
use gpuskin_rt::internals::{ColorFormat, Encoding, Normals};

/// Returns a folder with the files that the manifests below name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("art")).unwrap();
    for file in ["soldier.glb", "wolf.gltf", "run.glb", "soldier.fbx"] {
        std::fs::write(folder.path().join("art").join(file), b"").unwrap();
    }
    folder
}

fn parse(text: &str) -> Result<Manifest, String> {
    let folder = folder();
    Manifest::parse(&folder.path().join("gpuskin.toml"), text).map_err(|diagnostics| {
        let path = folder.path().display().to_string();
        diagnostics.render(Style::Plain).replace(&format!("{path}/"), "")
    })
}

const SOLDIER: &str = "[[model]]\nname = \"soldier\"\npath = \"art/soldier.glb\"\n";

fn good(text: &str) -> Manifest {
    parse(text).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

/// Asserts the diagnostics of a manifest, in order: location, message and help.
#[track_caller]
fn refuses(text: &str, expected: &[(&str, &str, &str)]) {
    let rendered = parse(text).expect_err("the manifest must be rejected");
    let mut at = 0;
    for (place, message, help) in expected {
        for part in [message, place, help] {
            let found = rendered[at..].find(part);
            at += found.unwrap_or_else(|| panic!("`{part}` is missing or out of order in:\n{rendered}")) + part.len();
        }
    }
    assert_eq!(rendered.matches("  × ").count(), expected.len(), "{rendered}");
}

#[test]
fn keys_below_another_header_are_moved_up() {
    let below = "[model.clips]\nsockets = [\"Hand.R\"]\n";
    let help = "`sockets` is a key of [[model]]: move it above [model.clips]";
    refuses(&format!("{SOLDIER}{below}"), &[("gpuskin.toml:5", "clip `sockets` must be a table", help)]);
    let below = "[model.masks]\nlods = 2\n";
    refuses(
        &format!("{SOLDIER}{below}"),
        &[("gpuskin.toml:5", "mask `lods` must be a table", "move it above [model.masks]")],
    );
}

#[test]
fn renames_have_at_most_one_star() {
    let rename = |table: &str| format!("{SOLDIER}rename = {table}\n");
    let model = &good(&rename("{ \"mixamorig:*\" = \"*\", Skull = \"Head\" }")).models[0];
    assert_eq!(model.rename[0].apply("mixamorig:Hips").as_deref(), Some("Hips"));
    assert_eq!((model.rename[1].apply("Skull").as_deref(), model.rename[1].apply("Skulls")), (Some("Head"), None));
    for table in ["{ \"*:*\" = \"*\" }", "{ Skull = \"*\" }"] {
        refuses(&rename(table), &[("gpuskin.toml:4", "has too many `*`", "at most one `*`")]);
    }
    refuses(&rename("{ Skull = 1 }"), &[("gpuskin.toml:4", "`rename` must be a table of new names", "")]);
}

#[test]
fn required_features_need_bones_and_compute() {
    let model = |keys: &str| format!("{SOLDIER}{keys}");
    assert_eq!(good(&model("require = [\"layers\", \"culling\", \"layers\"]\n")).models[0].require.len(), 2);
    let conflict = "`require` needs local bone transforms, which fixed16 does not store";
    refuses(
        &model("encoding = \"fixed16\"\nrequire = [\"layers\"]\n"),
        &[("gpuskin.toml:5", conflict, "local-packed")],
    );
    let vertices = "`require` needs bones, but the model is baked in vertex mode";
    refuses(&model("mode = \"vertex\"\nrequire = [\"layers\"]\n"), &[("gpuskin.toml:5", vertices, "mode = \"bone\"")]);
    let devices = "`require` needs compute shaders";
    refuses(&model("devices = [\"webgl2\"]\nrequire = [\"layers\"]\n"), &[("gpuskin.toml:5", devices, "\"compute\"")]);
    refuses(
        &model("require = [\"layer\"]\n"),
        &[("gpuskin.toml:4", "cannot be \"layer\"", "did you mean \"layers\"?")],
    );
    // The default applies to models in bone mode without a named encoding.
    let text = format!(
        "[bake]\nrequire = [\"layers\"]\n{SOLDIER}[[model]]\nname = \"wolf\"\npath = \"art/wolf.gltf\"\nencoding = \"fixed16\"\n"
    );
    let required: Vec<usize> = good(&text).models.iter().map(|model| model.require.len()).collect();
    assert_eq!(required, [1, 0]);
}

#[test]
fn defaults_apply_to_missing_keys() {
    let manifest = parse(SOLDIER).unwrap();
    assert_eq!(manifest.storage, Storage::Auto);
    let [model] = &manifest.models[..] else { panic!("one model") };
    assert_eq!((model.name.value.as_str(), model.path.value.as_str()), ("soldier", "art/soldier.glb"));
    assert!(model.encoding.is_none(), "no encoding is named");
    assert_eq!((model.fps, model.scale, model.up), (Fps::Enough, 1.0, UpAxis::Y));
    assert!(model.clips.is_none() && model.animations.is_empty());
    assert!(model.include.is_empty() && model.exclude.is_empty());
}

#[test]
fn all_keys_are_read() {
    let text = r#"
[bake]
fps = 24
encoding = "trs-f16"
storage = "file"
textures = ["rgba8"]
scale = 0.01
up = "z"

[[model]]
name = "soldier"
path = 'art/soldier.glb'
animations = ["art/run.glb"]
mode = "bone"
include = ["Body", "Sword"]
exclude = ["Cloth"]
[model.clips.run]
source = "HumanArmature|Run"
loop = false
fps = 59.94
[model.clips.attack]

[[model]]
name = "wolf"
path = "art/wolf.gltf"
encoding = "matrix-f32"
fps = "source"
scale = 1
up = "y"
clips.idle = { fps = 1_000 }
"#;
    let manifest = parse(text).unwrap();
    assert_eq!(manifest.storage, Storage::File);
    let [soldier, wolf] = &manifest.models[..] else { panic!("two models") };
    let encoding = soldier.encoding.clone().unwrap();
    assert_eq!((encoding.value, &text[encoding.span]), (Encoding::TrsF16, "\"trs-f16\""));
    assert_eq!((soldier.fps, soldier.scale, soldier.up), (Fps::Rate(24.0), 0.01, UpAxis::Z));
    assert_eq!((wolf.fps, wolf.scale, wolf.up), (Fps::Source, 1.0, UpAxis::Y));
    assert_eq!(wolf.encoding.clone().unwrap().value, Encoding::MatrixF32);
    assert_eq!(soldier.animations[0].value, "art/run.glb");
    assert_eq!(soldier.include[1].value, "Sword");
    assert_eq!(soldier.exclude[0].value, "Cloth");
    let [run, attack] = &soldier.clips.as_ref().unwrap()[..] else { panic!("two clips") };
    assert_eq!(
        (run.name.value.as_str(), attack.name.value.as_str()),
        ("run", "attack"),
        "clips must be in the order of the manifest"
    );
    assert_eq!(run.source.as_ref().unwrap().value, "HumanArmature|Run");
    assert!(run.looped.as_ref().unwrap().value == LoopWish::Once && attack.looped.is_none());
    assert_eq!((run.fps, attack.fps), (Some(Fps::Rate(59.94)), None));
    assert_eq!(wolf.clips.as_ref().unwrap()[0].fps, Some(Fps::Rate(1000.0)));
}

#[test]
fn unknown_keys_are_rejected() {
    refuses(
        &format!("[bkae]\n{SOLDIER}encodign = \"trs-f16\"\nshader = 1\nstorage = \"file\"\nclips.run.souce = \"x\"\n"),
        &[
            ("toml:1:2]", "the manifest has no key `bkae`", "did you mean `bake`?"),
            ("toml:5:1]", "[[model]] has no key `encodign`", "did you mean `encoding`?"),
            ("toml:6:1]", "[[model]] has no key `shader`", "supported keys: `name`, `path`"),
            ("toml:7:1]", "[[model]] has no key `storage`", "`storage` is a key of [bake]"),
            ("toml:8:11]", "[model.clips.<name>] has no key `souce`", "did you mean `source`?"),
        ],
    );
}

#[test]
fn reserved_keys_are_rejected() {
    let text = format!("{SOLDIER}[model.clips.run]\nmask = \"upper\"\ntolerance = \"1 mm\"\n");
    let expected = [("toml:5:1]", "mask", "[model.masks]"), ("toml:6:1]", "tolerance", "set it in [[model]]")];
    let expected = expected.map(|(place, key, help)| (place, format!("`{key}` is not supported yet"), help));
    refuses(&text, &expected.each_ref().map(|(place, message, help)| (*place, message.as_str(), *help)));
}

#[test]
fn lods_accept_booleans_and_small_numbers() {
    let text =
        format!("[bake]\nlods = 2\n{SOLDIER}[[model]]\nname = \"wolf\"\npath = \"art/soldier.glb\"\nlods = true\n");
    let of = |text: &str| parse(text).unwrap().models.iter().map(|model| model.lods).collect::<Vec<_>>();
    assert_eq!(of(&text), [Lods::Most(2), Lods::Auto]);
    assert_eq!(of(&format!("{SOLDIER}lods = false\n")), [Lods::Most(0)]);
    assert_eq!(of(SOLDIER), [Lods::Auto]);
    for value in ["8", "-1", "1.5"] {
        refuses(
            &format!("{SOLDIER}lods = {value}\n"),
            &[("toml:4:8]", "`lods` must be a whole number of at most 7", "false bakes")],
        );
    }
    refuses(
        &format!("{SOLDIER}lods = \"all\"\n"),
        &[("toml:4:8]", "`lods` must be true, false or a number of LODs", "")],
    );
}

#[test]
fn tolerances_and_devices_are_read() {
    let text = format!(
        "[bake]\ntolerance = \"0.01 %\"\nmotion_tolerance = \"5 mm\"\ndevices = [\"webgl2\", \"compute\", \"webgl2\"]\n\
         influences = 2\nfps = \"50 %\"\nencoding = \"fixed16\"\n{SOLDIER}tolerance = \"20 um\"\nnormal_tolerance = \"0.5deg\"\n\
         normals = \"plain\"\nfps = \"auto\"\nencoding = \"auto\"\n[[model]]\nname = \"wolf\"\npath = \"art/soldier.glb\"\n"
    );
    let manifest = parse(&text).unwrap();
    let [soldier, wolf] = &manifest.models[..] else { panic!("two models") };
    let of = |model: &ModelEntry| {
        let Tolerances { encoding, motion, normal } = model.tolerances.clone();
        (encoding.map(|at| at.value), motion.map(|at| at.value), normal.map(|at| at.value))
    };
    let five = Some(Tolerance::Absolute(0.005));
    assert_eq!(of(soldier), (Some(Tolerance::Absolute(20.0 / 1e6)), five, Some(0.5)));
    assert_eq!(of(wolf), (Some(Tolerance::Relative(0.01 / 100.0)), five, None));
    assert_eq!(soldier.devices, [DeviceClass::WebGl2, DeviceClass::Compute]);
    assert_eq!((soldier.influences, soldier.normals, soldier.fps), (2, Normals::Plain, Fps::Auto));
    assert_eq!((wolf.normals, wolf.fps), (Normals::Cofactor, Fps::Share(0.5)));
    assert!(soldier.encoding.is_none() && wolf.encoding.as_ref().unwrap().value == Encoding::Fixed16);
    assert_eq!(Tolerance::Relative(0.005).metres(2.0), 0.01);
}

#[test]
fn invalid_tolerances_and_devices_are_rejected() {
    refuses(
        &format!(
            "[bake]\ntolerance = 1\nmotion_tolerance = \"5\"\nnormal_tolerance = \"1 mm\"\ndevices = [\"webgl\"]\n\
             influences = 8\nnormals = \"flat\"\nfps = \"-5 %\"\n{SOLDIER}tolerance = \"0 mm\"\ninfluences = \"4\"\n\
             fps = \"2000 %\"\n"
        ),
        &[
            ("toml:2:13]", "`tolerance` must be a string, not a number", ""),
            ("toml:3:20]", "`motion_tolerance` cannot be \"5\"", "\"0.1 mm\""),
            ("toml:4:20]", "`normal_tolerance` cannot be \"1 mm\"", "\"1 deg\""),
            ("toml:5:12]", "`devices` cannot be \"webgl\"", "did you mean \"webgl2\"?"),
            ("toml:6:14]", "`influences` must be 1, 2, 3 or 4", ""),
            ("toml:7:11]", "`normals` cannot be \"flat\"", ""),
            ("toml:8:7]", "`fps` cannot be \"-5 %\"", "or a number"),
            ("toml:12:13]", "`tolerance` cannot be \"0 mm\"", ""),
            ("toml:13:14]", "`influences` must be 1, 2, 3 or 4, not a string", ""),
            ("toml:14:7]", "`fps` must be at most 1000 % of the source rate", ""),
        ],
    );
}

#[test]
fn mode_and_encoding_select_bones_or_vertices() {
    let of = |keys: &str| good(&format!("{SOLDIER}{keys}")).models.remove(0);
    for (keys, bones, vertices) in [
        ("", true, false),
        ("mode = \"bone\"\n", true, false),
        ("mode = \"vertex\"\n", false, true),
        ("mode = \"auto\"\n", true, true),
        ("encoding = \"vat-f16\"\n", false, true),
        ("mode = \"auto\"\nencoding = \"trs-packed\"\n", true, false),
        ("mode = \"vertex\"\nencoding = \"vat-packed-fine\"\nwidth = 4096\n", false, true),
    ] {
        let model = of(keys);
        assert_eq!((model.wants_bones(), model.wants_vertices()), (bones, vertices), "{keys}");
    }
    assert_eq!((of("width = 64\n").width, of("").width), (Some(64), None));
    // A default encoding of another mode is ignored.
    let text = format!("[bake]\nencoding = \"trs-packed\"\n{SOLDIER}mode = \"vertex\"\n");
    assert!(good(&text).models[0].encoding.is_none());
}

#[test]
fn encoding_of_another_mode_is_rejected() {
    for (mode, encoding, rows) in [("bone", "vat-unorm24", "vertices"), ("vertex", "matrix-f16", "bones")] {
        let message = format!("encoding \"{encoding}\" stores {rows}, which does not match the mode of the model");
        let text = format!("{SOLDIER}mode = \"{mode}\"\nencoding = \"{encoding}\"\n");
        refuses(&text, &[("toml:5:12]", &message, "remove one of the two")]);
        assert!(parse(&text).unwrap_err().contains("the mode"));
    }
    for width in ["100", "32", "8192", "64.5", "-64", "1e300", "\"64\""] {
        let text = format!("{SOLDIER}width = {width}\n");
        refuses(&text, &[("toml:4:9]", "`width` must be a power of two from 64 to 4096", "")]);
    }
}

#[test]
fn rest_frame_takes_a_clip_and_a_time() {
    let of = |keys: &str| good(&format!("{SOLDIER}mode = \"vertex\"\n{keys}")).models[0].rest_frame.clone();
    let moment = |keys: &str| of(&format!("rest_frame = {{ clip = \"idle\"{keys} }}\n")).unwrap().moment.value;
    assert_eq!(of(""), None);
    assert_eq!(moment(""), RestMoment::Frame(0));
    assert_eq!(moment(", frame = 12"), RestMoment::Frame(12));
    assert_eq!(moment(", time = 0.5"), RestMoment::Seconds(0.5));
    let bad = |value: &str| format!("{SOLDIER}mode = \"vertex\"\nrest_frame = {value}\n");
    refuses(&bad("8"), &[("toml:5:14]", "`rest_frame` must be a table", "clip = \"idle\", frame = 0")]);
    refuses(&bad("{ frame = 8 }"), &[("toml:5:14]", "`rest_frame` has no `clip`", "clip = \"idle\"")]);
    refuses(&bad("{ clip = \"a\", frme = 8 }"), &[("toml:5:28]", "no key `frme`", "did you mean `frame`?")]);
    refuses(&bad("{ clip = \"a\", frame = 1, time = 0 }"), &[("toml:5:14]", "both `frame` and `time`", "one")]);
    for frame in ["-1", "0.5", "1e300", "4294967296"] {
        let text = bad(&format!("{{ clip = \"a\", frame = {frame} }}"));
        refuses(&text, &[("toml:5:36]", "a whole number of at least 0", "seconds")]);
    }
    for time in ["-0.1", "inf", "nan"] {
        refuses(
            &bad(&format!("{{ clip = \"a\", time = {time} }}")),
            &[("toml:5:35]", "`time` must be a finite number of seconds", "")],
        );
    }
    refuses(&bad("{ clip = \"a\", time = \"1\" }"), &[("toml:5:35]", "`time` must be a number of seconds", "")]);
    // In bone mode, `rest_frame` is an error.
    for (keys, also) in [("", ""), ("mode = \"bone\"\n", "the mode"), ("encoding = \"trs-packed\"\n", "the encoding")] {
        let text = format!("{SOLDIER}rest_frame = {{ clip = \"a\" }}\n{keys}");
        refuses(&text, &[("toml:4:14]", "`rest_frame` needs vertex mode", "mode = \"vertex\"")]);
        assert!(parse(&text).unwrap_err().contains(also));
    }
    for keys in ["mode = \"auto\"\n", "encoding = \"vat-f16\"\n"] {
        assert!(good(&format!("{SOLDIER}{keys}rest_frame = {{ clip = \"a\" }}\n")).models[0].rest_frame.is_some());
    }
}

#[cfg(feature = "textures")]
#[test]
fn textures_of_a_model_override_the_default() {
    use ColorFormat::{Astc, Bc7, Etc2, Rgba8};
    let first = |text: &str| good(text).models[0].textures.clone();
    let none = first(SOLDIER);
    assert_eq!((none.formats, none.universal), (vec![Bc7, Astc, Rgba8], false));
    let both = first(&format!("[bake]\ntextures = [\"rgba8\"]\n{SOLDIER}textures = [\"etc2\", \"universal\"]\n"));
    assert_eq!((both.formats, both.universal), (vec![Etc2], true));
    let project = first(&format!("[bake]\ntextures = [\"astc\", \"bc7\"]\n{SOLDIER}"));
    assert_eq!(project.formats, [Astc, Bc7]);
    let portable = first(&format!("[bake]\ntextures = [\"universal\"]\n{SOLDIER}"));
    assert_eq!(
        (portable.formats, portable.universal),
        (vec![Bc7, Astc, Rgba8], true),
        "devices must get the default formats"
    );
    let list = |list: &str| format!("[bake]\ntextures = {list}\n{SOLDIER}");
    refuses(&list("[]"), &[("toml:2:12]", "`textures` is empty", "rgba8")]);
    refuses(&list("[\"bc7\", \"bc7\"]"), &[("toml:2:20]", "`textures` lists \"bc7\" twice", "")]);
    refuses(&list("[\"bc8\"]"), &[("toml:2:13]", "`textures` cannot be \"bc8\"", "did you mean \"bc7\"?")]);
}

#[cfg(not(feature = "textures"))]
#[test]
fn compressed_textures_need_a_feature() {
    assert_eq!(good(SOLDIER).models[0].textures.formats, [ColorFormat::Rgba8]);
    for texture in ["bc7", "astc", "etc2", "universal"] {
        let text = format!("[bake]\ntextures = [\"rgba8\", \"{texture}\"]\n{SOLDIER}");
        let message = "compressed textures need the feature `textures` of gpuskin-build";
        refuses(&text, &[("toml:2:22]", message, "features = [\"textures\"]")]);
    }
}

#[test]
fn unknown_words_are_rejected() {
    refuses(
        &format!("[bake]\nstorage = \"embedded\"\nup = \"Z\"\n{SOLDIER}encoding = \"matrixf16\"\nfps = \"fast\"\n"),
        &[
            ("toml:2:11]", "`storage` cannot be \"embedded\"", "did you mean \"embed\"?"),
            ("toml:3:6]", "`up` cannot be \"Z\"", "did you mean \"z\"?"),
            ("toml:7:12]", "`encoding` cannot be \"matrixf16\"", "did you mean \"matrix-f16\"?"),
            (
                "toml:8:7]",
                "`fps` cannot be \"fast\"",
                "expected \"source\" or \"auto\", a percentage of the source rate such as \"50 %\", or a number",
            ),
        ],
    );
}

#[test]
fn forward_depends_on_up_and_differs_from_it() {
    let axes = |bake: &str, own: &str| {
        let model = good(&format!("[bake]\n{bake}\n{SOLDIER}{own}\n")).models.remove(0);
        (model.up, model.forward)
    };
    assert_eq!(axes("", ""), (UpAxis::Y, ForwardAxis::Z));
    assert_eq!(axes("up = \"z\"", ""), (UpAxis::Z, ForwardAxis::NegY));
    assert_eq!(axes("up = \"z\"\nforward = \"x\"", ""), (UpAxis::Z, ForwardAxis::X));
    assert_eq!(axes("forward = \"-z\"", "forward = \"-x\""), (UpAxis::Y, ForwardAxis::NegX));
    refuses(
        &format!("{SOLDIER}forward = \"-y\"\n"),
        &[(
            "toml:4:11]",
            "`forward` is along y, which is the up axis",
            "set `forward` to \"z\", \"-z\", \"x\" or \"-x\"",
        )],
    );
    refuses(
        &format!("[bake]\nforward = \"z\"\n{SOLDIER}up = \"z\"\n"),
        &[("toml:2:11]", "`forward` is along z, which is the up axis", "the up axis")],
    );
}

#[test]
fn wrong_types_are_rejected() {
    refuses(
        "[bake]\nfps = \"30\"\nscale = true\ntextures = \"rgba8\"\nstorage = 3\n[[model]]\nname = 3\npath = [1]\n\
         animations = [\"art/run.glb\", 2]\nclips.run = 1\nclips.walk.loop = \"true\"\nclips.idle.loop = 0\n",
        &[
            ("toml:2:7]", "`fps` must be \"source\", \"auto\" or a number, not a string", "remove the quotes"),
            ("toml:3:9]", "`scale` must be a number, not `true`", ""),
            ("toml:4:12]", "`textures` must be an array of strings, not a string", "write [\"rgba8\"]"),
            ("toml:5:11]", "`storage` must be \"auto\", \"embed\" or \"file\", not a number", ""),
            ("toml:7:8]", "`name` must be a string, not a number", ""),
            ("toml:8:8]", "`path` must be a string, not an array", ""),
            ("toml:9:30]", "`animations` must be an array of non-empty strings, not a number", ""),
            ("toml:10:13]", "clip `run` must be a table", "[model.clips.run]"),
            ("toml:11:19]", "`loop` cannot be \"true\"", "remove the quotes"),
            ("toml:12:19]", "`loop` must be true, false or \"close\", not a number", ""),
        ],
    );
}

#[test]
fn numbers_out_of_range_are_rejected() {
    for (value, problem) in [
        ("0", "greater than 0"),
        ("-1.5", "greater than 0"),
        ("nan", "finite"),
        ("inf", "finite"),
        ("1000.1", "at most 1000"),
        ("99999999999999999999999", "at most 1000"),
    ] {
        let message = format!("`fps` must be {problem}");
        refuses(&format!("{SOLDIER}fps = {value}\n"), &[("toml:4:7]", &message, "")]);
    }
    refuses(&format!("{SOLDIER}scale = 0.0\n"), &[("toml:4:9]", "`scale` must be greater than 0", "")]);
}

#[test]
fn missing_keys_point_at_the_header() {
    refuses(
        &format!("{SOLDIER}\n[[model]]\nfps = 30\n"),
        &[
            ("toml:5:1]", "the model has no `name`", "add name = "),
            ("toml:5:1]", "the model has no `path`", "add path = "),
        ],
    );
}

#[test]
fn manifest_without_models_is_rejected() {
    refuses("", &[("", "gpuskin.toml:1:1: the manifest has no models", "[[model]]")]);
    refuses("# soon\n[bake]\nfps = 30\n", &[("toml:1:1]", "the manifest has no models", "[[model]]")]);
    refuses("model = []\n", &[("toml:1:9]", "the manifest has no models", "[[model]]")]);
    refuses("[model]\nname = \"a\"\n", &[("toml:1:1]", "`model` must be an array of tables", "[[model]]")]);
    refuses("[[models]]\n", &[("toml:1:3]", "the manifest has no key `models`", "did you mean `model`?")]);
}

#[test]
fn missing_files_are_rejected() {
    refuses(
        "[[model]]\nname = \"a\"\npath = \"art/soldeir.glb\"\nanimations = [\"nowhere/run.glb\", \"art\"]\n\
         [[model]]\nname = \"b\"\npath = \"art/soldier.fbx\"\n[[model]]\nname = \"c\"\npath = 'art\\soldier.glb'\n",
        &[
            ("toml:3:8]", "file not found: art/soldeir.glb", "did you mean \"art/soldier.glb\"?"),
            ("toml:4:15]", "file not found: nowhere/run.glb", "paths are relative to the folder of the manifest"),
            ("toml:4:34]", "art is a folder", ""),
            ("toml:7:8]", "art/soldier.fbx is not a glTF file", "export it as glTF 2.0"),
            ("toml:10:8]", "file not found: art\\soldier.glb", "write paths with `/`"),
        ],
    );
}

#[test]
fn invalid_model_names_are_rejected() {
    for name in ["../soldier", "a b", "", "3d", "söldner", "_", "-"] {
        let text = SOLDIER.replace("soldier\"\n", &format!("{name}\"\n"));
        assert!(parse(&text).is_err(), "{name}");
    }
    // A keyword is allowed: `self` becomes `models::Self_`.
    assert!(parse(&SOLDIER.replace("\"soldier\"", "\"self\"")).is_ok());
}

#[test]
fn colliding_names_are_rejected() {
    refuses(&format!("{SOLDIER}{SOLDIER}"), &[("toml:2:8]", "two models are named `soldier`", "rename one of them")]);
    refuses(
        &format!("{SOLDIER}{}", SOLDIER.replacen("soldier", "Soldier", 1)),
        &[("", "models `soldier` and `Soldier` would both become `models::Soldier`", "toml:5:8]")],
    );
    let soldier_a = SOLDIER.replacen("soldier", "soldier_a", 1);
    refuses(
        &format!("{SOLDIER}clips.a_run = {{}}\n{soldier_a}clips.run = {{}}\n"),
        &[(
            "toml:8:7]",
            "clips `a_run` of `soldier` and `run` of `soldier_a` would both become",
            "[model.clips.other_name]",
        )],
    );
    refuses(
        &format!("{SOLDIER}clips.\"Run Fast\" = {{}}\nclips.runFast = {{}}\nclips.\"?\" = {{}}\n"),
        &[
            ("toml:5:7]", "clips `Run Fast` and `runFast` would both become `clips::SOLDIER_RUN_FAST`", ""),
            ("toml:6:7]", "the name of clip `?` cannot become a Rust identifier", ""),
        ],
    );
}

#[test]
fn limits_are_read_and_bounded() {
    let limits = |text: &str| good(&format!("[limits]\n{text}\n{SOLDIER}")).limits;
    let default = gpuskin_build::internals::manifest::Limits::default();
    assert_eq!(good(SOLDIER).limits, default);
    assert_eq!(limits("memory = \"2 GiB\"\nbones = 64").memory, 2 << 30);
    assert_eq!(limits("memory = \"2 GiB\"\nbones = 64").bones, 64);
    assert_eq!(limits("file = 1000"), gpuskin_build::internals::manifest::Limits { file: 1000, ..default });
    refuses(
        &format!("[limits]\nbone = 3\nmemory = \"much\"\nbones = 2000\nfile = \"8 GiB\"\ndepth = 0\n{SOLDIER}"),
        &[
            ("toml:2:1]", "[limits] has no key `bone`", "did you mean `bones`?"),
            ("toml:3:10]", "`memory` must be a size", "write \"512 MiB\""),
            ("toml:4:9]", "`bones` must be at most 1024", ""),
            ("toml:5:8]", "`file` must be at most", ""),
            ("toml:6:9]", "`depth` must be a whole number of at least 1", ""),
        ],
    );
    assert_eq!(good(&format!("[bake]\nroots = [\"art\"]\n{SOLDIER}")).roots.len(), 1);
    refuses(&format!("[bake]\nroots = [\"atr\"]\n{SOLDIER}"), &[("toml:2:10]", "folder atr not found", "")]);
}

#[test]
fn syntax_errors_are_located() {
    refuses("[[model]]\nname = \n", &[("toml:2:8]", "string values must be quoted", "")]);
    refuses(
        &format!("{SOLDIER}name = \"b\"\n[bake]\n[bake]\n"),
        &[("toml:4:1]", "duplicate key", ""), ("toml:6:2]", "duplicate key", "")],
    );
    refuses(
        "[[model]]\nname = \"a\"\npath = \"art\\soldier.glb\"\n",
        &[("toml:3:", "missing escaped value", "write paths with `/`, or in single quotes")],
    );
}

#[test]
fn byte_order_mark_and_crlf_are_accepted() {
    let text = format!("\u{feff}{SOLDIER}fpss = 3\n").replace('\n', "\r\n");
    refuses(&text, &[("toml:4:1]", "[[model]] has no key `fpss`", "did you mean `fps`?")]);
    assert!(parse(&format!("\u{feff}{SOLDIER}").replace('\n', "\r\n")).is_ok());
}

#[test]
fn diagnostics_render_with_snippets() {
    let rendered = parse(&format!("{SOLDIER}\n{SOLDIER}encodign = \"trs-f16\" # ünïcode\n")).unwrap_err();
    assert_eq!(
        rendered,
        "gpuskin::name::collision
  × two models are named `soldier`
   ╭─[gpuskin.toml:2:8]
 2 │ name = \"soldier\"
   ·        ────┬────
   ·            ╰── first here
   ╰────
   ╭─[gpuskin.toml:6:8]
 6 │ name = \"soldier\"
   ·        ────┬────
   ·            ╰── again here
   ╰────
  help: rename one of them

gpuskin::manifest::unknown_key
  × [[model]] has no key `encodign`
   ╭─[gpuskin.toml:8:1]
 8 │ encodign = \"trs-f16\" # ünïcode
   · ────────
   ╰────
  help: did you mean `encoding`?
"
    );
}

#[test]
fn cargo_directives_have_one_line_each() {
    let diagnostics = Manifest::parse(Path::new("gpuskin.toml"), "fps = 30\n").unwrap_err();
    assert_eq!(
        diagnostics.cargo_directives(),
        [
            "cargo::error=gpuskin::manifest::unknown_key",
            "cargo::error=  × the manifest has no key `fps`",
            "cargo::error=   ╭─[gpuskin.toml:1:1]",
            "cargo::error= 1 │ fps = 30",
            "cargo::error=   · ───",
            "cargo::error=   ╰────",
            "cargo::error=  help: `fps` is a key of [bake]",
        ]
    );
    let warnings =
        gpuskin_build::Diagnostics::from(Diagnostic::warning(DiagnosticCode::ScriptSlow, "odd").help("look"));
    assert_eq!(
        warnings.cargo_directives(),
        ["cargo::warning=gpuskin::script::unoptimised", "cargo::warning=  ⚠ odd", "cargo::warning=  help: look"]
    );
}

#[test]
fn files_that_are_not_manifests_are_rejected() {
    let folder = folder();
    let load = |path: PathBuf| Manifest::load(&path).unwrap_err().render(Style::Plain);
    assert!(load(folder.path().join("no.toml")).contains("does not exist"));
    assert!(load(folder.path().to_owned()).contains("is not a file"));
    let path = folder.path().join("gpuskin.toml");
    std::fs::write(&path, b"[bake]\nup = \"\xff\"\n").unwrap();
    let rendered = load(path.clone());
    assert!(rendered.contains("is not UTF-8") && rendered.contains("toml:2:7]"), "{rendered}");
    std::fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
    assert!(load(path).contains("16777216"));
}

/// Hostile text must not panic, take long, or print control characters.
#[test]
fn hostile_text_is_rejected_safely() {
    let many = 100_000;
    let texts = [
        "a=".to_owned() + &"[".repeat(many),
        format!("[{}a]\n", "a.".repeat(many)),
        "[[model]]\n".repeat(1000),
        (0..many).map(|i| format!("key{i} = 1\n")).collect(),
        "x = 1\n".repeat(many),
        format!("{SOLDIER}exclude = \"{}\"\n", "y".repeat(1 << 20)),
        "k".repeat(1 << 20) + " = 1",
        "\0\u{1b}[31mred\u{7}\u{85}\n".to_owned(),
        "a = \"\u{1b}]0;title\u{7}\"\r".to_owned(),
        "\r\r\r= \n\r\n".to_owned(),
        "\u{feff}\u{feff}".to_owned(),
        "[".to_owned(),
        "[[".to_owned(),
        "a".to_owned(),
        "a = \"\"\"\n\n".to_owned(),
        "a = 1\n\n\n[[".to_owned(),
        "\n".to_owned(),
        "[bake]\nup = \"\\u001b[31m\\t\"\n\"\\u0007\" = 1\n".to_owned(),
        "é = [\n".to_owned(),
    ];
    for text in texts {
        let rendered = parse(&text).expect_err("none of these is a valid manifest");
        assert!(rendered.contains('×'), "{rendered}");
        assert!(rendered.chars().all(|c| !c.is_control() || c == '\n'), "{rendered:?}");
        assert!(rendered.len() < 40_000, "{} bytes", rendered.len());
    }
    // Every prefix of a manifest, and a manifest with a character inserted at every position.
    let whole = format!("[bake]\nfps = 24.5\n{SOLDIER}[model.clips.\"rün\"]\nsource = 'x'\nloop = true\n");
    for end in (0..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
        let _ = parse(&whole[..end]);
        for c in ["\"", "[", "]", "=", "\n", "\u{0}", "😀", "'", "#", "{"] {
            let _ = parse(&format!("{}{c}{}", &whole[..end], &whole[end..]));
        }
    }
}

#[test]
fn recover_returns_models_without_errors() {
    let folder = folder();
    let path = folder.path().join("gpuskin.toml");
    std::fs::write(&path, format!("[bake]\ntolerance = 1\n{SOLDIER}[[model]]\nname = \"wolf\"\n")).unwrap();
    let (manifest, diagnostics) = Manifest::recover(&path);
    let names: Vec<_> = manifest.unwrap().models.into_iter().map(|model| model.name.value).collect();
    assert_eq!((names, diagnostics.len()), (vec!["soldier".to_owned()], 2));
    std::fs::write(&path, "[[model]").unwrap();
    assert!(Manifest::recover(&path).0.is_none());
}
