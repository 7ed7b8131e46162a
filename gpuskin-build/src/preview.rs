//! `preview`: a contact sheet of a model, drawn by the runtime. Clips down, times across; in one encoding, or in two with
//! the difference.

mod canvas;
mod difference;
mod draw;
mod font;
mod framing;
mod ground;
mod labels;
mod layout;
mod sequence;

use std::io::Cursor;
use std::path::Path;

use gpuskin_rt::skin::skin_vertex;
use gpuskin_rt::{ColorFormat, Encoding, Metadata, Model, Time};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use rayon::prelude::*;

use crate::bake::{BakeOptions, BakedModel, import_one};
use crate::diagnostic::{DiagnosticCode, Diagnostic, Diagnostics, Label};
use crate::import::Pixels;
use crate::manifest::{Manifest, Textures};
use crate::output;
use canvas::{Canvas, Rgb};
use difference::Differences;
use draw::PreviewScene;
use framing::{Framing, ClipExtent};
use layout::Layout;
pub use sequence::Sequence;

const PAPER: Rgb = [246, 246, 244];

/// A picture of a model's clips: RGB, rows top down.
///
/// ```no_run
/// # use gpuskin_build::{manifest::Manifest, preview::preview};
/// let manifest = Manifest::load("gpuskin.toml".as_ref()).expect("a manifest");
/// let sheet = preview(&manifest, "soldier", None).expect("a model that can be baked, and a GPU");
/// sheet.write("soldier.png".as_ref()).expect("a folder to write to");
/// ```
#[derive(Clone, Debug)]
pub struct Sheet {
    canvas: Canvas,
    layout: Layout,
    moments: Vec<u32>,
    /// What is odd about the model.
    pub warnings: Diagnostics,
}

/// Bakes a model and draws its clips on whatever adapter there is. `encoding`: instead of the manifest's.
///
/// # Errors
/// When the model cannot be baked, there is no GPU, or the GPU cannot draw it.
pub fn preview(manifest: &Manifest, model: &str, encoding: Option<Encoding>) -> Result<Sheet, Diagnostics> {
    let (take, warnings) = PreviewModel::new(manifest, model, encoding)?;
    let sheet = on_gpu(model, |gpu| Sheet::single(gpu, &take))?;
    Ok(Sheet { warnings, ..sheet })
}

/// Bakes a model, and draws what becomes of its clips when others begin, a row for each sequence. `encoding`: instead of the
/// manifest's.
///
/// # Errors
/// As [`preview`]; when there is no such clip or mask, and for layers on a model that is not in `local-packed`.
pub fn sequences(
    manifest: &Manifest,
    model: &str,
    encoding: Option<Encoding>,
    sequences: &[Sequence],
) -> Result<Sheet, Diagnostics> {
    let (take, warnings) = PreviewModel::new(manifest, model, encoding)?;
    let sheet = on_gpu(model, |gpu| Sheet::sequences(gpu, &take, sequences))?;
    Ok(Sheet { warnings, ..sheet })
}

/// Bakes a model in two encodings, and draws its clips in either, from the same camera and at the same times, with the
/// difference of the pictures below them: in each channel, as stored (sRGB), multiplied by the power of two up to 64 that
/// shows it best. The factor is the same for all clips, and written on the sheet.
///
/// # Errors
/// As [`preview`].
///
/// # Example
/// ```no_run
/// # use gpuskin_build::{manifest::Manifest, preview::compare};
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
        let message = format!("its clips in {} are not those in {}", first.name(), second.name());
        return Err(Diagnostic::error(DiagnosticCode::PreviewClips, message).within(Label::model(model)).into());
    }
    let sheet = on_gpu(model, |gpu| Sheet::compared(gpu, [&a, &b]))?;
    Ok(Sheet { warnings, ..sheet })
}

fn on_gpu(
    model: &str,
    draw: impl FnOnce((wgpu::Device, wgpu::Queue)) -> Result<Sheet, Diagnostic>,
) -> Result<Sheet, Diagnostic> {
    let gpu = crate::gpu::open()?;
    let device = gpu.0.clone();
    draw::guarded(&device, || draw(gpu)).map_err(|diagnostic| diagnostic.within(Label::model(model)))
}

/// A model in one encoding: as baked, and as the runtime loads it.
struct PreviewModel {
    baked: BakedModel,
    runtime: Model,
}

impl PreviewModel {
    /// With what is odd about the model.
    fn new(manifest: &Manifest, model: &str, encoding: Option<Encoding>) -> Result<(Self, Diagnostics), Diagnostics> {
        // What every device reads, and at once.
        let plain = Textures { formats: vec![ColorFormat::Rgba8], universal: false };
        let options = BakeOptions { model: Some(model), encoding, textures: Some(&plain), ..Default::default() };
        let (imported, mut warnings) = import_one(manifest, &options, Pixels::Decode)?;
        let (baked, runtime) = imported.bake(&options, &mut warnings)?;
        Ok((Self { baked, runtime }, warnings))
    }

    fn meta(&self) -> &Metadata {
        &self.baked.meta
    }

    fn clips(&self) -> impl Iterator<Item = &str> {
        self.meta().clips.iter().map(|clip| &*clip.name)
    }

    /// Which moments of each clip are shown: seconds.
    fn times(&self) -> Vec<Vec<f64>> {
        self.meta().clips.iter().map(layout::times).collect()
    }

    /// What each clip's figure fills at these times.
    fn outlines(&self, times: &[Vec<f64>]) -> Vec<ClipExtent> {
        let (texels, vertices) = (self.baked.texels(&self.runtime), self.baked.vertices(&self.runtime));
        let (meta, records) = (self.meta(), &self.baked.trace().plan.records);
        let outline = |(clip, times): (usize, &Vec<f64>)| {
            let moments = times.iter().map(|seconds| {
                let instance = draw::standing(clip, *seconds).record(meta, Time::ZERO);
                let position = |v| skin_vertex(&texels, records, &instance, Time::ZERO, v, meta.normals).position;
                ClipExtent::of(vertices.iter().map(position))
            });
            moments.reduce(ClipExtent::union).unwrap_or_else(|| ClipExtent::of([]))
        };
        times.par_iter().enumerate().map(outline).collect()
    }
}

impl Sheet {
    /// Without a word or a picture.
    fn blank(layout: Layout, times: &[Vec<f64>]) -> Self {
        let [width, height] = layout.size();
        let moments = times.iter().map(|times| times.len() as u32).collect();
        Self { canvas: Canvas::new(width, height, PAPER), layout, moments, warnings: Diagnostics::default() }
    }

    fn single(gpu: (wgpu::Device, wgpu::Queue), take: &PreviewModel) -> Result<Self, Diagnostic> {
        let times = take.times();
        let layout = Layout::new(times.len());
        let framings = framing::frame(&take.outlines(&times), aspect(&layout));
        let scale = framing::common(&framings);
        let mut sheet = Self::blank(layout, &times);
        labels::header(&mut sheet.canvas, &layout, take.meta(), scale);
        sheet.strip(gpu, take, 0, &framings, &times)?;
        for (row, framing) in (0..).zip(&framings) {
            labels::clip(&mut sheet.canvas, &layout, row, take.meta(), framing, scale);
        }
        sheet.write_times(&times);
        Ok(sheet)
    }

    /// The times are the first one's, the views show both.
    fn compared(gpu: (wgpu::Device, wgpu::Queue), takes: [&PreviewModel; 2]) -> Result<Self, Diagnostic> {
        let times = takes[0].times();
        let layout = Layout::compared(times.len());
        let [of_a, of_b] = takes.map(|take| take.outlines(&times));
        let outlines: Vec<ClipExtent> = of_a.into_iter().zip(of_b).map(|(a, b)| a.union(b)).collect();
        let framings = framing::frame(&outlines, aspect(&layout));
        let scale = framing::common(&framings);
        let mut sheet = Self::blank(layout, &times);
        for (strip, take) in (0..).zip(takes) {
            sheet.strip(gpu.clone(), take, strip, &framings, &times)?;
        }
        let differences = sheet.draw_differences();
        let metas = takes.map(PreviewModel::meta);
        labels::compared_header(&mut sheet.canvas, &layout, metas, scale, &differences);
        for (row, framing) in (0..).zip(&framings) {
            labels::compared_clip(&mut sheet.canvas, &layout, row, metas, framing, scale);
        }
        sheet.write_times(&times);
        Ok(sheet)
    }

    /// Draws a row of cells of each clip.
    fn strip(
        &mut self,
        gpu: (wgpu::Device, wgpu::Queue),
        take: &PreviewModel,
        strip: u32,
        framings: &[Framing],
        times: &[Vec<f64>],
    ) -> Result<(), Diagnostic> {
        let Self { canvas, layout, .. } = self;
        let mut stage = PreviewScene::new(gpu, &take.runtime, layout.cell)?;
        for (row, (times, framing)) in times.iter().zip(framings).enumerate() {
            stage.row(row, framing, times, |bytes, stride| {
                for column in 0..times.len() as u32 {
                    let left = (column * layout.cell[0] * 4) as usize;
                    canvas.lay(layout.cell(row as u32, strip, column), layout.cell, &bytes[left..], stride);
                }
            })?;
        }
        Ok(())
    }

    /// Draws how the first two strips differ into the third, and counts it.
    fn draw_differences(&mut self) -> Differences {
        let Self { canvas, layout, moments, .. } = self;
        let rows = || (0..).zip(moments.iter().copied());
        let places = |row, column| [0, 1, 2].map(|strip| layout.cell(row, strip, column));
        let of_clip = |(row, columns): (u32, u32)| {
            let mut counted = Differences::NONE;
            for [a, b, _] in (0..columns).map(|column| places(row, column)) {
                counted.count(canvas, a, b, layout.cell);
            }
            counted
        };
        let of_clips: Vec<Differences> = rows().map(of_clip).collect();
        let mut all = Differences::NONE;
        of_clips.iter().for_each(|counted| all.add(counted));
        let factor = all.factor();
        for ((row, columns), counted) in rows().zip(&of_clips) {
            for [a, b, to] in (0..columns).map(|column| places(row, column)) {
                difference::draw(canvas, to, [a, b], layout.cell, factor);
            }
            labels::difference(canvas, layout, row, counted, factor);
        }
        all
    }

    fn write_times(&mut self, times: &[Vec<f64>]) {
        for (row, times) in (0..).zip(times) {
            for (column, seconds) in (0..).zip(times) {
                labels::time(&mut self.canvas, &self.layout, row, column, *seconds);
            }
        }
    }

    /// Pixels across.
    pub fn width(&self) -> u32 {
        self.canvas.width
    }

    /// Pixels down.
    pub fn height(&self) -> u32 {
        self.canvas.height
    }

    /// Red, green and blue of each pixel, as stored (sRGB).
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.canvas.pixels
    }

    /// Where the pictures of each clip are, in the order of their times: left, top, width and height. `strip`: 0, and on a
    /// sheet of [`compare`] 1 for the second encoding and 2 for the difference.
    pub fn cells(&self, clip: usize, strip: usize) -> Vec<[u32; 4]> {
        let columns = self.moments.get(clip).copied().filter(|_| strip < self.layout.strips as usize).unwrap_or(0);
        let [width, height] = self.layout.cell;
        let place = |column| {
            let [x, y] = self.layout.cell(clip as u32, strip as u32, column);
            [x, y, width, height]
        };
        (0..columns).map(place).collect()
    }

    /// Writes it as a PNG: whole or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Diagnostic> {
        let failed = |e: String| Diagnostic::error(DiagnosticCode::OutputFailed, format!("cannot write {}: {e}", path.display()));
        let mut png = Cursor::new(Vec::new());
        let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Default, FilterType::Adaptive);
        let bytes = self.canvas.pixels.as_flattened();
        encoder
            .write_image(bytes, self.width(), self.height(), ExtendedColorType::Rgb8)
            .map_err(|e| failed(e.to_string()))?;
        output::replace(path, png.get_ref()).map_err(|e| failed(e.to_string()))
    }
}

/// Width of a cell over its height.
fn aspect(layout: &Layout) -> f32 {
    layout.cell[0] as f32 / layout.cell[1] as f32
}
