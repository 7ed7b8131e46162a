//! The page in a real browser: Chromium without a display and without a GPU, driven through chromedriver.
//!
//! `cargo xtask test --only browser` builds and serves the page, and sets `GPUSKIN_WEB_PAGE` to its address.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine;
use crowd::baked::models::Hound;
use gpuskin_rt::internals::render::DrawPath;
use gpuskin_rt::tools::CpuModel;
use gpuskin_rt::{BakedModel, Model, wgpu};
use gpuskin_test_browser::Browser;
use gpuskin_test_harness::{Need, note, run, test};
use serde_json::{Value, json};
use web::measure::{self, Drawn, Picture};

/// Greatest distance of a vertex from the CPU reference, as a fraction of the model's diagonal: rounding errors.
const MAX_POSE_ERROR: f64 = 3e-7;
/// Fraction of the pixels that may differ from native lavapipe by more than the picture's tolerance.
const MAX_STRAY_PIXELS: f64 = 0.01;
/// Beginnings of the texts of the runtime about the scenes: with WebGPU only, crowds are merged, have layers and live
/// bones, and are culled by occlusion.
const WEBGPU_FACTS: [&str; 11] = [
    "soldier merged with 2 crowds",
    "hound merged with 2 crowds",
    "banner merged with 2 crowds",
    "layer drawn",
    "live bones drawn",
    "additive layer drawn",
    "additive layer drawn",
    "morph weight drawn",
    "occlusion culling: true",
    "9 drawn first",
    "9 revealed",
];
const WEBGL2_FACTS: [&str; 11] = [
    "soldier merged with 0 crowds",
    "hound merged with 0 crowds",
    "banner merged with 0 crowds",
    "soldier: layers need local node transforms",
    "soldier: live bones need local node transforms",
    "banner: layers need local node transforms",
    "banner: layers need local node transforms",
    "surfaces: morph weights of the game need local node transforms",
    "occlusion culling: false",
    "18 drawn first",
    "0 revealed",
];
/// Greatest CPU time of 10,000 instances per frame beyond an empty frame, milliseconds.
const MAX_FRAME_MS: f64 = 1.0;

/// Need of a served page and of a browser.
const BROWSER: Need = Need { variable: "GPUSKIN_REQUIRE_BROWSER", missing: missing_browser };
/// Need of a native device to compare pictures with.
const VULKAN: Need = Need {
    variable: "GPUSKIN_REQUIRE_GPU",
    missing: || native().is_none().then(|| "no GPU or software renderer on Vulkan".to_owned()),
};

fn main() -> ExitCode {
    run([
        test!(poses_match_cpu_reference_with_webgpu, BROWSER),
        test!(poses_match_cpu_reference_with_webgl2, BROWSER),
        test!(picture_matches_native_with_webgpu, BROWSER, VULKAN),
        test!(picture_matches_native_with_webgl2, BROWSER, VULKAN),
        test!(instances_that_play_on_cost_little_cpu_time, BROWSER),
        test!(page_draws_and_culls_with_webgl2, BROWSER),
        test!(page_draws_and_culls_with_webgpu, BROWSER),
        test!(page_says_that_it_needs_an_api, BROWSER),
        test!(page_says_which_file_is_missing_or_cut_off, BROWSER),
        test!(page_goes_on_after_the_context_is_lost, BROWSER),
    ])
}

fn missing_browser() -> Option<String> {
    if std::env::var_os("GPUSKIN_WEB_PAGE").is_none() {
        return Some("no page: GPUSKIN_WEB_PAGE is not set; run `cargo xtask test --only browser`".to_owned());
    }
    gpuskin_test_browser::missing()
}

/// Opens a page of the served folder, in which `before` runs before the page's own scripts.
fn open(page: &str, before: &str) -> Browser {
    let address = std::env::var("GPUSKIN_WEB_PAGE").expect("the test needs it");
    let browser = Browser::open([320, 240], before);
    browser.go(&format!("{address}{page}"));
    browser
}

/// Measurements of a page on one API.
struct Measured {
    /// Positions per model.
    positions: Vec<Vec<[f32; 3]>>,
    /// One per [`measure::Picture`].
    pictures: Vec<Drawn>,
    /// CPU time per frame with and without instances, milliseconds.
    frame_times: [f64; 2],
}

/// Measures once per API.
fn measured(api: &'static str) -> &'static Measured {
    static WEBGPU: OnceLock<Measured> = OnceLock::new();
    static WEBGL2: OnceLock<Measured> = OnceLock::new();
    let once = if api == "webgpu" { &WEBGPU } else { &WEBGL2 };
    once.get_or_init(|| {
        let browser = open("measure.html", "");
        let script = "const done = arguments[arguments.length - 1];
            const text = (bytes) => { let s = ''; for (let i = 0; i < bytes.length; i += 8192)
                s += String.fromCharCode(...bytes.subarray(i, i + 8192)); return btoa(s); };
            import('/web.js').then(async (web) => { await web.default(); return web.measure_page(arguments[0]); })
                .then((m) => done({ adapter: m.adapter, positions: m.positions.map(text), pictures: m.pictures.map(text),
                    facts: m.facts, frameTimes: m.frameTimes }))
                .catch((error) => done({ failed: String(error) }));";
        let value = browser.script_async(script, &json!([api]));
        assert!(value["failed"].is_null(), "{api}: {}", value["failed"]);
        note!("{api}: {}", value["adapter"]);
        let bytes = |value: &Value| {
            let text = value.as_str().expect("base64");
            base64::engine::general_purpose::STANDARD.decode(text).expect("base64")
        };
        let floats = |bytes: Vec<u8>| -> Vec<[f32; 3]> {
            let float = |at: usize, bytes: &[u8]| f32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
            bytes.chunks_exact(12).map(|bytes| [0, 4, 8].map(|at| float(at, bytes))).collect()
        };
        let positions = value["positions"].as_array().expect("a list").iter().map(|v| floats(bytes(v))).collect();
        let frame_times = [0, 1].map(|i| value["frameTimes"][i].as_f64().expect("a number"));
        let drawn = |(rgba, facts): (&Value, &Value)| {
            let facts = facts.as_array().expect("a list").iter().map(|fact| fact.as_str().expect("a text").to_owned());
            Drawn { rgba: bytes(rgba), facts: facts.collect() }
        };
        let list = |name: &str| value[name].as_array().expect("a list");
        let pictures = list("pictures").iter().zip(list("facts")).map(drawn).collect();
        Measured { positions, pictures, frame_times }
    })
}

/// Compares positions with the CPU reference. `played`: returns the encoding that the API plays.
fn compare_poses(api: &'static str, played: fn(&'static Model) -> &'static Model) {
    let measured = measured(api);
    for (model, positions) in measure::models().into_iter().zip(&measured.positions) {
        let played = played(model);
        let cpu = CpuModel::new(played).expect("the model is embedded");
        let frames = measure::frames(model);
        let expected: Vec<_> = frames.iter().flat_map(|(record, time)| cpu.vertices(record, *time)).collect();
        assert!(expected.len() > 1_000 && expected.len() == positions.len(), "{}", positions.len());
        let distance = |(found, expected): (&[f32; 3], [f32; 3])| -> f64 {
            (0..3).map(|i| f64::from(found[i] - expected[i]).powi(2)).sum::<f64>().sqrt()
        };
        let pairs = positions.iter().zip(expected.iter().map(|vertex| vertex.position.to_array()));
        let greatest = pairs.map(distance).fold(0.0, |a: f64, b| if b.is_nan() || b > a { b } else { a });
        let relative = greatest / f64::from(model.meta.rest_bounds.diagonal());
        note!("{api}: {} in {}: {relative:.2e} of the diagonal", model.meta.name, played.meta.encoding.name());
        assert!(relative <= MAX_POSE_ERROR, "{}: {relative:.2e} of the diagonal", model.meta.name);
    }
}

fn poses_match_cpu_reference_with_webgpu() {
    compare_poses("webgpu", |model| model);
}

fn poses_match_cpu_reference_with_webgl2() {
    compare_poses("webgl2", |model| model.others.first().unwrap_or(model));
}

/// Native device on Vulkan.
fn native() -> Option<(wgpu::Device, wgpu::Queue)> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN;
    let instance = wgpu::Instance::new(descriptor);
    pollster::block_on(async {
        let adapter = instance.request_adapter(&Default::default()).await.ok()?;
        let descriptor = wgpu::DeviceDescriptor {
            required_limits: adapter.limits(),
            required_features: adapter.features() & gpuskin_rt::CrowdRenderer::OPTIONAL_FEATURES,
            ..Default::default()
        };
        adapter.request_device(&descriptor).await.ok()
    })
}

fn compare_pictures(api: &'static str, path: Option<DrawPath>, facts: [&str; 11]) {
    let (device, queue) = native().expect("a device, which the test needs");
    let found = &measured(api).pictures;
    assert_eq!(found.len(), Picture::ALL.len());
    let said: Vec<_> = found.iter().flat_map(|drawn| &drawn.facts).collect();
    let agree = said.len() == facts.len() && said.iter().zip(facts).all(|(said, fact)| said.starts_with(fact));
    assert!(agree, "{said:?}, expected {facts:?}");
    for (picture, found) in Picture::ALL.into_iter().zip(found) {
        let (name, tolerance) = (picture.name(), picture.tolerance());
        // Polls the device until the picture is read back.
        let reader = std::thread::spawn({
            let (device, queue) = (device.clone(), queue.clone());
            move || {
                pollster::block_on(measure::picture(&device, &queue, picture, path, Hound::MODEL)).expect("a picture")
            }
        });
        while !reader.is_finished() {
            let _ = device.poll(wgpu::PollType::Poll);
            std::thread::sleep(Duration::from_millis(2));
        }
        let expected = reader.join().expect("a picture");
        assert_eq!(found.facts, expected.facts, "{name}");
        let (found, expected) = (&found.rgba, expected.rgba);
        assert_eq!(found.len(), expected.len());
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        save(&folder.join(format!("{api}-{name}.png")), found);
        save(&folder.join(format!("native-{name}.png")), &expected);
        let covered = expected.as_chunks::<4>().0.iter().filter(|pixel| **pixel != expected[..4]).count();
        assert!(covered > 10_000, "only {covered} pixels are covered");
        let pixels = expected.as_chunks::<4>().0.iter().zip(found.as_chunks::<4>().0);
        let strays = pixels.clone().filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > tolerance)).count();
        let share = strays as f64 / pixels.count() as f64;
        note!("{api}, {name}: {:.3} % of the pixels differ by more than {tolerance} of 255 from native", 100.0 * share);
        assert!(share <= MAX_STRAY_PIXELS, "{name}: {:.2} % differ: see {}", 100.0 * share, folder.display());
    }
}

fn save(path: &Path, rgba: &[u8]) {
    let file = BufWriter::new(File::create(path).expect("a file to write"));
    let mut encoder = png::Encoder::new(file, measure::SIZE[0], measure::SIZE[1]);
    encoder.set_color(png::ColorType::Rgba);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(rgba)).expect("a picture to write");
}

fn picture_matches_native_with_webgpu() {
    compare_pictures("webgpu", None, WEBGPU_FACTS);
}

fn picture_matches_native_with_webgl2() {
    compare_pictures("webgl2", Some(DrawPath::Direct), WEBGL2_FACTS);
}

fn instances_that_play_on_cost_little_cpu_time() {
    for api in ["webgpu", "webgl2"] {
        let [all, empty] = measured(api).frame_times;
        note!("{api}: {all:.3} ms per frame with 10,000 instances, {empty:.3} ms without");
        assert!(all - empty <= MAX_FRAME_MS, "{api}: {all:.3} ms, empty: {empty:.3} ms");
    }
}

/// Text of the page's counts: `DRAWN of TOTAL, CULLED culled`.
const COUNTS: &str = "const t = document.getElementById('drawn').textContent; return /culled/.test(t) && t";

/// The counts of the page are those of its instances and culling, also after another choice.
fn page_counts(api: &str, name: &str) {
    let browser = open(&format!("?api={api}&count=100"), "");
    let counts = browser.wait(COUNTS);
    assert_eq!(browser.script("return document.body.dataset.api"), json!(name));
    let numbers: Vec<u32> = counts.as_str().expect("a text").split(' ').filter_map(|word| word.parse().ok()).collect();
    note!("{api}: {counts}");
    let [drawn, culled] = numbers[..] else { panic!("{counts}") };
    assert!(drawn > 0 && culled > 0 && drawn + culled <= 100, "{counts}");
    // Another model, and fewer instances.
    browser.script(
        "for (const [id, value] of [['model', 'hound'], ['count', '20']]) {
        const e = document.getElementById(id); e.value = value; e.dispatchEvent(new Event('change')); }",
    );
    browser.wait("return document.getElementById('drawn').textContent.includes('of 20,')");
    assert_eq!(browser.script("return document.body.dataset.state"), json!("running"));
}

fn page_draws_and_culls_with_webgpu() {
    page_counts("webgpu", "WebGPU");
}

fn page_draws_and_culls_with_webgl2() {
    page_counts("webgl2", "WebGL2");
}

fn page_says_that_it_needs_an_api() {
    let browser = open(
        "",
        "delete Navigator.prototype.gpu; const old = HTMLCanvasElement.prototype.getContext;
         HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
             return kind.startsWith('webgl') ? null : old.call(this, kind, ...rest); };",
    );
    let message = browser
        .wait("return document.body.dataset.state == 'failed' && document.getElementById('message').textContent");
    let message = message.as_str().expect("a text");
    note!("{message}");
    assert!(message.contains("needs a browser with WebGPU or WebGL2") && message.contains("WebGL2:"), "{message}");
}

fn page_says_which_file_is_missing_or_cut_off() {
    let cases = [
        ("throw new TypeError('Failed to fetch')", "could not be fetched: Failed to fetch"),
        ("return new Response('', { status: 404, statusText: 'Not Found' })", "could not be fetched: HTTP 404"),
        (
            "return new Response((await (await old(url, ...rest)).arrayBuffer()).slice(0, 1000))",
            "1000 bytes were provided",
        ),
        (
            "const b = new Uint8Array(await (await old(url, ...rest)).arrayBuffer()); b.fill(7, 0, 400); return new Response(b)",
            "another bake",
        ),
    ];
    for (answer, expected) in cases {
        let before = format!(
            "const old = window.fetch; window.fetch = async (url, ...rest) => {{
                 if (!/mesh[^/]*\\.bin$/.test(String(url?.url ?? url))) return old(url, ...rest); {answer}; }};"
        );
        let browser = open("?count=10&api=webgl2", &before);
        let message = browser
            .wait("return document.body.dataset.state == 'failed' && document.getElementById('message').textContent");
        let message = message.as_str().expect("a text");
        note!("{message}");
        assert!(message.contains("mesh") && message.contains(expected), "{message}");
    }
}

fn page_goes_on_after_the_context_is_lost() {
    let keep = "const old = GPUAdapter.prototype.requestDevice; GPUAdapter.prototype.requestDevice =
        async function (...rest) { return (window.device = await old.apply(this, rest)); };";
    let context = "document.querySelector('canvas').getContext('webgl2')";
    let lose_context = format!("{context}.getExtension('WEBGL_lose_context').loseContext()");
    for (api, before, lose) in [("webgl2", "", &*lose_context), ("webgpu", keep, "window.device.destroy()")] {
        let browser = open(&format!("?api={api}&count=20"), before);
        browser.wait(COUNTS);
        browser.script(&format!(
            "window.states = []; new MutationObserver(() => window.states.push(document.body.dataset.state))
                 .observe(document.body, {{ attributes: true }});
             document.getElementById('drawn').textContent = ''; {lose}"
        ));
        browser.wait("return window.states.includes('lost')");
        browser.wait("return window.states.at(-1) == 'running'");
        let counts = browser.wait(COUNTS);
        note!("{api}: after the loss, {counts}");
    }
}
