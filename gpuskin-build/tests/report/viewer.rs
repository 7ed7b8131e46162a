//! The model within the page, drawn by the runtime in Chromium.

use base64::Engine;
use gpuskin_test_browser::Browser;
use gpuskin_test_harness::{Need, note};
use serde_json::{Value, json};

use crate::place::{Place, manifest_of, pole};
use crate::watch::Watch;

/// Need of a browser with WebGPU.
pub const BROWSER: Need = Need { variable: "GPUSKIN_REQUIRE_CHROMIUM", missing: gpuskin_test_browser::missing };

const SHOWN: &str = "const v = document.body.dataset.viewer; return v && v.startsWith('shown') && v";
const FAILED: &str = "return document.body.dataset.viewer == 'failed' && viewer.failure";
/// Width and height of pictures.
const SIDE: usize = 160;

/// Opens a report from its file, with its model.
#[track_caller]
fn open(place: &Place, before: &str, wait: &str) -> (Browser, Value) {
    let browser = Browser::open([480, 480], before);
    browser.go(&format!("file://{}", place.path("report.html").display()));
    let value = browser.wait(wait);
    (browser, value)
}

/// A picture of the model, in red, green, blue and alpha of each pixel, or in another order.
#[derive(PartialEq)]
struct Picture(Vec<u64>);

impl Picture {
    /// Draws a frame. `fields`: those of the viewer's frame that differ from the page's controls.
    #[track_caller]
    fn of(browser: &Browser, fields: &Value) -> Self {
        let script = "const [fields, side, done] = arguments; viewer.playing = false; (async () => {
            const frame = new wasm_bindgen.Frame(); setFrame(frame);
            Object.assign(frame, { width: side, height: side, overlays: 0 }, fields);
            done(Array.from(await viewer.program.pixels(frame))); })().catch((error) => done(String(error)));";
        let value = browser.script_async(script, &json!([fields, SIDE]));
        let pixels: Vec<u64> =
            value.as_array().unwrap_or_else(|| panic!("{value}")).iter().flat_map(Value::as_u64).collect();
        assert_eq!(pixels.len(), 4 * SIDE * SIDE);
        Self(pixels)
    }

    /// Share of the pixels that are not those of the background, which the first one is.
    fn covered(&self) -> f64 {
        self.share(|pixel, _| pixel != &self.0[..4], self)
    }

    /// Share of the pixels that differ.
    fn changed(&self, other: &Self) -> f64 {
        self.share(|a, b| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 4), other)
    }

    fn share(&self, of: impl Fn(&[u64], &[u64]) -> bool, other: &Self) -> f64 {
        let pairs = self.0.chunks(4).zip(other.0.chunks(4));
        pairs.filter(|(a, b)| of(a, b)).count() as f64 / (SIDE * SIDE) as f64
    }
}

pub fn the_model_plays_in_the_page() {
    let place = Place::samples();
    place.bake(&["--report", "report.html"]);
    let (browser, _) = open(&place, "", SHOWN);
    // Models are shown in the manifest's order: the soldier is the first.
    let names = browser.script("return viewer.model.clips.map((clip) => clip.name)");
    let walk = names.as_array().unwrap().iter().position(|name| name == "walk").expect("the soldier walks");
    let duration = browser.script(&format!("return viewer.model.clips[{walk}].seconds")).as_f64().unwrap();
    // The camera's distance is that of the page's clip.
    browser.script(&format!("viewer.clip = {walk}"));
    let at = |seconds: f64| Picture::of(&browser, &json!({ "clip": walk, "seconds": seconds }));
    let first = at(0.0);
    let half = at(0.25 * duration);
    note!(
        "{:.3} and {:.3} of the picture covered, {:.3} changed",
        first.covered(),
        half.covered(),
        first.changed(&half)
    );
    for picture in [&first, &half] {
        assert!((0.03..0.9).contains(&picture.covered()), "{}", picture.covered());
    }
    assert!(first.changed(&half) > 0.01, "the soldier stands still");
    assert!(first.changed(&at(duration)) < 0.002, "the clip loops");
    // The coarsest level is another mesh of about the same outline.
    let last = browser.script("return viewer.model.levels.length - 1").as_u64().unwrap();
    let coarse = Picture::of(&browser, &json!({ "clip": walk, "seconds": 0.0, "level": last }));
    let (fine, found) = (first.covered(), coarse.covered());
    note!("{fine:.3} covered by level 0, {found:.3} by level {last}, {:.3} changed", first.changed(&coarse));
    assert!(first.changed(&coarse) > 0.01 && (found / fine - 1.0).abs() < 0.5, "{found} against {fine}");
    // Where the level belongs, it is small.
    let far = Picture::of(&browser, &json!({ "clip": walk, "seconds": 0.0, "level": last, "far": true }));
    assert!(far.covered() > 0.0 && far.covered() < 0.5 * found, "{}", far.covered());
    for overlay in [1, 2, 4] {
        let lines = Picture::of(&browser, &json!({ "clip": walk, "seconds": 0.0, "overlays": overlay }));
        assert!(lines.changed(&first) > 0.001, "overlay {overlay}");
    }
    // Errors of the vertices, of which the brightest colour is that of the clip's error at frames.
    let shown = browser.script(&format!(
        "const frame = new wasm_bindgen.Frame(); setFrame(frame); frame.shown = 1;
         return [viewer.program.draw(frame)[2], Math.fround(viewer.model.clips[{walk}].encoding.max)]"
    ));
    assert_eq!(shown[0], shown[1]);
    assert!(shown[0].as_f64() > Some(0.0));
    let errors = Picture::of(&browser, &json!({ "clip": walk, "seconds": 0.0, "shown": 1 }));
    let (covered, changed) = (errors.covered(), errors.changed(&first));
    note!("{covered:.3} covered with errors, {changed:.3} changed");
    assert!(changed > 0.5 * fine && (covered / fine - 1.0).abs() < 0.05, "{covered} covered, {changed} changed");
    // A picture that does not change is not drawn again.
    let drawn = |script: &str| {
        let counted = "const [script, done] = arguments; const { program } = viewer; let count = 0;
            program.draw = (frame) => { count += 1; return Object.getPrototypeOf(program).draw.call(program, frame); };
            (0, eval)(script); let frames = 0;
            const next = () => { frames += 1; if (frames < 5) return requestAnimationFrame(next);
                delete program.draw; done(count); }; requestAnimationFrame(next);";
        browser.script_async(counted, &json!([script])).as_u64().unwrap()
    };
    assert!(drawn("viewer.yaw += 0.1") <= 1);
    assert_eq!(drawn(""), 0);
    assert_eq!(drawn("viewer.yaw += 0.1"), 1);
    assert!(drawn("viewer.playing = true") > 1);
    browser.script("viewer.playing = false");
    // Another model of the report.
    browser.script("pick(state.data.report.models.findIndex((model) => model.name === 'hound'))");
    browser.wait("return viewer.shown === state.data.drawn[state.model]");
    let hound = Picture::of(&browser, &json!({ "seconds": 0.0 }));
    assert!(hound.covered() > 0.03 && hound.changed(&first) > 0.03);
    let severe = browser.console().as_array().unwrap().iter().filter(|line| line["level"] == "SEVERE").count();
    assert_eq!(severe, 0, "{}", browser.console());
}

pub fn the_source_is_shown_beside_the_baked_model() {
    let place = Place::samples();
    place.bake(&["--report", "report.html"]);
    let (browser, _) = open(&place, "", SHOWN);
    for model in ["soldier", "hound"] {
        browser.script(&format!("pick(state.data.report.models.findIndex((model) => model.name === '{model}'))"));
        browser.wait("return viewer.shown === state.data.drawn[state.model]");
        assert_eq!(browser.script("return viewer.program.has_source()"), json!(true));
        // At the worst frame of each clip, the greatest difference is the error of the clip. Rounding to 15 steps changes a term
        // by up to 1/30 of the greatest one, and a vertex adds several.
        let differences = browser.script(
            "const frame = new wasm_bindgen.Frame(); setFrame(frame);
             return viewer.model.clips.map((clip, index) => {
                 Object.assign(frame, { clip: index, seconds: clip.encoding.seconds, shown: 2 });
                 return [clip.name, viewer.program.draw(frame)[3], clip.encoding.max]; })",
        );
        for clip in differences.as_array().unwrap() {
            let [found, expected] = [1, 2].map(|at: usize| clip[at].as_f64().unwrap());
            note!("{model} {clip}");
            assert!(expected > 0.0 && (found / expected - 1.0).abs() < 0.1, "{model}: {clip}");
        }
    }
    let at = |shown: u32, factor: u32| {
        Picture::of(&browser, &json!({ "clip": 0, "seconds": 0.2, "shown": shown, "factor": factor }))
    };
    let (baked, source) = (at(0, 1), at(2, 1));
    let (once, amplified) = (at(3, 1), at(3, 1000));
    note!("source {:.4}, amplified {:.4} changed", source.changed(&baked), amplified.changed(&once));
    assert!(source != baked && source.changed(&baked) < 0.02, "{} changed", source.changed(&baked));
    assert!(once.changed(&baked) > 0.5 * baked.covered(), "the difference has colours of its own");
    assert!(amplified.changed(&once) > 0.01, "{} changed", amplified.changed(&once));
}

pub fn the_source_of_an_exact_bake_looks_like_it() {
    let place = Place::samples();
    place.write("gpuskin.toml", "[[model]]\nname = \"hound\"\npath = \"hound.glb\"\nencoding = \"matrix-f32\"\n");
    place.bake(&["--report", "report.html"]);
    let (browser, _) = open(&place, "", SHOWN);
    for seconds in [0.0, 0.35] {
        let [baked, source] =
            [0, 2].map(|shown| Picture::of(&browser, &json!({ "clip": 0, "seconds": seconds, "shown": shown })));
        note!("{:.4} covered, {:.4} changed", baked.covered(), source.changed(&baked));
        // Edges differ: the report has rounded positions.
        let most = 0.05 * baked.covered();
        assert!(baked.covered() > 0.03 && source.changed(&baked) < most, "{} changed", source.changed(&baked));
    }
}

pub fn vertex_mode_and_models_without_textures_are_drawn() {
    let place = Place::new(&format!("{}mode = \"vertex\"\n", manifest_of(&["pole"])));
    place.bake(&["--report", "report.html"]);
    let (browser, _) = open(&place, "", SHOWN);
    let at = |fields: Value| Picture::of(&browser, &fields);
    // There are no bones: no line is drawn.
    let baked = at(json!({ "seconds": 0.3 }));
    assert!(baked.covered() > 0.01, "{}", baked.covered());
    assert!(at(json!({ "seconds": 0.3, "overlays": 1 | 16 })) == baked);
    let differences = browser.script(
        "const frame = new wasm_bindgen.Frame(); setFrame(frame);
         return viewer.model.clips.map((clip, index) => {
             Object.assign(frame, { clip: index, seconds: clip.encoding.seconds, shown: 2 });
             const difference = viewer.program.draw(frame)[3];
             frame.shown = 1;
             return [clip.name, difference, viewer.program.draw(frame)[2], clip.encoding.max]; })",
    );
    for clip in differences.as_array().unwrap() {
        let [found, brightest, expected] = [1, 2, 3].map(|at: usize| clip[at].as_f64().unwrap());
        note!("{clip}");
        // One of 15 steps, on each axis.
        assert!(expected > 0.0 && (found / expected - 1.0).abs() < 0.06, "{clip}");
        assert_eq!(brightest, f64::from(expected as f32));
    }
    let [errors, source, amplified] =
        [1, 2, 3].map(|shown| at(json!({ "seconds": 0.3, "shown": shown, "factor": 1000 })));
    assert!(errors.changed(&baked) > 0.5 * baked.covered(), "{} changed", errors.changed(&baked));
    assert!(source != baked && source.changed(&baked) < 0.02, "{} changed", source.changed(&baked));
    assert!(amplified.changed(&source) > 0.01, "{} changed", amplified.changed(&source));
    let options = "return Array.from(viewer.elements.looks.options).map((option) => option.disabled)";
    assert_eq!(browser.script(options), json!([false, false, false, false]));
    assert_eq!(browser.script("return viewer.elements.boxes[SOCKETS].disabled"), json!(true));
}

pub fn masks_and_sockets_are_shown() {
    let place = Place::samples();
    place.bake(&["--report", "report.html"]);
    let (browser, _) = open(&place, "", SHOWN);
    let names = "return Array.from(viewer.elements.looks.options).map((option) => option.text)";
    assert_eq!(
        browser.script(names),
        json!(["as baked", "errors", "source", "source - baked", "mask upper_body", "mask head"])
    );
    let at = |fields: Value| Picture::of(&browser, &fields);
    let green = |picture: &Picture| {
        picture.share(|pixel, _| pixel[1] > 80 && pixel[1] > 2 * pixel[0] && pixel[1] > 2 * pixel[2], picture)
    };
    let baked = at(json!({ "shown": 0 }));
    let [upper, head] = [4, 5].map(|mask| at(json!({ "shown": mask })));
    note!("{:.4} covered, {:.4} and {:.4} green", baked.covered(), green(&upper), green(&head));
    assert_eq!(green(&baked), 0.0);
    // Pixels that the mask leaves out are grey.
    assert!(green(&upper) > 0.4 * baked.covered() && green(&upper) < 0.95 * baked.covered());
    assert!(green(&head) > 0.0 && green(&head) < 0.3 * green(&upper));
    // Other shaders put single pixels of the edges elsewhere.
    assert!((upper.covered() / baked.covered() - 1.0).abs() < 0.01, "{}", upper.covered());
    browser.script("viewer.elements.looks.value = '4'; viewer.elements.looks.dispatchEvent(new Event('change'))");
    let facts = browser.wait("const text = viewer.elements.facts.textContent; return text.includes('mask') && text");
    assert!(facts.as_str().unwrap().ends_with("of mask upper_body: grey 0, green 1"), "{facts}");
    // The axes of the hand, and nothing else.
    let sockets = at(json!({ "shown": 0, "overlays": 16 }));
    note!("{:.4} changed by sockets", sockets.changed(&baked));
    assert!(sockets.changed(&baked) > 0.0 && sockets.changed(&baked) < 0.01);
    assert_eq!(browser.script("return viewer.elements.boxes[SOCKETS].disabled"), json!(false));
    // Another model has neither.
    browser.script("pick(state.data.report.models.findIndex((model) => model.name === 'hound'))");
    browser.wait("return viewer.shown === state.data.drawn[state.model]");
    assert_eq!(browser.script("return [viewer.look, viewer.elements.looks.options.length]"), json!([0, 4]));
    assert_eq!(browser.script("return viewer.elements.boxes[SOCKETS].disabled"), json!(true));
}

pub fn a_model_that_is_too_large_for_its_source_says_so() {
    let place = Place::new(&format!("{}fps = 30\n", manifest_of(&["pole"])));
    // Keys at 0, 750 and 1500 seconds: 45,000 intervals of two bones.
    let mut json: Value = serde_json::from_str(&pole()).unwrap();
    let keys: Vec<u8> = [0.0_f32, 750.0, 1500.0].into_iter().flat_map(f32::to_le_bytes).collect();
    let text = base64::engine::general_purpose::STANDARD.encode(keys);
    let push = |json: &mut Value, list: &str, value: Value| json[list].as_array_mut().unwrap().push(value);
    push(
        &mut json,
        "buffers",
        json!({ "byteLength": 12, "uri": format!("data:application/octet-stream;base64,{text}") }),
    );
    push(&mut json, "bufferViews", json!({ "buffer": 1, "byteLength": 12 }));
    let view = json["bufferViews"].as_array().unwrap().len() - 1;
    let accessor =
        json!({ "bufferView": view, "componentType": 5126, "count": 3, "type": "SCALAR", "min": [0], "max": [1500] });
    push(&mut json, "accessors", accessor);
    let input = json["accessors"].as_array().unwrap().len() - 1;
    json["animations"][0]["samplers"][0]["input"] = input.into();
    place.write("pole.gltf", &json.to_string());
    place.bake(&["--report", "report.html"]);
    let (browser, _) = open(&place, "", SHOWN);
    assert_eq!(browser.script("return viewer.model.clips[0].intervals"), json!(45_000));
    let facts = browser.wait("return viewer.elements.facts.textContent");
    assert!(facts.as_str().unwrap().ends_with("no source poses of this model: it is too large"), "{facts}");
    let disabled = "return Array.from(viewer.elements.looks.options).map((option) => option.disabled)";
    assert_eq!(browser.script(disabled), json!([false, false, true, true]));
    let [baked, source] = [0, 2].map(|shown| Picture::of(&browser, &json!({ "seconds": 9.0, "shown": shown })));
    assert!(source == baked && baked.covered() > 0.01);
}

pub fn a_page_without_webgpu_says_so() {
    let place = Place::new(&manifest_of(&["pole"]));
    place.bake(&["--report", "report.html"]);
    let (browser, reason) = open(&place, "delete Navigator.prototype.gpu;", FAILED);
    assert_eq!(reason, json!("this browser has no WebGPU"));
    let text = browser.script("return document.querySelector('.viewer-message').textContent");
    assert_eq!(text, json!("The model cannot be drawn: this browser has no WebGPU"));
    assert!(browser.script("return document.querySelectorAll('table').length").as_u64() > Some(1), "the rest stays");
}

pub fn a_damaged_model_is_an_error_in_its_place() {
    let place = Place::new(&manifest_of(&["pole"]));
    place.bake(&["--report", "report.html"]);
    let page = place.read("report.html");
    let (start, rest) = page.split_once("id=\"model-data-0\">").expect("the model is in the page");
    // The first bytes of other data in gzip.
    place.write("report.html", &format!("{start}id=\"model-data-0\">H4sIAAAAAAAAA{rest}"));
    let (_, reason) = open(&place, "", FAILED);
    assert!(reason.as_str().is_some_and(|reason| !reason.is_empty()), "{reason}");
}

pub fn a_saved_model_is_drawn_in_the_open_page() {
    let place = Place::new(&manifest_of(&["pole"]));
    let watch = Watch::start(&place);
    let browser = Browser::open([480, 480], "window.opened = Date.now();");
    browser.go(&format!("http://127.0.0.1:{}/", watch.port()));
    let first = browser.wait(SHOWN);
    let before = Picture::of(&browser, &json!({ "clip": 0, "seconds": 0.5 }));
    let opened = browser.script("return window.opened");
    // A clip is renamed: the poses stay.
    place.write("pole.gltf", &pole().replace("Rig|Sway", "Rig|Swing"));
    browser.wait("return state.data.report.models[0].clips[0].name == 'swing'");
    browser.wait("return viewer.shown === state.data.drawn[0]");
    let second = browser.wait(SHOWN);
    assert_ne!(second, first, "another model is drawn");
    assert!(Picture::of(&browser, &json!({ "clip": 0, "seconds": 0.5 })).changed(&before) < 0.002);
    // A failure keeps the last model.
    place.write("pole.gltf", "{");
    browser.wait("return document.getElementById('failure') !== null");
    assert_eq!(browser.wait(SHOWN), second);
    assert!(Picture::of(&browser, &json!({ "clip": 0, "seconds": 0.5 })).covered() > 0.01);
    assert_eq!(browser.script("return window.opened"), opened, "the page was not loaded again");
}
