//! What of a list is not as on the device.

use core::ops::Range;

/// Elements that are uploaded together: 64 records are 4 KiB, the most that one change costs.
const BLOCK: usize = 64;

/// Blocks of a list that are not as on the device.
#[derive(Debug, Default)]
pub(in crate::render) struct Changes {
    /// In the order in which they changed.
    blocks: Vec<u32>,
    /// Whether a block is in `blocks`.
    is_changed: Vec<bool>,
}

impl Changes {
    pub(in crate::render) fn mark(&mut self, index: usize) {
        let block = index / BLOCK;
        if block >= self.is_changed.len() {
            self.is_changed.resize(block + 1, false);
        }
        if !core::mem::replace(&mut self.is_changed[block], true) {
            self.blocks.push(block as u32);
        }
    }

    /// The first `len` elements have changed.
    pub(in crate::render) fn mark_all(&mut self, len: usize) {
        for index in (0..len).step_by(BLOCK) {
            self.mark(index);
        }
    }

    /// Gives the parts of a list that have changed since the last call, in order, neighbours together.
    pub(in crate::render) fn take<T>(&mut self, list: &[T], mut write: impl FnMut(Range<usize>, &[T])) {
        self.blocks.sort_unstable();
        let range = |run: &[u32]| run[0] as usize * BLOCK..((run[run.len() - 1] as usize + 1) * BLOCK).min(list.len());
        for run in self.blocks.chunk_by(|a, b| a + 1 == *b) {
            let range = range(run);
            // Blocks past the end were left by elements that are gone.
            if range.start < range.end {
                write(range.clone(), &list[range]);
            }
        }
        for block in self.blocks.drain(..) {
            self.is_changed[block as usize] = false;
        }
    }
}
