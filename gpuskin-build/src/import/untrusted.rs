//! Decoders of other crates, called with data from outside.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a decoder, and returns `None` if it panics: on a damaged file that is an error of the file.
pub(super) fn run<T>(decode: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(decode)).ok()
}
