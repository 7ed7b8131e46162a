//! `preview`: a contact sheet of a model, drawn by the runtime. One row per clip, one column per
//! time; in one encoding, or in two encodings with their difference.

mod canvas;
mod difference;
mod draw;
mod font;
mod framing;
mod ground;
mod labels;
mod layout;
mod sequence;
mod sheet;

use gpuskin_rt::internals::Encoding;

use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Label};
use crate::gpu::{self, Gpu};
use crate::manifest::Manifest;
pub use sequence::Sequence;
use sheet::PreviewModel;
pub use sheet::Sheet;

/// Bakes a model and draws its clips on the adapter that wgpu selects. `encoding` overrides the
/// manifest's.
///
/// # Errors
/// If the model cannot be baked, there is no GPU, or the GPU reports an error.
pub fn preview(manifest: &Manifest, model: &str, encoding: Option<Encoding>) -> Result<Sheet, Diagnostics> {
    let (take, warnings) = PreviewModel::new(manifest, model, encoding)?;
    let sheet = on_gpu(model, |gpu| Sheet::single(gpu, &take))?;
    Ok(sheet.with_warnings(warnings))
}

/// Bakes a model and draws crossfades and layers, one row per sequence. `encoding` overrides the
/// manifest's.
///
/// # Errors
/// If [`preview`] would fail, a clip or mask does not exist, or a layer is requested for a model
/// whose encoding is not `local-packed`.
pub fn sequences(
    manifest: &Manifest,
    model: &str,
    encoding: Option<Encoding>,
    sequences: &[Sequence],
) -> Result<Sheet, Diagnostics> {
    let (take, warnings) = PreviewModel::new(manifest, model, encoding)?;
    let sheet = on_gpu(model, |gpu| Sheet::sequences(gpu, &take, sequences))?;
    Ok(sheet.with_warnings(warnings))
}

/// Bakes a model in two encodings, and draws its clips in both from the same camera and at the same
/// times.
///
/// The difference of the images is drawn below: the absolute difference per channel of the stored
/// (sRGB) values, multiplied by a power of two up to 64. The factor is the same for all clips, and
/// is printed on the sheet.
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
/// let sheet = compare(&manifest, "soldier", encodings).expect("a model that can be baked, and a GPU");
/// sheet.write("coarse.png".as_ref()).expect("a folder to write to");
/// ```
pub fn compare(manifest: &Manifest, model: &str, [first, second]: [Encoding; 2]) -> Result<Sheet, Diagnostics> {
    let (a, mut warnings) = PreviewModel::new(manifest, model, Some(first))?;
    let (b, others) = PreviewModel::new(manifest, model, Some(second))?;
    for other in others {
        if warnings.iter().all(|warning| warning.to_string() != other.to_string()) {
            warnings.push(other);
        }
    }
    if !a.clips().eq(b.clips()) {
        let message = format!("{} and {} have different clips", first.name(), second.name());
        return Err(Diagnostic::error(DiagnosticCode::PreviewClips, message).within(Label::model(model)).into());
    }
    let sheet = on_gpu(model, |gpu| Sheet::compared(gpu, [&a, &b]))?;
    Ok(sheet.with_warnings(warnings))
}

fn on_gpu(model: &str, draw: impl FnOnce(Gpu) -> Result<Sheet, Diagnostic>) -> Result<Sheet, Diagnostic> {
    let gpu = gpu::open()?;
    let device = gpu.device.clone();
    draw::guarded(&device, || draw(gpu)).map_err(|diagnostic| diagnostic.within(Label::model(model)))
}
