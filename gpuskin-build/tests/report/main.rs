//! Reports of bakes: their numbers, determinism, comparisons, and the page in a browser.
//!
//! After an intended change, run with `GPUSKIN_BLESS=1` and look at the difference.

mod browser;
mod place;
mod viewer;
mod watch;

use std::process::ExitCode;

use gpuskin_test_harness::{run, test};
use place::{Place, data_of, manifest_of, pole};
use serde_json::Value;

fn main() -> ExitCode {
    // The tests run this program again as a build script.
    if let Some(manifest) = std::env::var_os("GPUSKIN_TEST_BUILD_SCRIPT") {
        gpuskin_build::build(std::path::PathBuf::from(manifest));
        return ExitCode::SUCCESS;
    }
    run([
        test!(a_build_script_writes_the_report_that_the_variable_names),
        test!(a_cached_bake_has_the_same_report),
        test!(a_failed_bake_reports_its_diagnostics),
        test!(a_manifest_that_cannot_be_read_is_reported),
        test!(comparisons_name_what_changed_in_both_directions),
        test!(curves_have_the_errors_of_their_clips),
        test!(flags_that_do_not_fit_are_refused),
        test!(hostile_names_are_no_html),
        test!(models_of_every_kind_have_a_report),
        test!(other_files_are_no_reports),
        test!(the_report_of_a_small_model_is_as_expected),
        test!(browser::a_failed_bake_shows_its_remedies, viewer::BROWSER),
        test!(browser::a_thousand_models_open, viewer::BROWSER),
        test!(browser::changes_are_listed, viewer::BROWSER),
        test!(browser::hostile_names_are_text, viewer::BROWSER),
        test!(browser::models_without_clips_and_in_vertex_mode_open, viewer::BROWSER),
        test!(browser::the_numbers_are_those_of_bake, viewer::BROWSER),
        test!(browser::three_hundred_clips_are_drawn_when_they_come_into_view, viewer::BROWSER),
        test!(viewer::a_damaged_model_is_an_error_in_its_place, viewer::BROWSER),
        test!(viewer::a_model_that_is_too_large_for_its_source_says_so, viewer::BROWSER),
        test!(viewer::a_page_without_webgpu_says_so, viewer::BROWSER),
        test!(viewer::a_saved_model_is_drawn_in_the_open_page, viewer::BROWSER),
        test!(viewer::masks_and_sockets_are_shown, viewer::BROWSER),
        test!(viewer::the_model_plays_in_the_page, viewer::BROWSER),
        test!(viewer::the_source_is_shown_beside_the_baked_model, viewer::BROWSER),
        test!(viewer::the_source_of_an_exact_bake_looks_like_it, viewer::BROWSER),
        test!(viewer::vertex_mode_and_models_without_textures_are_drawn, viewer::BROWSER),
        test!(watch::a_port_in_use_is_an_error_with_a_remedy),
        test!(watch::an_edited_clip_reaches_the_page_and_a_failure_keeps_the_last_bake),
        #[cfg(unix)]
        test!(watch::a_signal_ends_it_and_leaves_whole_files),
        test!(watch::only_this_machine_is_answered),
    ])
}

fn the_report_of_a_small_model_is_as_expected() {
    let place = Place::new("[[model]]\nname = \"pole\"\npath = \"pole.gltf\"\n");
    place.bake(&["--report", "report.json"]);
    let expected = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/report.json");
    let found = place.read("report.json");
    if std::env::var_os("GPUSKIN_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&expected, &found).unwrap();
    }
    let known = std::fs::read_to_string(&expected).unwrap();
    assert!(found == known, "{} is out of date: run with GPUSKIN_BLESS=1\n{found}", expected.display());
}

fn curves_have_the_errors_of_their_clips() {
    let place = Place::samples();
    place.bake(&["--report", "report.json"]);
    let report = place.json("report.json");
    let mut clips = 0;
    for model in report["models"].as_array().unwrap() {
        for clip in model["clips"].as_array().unwrap() {
            let peak = |of: &str| {
                let errors = clip["curve"][of]["error"].as_array().unwrap();
                errors.iter().map(|error| error.as_f64().unwrap()).fold(0.0, f64::max)
            };
            let (at_frames, between) = (peak("at_frames"), peak("between"));
            assert_eq!(clip["encoding"]["max"], Value::from(at_frames), "{}", clip["name"]);
            assert_eq!(clip["motion"]["max"], Value::from(at_frames.max(between)), "{}", clip["name"]);
            let points = clip["curve"]["between"]["error"].as_array().unwrap().len() as u64;
            assert_eq!(points, clip["intervals"].as_u64().unwrap(), "a point per interval");
            clips += 1;
        }
    }
    assert_eq!(clips, 16, "soldier and hound, for two classes of devices");
    // The table that `bake` prints comes from the metadata of the models, as the curve's peak does.
    let models = report["models"].as_array().unwrap();
    let baked = gpuskin_build::bake(
        &gpuskin_build::Manifest::load(&place.path("gpuskin.toml")).unwrap(),
        &gpuskin_build::BakeOptions::default(),
    )
    .unwrap();
    let variants = baked.models.iter().flat_map(|model| std::iter::once(model).chain(&model.others));
    for (model, reported) in variants.zip(models) {
        for (clip, reported) in model.meta.clips.iter().zip(reported["clips"].as_array().unwrap()) {
            let pairs = [(&clip.encoding_error, &reported["encoding"]), (&clip.motion_error, &reported["motion"])];
            for (error, reported) in pairs {
                let same = |number: f32, key: &str| assert_eq!(reported[key].as_f64().unwrap() as f32, number, "{key}");
                same(error.max, "max");
                same(error.p9996, "p9996");
                same(error.normal_degrees, "normal_degrees");
                same(error.time, "seconds");
                assert_eq!((&reported["vertex"], &reported["bone"]), (&error.vertex.into(), &error.bone.into()));
            }
        }
    }
}

fn a_cached_bake_has_the_same_report() {
    let place = Place::samples();
    let first = place.bake(&["--report", "a.html"]);
    assert!(first.contains("2 models baked"), "{first}");
    for (flags, report) in [(&["--report", "b.html"][..], "b.html"), (&["--report", "c.html", "--check"], "c.html")] {
        let again = place.bake(flags);
        assert!(!again.contains("2 models baked"), "{again}");
        assert!(place.read(report) == place.read("a.html"), "{report}");
    }
    std::fs::remove_dir_all(place.path("cache")).unwrap();
    place.bake(&["--report", "d.html"]);
    assert!(place.read("d.html") == place.read("a.html"), "another bake gives the same bytes");
    // The viewer takes 0.5 MB, and two copies of each model (one per class of devices) 1.5 MB.
    assert!(place.read("a.html").len() < 2_250_000, "{}", place.read("a.html").len());
    // The report leaves the output alone, and bakes without one stay fast.
    let quiet = place.bake(&[]);
    assert!(quiet.contains("2 models, nothing to bake"), "{quiet}");
}

fn models_of_every_kind_have_a_report() {
    let face = "[[model]]\nname = \"face\"\npath = \"pole.gltf\"\nmode = \"vertex\"\n";
    let prop = "[[model]]\nname = \"prop\"\npath = \"prop.gltf\"\n";
    let place = Place::new(&format!("{face}{prop}"));
    let mut json: Value = serde_json::from_str(&pole()).unwrap();
    json.as_object_mut().unwrap().remove("animations");
    place.write("prop.gltf", &json.to_string());
    place.bake(&["--report", "report.json", "--explain"]);
    let report = place.json("report.json");
    let [face, prop] = &report["models"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((&face["vertex_mode"], face["clips"].as_array().unwrap().len()), (&true.into(), 2));
    assert_eq!((&prop["vertex_mode"], prop["clips"].as_array().unwrap().len()), (&false.into(), 1));
    assert_eq!(prop["clips"][0]["frames"], 1, "a model without animation has one pose");
    for model in [face, prop] {
        assert!(model["data"].as_array().unwrap().iter().all(|data| data["kind"] != "textures"), "{model}");
        let chosen = model["candidates"].as_array().unwrap().iter().filter(|candidate| candidate["chosen"] == true);
        assert_eq!(chosen.map(|candidate| &candidate["encoding"]).collect::<Vec<_>>(), [&model["encoding"]]);
        let sum = |list: &str| -> u64 {
            model[list].as_array().unwrap().iter().map(|one| one["bytes"].as_u64().unwrap()).sum()
        };
        assert_eq!(sum("data"), sum("files"));
    }
}

fn a_failed_bake_reports_its_diagnostics() {
    let place = Place::new(&manifest_of(&["pole", "broken", "again"]));
    place.write("broken.gltf", "{");
    place.write("again.gltf", &pole());
    let stderr = place.fails(&["--report", "report.json"]);
    let report = place.json("report.json");
    assert_eq!((&report["failed"], &report["models"]), (&true.into(), &Value::Array(vec![])));
    assert_eq!(report["not_baked"], serde_json::json!(["pole", "broken", "again"]));
    let [diagnostic] = &report["diagnostics"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((&diagnostic["severity"], &diagnostic["model"]), (&"error".into(), &"broken".into()));
    let [code, help] = ["code", "help"].map(|key| diagnostic[key].as_str().unwrap());
    assert!(stderr.contains(code) && !help.is_empty(), "{code} {help} {stderr}");
    place.fails(&["--report", "report.md"]);
    assert!(place.read("report.md").starts_with("### Bake: failed\n"), "{}", place.read("report.md"));
    place.fails(&["--report", "report.html"]);
    assert!(data_of(&place.read("report.html")).to_string().contains(code));
}

fn a_manifest_that_cannot_be_read_is_reported() {
    let place = Place::new("[[model]\n");
    place.fails(&["--report", "report.json"]);
    let report = place.json("report.json");
    assert_eq!((&report["failed"], &report["not_baked"]), (&true.into(), &Value::Array(vec![])));
    assert_eq!(report["diagnostics"][0]["code"], "gpuskin::manifest::syntax");
}

fn a_build_script_writes_the_report_that_the_variable_names() {
    let place = Place::new(&manifest_of(&["pole"]));
    let script = |report: &str| place.build_script(report);
    let output = script("from-script.json");
    assert!(output.contains("cargo::rerun-if-env-changed=GPUSKIN_REPORT\n"), "{output}");
    place.bake(&["--report", "from-command.json"]);
    assert_eq!(place.read("from-script.json"), place.read("from-command.json"));
    let refused = script("report.txt");
    assert!(refused.contains("GPUSKIN_REPORT is report.txt: expected a .html, .json or .md file"), "{refused}");
    place.write("pole.gltf", "{");
    script("from-script.json");
    assert_eq!(place.json("from-script.json")["failed"], true);
}

fn comparisons_name_what_changed_in_both_directions() {
    let place = Place::new(&format!("{}encoding = \"matrix-f32\"\n", manifest_of(&["pole"])));
    place.bake(&["--report", "fine.json"]);
    let same = place.bake(&["--compare", "fine.json"]);
    assert_eq!(same, "### Bake: nothing has changed\n");
    place.write("gpuskin.toml", &format!("{}encoding = \"trs-packed\"\n", manifest_of(&["pole", "other"])));
    place.write("other.gltf", &pole());
    place.bake(&["--report", "coarse.json"]);
    let changes = place.bake(&["--compare", "fine.json"]);
    let has = |text: &str, row: &str| assert!(text.lines().any(|line| line.starts_with(row)), "{row}\n{text}");
    has(&changes, "### Bake: ");
    has(&changes, "**Worse** (");
    has(&changes, "**Smaller** (");
    has(&changes, "| `pole` | `encoding` | `matrix-f32` | `local-packed` |  |");
    has(&changes, "| `other` | `model, without textures` |  | `");
    has(&changes, "| `pole` | `` clip `sway`: encoding error `` | `0.058 um` | `");
    assert!(!changes.contains("**Larger**"), "{changes}");
    // And back.
    place.write("gpuskin.toml", &format!("{}encoding = \"matrix-f32\"\n", manifest_of(&["pole"])));
    place.bake(&["--compare", "coarse.json", "--report", "back.md"]);
    let back = place.read("back.md");
    has(&back, "**Better** (");
    has(&back, "**Larger** (");
    has(&back, "**Removed** (1)");
    has(&back, "| `pole` | `animation` | `");
    assert!(!back.contains("**Smaller**"), "{back}");
    place.bake(&["--compare", "coarse.json", "--report", "back.json"]);
    let kinds = place.json("back.json")["comparison"]["changes"].to_string();
    assert!(kinds.contains("\"larger\"") && kinds.contains("\"better\"") && kinds.contains("\"removed\""), "{kinds}");
}

fn other_files_are_no_reports() {
    let place = Place::new(&manifest_of(&["pole"]));
    for (text, problem) in [
        ("{}", "is not a JSON report of gpuskin"),
        ("[1", "is not a JSON report of gpuskin"),
        ("{\"format\": \"else\", \"version\": 1}", "is another kind of file"),
        ("{\"format\": \"gpuskin-report\", \"version\": 2}", "has version 2, expected version 1"),
        ("{\"format\": \"gpuskin-report\", \"version\": 1}", "is damaged: missing field"),
    ] {
        place.write("old.json", text);
        let stderr = place.fails(&["--compare", "old.json"]);
        assert!(stderr.contains("gpuskin::report::invalid") && stderr.contains(problem), "{stderr}");
    }
    let stderr = place.fails(&["--compare", "missing.json"]);
    assert!(stderr.contains("the report missing.json cannot be read"), "{stderr}");
    assert!(!place.path("baked").exists(), "an invalid report is found before the bake");
}

fn flags_that_do_not_fit_are_refused() {
    let place = Place::new(&manifest_of(&["pole"]));
    let stderr = place.misuses(&["--report", "report.txt"]);
    assert!(
        stderr.contains("invalid value `report.txt` for `--report`: expected a .html, .json or .md file"),
        "{stderr}"
    );
    let stderr = place.misuses(&["--report", "report.html", "--dry-run"]);
    assert!(stderr.contains("`--report` and `--dry-run` exclude each other"), "{stderr}");
    let stderr = place.fails(&["--report", "pole.gltf/report.html"]);
    assert!(stderr.contains("gpuskin::output::failed") && stderr.contains("cannot write the report"), "{stderr}");
}

fn hostile_names_are_no_html() {
    let place = Place::hostile();
    place.bake(&["--report", "report.html"]);
    let page = place.read("report.html");
    assert_eq!(page.matches("<script").count(), 5, "data, program, model, and two scripts");
    assert_eq!(page.matches("</script").count(), 5);
    assert_eq!(page.matches("<script nonce=").count(), 2, "the viewer's script and the page's");
    assert!(!page.contains('\u{202e}') && !page.contains("='owned'"), "names are in compressed data only");
    assert!(data_of(&place.read("report.html")).to_string().contains("='owned'"));
    assert!(page.contains("default-src 'none'; script-src 'nonce-") && !page.contains("unsafe-inline"));
    place.bake(&["--report", "report.md"]);
    place.write("broken.gltf", "{");
    let name = "</script><img src=x onerror=alert(1)>\\u202e";
    place.write("gpuskin.toml", &format!("[[model]]\nname = \"{name}\"\npath = \"broken.gltf\"\n"));
    place.fails(&["--report", "report.html"]);
    assert_eq!(place.read("report.html").matches("</script").count(), 4);
    assert!(!place.read("report.html").contains("<img"));
}
