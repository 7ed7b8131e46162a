//! A device with its queue.

use core::future::Future;
use core::task::{Context, Poll, Waker};

use super::Error;

/// Device and queue that a renderer works with.
#[derive(Clone, Copy)]
pub(crate) struct Gpu<'a> {
    pub(crate) device: &'a wgpu::Device,
    pub(crate) queue: &'a wgpu::Queue,
}

/// Runs GPU commands, and returns an error of the device as [`Error::Device`]. Without this, wgpu
/// passes the error to the handler for uncaptured errors, which panics unless the game sets another.
///
/// With WebGPU in a browser, errors arrive later and never panic, so there the commands just run.
pub(super) fn guarded<T>(device: &wgpu::Device, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    if device.adapter_info().backend == wgpu::Backend::BrowserWebGpu {
        return run();
    }
    let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let result = run();
    let mut found = core::pin::pin!(scope.pop());
    match found.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some(error)) => Err(Error::Device { reason: error.to_string() }),
        Poll::Ready(None) | Poll::Pending => result,
    }
}
