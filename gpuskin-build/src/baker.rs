//! Identity of the baker: version and hash of its source. Another baker can give another result for the same input.

pub(crate) const BAKER: &str = concat!("gpuskin ", env!("CARGO_PKG_VERSION"), " ", env!("GPUSKIN_SOURCE"));
