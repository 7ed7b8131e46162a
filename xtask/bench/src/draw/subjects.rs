//! Models to draw: the sample models, and tubes of any number of vertices.

use std::path::Path;

use gpuskin_build::Manifest;
use gpuskin_build::{BakeOptions, bake};
use gpuskin_rt::internals::{Encoding, Model};

use super::tube::{self, TubeKind};
use crate::Options;
use crate::context::{Context, text};

/// Vertices of the tube that is drawn beside the sample models.
const VERTICES: u32 = 3_000;

/// Model in two encodings.
pub(super) struct Subject {
    pub(super) model: Model,
    /// The model in `matrix-f16`, which is read without a palette; the published shader uses its
    /// matrices too.
    pub(super) direct: Model,
}

/// Tubes of the requested numbers of vertices, or else the sample models and one tube.
pub(super) fn subjects(context: &Context, options: &Options) -> Result<Vec<Subject>, String> {
    let mut all = Vec::new();
    if options.vertices.is_empty() {
        let manifest = Manifest::load(&options.manifest).map_err(|findings| text(&findings))?;
        let direct = baked(&manifest, Some(Encoding::MatrixF16))?;
        all.extend(context.models.iter().cloned().zip(direct).map(|(model, direct)| Subject { model, direct }));
    }
    let vertices = if options.vertices.is_empty() { &[VERTICES][..] } else { &options.vertices };
    let tubes: Vec<_> = vertices.iter().map(|&count| (count, TubeKind::Four)).collect();
    all.extend(tubes_of(&tubes)?);
    Ok(all)
}

/// Bakes tubes of the given numbers of vertices and kinds.
pub(super) fn tubes_of(tubes: &[(u32, TubeKind)]) -> Result<Vec<Subject>, String> {
    let folder = std::env::temp_dir().join(format!("gpuskin-bench-tubes-{}", std::process::id()));
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let baked = tubes.iter().map(|&(vertices, kind)| of_tube(&folder, vertices, kind)).collect();
    std::fs::remove_dir_all(&folder).map_err(failed)?;
    baked
}

fn of_tube(folder: &Path, vertices: u32, kind: TubeKind) -> Result<Subject, String> {
    let file = folder.join("tube.glb");
    std::fs::write(&file, tube::glb(vertices, kind)).map_err(|e| format!("{}: {e}", file.display()))?;
    let manifest = "[[model]]\nname = \"tube\"\npath = \"tube.glb\"\nencoding = \"local-packed\"\n\
                    [model.masks]\nupper = { root = \"joint 32\" }\n";
    let manifest = Manifest::parse(&folder.join("gpuskin.toml"), manifest).map_err(|findings| text(&findings))?;
    let [model, direct] = [None, Some(Encoding::MatrixF16)]
        .map(|encoding| baked(&manifest, encoding)?.pop().ok_or_else(|| "the tube was not baked".to_owned()));
    Ok(Subject { model: model?, direct: direct? })
}

fn baked(manifest: &Manifest, encoding: Option<Encoding>) -> Result<Vec<Model>, String> {
    // The error of a forced encoding does not matter here.
    let options = BakeOptions { encoding, skip_errors: true, ..Default::default() };
    Ok(bake(manifest, &options).map_err(|failed| text(&failed.diagnostics))?.runtime_models())
}
