//! The sample models of gpuskin: `models::Soldier`, `clips::SOLDIER_RUN`, and so on.

gpuskin_rt::include_baked!();

/// Folder of the baked files.
pub const BAKED: &str = concat!(env!("OUT_DIR"), "/gpuskin");
