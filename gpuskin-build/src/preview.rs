//! `preview` and `view`: pictures of a model. Contact sheets of a model, drawn by the runtime. One row per clip, one column per
//! time; in one encoding, or in two encodings with their difference.

mod canvas;
mod difference;
mod draw;
mod font;
mod framing;
mod ground;
mod labels;
mod layout;
mod options;
mod retargeted;
mod sequence;
mod sheet;
mod targets;
mod view;

use gpuskin_rt::internals::Encoding;

use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Label};
use crate::gpu::{self, Gpu};
use crate::manifest::Manifest;
pub use framing::Orbit;
use options::PreviewModel;
pub use options::SheetOptions;
pub use sequence::Sequence;
pub use sheet::Sheet;
#[cfg(feature = "view")]
pub(crate) use view::show;
pub use view::{ViewOptions, view};

/// Contact sheets of one model, and the warnings of its bake.
#[derive(Clone, Debug)]
pub struct Preview {
    /// Sheets of at most 24 rows of cells; at least one.
    pub sheets: Vec<Sheet>,
    /// Warnings about the model.
    pub warnings: Diagnostics,
}

/// Bakes a model and draws its clips on the adapter that wgpu selects.
///
/// # Errors
/// If the model cannot be baked, it lacks a clip, part or level of detail that `options` name, there
/// is no GPU, or the GPU reports an error.
pub fn preview(manifest: &Manifest, model: &str, options: &SheetOptions) -> Result<Preview, Diagnostics> {
    let (baked, warnings) = PreviewModel::new(manifest, model, options.encoding, options)?;
    let sheets = on_gpu(model, |gpu| Sheet::single(gpu, &baked))?;
    Ok(Preview { sheets, warnings })
}

/// Bakes a model and draws crossfades and layers, one row per sequence. The sequences name the clips
/// to draw; `options.clips` has no effect.
///
/// # Errors
/// If [`preview`] would fail, a clip or mask does not exist, or a layer is requested for a model
/// whose encoding is not `local-packed`.
pub fn sequences(
    manifest: &Manifest,
    model: &str,
    options: &SheetOptions,
    sequences: &[Sequence],
) -> Result<Preview, Diagnostics> {
    let (baked, warnings) = PreviewModel::new(manifest, model, options.encoding, options)?;
    let sheet = on_gpu(model, |gpu| Sheet::sequences(gpu, &baked, sequences))?;
    Ok(Preview { sheets: vec![sheet], warnings })
}

/// Bakes a model in two encodings, and draws its clips in both from the same camera and at the same
/// times.
///
/// The difference of the images is drawn below: the absolute difference per channel of the stored
/// (sRGB) values, multiplied by a power of two up to 64. The factor is the same for all clips of a
/// sheet, and is printed on it.
///
/// # Errors
/// If [`preview`] would fail, or the encodings do not have the same clips.
///
/// # Example
/// ```no_run
/// # use gpuskin_build::{Manifest, internals::preview::compare};
/// # use gpuskin_rt::Encoding;
/// let manifest = Manifest::load("gpuskin.toml".as_ref()).expect("a manifest");
/// let encodings = [Encoding::MatrixF32, Encoding::Fixed16];
/// let preview = compare(&manifest, "soldier", encodings, &Default::default()).expect("a model that can be baked");
/// preview.sheets[0].write("coarse.png".as_ref()).expect("a folder to write to");
/// ```
pub fn compare(
    manifest: &Manifest,
    model: &str,
    [first, second]: [Encoding; 2],
    options: &SheetOptions,
) -> Result<Preview, Diagnostics> {
    let (a, mut warnings) = PreviewModel::new(manifest, model, Some(first), options)?;
    let (b, of_second) = PreviewModel::new(manifest, model, Some(second), options)?;
    for other in of_second {
        if warnings.iter().all(|warning| warning.to_string() != other.to_string()) {
            warnings.push(other);
        }
    }
    if !a.clip_names().eq(b.clip_names()) {
        let message = format!("{} and {} have different clips", first.name(), second.name());
        return Err(Diagnostic::error(DiagnosticCode::PreviewClips, message).within(Label::model(model)).into());
    }
    let sheets = on_gpu(model, |gpu| Sheet::compared(gpu, [&a, &b]))?;
    Ok(Preview { sheets, warnings })
}

/// Bakes a model and draws its retargeted clips below the skeletons of their sources, scaled to the model.
///
/// # Errors
/// If [`preview`] would fail, or no clip is retargeted.
pub fn retargeted(manifest: &Manifest, model: &str, options: &SheetOptions) -> Result<Preview, Diagnostics> {
    let (baked, warnings) = PreviewModel::new(manifest, model, options.encoding, options)?;
    let sheets = on_gpu(model, |gpu| Sheet::retargeted(gpu, &baked))?;
    Ok(Preview { sheets, warnings })
}

fn on_gpu<T>(model: &str, draw: impl FnOnce(Gpu) -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
    let gpu = gpu::open()?;
    let device = gpu.device.clone();
    draw::guarded(&device, || draw(gpu)).map_err(|diagnostic| diagnostic.within(Label::model(model)))
}
