//! Opens a device: WebGPU if the browser has it, otherwise WebGL2.

use gpuskin_rt::{CrowdRenderer, wgpu};
use wasm_bindgen::JsValue;
use web_sys::HtmlCanvasElement;

/// Graphics API of a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    WebGpu,
    WebGl2,
}

impl Api {
    /// Name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::WebGpu => "WebGPU",
            Self::WebGl2 => "WebGL2",
        }
    }

    /// Returns the APIs to try, in order. `forced`: value of the page's parameter `api`.
    pub(crate) fn to_try(forced: Option<&str>) -> &'static [Self] {
        match forced {
            Some("webgpu") => &[Self::WebGpu],
            Some("webgl2") => &[Self::WebGl2],
            _ => &[Self::WebGpu, Self::WebGl2],
        }
    }
}

/// Device of a canvas.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) api: Api,
    pub(crate) adapter: wgpu::Adapter,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) surface: wgpu::Surface<'static>,
}

impl Gpu {
    /// Opens the first API that works. A canvas belongs to one API for ever, so `canvas` returns a new one
    /// for each attempt.
    ///
    /// # Errors
    /// Reasons why no API works, one per API.
    pub(crate) async fn open(apis: &[Api], mut canvas: impl FnMut() -> HtmlCanvasElement) -> Result<Self, String> {
        let mut lacks = Vec::new();
        for api in apis {
            match Self::open_one(*api, &mut canvas).await {
                Ok(gpu) => return Ok(gpu),
                Err(error) => lacks.push(format!("{}: {error}", api.name())),
            }
        }
        Err(lacks.join("; "))
    }

    async fn open_one(api: Api, canvas: &mut impl FnMut() -> HtmlCanvasElement) -> Result<Self, String> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = match api {
            Api::WebGpu => wgpu::Backends::BROWSER_WEBGPU,
            Api::WebGl2 => wgpu::Backends::GL,
        };
        let has = match api {
            Api::WebGpu => browser_has_webgpu(),
            Api::WebGl2 => cfg!(feature = "webgl"),
        };
        if !has {
            let lacking = if api == Api::WebGpu { "this browser" } else { "this program" };
            return Err(format!("{lacking} does not have it"));
        }
        let instance = wgpu::Instance::new(descriptor);
        let text = |error: &dyn std::fmt::Display| error.to_string();
        // Asked for an adapter before it takes the canvas, because an API may exist without an adapter.
        let mut surface = None;
        if api == Api::WebGl2 {
            surface = Some(new_surface(&instance, canvas())?);
        }
        let options = wgpu::RequestAdapterOptions { compatible_surface: surface.as_ref(), ..Default::default() };
        let adapter = instance.request_adapter(&options).await.map_err(|error| text(&error))?;
        let surface = match surface {
            Some(surface) => surface,
            None => new_surface(&instance, canvas())?,
        };
        let descriptor = wgpu::DeviceDescriptor {
            required_limits: adapter.limits(),
            // Block-compressed textures and fewer draw calls, if the adapter supports them.
            required_features: adapter.features() & CrowdRenderer::OPTIONAL_FEATURES,
            ..Default::default()
        };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(|error| text(&error))?;
        Ok(Self { api, adapter, device, queue, surface })
    }
}

fn new_surface(instance: &wgpu::Instance, canvas: HtmlCanvasElement) -> Result<wgpu::Surface<'static>, String> {
    instance.create_surface(wgpu::SurfaceTarget::Canvas(canvas)).map_err(|error| error.to_string())
}

/// Whether the page has `navigator.gpu`; pages that were not served securely do not.
fn browser_has_webgpu() -> bool {
    let get = |object: &JsValue, name: &str| js_sys::Reflect::get(object, &name.into()).unwrap_or_default();
    let navigator = get(&js_sys::global(), "navigator");
    !navigator.is_undefined() && !get(&navigator, "gpu").is_undefined()
}
