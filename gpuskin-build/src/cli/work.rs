//! What `preview` calls, until the renderer can be asked for it.

use std::path::Path;

use super::Failure;
use crate::finding::Finding;
use crate::manifest::Manifest;

pub(super) fn preview(_: &Manifest, _model: &str, _out: &Path) -> Result<String, Failure> {
    Err(Finding::error("`preview` is not in this build").into())
}
