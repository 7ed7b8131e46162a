//! Reads buffers back from the device: as a future for web pages, which must not block, or waiting.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

use super::Error;
use super::gpu::Gpu;

fn failed(reason: impl ToString) -> Error {
    Error::Readback { reason: reason.to_string() }
}

/// Result of a mapping, and the waker of the task that waits for it.
#[derive(Default)]
struct Mapping {
    result: Option<Result<(), wgpu::BufferAsyncError>>,
    waiting: Option<Waker>,
}

/// Maps a whole buffer for reading. With WebGPU, the browser completes it; elsewhere, `Device::poll`
/// does, and somebody must call it.
///
/// # Errors
/// If the device cannot map it.
pub async fn map(buffer: &wgpu::Buffer) -> Result<(), Error> {
    let mapping = Arc::new(Mutex::new(Mapping::default()));
    let complete = mapping.clone();
    buffer.map_async(wgpu::MapMode::Read, .., move |result| {
        let waiting = {
            let mut mapping = complete.lock().unwrap_or_else(PoisonError::into_inner);
            mapping.result = Some(result);
            mapping.waiting.take()
        };
        waiting.into_iter().for_each(Waker::wake);
    });
    let poll = |context: &mut Context<'_>| {
        let mut mapping = mapping.lock().unwrap_or_else(PoisonError::into_inner);
        match mapping.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                mapping.waiting = Some(context.waker().clone());
                Poll::Pending
            }
        }
    };
    core::future::poll_fn(poll).await.map_err(failed)
}

/// Reads back elements of a buffer, from a byte offset on.
pub(crate) async fn read<T: bytemuck::AnyBitPattern>(
    Gpu { device, queue }: Gpu<'_>,
    buffer: &wgpu::Buffer,
    at: u64,
    count: usize,
) -> Result<Vec<T>, Error> {
    let size = (count * size_of::<T>()) as u64;
    let readback = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("gpuskin readback"),
        size,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, at, &readback, 0, size);
    queue.submit([encoder.finish()]);
    map(&readback).await?;
    let bytes = readback.get_mapped_range(..).map_err(failed)?;
    Ok(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
}

/// Reads back one word from each place: a buffer, and a byte offset in it. All come at once.
pub(crate) async fn read_words(
    Gpu { device, queue }: Gpu<'_>,
    places: &[(wgpu::Buffer, u64)],
) -> Result<Vec<u32>, Error> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let gathered = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("gpuskin readback"),
        size: places.len() as u64 * 4,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    for (to, (buffer, at)) in (0..).zip(places) {
        encoder.copy_buffer_to_buffer(buffer, *at, &gathered, to * 4, 4);
    }
    queue.submit([encoder.finish()]);
    read(Gpu { device, queue }, &gathered, 0, places.len()).await
}

/// Whether a future can go on.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs a future that waits for the device alone.
///
/// # Errors
/// Errors of the future; also if the device does not complete its work while this thread waits, as with
/// WebGPU in a browser.
pub(crate) fn wait<T>(device: &wgpu::Device, future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return result;
        }
        device.poll(wgpu::PollType::wait_indefinitely()).map_err(failed)?;
        if !woken.0.swap(false, Ordering::AcqRel) {
            return Err(failed("the device reads back asynchronously only; use the function that returns a future"));
        }
    }
}
