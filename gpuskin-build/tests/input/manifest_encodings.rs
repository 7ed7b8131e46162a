//! Keys of `gpuskin.toml` about encodings, tolerances, levels of detail, textures and axes.

use crate::common::manifest::{SOLDIER, good, parse, refuses};
use gpuskin_build::internals::manifest::{
    DeviceClass, ForwardAxis, Fps, InfluenceLimit, Lods, ModelEntry, RestTime, Tolerance, Tolerances, UpAxis,
};
use gpuskin_rt::internals::{ColorFormat, Encoding, Normals};

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
    assert_eq!(
        (soldier.influences, soldier.normals, soldier.fps),
        (InfluenceLimit::Most(2), Normals::Plain, Fps::Auto)
    );
    assert_eq!((wolf.normals, wolf.fps), (Normals::Cofactor, Fps::Share(0.5)));
    assert!(soldier.encoding.is_none() && wolf.encoding.as_ref().unwrap().value == Encoding::Fixed16);
    assert_eq!(Tolerance::Relative(0.005).metres(2.0), 0.01);
}

#[test]
fn invalid_tolerances_and_devices_are_rejected() {
    refuses(
        &format!(
            "[bake]\ntolerance = 1\nmotion_tolerance = \"5\"\nnormal_tolerance = \"1 mm\"\ndevices = [\"webgl\"]\n\
             influences = 9\nnormals = \"flat\"\nfps = \"-5 %\"\n{SOLDIER}tolerance = \"0 mm\"\ninfluences = \"4\"\n\
             fps = \"2000 %\"\n"
        ),
        &[
            ("toml:2:13]", "`tolerance` must be a string, not a number", "write it with its unit: \"0.1 mm\""),
            ("toml:3:20]", "`motion_tolerance` cannot be \"5\"", "\"0.1 mm\""),
            ("toml:4:20]", "`normal_tolerance` cannot be \"1 mm\"", "\"1 deg\""),
            ("toml:5:12]", "`devices` cannot be \"webgl\"", "did you mean \"webgl2\"?"),
            ("toml:6:14]", "`influences` must be a whole number from 1 to 8, or \"auto\"", "without the key"),
            ("toml:7:11]", "`normals` cannot be \"flat\"", ""),
            ("toml:8:7]", "`fps` cannot be \"-5 %\"", "or a number"),
            ("toml:12:13]", "`tolerance` cannot be \"0 mm\"", ""),
            ("toml:13:14]", "`influences` must be \"auto\" or a number from 1 to 8, not a string", ""),
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
    let time = |keys: &str| of(&format!("rest_frame = {{ clip = \"idle\"{keys} }}\n")).unwrap().time.value;
    assert_eq!(of(""), None);
    assert_eq!(time(""), RestTime::Frame(0));
    assert_eq!(time(", frame = 12"), RestTime::Frame(12));
    assert_eq!(time(", time = 0.5"), RestTime::Seconds(0.5));
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
