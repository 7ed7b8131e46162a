//! Mapped staging buffers, from which the device copies: each byte is written once.
//!
//! `Queue::write_buffer` copies from CPU memory, and allocates for each write. Live poses, which change every
//! frame, are written directly into mapped memory instead. That memory is reused once the device has copied
//! from it.

use std::sync::{Arc, Mutex, PoisonError};

/// Size of the smallest buffer, bytes.
const LEAST: u64 = 64 << 10;
/// Buffers more than this many times larger than a frame needs are dropped.
const WASTE: u64 = 8;

/// Copies that run before everything that is submitted afterwards.
pub(crate) struct Uploads<'d> {
    pub(crate) device: &'d wgpu::Device,
    pub(crate) limits: wgpu::Limits,
    encoder: Option<wgpu::CommandEncoder>,
}

impl<'d> Uploads<'d> {
    pub(crate) fn new(device: &'d wgpu::Device) -> Self {
        Self { device, limits: device.limits(), encoder: None }
    }

    pub(crate) fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        let label = Some("gpuskin uploads");
        self.encoder
            .get_or_insert_with(|| self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label }))
    }

    /// Submits the copies separately: a game may drop its encoder, for example when it cannot
    /// acquire a window surface.
    pub(crate) fn submit(self, queue: &wgpu::Queue) {
        if let Some(encoder) = self.encoder {
            queue.submit([encoder.finish()]);
        }
    }
}

/// Data written since the last frame, and free buffers for the next one.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    /// Mapped buffers of this frame; only the last has free space.
    open: Vec<Chunk>,
    copies: Vec<Copy>,
    /// Buffers that the device has finished with and that are mapped again.
    free: Arc<Mutex<Vec<wgpu::Buffer>>>,
    /// Bytes written in the last frame.
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
    /// Returns mapped memory for the bytes `to..to + bytes` of the target, valid until the next
    /// call. Bytes left unwritten are undefined. `to` and `bytes` must be multiples of 4. `None`
    /// if the device is lost.
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

    /// Returns a mapped buffer: a reused one, or a new one of the size that the last frame needed.
    fn chunk(&self, device: &wgpu::Device, bytes: u64) -> Option<Chunk> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = self.bytes.max(bytes).next_power_of_two().max(LEAST);
        // Smaller buffers would make too many of them.
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

    /// Discards everything written so far.
    pub(crate) fn clear(&mut self) {
        self.copies.clear();
        self.open.truncate(1);
        self.open.iter_mut().for_each(|chunk| chunk.used = 0);
    }

    /// Copies all data to `target`, starting at byte `at`. Where writes overlap, the last one wins.
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
