//! What of a list is not as on the device.

use core::ops::Range;

/// Elements of a list that are not as on the device.
#[derive(Debug, Default)]
pub(in crate::render) struct Changes {
    /// In the order in which they changed.
    indices: Vec<u32>,
    /// Whether an element is in `indices`.
    is_changed: Vec<bool>,
    all: bool,
}

/// Elements that have changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::render) enum Changed<'a> {
    All,
    /// These, in order.
    Some(&'a [u32]),
}

impl Changes {
    pub(in crate::render) fn mark(&mut self, index: usize) {
        if index >= self.is_changed.len() {
            self.is_changed.resize(index + 1, false);
        }
        if !core::mem::replace(&mut self.is_changed[index], true) {
            self.indices.push(index as u32);
        }
    }

    /// All elements have changed.
    pub(in crate::render) fn mark_all(&mut self) {
        self.all = true;
    }

    /// Gives what has changed since the last call of a list of so many elements, if anything has.
    pub(in crate::render) fn take(&mut self, len: usize, take: impl FnOnce(Changed<'_>)) {
        self.indices.iter().for_each(|&index| self.is_changed[index as usize] = false);
        let all = core::mem::take(&mut self.all);
        // Elements that are gone have left some beyond the end.
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
    /// Neighbours together, of a list of so many elements.
    pub(in crate::render) fn runs(self, len: usize) -> impl Iterator<Item = Range<usize>> + 'a {
        let (all, some) = match self {
            Self::All => (Some(0..len), &[][..]),
            Self::Some(indices) => (None, indices),
        };
        let runs = some.chunk_by(|a, b| a + 1 == *b).map(|run| run[0] as usize..run[run.len() - 1] as usize + 1);
        all.into_iter().chain(runs)
    }
}
