//! Little-endian words of the tracks.

/// Little-endian words, without alignment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a>(pub(super) &'a [[u8; 4]]);

impl<'a> Words<'a> {
    pub(super) fn get(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at])
    }

    /// Returns `len` words from `at` on; `None` if there are fewer.
    pub(super) fn section(&self, at: u32, len: usize) -> Option<Words<'a>> {
        let at = at as usize;
        self.0.get(at..at.checked_add(len)?).map(Words)
    }
}
