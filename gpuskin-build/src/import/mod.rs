//! stub
use crate::{finding::*, manifest::*, model::*};
use std::collections::BTreeSet;
use std::path::PathBuf;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    Decode,
    Skip,
}
pub fn import(_: &Manifest, _: &ModelEntry, _: Images, _: &mut Findings, _: &mut BTreeSet<PathBuf>) -> Option<Model> {
    None
}
