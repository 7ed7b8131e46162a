//! Measurements of a page, for `tests/browser.rs`.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use crowd::baked::models::Hound;
use gpuskin_rt::internals::{Data, Payload};
use gpuskin_rt::{BakedModel, CrowdRenderer, Model, wgpu};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::gpu::{Api, Gpu};
use crate::{fetch, measure};

/// Measures on an API: `webgpu` or `webgl2`. Returns an object with `adapter`, `positions` of each model,
/// `pictures`, `facts` of each picture, and `frameTimes`.
#[wasm_bindgen]
pub async fn measure_page(api: String) -> Result<JsValue, JsValue> {
    measured(&api).await.map_err(|error| JsValue::from_str(&error))
}

async fn measured(api: &str) -> Result<JsValue, String> {
    let window = web_sys::window().ok_or("no window")?;
    let document = window.document().ok_or("no document")?;
    let canvas = || {
        let canvas = document.create_element("canvas").expect("a document makes elements");
        canvas.unchecked_into::<web_sys::HtmlCanvasElement>()
    };
    let Gpu { adapter, device, queue, .. } = Gpu::open(Api::to_try(Some(api)), canvas).await?;
    let errors = Arc::<Mutex<Vec<String>>>::default();
    let reported = errors.clone();
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        reported.lock().unwrap_or_else(PoisonError::into_inner).push(error.to_string());
    }));
    let polls = poll_while_measuring(&device);
    let text = |error: gpuskin_rt::Error| error.to_string();
    let renderer = CrowdRenderer::new(&device, &queue, Default::default()).map_err(text)?;
    for name in fetch::names(&renderer, &measure::models())? {
        fetch::provide(&name).await?;
    }
    let hound = read_model(&renderer, Hound::MODEL).await?;
    drop(renderer);
    let result = js_sys::Object::new();
    let set = |name: &str, value: &JsValue| drop(js_sys::Reflect::set(&result, &name.into(), value));
    set("adapter", &adapter.get_info().name.into());
    let positions = js_sys::Array::new();
    for model in measure::models() {
        let of_model = measure::positions(&device, &queue, model).await.map_err(text)?;
        positions.push(&js_sys::Uint8Array::from(bytemuck::cast_slice::<_, u8>(&of_model)).into());
    }
    set("positions", &positions);
    let (pictures, facts) = (js_sys::Array::new(), js_sys::Array::new());
    for picture in measure::Picture::ALL {
        let drawn = measure::picture(&device, &queue, picture, None, &hound);
        let drawn = drawn.await.map_err(|error| format!("{}: {error}", picture.name()))?;
        pictures.push(&js_sys::Uint8Array::from(&drawn.rgba[..]).into());
        facts.push(&drawn.facts.into_iter().map(JsValue::from).collect::<js_sys::Array>().into());
    }
    set("pictures", &pictures);
    set("facts", &facts);
    let performance = window.performance().ok_or("no clock")?;
    let times = measure::frame_times(&device, &queue, || performance.now(), || sleep(10)).await.map_err(text)?;
    set("frameTimes", &js_sys::Array::of2(&times[0].into(), &times[1].into()));
    polls.set(false);
    let errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
    if errors.is_empty() { Ok(result.into()) } else { Err(errors.join("; ")) }
}

/// Reads a model from its files, as a page reads a model that its program does not know: all encodings, and of each texture
/// the format that the device reads.
async fn read_model(renderer: &CrowdRenderer, model: &'static Model) -> Result<Model, String> {
    let payloads = std::iter::once(model).chain(model.others.iter()).flat_map(|model| [&model.animation, &model.mesh]);
    let path = |payload: &'static Payload| match &payload.data {
        Data::File { name, .. } => Some(&**name),
        Data::Bytes(_) => None,
    };
    let mut paths: Vec<&str> = payloads.filter_map(path).collect();
    paths.extend(renderer.side_files(model).map_err(|error| error.to_string())?);
    let mut files = Vec::new();
    for path in paths {
        files.push((path.rsplit('/').next().unwrap_or_default(), fetch::bytes(path).await?));
    }
    Model::from_files(files).map_err(|error| error.to_string())
}

/// Completes read-backs with WebGL2, until the returned cell is false.
fn poll_while_measuring(device: &wgpu::Device) -> Rc<Cell<bool>> {
    let (measuring, device) = (Rc::new(Cell::new(true)), device.clone());
    let goes_on = measuring.clone();
    spawn_local(async move {
        while goes_on.get() {
            let _ = device.poll(wgpu::PollType::Poll);
            sleep(5).await;
        }
    });
    measuring
}

async fn sleep(ms: i32) {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        if let Some(window) = web_sys::window() {
            let _ = window.set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms);
        }
    });
    let _ = JsFuture::from(promise).await;
}
