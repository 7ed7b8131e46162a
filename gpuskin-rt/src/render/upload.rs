//! The bytes of a model to the device.
//!
//! Large pieces are written as they are. A small one costs more for its staging buffer than for its bytes, and a model has
//! a dozen of them (mips, materials): these go in one write, and to their places by copies on the device.

use core::ops::Range;

use crate::{ByteRange, Metadata};

/// Rows of a texture start at multiples of this in a buffer.
const ROW: u64 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as u64;
/// Padded pieces up to this are small: a level of 64 x 64 texels is.
const SMALL: u64 = 16 << 10;

/// A write of small pieces that is being filled.
pub(crate) struct Upload<'a> {
    queue: &'a wgpu::Queue,
    arena: Option<Arena>,
}

struct Arena {
    bytes: wgpu::QueueWriteBufferView,
    used: u64,
    copies: Copies,
}

/// Copies of small pieces to their places: to be recorded before what uses them.
#[derive(Debug)]
pub(crate) struct Copies {
    arena: wgpu::Buffer,
    list: Vec<Copy>,
}

#[derive(Debug)]
enum Copy {
    Buffer { source: Range<u64>, target: wgpu::Buffer },
    Texture { layout: wgpu::TexelCopyBufferLayout, target: wgpu::Texture, level: u32, size: wgpu::Extent3d },
}

impl<'a> Upload<'a> {
    /// With room for the small pieces of a model. Should one find none, it is written on its own.
    pub(crate) fn new(device: &wgpu::Device, queue: &'a wgpu::Queue, meta: &Metadata) -> Self {
        let room = room(meta).min(device.limits().max_buffer_size / ROW * ROW);
        Self { queue, arena: Arena::new(device, queue, room) }
    }

    /// Writes a buffer from its start, in whole words; the last is padded with zeros.
    pub(crate) fn buffer(&mut self, target: &wgpu::Buffer, bytes: &[u8]) {
        let (whole, rest) = bytes.split_at(bytes.len() & !3);
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        let padded = bytes.len().next_multiple_of(4) as u64;
        if let Some((arena, at)) = self.arena.as_mut().and_then(|a| a.take(padded)) {
            arena.put(at, whole);
            if !rest.is_empty() {
                arena.put(at + whole.len() as u64, &last);
            }
            arena.copies.list.push(Copy::Buffer { source: at..at + padded, target: target.clone() });
            return;
        }
        self.queue.write_buffer(target, 0, whole);
        if !rest.is_empty() {
            self.queue.write_buffer(target, whole.len() as u64, &last);
        }
    }

    /// Writes all layers of a level of a texture: tight rows, so many bytes each.
    pub(crate) fn texture(&mut self, target: &wgpu::Texture, level: u32, size: wgpu::Extent3d, row: u32, bytes: &[u8]) {
        let padded_row = u64::from(row).next_multiple_of(ROW);
        let layout = |offset, bytes_per_row| wgpu::TexelCopyBufferLayout {
            offset,
            bytes_per_row: Some(bytes_per_row),
            rows_per_image: Some(size.height),
        };
        let rows = u64::from(size.height) * u64::from(size.depth_or_array_layers);
        if let Some((arena, at)) = self.arena.as_mut().and_then(|a| a.take(rows.saturating_mul(padded_row))) {
            bytes.chunks_exact(row as usize).zip(0..).for_each(|(bytes, i)| arena.put(at + i * padded_row, bytes));
            let layout = layout(at, padded_row as u32);
            arena.copies.list.push(Copy::Texture { layout, target: target.clone(), level, size });
            return;
        }
        let target = wgpu::TexelCopyTextureInfo { mip_level: level, ..target.as_image_copy() };
        self.queue.write_texture(target, bytes, layout(0, row), size);
    }

    /// The write is on its way; what is left is to be recorded.
    pub(crate) fn finish(self) -> Option<Copies> {
        self.arena.map(|arena| arena.copies)
    }
}

impl Arena {
    fn new(device: &wgpu::Device, queue: &wgpu::Queue, room: u64) -> Option<Self> {
        let size = wgpu::BufferSize::new(room)?;
        let arena = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin upload"),
            size: room,
            usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bytes = queue.write_buffer_with(&arena, 0, size)?;
        // The usual model has fewer; one with more materials makes it grow.
        Some(Self { bytes, used: 0, copies: Copies { arena, list: Vec::with_capacity(32) } })
    }

    /// A place for a small piece, fit for the rows of a texture.
    fn take(&mut self, len: u64) -> Option<(&mut Self, u64)> {
        let at = self.used.next_multiple_of(ROW);
        if len == 0 || len > SMALL || at + len > self.bytes.len() as u64 {
            return None;
        }
        self.used = at + len;
        Some((self, at))
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        self.bytes.slice(at as usize..at as usize + bytes.len()).copy_from_slice(bytes);
    }
}

impl Copies {
    /// Records the copies.
    pub(crate) fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        for copy in &self.list {
            match copy {
                Copy::Buffer { source, target } => {
                    let len = source.end - source.start;
                    encoder.copy_buffer_to_buffer(&self.arena, source.start, target, 0, len);
                }
                Copy::Texture { layout, target, level, size } => {
                    let source = wgpu::TexelCopyBufferInfo { buffer: &self.arena, layout: *layout };
                    let target = wgpu::TexelCopyTextureInfo { mip_level: *level, ..target.as_image_copy() };
                    encoder.copy_buffer_to_texture(source, target, *size);
                }
            }
        }
    }
}

/// Bytes of the small pieces of a model with their padding; a multiple of [`ROW`].
fn room(meta: &Metadata) -> u64 {
    let piece = |len: u64| if len <= SMALL { len.next_multiple_of(ROW) } else { 0 };
    let mesh = [meta.mesh.vertices, meta.mesh.indices].map(|ByteRange { len, .. }| piece(len));
    let records = (meta.clips.len() * size_of::<crate::ClipRecord>() + size_of::<crate::shader::ModelUniform>()) as u64;
    let materials = meta.materials.len() as u64 * ROW;
    let fixed = [piece(records), piece(materials), piece(meta.texture.byte_len(meta.encoding))];
    let levels = meta.textures.iter().flat_map(|t| {
        (0..t.levels.min(32)).map(move |level| {
            let [width, height] = [t.width, t.height].map(|side| u64::from((side >> level).max(1)));
            piece((width * 4).next_multiple_of(ROW).saturating_mul(height))
        })
    });
    mesh.into_iter().chain(fixed).chain(levels).sum()
}
