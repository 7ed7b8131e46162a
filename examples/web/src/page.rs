//! The page: its elements, its controls and its loop.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use crowd::baked::models;
use crowd::scene::Cast;
use gpuskin_rt::{Model, View, wgpu};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Document, Element, Event, HtmlCanvasElement, HtmlInputElement, HtmlSelectElement, Window};

use crate::fetch;
use crate::gpu::{Api, Gpu};
use crate::orbit::Orbit;
use crate::stage::Stage;

/// Instances at first: without compute shaders, the CPU chooses what is drawn.
const COUNT_WEBGPU: u32 = 10_000;
const COUNT_WEBGL2: u32 = 3_000;
const MAX_COUNT: u32 = 100_000;
/// Time between two updates of the numbers, and before another attempt to open a lost device, milliseconds.
const NUMBERS_MS: f64 = 500.0;
const RETRY_MS: i32 = 1000;
/// Largest number of canvas pixels per CSS pixel.
const MAX_RATIO: f64 = 2.0;

/// Settings of the controls.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wanted {
    count: u32,
    cast: Cast,
}

/// Device and what it draws, until it is lost.
struct Live {
    gpu: Gpu,
    stage: Stage,
    shown: Option<Wanted>,
    /// First error that the device reported by itself, or the reason for which it is lost.
    fault: Arc<Mutex<Option<String>>>,
}

/// Frames since the numbers were updated.
#[derive(Default)]
struct Frames {
    since: f64,
    count: u32,
    /// Time in the page's own code, milliseconds.
    busy: f64,
}

struct Page {
    window: Window,
    document: Document,
    canvas: HtmlCanvasElement,
    live: Option<Live>,
    wanted: Option<Wanted>,
    /// Whether a task is loading what is wanted.
    loading: bool,
    fetched: BTreeSet<String>,
    fetched_bytes: usize,
    orbit: Orbit,
    frames: Frames,
    /// Whether the counts of the last frame are being read back.
    counting: bool,
}

type Shared = Rc<RefCell<Page>>;

/// Starts the page.
#[wasm_bindgen]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        web_sys::console::error_1(&text.as_str().into());
        if let Some(document) = web_sys::window().and_then(|window| window.document()) {
            say(&document, "failed", &format!("The program stopped: {text}"));
        }
    }));
    let window = web_sys::window().expect("a page has a window");
    let document = window.document().expect("a window has a document");
    let canvas = new_canvas(&document);
    let page = Rc::new(RefCell::new(Page {
        window,
        document,
        canvas,
        live: None,
        wanted: None,
        loading: false,
        fetched: BTreeSet::new(),
        fetched_bytes: 0,
        orbit: Orbit::default(),
        frames: Frames::default(),
        counting: false,
    }));
    listen_to_controls(&page);
    run_loop(&page);
    spawn_local(open(page));
}

/// Opens a device, for the first time or after it was lost.
async fn open(page: Shared) {
    let (document, parameters) = {
        let page = page.borrow();
        let search = page.window.location().search().unwrap_or_default();
        (page.document.clone(), web_sys::UrlSearchParams::new_with_str(&search).ok())
    };
    say(&document, "loading", "Loading …");
    let parameter = |name: &str| parameters.as_ref().and_then(|parameters| parameters.get(name));
    let apis = Api::to_try(parameter("api").as_deref());
    let canvas = || {
        let canvas = new_canvas(&document);
        listen_to_canvas(&page, &canvas);
        page.borrow_mut().canvas = canvas.clone();
        canvas
    };
    let opened = match Gpu::open(apis, canvas).await {
        Ok(gpu) => Stage::new(&gpu).map(|stage| (gpu, stage)),
        Err(error) => Err(error),
    };
    let (gpu, stage) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let hint = "This page needs a browser with WebGPU or WebGL2, and graphics acceleration switched on.";
            return say(&document, "failed", &format!("{hint} ({error})"));
        }
    };
    let fault = Arc::<Mutex<Option<String>>>::default();
    let note = |fault: Arc<Mutex<Option<String>>>| {
        move |text: String| {
            fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
        }
    };
    let (lost, error) = (note(fault.clone()), note(fault.clone()));
    gpu.device.set_device_lost_callback(move |_, reason| lost(format!("the device is lost: {reason}")));
    gpu.device.on_uncaptured_error(Arc::new(move |found: wgpu::Error| error(found.to_string())));
    let api = gpu.api;
    set_text(&document, "api", &format!("{} · {}", api.name(), gpu.adapter.get_info().name));
    document.body().into_iter().for_each(|body| drop(body.set_attribute("data-api", api.name())));
    {
        let mut page = page.borrow_mut();
        if page.wanted.is_none() {
            let default = if api == Api::WebGpu { COUNT_WEBGPU } else { COUNT_WEBGL2 };
            let count = parameter("count").and_then(|count| count.parse().ok()).unwrap_or(default);
            let wanted = Wanted { count: count.clamp(1, MAX_COUNT), cast: cast(parameter("model").as_deref()) };
            show_wanted(&document, wanted);
            page.wanted = Some(wanted);
        }
        page.live = Some(Live { gpu, stage, shown: None, fault });
    }
    load(page).await;
}

/// Shows what is wanted, until nothing else is wanted.
async fn load(page: Shared) {
    if std::mem::replace(&mut page.borrow_mut().loading, true) {
        return;
    }
    let result = load_wanted(&page).await;
    let mut page = page.borrow_mut();
    page.loading = false;
    if let Err(error) = result {
        say(&page.document, "failed", &error);
    }
}

/// Next step towards what is wanted.
enum Step {
    Fetch(Vec<String>),
    Done,
}

async fn load_wanted(page: &Shared) -> Result<(), String> {
    loop {
        let step = page.borrow_mut().step()?;
        let Step::Fetch(names) = step else { return Ok(()) };
        for name in names {
            let bytes = fetch::provide(&name).await?;
            let mut page = page.borrow_mut();
            page.fetched.insert(name);
            page.fetched_bytes += bytes;
        }
    }
}

impl Page {
    /// Shows what is wanted, or returns the files that are missing.
    fn step(&mut self) -> Result<Step, String> {
        let (Some(live), Some(wanted)) = (&mut self.live, self.wanted) else { return Ok(Step::Done) };
        if live.shown == Some(wanted) {
            return Ok(Step::Done);
        }
        let cast: &[&Model] = match wanted.cast {
            Cast::Both => &[&models::SOLDIER, &models::HOUND],
            Cast::Soldiers => &[&models::SOLDIER],
            Cast::Hounds => &[&models::HOUND],
        };
        let mut missing = fetch::names(&live.stage.renderer, cast)?;
        missing.retain(|name| !self.fetched.contains(name));
        if !missing.is_empty() {
            return Ok(Step::Fetch(missing));
        }
        live.stage.set_scene(wanted.count, wanted.cast)?;
        live.shown = Some(wanted);
        say(&self.document, "running", "");
        Ok(Step::Done)
    }

    /// Draws a frame. Returns whether the device is lost.
    fn frame(&mut self, now: f64) -> bool {
        let Some(live) = &mut self.live else { return false };
        let fault = live.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ratio = self.window.device_pixel_ratio().min(MAX_RATIO);
        let side = |css: i32| (f64::from(css) * ratio).round() as u32;
        let size = [side(self.canvas.client_width()), side(self.canvas.client_height())];
        let result = match fault {
            Some(fault) => Err(fault),
            None if live.shown.is_none() => Ok(()),
            None => {
                let start = self.now();
                let live = self.live.as_mut().expect("checked above");
                if [self.canvas.width(), self.canvas.height()] != size {
                    self.canvas.set_width(size[0]);
                    self.canvas.set_height(size[1]);
                }
                live.stage.resize(&live.gpu, size);
                let aspect = size[0] as f32 / size[1].max(1) as f32;
                let time = now / 1000.0;
                let camera = self.orbit.camera(aspect, time);
                let drawn = live.stage.draw(&live.gpu, &camera, time);
                // Completes read-backs with WebGL2.
                let _ = live.gpu.device.poll(wgpu::PollType::Poll);
                self.frames.count += 1;
                self.frames.busy += self.now() - start;
                drawn
            }
        };
        if let Err(error) = result {
            say(&self.document, "lost", &format!("{error}. Trying again …"));
            self.live = None;
            self.counting = false;
            return true;
        }
        false
    }

    fn now(&self) -> f64 {
        self.window.performance().map_or(0.0, |performance| performance.now())
    }
}

/// Callback of `requestAnimationFrame`; gets the time in milliseconds.
type OnFrame = Closure<dyn FnMut(f64)>;

/// Draws in every frame of the browser.
fn run_loop(page: &Shared) {
    let next: Rc<RefCell<Option<OnFrame>>> = Rc::default();
    let (shared, again) = (page.clone(), next.clone());
    let request = |window: &Window, closure: &Option<OnFrame>| {
        if let Some(closure) = closure {
            let _ = window.request_animation_frame(closure.as_ref().unchecked_ref());
        }
    };
    *next.borrow_mut() = Some(Closure::new(move |now: f64| {
        let lost = shared.borrow_mut().frame(now);
        if lost {
            reopen_later(&shared);
        }
        show_numbers(&shared, now);
        request(&shared.borrow().window, &again.borrow());
    }));
    request(&page.borrow().window, &next.borrow());
}

fn reopen_later(page: &Shared) {
    let shared = page.clone();
    let reopen = Closure::once_into_js(move || spawn_local(open(shared)));
    let _ =
        page.borrow().window.set_timeout_with_callback_and_timeout_and_arguments_0(reopen.unchecked_ref(), RETRY_MS);
}

/// Updates frame time and counts twice a second.
fn show_numbers(shared: &Shared, now: f64) {
    let mut page = shared.borrow_mut();
    let since = now - page.frames.since;
    if since < NUMBERS_MS || page.frames.count == 0 {
        return;
    }
    let frames = std::mem::replace(&mut page.frames, Frames { since: now, ..Frames::default() });
    let each = |ms: f64| ms / f64::from(frames.count);
    let (frame, busy) = (each(since), each(frames.busy));
    set_text(&page.document, "frame", &format!("{frame:.1} ms, of which {busy:.2} ms in the page's program"));
    set_text(&page.document, "fetched", &format!("{:.2} MB", page.fetched_bytes as f64 / 1e6));
    let Some(live) = page.live.as_ref() else { return };
    let Some(scene) = live.stage.scene.as_ref() else { return };
    if page.counting {
        return;
    }
    let total = scene.len() as u64;
    let renderer = &live.stage.renderer;
    let soldiers = scene.soldiers().count_drawn_async(renderer, View::MAIN);
    let hounds = scene.hounds().count_drawn_async(renderer, View::MAIN);
    let document = page.document.clone();
    page.counting = true;
    drop(page);
    let shared = shared.clone();
    spawn_local(async move {
        let (soldiers, hounds) = (soldiers.await, hounds.await);
        shared.borrow_mut().counting = false;
        let (Ok(soldiers), Ok(hounds)) = (soldiers, hounds) else { return };
        let drawn = soldiers.total() + hounds.total();
        let lods: Vec<String> = (0..soldiers.lods.len().max(hounds.lods.len()))
            .map(|lod| {
                let of = |lods: &[u64]| lods.get(lod).copied().unwrap_or(0);
                (of(&soldiers.lods) + of(&hounds.lods)).to_string()
            })
            .collect();
        let culled = total.saturating_sub(drawn);
        set_text(&document, "drawn", &format!("{drawn} of {total}, {culled} culled"));
        set_text(&document, "lods", &lods.join(" · "));
    });
}

fn listen_to_controls(page: &Shared) {
    let document = page.borrow().document.clone();
    for id in ["count", "model"] {
        let shared = page.clone();
        on(element(&document, id).as_ref(), "change", move |_| {
            let mut page = shared.borrow_mut();
            let Some(before) = page.wanted else { return };
            let count = element(&page.document, "count").and_then(|e| e.dyn_into::<HtmlInputElement>().ok());
            let count = count.and_then(|count| count.value().parse().ok()).unwrap_or(before.count);
            let model = element(&page.document, "model").and_then(|e| e.dyn_into::<HtmlSelectElement>().ok());
            let wanted =
                Wanted { count: count.clamp(1, MAX_COUNT), cast: cast(model.map(|model| model.value()).as_deref()) };
            show_wanted(&page.document, wanted);
            page.wanted = Some(wanted);
            drop(page);
            spawn_local(load(shared.clone()));
        });
    }
}

fn listen_to_canvas(page: &Shared, canvas: &HtmlCanvasElement) {
    let target: Option<&Element> = Some(canvas.as_ref());
    let position = |event: &web_sys::PointerEvent| [event.offset_x() as f32, event.offset_y() as f32];
    let pointer = |event: Event| event.unchecked_into::<web_sys::PointerEvent>();
    let (shared, captured) = (page.clone(), canvas.clone());
    on(target, "pointerdown", move |event| {
        let event = pointer(event);
        let _ = captured.set_pointer_capture(event.pointer_id());
        let pans = event.button() != 0 || event.shift_key();
        shared.borrow_mut().orbit.press(event.pointer_id(), position(&event), pans);
    });
    let (shared, moved) = (page.clone(), canvas.clone());
    on(target, "pointermove", move |event| {
        let event = pointer(event);
        let height = moved.client_height() as f32;
        shared.borrow_mut().orbit.move_pointer(event.pointer_id(), position(&event), height);
    });
    for name in ["pointerup", "pointercancel"] {
        let shared = page.clone();
        on(target, name, move |event| shared.borrow_mut().orbit.release(pointer(event).pointer_id()));
    }
    let shared = page.clone();
    on(target, "wheel", move |event| {
        event.prevent_default();
        let down = event.unchecked_into::<web_sys::WheelEvent>().delta_y() as f32;
        shared.borrow_mut().orbit.zoom((0.001 * down.clamp(-500.0, 500.0)).exp());
    });
    on(target, "contextmenu", |event| event.prevent_default());
    // wgpu does not notice that the browser has taken a WebGL context away.
    let shared = page.clone();
    on(target, "webglcontextlost", move |_| {
        if let Some(live) = &shared.borrow().live {
            let text = "the WebGL context is lost".to_owned();
            live.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
        }
    });
}

/// Calls a function for each event of an element, as long as the page exists.
fn on(target: Option<&Element>, name: &str, call: impl FnMut(Event) + 'static) {
    let Some(target) = target else { return };
    let closure = Closure::<dyn FnMut(Event)>::new(call);
    let options = web_sys::AddEventListenerOptions::new();
    options.set_passive(false);
    let function = closure.as_ref().unchecked_ref();
    let _ = target.add_event_listener_with_callback_and_add_event_listener_options(name, function, &options);
    closure.forget();
}

/// Puts a new canvas into the page, in place of the one before.
fn new_canvas(document: &Document) -> HtmlCanvasElement {
    let canvas = document.create_element("canvas").expect("a document makes elements");
    let canvas: HtmlCanvasElement = canvas.unchecked_into();
    if let Some(place) = element(document, "view") {
        place.set_inner_html("");
        let _ = place.append_child(&canvas);
    }
    canvas
}

fn element(document: &Document, id: &str) -> Option<Element> {
    document.get_element_by_id(id)
}

fn set_text(document: &Document, id: &str, text: &str) {
    element(document, id).into_iter().for_each(|element| element.set_text_content(Some(text)));
}

/// Shows the state of the page: `loading`, `running`, `lost` or `failed`, and a message for people.
fn say(document: &Document, state: &str, message: &str) {
    document.body().into_iter().for_each(|body| drop(body.set_attribute("data-state", state)));
    set_text(document, "message", message);
}

fn cast(name: Option<&str>) -> Cast {
    match name {
        Some("soldier") => Cast::Soldiers,
        Some("hound") => Cast::Hounds,
        _ => Cast::Both,
    }
}

fn show_wanted(document: &Document, wanted: Wanted) {
    if let Some(count) = element(document, "count").and_then(|e| e.dyn_into::<HtmlInputElement>().ok()) {
        count.set_value(&wanted.count.to_string());
    }
    if let Some(model) = element(document, "model").and_then(|e| e.dyn_into::<HtmlSelectElement>().ok()) {
        model.set_value(match wanted.cast {
            Cast::Both => "both",
            Cast::Soldiers => "soldier",
            Cast::Hounds => "hound",
        });
    }
}
