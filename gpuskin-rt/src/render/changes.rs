//! Elements of a list that differ from the device's copy.

use core::ops::Range;

/// Set of the elements of a list that differ from the device's copy.
#[derive(Debug, Default)]
pub(in crate::render) struct Changes {
    /// Changed indices, in the order of the changes.
    indices: Vec<u32>,
    /// Whether an element is in `indices`. `[index]`
    is_changed: Vec<bool>,
    all: bool,
}

/// Elements that have changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::render) enum Changed<'a> {
    All,
    /// Changed indices, ascending.
    Some(&'a [u32]),
}

impl Changes {
    pub(in crate::render) fn mark(&mut self, index: usize) {
        if self.all {
            return;
        }
        if index >= self.is_changed.len() {
            self.is_changed.resize(index + 1, false);
        }
        if !core::mem::replace(&mut self.is_changed[index], true) {
            self.indices.push(index as u32);
        }
    }

    /// Whether any element has changed.
    pub(in crate::render) fn any(&self) -> bool {
        self.all || !self.indices.is_empty()
    }

    /// Marks all elements as changed.
    pub(in crate::render) fn mark_all(&mut self) {
        self.all = true;
    }

    /// Passes the changes since the last call to `take`, if there are any. `len`: current length of
    /// the list.
    pub(in crate::render) fn take(&mut self, len: usize, take: impl FnOnce(Changed<'_>)) {
        self.indices.iter().for_each(|&index| self.is_changed[index as usize] = false);
        let all = core::mem::take(&mut self.all);
        // Removed elements have left indices beyond the end.
        self.indices.retain(|&index| (index as usize) < len);
        self.indices.sort_unstable();
        if all && len > 0 {
            take(Changed::All);
        } else if !self.indices.is_empty() {
            take(Changed::Some(&self.indices));
        }
        self.indices.clear();
    }
}

impl<'a> Changed<'a> {
    /// Changed elements as contiguous ranges. `len`: length of the list.
    pub(in crate::render) fn runs(self, len: usize) -> impl Iterator<Item = Range<usize>> + 'a {
        let (all, some) = match self {
            Self::All => (Some(0..len), &[][..]),
            Self::Some(indices) => (None, indices),
        };
        let runs = some.chunk_by(|a, b| a + 1 == *b).map(|run| run[0] as usize..run[run.len() - 1] as usize + 1);
        all.into_iter().chain(runs)
    }
}
