//! Parsing of `gpuskin.toml`, and its diagnostics.

use std::path::{Path, PathBuf};

use crate::common::manifest::{SOLDIER, folder, good, parse, refuses};
use gpuskin_build::internals::manifest::{Fps, LoopWish, Storage, UpAxis};
use gpuskin_build::{Diagnostic, DiagnosticCode, Manifest, Style};
use gpuskin_rt::internals::Encoding;

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
fn environments_are_read_and_checked() {
    let with = |keys: &str| format!("{SOLDIER}[[environment]]\n{keys}");
    let manifest = good(&with("name = \"harbour\"\npath = \"art/harbour.hdr\"\nsize = 512\nintensity = 2\n"));
    let [environment] = &manifest.environments[..] else { panic!("one environment") };
    assert_eq!((environment.name.value.as_str(), environment.size, environment.intensity), ("harbour", 512, 2.0));
    let manifest = good(&with("name = \"harbour\"\npath = \"art/harbour.hdr\"\n"));
    assert_eq!((manifest.environments[0].size, manifest.environments[0].intensity), (256, 1.0));
    assert!(good(SOLDIER).environments.is_empty());

    let named = |path: &str, keys: &str| with(&format!("name = \"harbour\"\npath = \"{path}\"\n{keys}"));
    let cases = [
        (
            with("size = 64\n"),
            vec![
                ("toml:4:1]", "the environment has no `name`", "add name = \"harbour\""),
                ("toml:4:1]", "the environment has no `path`", "add path = \"art/harbour.hdr\""),
            ],
        ),
        (named("art/habour.hdr", ""), vec![("toml:6:8]", "file not found", "did you mean \"art/harbour.hdr\"?")]),
        (named("art/sky.exr", ""), vec![("toml:6:8]", "is not a panorama", "Radiance HDR")]),
        (named("art", ""), vec![("toml:6:8]", "art is a folder", ".hdr, .pfm")]),
        (
            named("art/harbour.hdr", "size = 100\n"),
            vec![("toml:7:8]", "`size` must be a power of two from 64 to 512", "`size`: texels")],
        ),
        (
            named("art/harbour.hdr", "size = 1024\n"),
            vec![("toml:7:8]", "`size` must be a power of two from 64 to 512", "")],
        ),
        (named("art/harbour.hdr", "size = \"big\"\n"), vec![("toml:7:8]", "`size` must be a power of two", "")]),
        (named("art/harbour.hdr", "intensity = nan\n"), vec![("toml:7:13]", "`intensity` must be finite", "")]),
        (named("art/harbour.hdr", "intensity = 0\n"), vec![("toml:7:13]", "`intensity` must be greater than 0", "")]),
        (
            named("art/harbour.hdr", "blur = 1\n"),
            vec![("toml:7:1]", "[[environment]] has no key `blur`", "supported keys")],
        ),
        (
            with("name = \"../x\"\npath = \"art/harbour.hdr\"\n"),
            vec![("toml:5:8]", "not a valid name of an environment", "")],
        ),
        (
            format!(
                "{0}[[environment]]\nname = \"HARBOUR\"\npath = \"art/harbour.hdr\"\n",
                named("art/harbour.hdr", "")
            ),
            vec![("toml:8:8]", "would both become `environments::HARBOUR`", "rename one of them")],
        ),
        (
            with("name = \"Soldier\"\npath = \"art/harbour.hdr\"\n"),
            vec![(
                "toml:5:8]",
                "environment `Soldier` and model `soldier` would have one folder",
                "rename one of them",
            )],
        ),
        (format!("environment = 3\n{SOLDIER}"), vec![("toml:1:15]", "must be an array of tables", "[[environment]]")]),
        (format!("environment = [3]\n{SOLDIER}"), vec![("toml:1:16]", "an environment must be a table", "")]),
    ];
    for (text, expected) in cases {
        refuses(&text, &expected);
    }
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
    assert_eq!(soldier.animations[0].path.value, "art/run.glb");
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
fn wrong_types_are_rejected() {
    refuses(
        "[bake]\nfps = \"30\"\nscale = true\ntextures = \"rgba8\"\nstorage = 3\n[[model]]\nname = 3\npath = [1]\n\
         animations = [\"art/run.glb\", 2]\nclips.run = 1\nclips.walk.loop = \"true\"\nclips.idle.loop = 0\n\
         scale = \"0.01\"\nnormal_tolerance = 1\n",
        &[
            ("toml:2:7]", "`fps` must be \"source\", \"auto\" or a number, not a string", "remove the quotes"),
            ("toml:3:9]", "`scale` must be a number, not `true`", ""),
            ("toml:4:12]", "`textures` must be an array of strings, not a string", "write [\"rgba8\"]"),
            ("toml:5:11]", "`storage` must be \"auto\", \"embed\", \"file\" or \"fetch\", not a number", ""),
            ("toml:7:8]", "`name` must be a string, not a number", ""),
            ("toml:8:8]", "`path` must be a string, not an array", ""),
            ("toml:9:30]", "`animations` must be an array of paths and tables, not a number", ""),
            ("toml:10:13]", "clip `run` must be a table", "[model.clips.run]"),
            ("toml:11:19]", "`loop` cannot be \"true\"", "remove the quotes"),
            ("toml:12:19]", "`loop` must be true, false or \"close\", not a number", ""),
            ("toml:13:9]", "`scale` must be a number, not a string", "remove the quotes"),
            ("toml:14:20]", "`normal_tolerance` must be a string, not a number", "write it with its unit: \"1 deg\""),
        ],
    );
}

#[test]
fn patterns_with_several_stars_are_rejected() {
    refuses(
        &format!("{SOLDIER}exclude_clips = [\"*_Pose\", \"*T-*\"]\n"),
        &[("toml:4:28]", "`exclude_clips`: \"*T-*\" has more than one `*`", "write a pattern for each")],
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
        let help = "`fps`: frames per second, or a percentage of the source's; without the key, the source's";
        refuses(&format!("{SOLDIER}fps = {value}\n"), &[("toml:4:7]", &message, help)]);
    }
    let help = "`scale`: metres per unit of the source; without the key, 1.0";
    refuses(&format!("{SOLDIER}scale = 0.0\n"), &[("toml:4:9]", "`scale` must be greater than 0", help)]);
}

#[test]
fn empty_texts_are_rejected_with_what_they_stand_for() {
    let path = "[[model]]\nname = \"soldier\"\npath = \"\"\n";
    refuses(path, &[("toml:3:8]", "`path` is empty", "`path`: path of the glTF file")]);
    refuses(&format!("{SOLDIER}up = \"\"\n"), &[("toml:4:6]", "`up` cannot be \"\"", "expected \"y\" or \"z\"")]);
    let fps = "write \"source\", \"auto\" or a number";
    refuses(&format!("{SOLDIER}fps = \"\"\n"), &[("toml:4:7]", "`fps` is empty", fps)]);
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
    // One mistake, one error.
    refuses(
        "[[model]]\nname = \"a\"\npaht = \"art/soldier.glb\"\n",
        &[("toml:3:1]", "[[model]] has no key `paht`", "did you mean `path`?")],
    );
    refuses("name = \"a\"\n", &[("toml:1:1]", "the manifest has no key `name`", "`name` is a key of [[model]]")]);
}

#[test]
fn missing_files_are_rejected() {
    refuses(
        "[[model]]\nname = \"a\"\npath = \"art/soldeir.glb\"\nanimations = [\"nowhere/run.glb\", \"art\"]\n\
         [[model]]\nname = \"b\"\npath = \"art/soldier.fbx\"\n[[model]]\nname = \"c\"\npath = 'art\\soldier.glb'\n",
        &[
            ("toml:3:8]", "file not found: art/soldeir.glb", "did you mean \"art/soldier.glb\"?"),
            ("toml:4:15]", "file not found: nowhere/run.glb", "paths are relative to "),
            ("toml:4:34]", "art is a folder", ""),
            ("toml:7:8]", "art/soldier.fbx is not a glTF file", "export it as glTF 2.0"),
            ("toml:10:8]", "file not found: art\\soldier.glb", "write paths with `/`"),
        ],
    );
    // In double quotes, TOML reads `\e` as the control character ESC.
    refuses(
        "[[model]]\nname = \"a\"\npath = \"art\\enemy.glb\"\n",
        &[("toml:3:8]", "file not found: art", "write paths with `/`")],
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
            ("toml:4:9]", "`bones` must be at most 1024", "`bones`: "),
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
