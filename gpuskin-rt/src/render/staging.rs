//! Bytes on their way to a buffer of the device, written once: where the device copies them from.
//!
//! `Queue::write_buffer` takes bytes that stand somewhere, and makes memory for each write. What changes every frame is put
//! into mapped memory as it comes instead, which is used again once the device has copied from it.

use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of the smallest buffer.
const LEAST: u64 = 64 << 10;
/// A buffer so many times as large as what a frame needs is let go.
const WASTE: u64 = 8;

/// Copies that are to be done before all that is submitted afterwards.
pub(crate) struct Uploads<'d> {
    pub(crate) device: &'d wgpu::Device,
    encoder: Option<wgpu::CommandEncoder>,
}

impl<'d> Uploads<'d> {
    pub(crate) fn new(device: &'d wgpu::Device) -> Self {
        Self { device, encoder: None }
    }

    pub(crate) fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        let label = Some("gpuskin uploads");
        self.encoder
            .get_or_insert_with(|| self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label }))
    }

    /// A submission of its own: what a game encodes it may also throw away, as where a window cannot be drawn to.
    pub(crate) fn submit(self, queue: &wgpu::Queue) {
        if let Some(encoder) = self.encoder {
            queue.submit([encoder.finish()]);
        }
    }
}

/// What was written since the last frame, and memory for the next.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    /// Mapped; the last has room.
    open: Vec<Chunk>,
    copies: Vec<Copy>,
    /// Mapped again after the device was done with them.
    free: Arc<Mutex<Vec<wgpu::Buffer>>>,
    /// Of the last frame.
    bytes: u64,
}

#[derive(Debug)]
struct Chunk {
    view: wgpu::BufferViewMut,
    buffer: wgpu::Buffer,
    used: u64,
}

#[derive(Debug)]
struct Copy {
    chunk: usize,
    from: u64,
    to: u64,
    bytes: u64,
}

impl Staging {
    /// Room for what is to stand at a place of the target, until the next of these calls. What is not written of it is
    /// undefined. A multiple of 16 bytes, at one; `None` where the device is lost.
    pub(crate) fn put(&mut self, device: &wgpu::Device, to: u64, bytes: u64) -> Option<wgpu::WriteOnly<'_, [u8]>> {
        if self.open.last().is_none_or(|chunk| chunk.buffer.size() - chunk.used < bytes) {
            let chunk = self.chunk(device, bytes)?;
            self.open.push(chunk);
        }
        let number = self.open.len() - 1;
        let chunk = &mut self.open[number];
        let from = chunk.used;
        chunk.used += bytes;
        match self.copies.last_mut() {
            Some(last) if last.chunk == number && last.to + last.bytes == to => last.bytes += bytes,
            _ => self.copies.push(Copy { chunk: number, from, to, bytes }),
        }
        Some(chunk.view.slice(from as usize..(from + bytes) as usize))
    }

    /// A mapped buffer: one that was used before, or a new one for as much as the last frame needed.
    fn chunk(&self, device: &wgpu::Device, bytes: u64) -> Option<Chunk> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = self.bytes.max(bytes).next_power_of_two().max(LEAST);
        // Smaller ones would be many.
        free.retain(|buffer| (wanted / 2..=wanted.saturating_mul(WASTE)).contains(&buffer.size()));
        let used = free.iter().position(|buffer| buffer.size() >= bytes).map(|at| free.swap_remove(at));
        let buffer = used.unwrap_or_else(|| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gpuskin staging"),
                size: wanted.min(device.limits().max_buffer_size),
                usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            })
        });
        let view = buffer.get_mapped_range_mut(..).ok()?;
        Some(Chunk { view, buffer, used: 0 })
    }

    /// Forgets what was put.
    pub(crate) fn clear(&mut self) {
        self.copies.clear();
        self.open.truncate(1);
        self.open.iter_mut().for_each(|chunk| chunk.used = 0);
    }

    /// Copies everything to a target, from a place on; what was put last to one place stays there.
    pub(crate) fn copy(&mut self, uploads: &mut Uploads<'_>, target: &wgpu::Buffer, at: u64) {
        if self.copies.is_empty() {
            return;
        }
        let encoder = uploads.encoder();
        self.bytes = self.open.iter().map(|chunk| chunk.used).sum();
        let unmapped = self.open.drain(..).map(|Chunk { view, buffer, .. }| {
            drop(view);
            buffer.unmap();
            buffer
        });
        let buffers: Vec<_> = unmapped.collect();
        for Copy { chunk, from, to, bytes } in self.copies.drain(..) {
            encoder.copy_buffer_to_buffer(&buffers[chunk], from, target, at + to, bytes);
        }
        for buffer in buffers {
            let (free, again) = (self.free.clone(), buffer.clone());
            encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Write, .., move |mapped| {
                if mapped.is_ok() {
                    free.lock().unwrap_or_else(PoisonError::into_inner).push(again);
                }
            });
        }
    }
}
