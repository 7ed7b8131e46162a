//! What the commands call. Stands in for the stages of the bake until they are here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpuskin_rt::{Encoding, Metadata};

use super::Failure;
use crate::finding::{Finding, Findings};
use crate::manifest::Manifest;

#[derive(Clone, Copy, Default)]
pub(super) struct BakeOptions<'a> {
    pub(super) model: Option<&'a str>,
    pub(super) encoding: Option<Encoding>,
    pub(super) progress: Option<&'a (dyn Fn(&str, Stage) + Sync)>,
}

#[derive(Clone, Copy)]
pub(super) enum Stage {
    Import,
    Encode,
    Measure,
    Done,
}

pub(super) struct Baked {
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) models: Vec<BakedModel>,
    pub(super) warnings: Findings,
}

pub(super) struct BakedModel {
    pub(super) meta: Metadata,
}

pub(super) struct Plan {
    pub(super) meta: Metadata,
    pub(super) bytes: u64,
}

pub(super) fn bake(manifest: &Manifest, options: &BakeOptions<'_>) -> Result<Baked, Failure> {
    for model in &manifest.models {
        for stage in [Stage::Import, Stage::Encode, Stage::Measure, Stage::Done] {
            if let Some(progress) = options.progress {
                progress(&model.name.value, stage);
            }
        }
    }
    let _ = (options.model, options.encoding);
    Err(missing("bake"))
}

pub(super) fn plan(_: &Manifest, _: &BakeOptions<'_>) -> Result<Vec<Plan>, Failure> {
    Err(missing("bake --dry-run"))
}

pub(super) fn bytes_of(baked: &Baked, model: &BakedModel) -> u64 {
    let folder = format!("gpuskin/{}/", model.meta.name);
    baked.files.iter().filter(|(path, _)| path.starts_with(&folder)).map(|(_, bytes)| bytes.len() as u64).sum()
}

pub(super) fn write(_: &Baked, _: &Path) -> Result<(), Failure> {
    Err(missing("bake"))
}

pub(super) fn check(_: &Baked, _: &Path) -> Result<Vec<String>, Failure> {
    Err(missing("bake --check"))
}

/// What `pose` was asked for.
#[derive(Debug)]
#[expect(dead_code, reason = "read by the pose command's insides")]
pub(super) struct PoseRequest<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) model: &'a str,
    /// Name in the glTF file, or index.
    pub(super) clip: &'a str,
    pub(super) when: When,
    pub(super) path: PosePath,
    pub(super) encoding: Option<Encoding>,
    pub(super) out: PathBuf,
}

/// Which moments of the clip.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum When {
    /// Seconds into the clip.
    Times(Vec<f64>),
    /// Baked frames.
    Frames(Vec<u32>),
    /// All baked frames.
    AllFrames,
}

/// What is asked for the vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PosePath {
    /// Importer and curves in `f64`, nothing baked.
    Source,
    /// The baked data through the CPU twins.
    Cpu,
    /// The baked data through the vertex shader.
    Gpu,
}

pub(super) fn pose(_: &PoseRequest<'_>) -> Result<String, Failure> {
    Err(missing("pose"))
}

pub(super) fn preview(_: &Manifest, _model: &str, _out: &Path) -> Result<String, Failure> {
    Err(missing("preview"))
}

fn missing(what: &str) -> Failure {
    Finding::error(format!("`{what}` is not in this build")).into()
}
