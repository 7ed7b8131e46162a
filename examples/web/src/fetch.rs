//! Fetches baked files, and hands them over to gpuskin.

use gpuskin_rt::{CrowdRenderer, Model, provide_file};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Response;

/// Returns the names of the files of models that the program does not contain and that the device reads.
///
/// # Errors
/// If the device cannot play a model.
pub(crate) fn names(renderer: &CrowdRenderer, models: &[&Model]) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for model in models {
        let files = renderer.side_files(model).map_err(|error| error.to_string())?;
        names.extend(files.into_iter().map(str::to_owned));
    }
    Ok(names)
}

/// Fetches a file, and hands it over. Returns its size in bytes.
///
/// # Errors
/// If the file does not arrive.
pub(crate) async fn provide(name: &str) -> Result<usize, String> {
    let bytes = bytes(name).await?;
    let len = bytes.len();
    provide_file(name, bytes);
    Ok(len)
}

/// Fetches a file.
///
/// # Errors
/// If the file does not arrive.
pub(crate) async fn bytes(name: &str) -> Result<Vec<u8>, String> {
    let url = format!("gpuskin/{name}");
    let failed = |error: JsValue| format!("{url} could not be fetched: {}", message(&error));
    let window = web_sys::window().ok_or("no window")?;
    let response: Response = JsFuture::from(window.fetch_with_str(&url)).await.map_err(failed)?.unchecked_into();
    if !response.ok() {
        return Err(format!("{url} could not be fetched: HTTP {} {}", response.status(), response.status_text()));
    }
    // Fails if the connection ends before the announced length. A file that is too short nevertheless is refused when its
    // model is loaded.
    let body = JsFuture::from(response.array_buffer().map_err(failed)?).await.map_err(failed)?;
    Ok(js_sys::Uint8Array::new(&body).to_vec())
}

fn message(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => String::from(error.message()),
        None => format!("{error:?}"),
    }
}
