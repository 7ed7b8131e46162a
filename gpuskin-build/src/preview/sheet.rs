//! Contact sheet in memory: layout, cells and labels of one model, drawn row by row.

use std::io::Cursor;
use std::path::Path;

use gpuskin_rt::internals::skin::skin_vertex;
use gpuskin_rt::internals::{ColorFormat, Encoding, Metadata, Model, Time};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use rayon::prelude::*;

use super::canvas::{Canvas, Rgb};
use super::difference::{self, Differences};
use super::draw::{self, PreviewScene};
use super::framing::{self, ClipExtent, Framing};
use super::labels;
use super::layout::{self, Layout};
use crate::bake::{BakeOptions, BakedModel, import_one};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
use crate::gpu::Gpu;
use crate::import::Pixels;
use crate::manifest::{Manifest, Textures};
use crate::output;

const PAPER: Rgb = [246, 246, 244];

/// An image of a model's clips: RGB, rows from top to bottom.
///
/// ```no_run
/// # use gpuskin_build::{Manifest, internals::preview::preview};
/// let manifest = Manifest::load("gpuskin.toml".as_ref()).expect("a manifest");
/// let sheet = preview(&manifest, "soldier", None).expect("a model that can be baked, and a GPU");
/// sheet.write("soldier.png".as_ref()).expect("a folder to write to");
/// ```
#[derive(Clone, Debug)]
pub struct Sheet {
    pub(super) canvas: Canvas,
    layout: Layout,
    moments: Vec<u32>,
    /// Warnings about the model.
    pub warnings: Diagnostics,
}

/// A model in one encoding: as baked, and as the runtime loads it.
pub(super) struct PreviewModel {
    baked: BakedModel,
    pub(super) runtime: Model,
}

impl PreviewModel {
    /// Bakes a model. Also returns its warnings.
    pub(super) fn new(
        manifest: &Manifest,
        model: &str,
        encoding: Option<Encoding>,
    ) -> Result<(Self, Diagnostics), Diagnostics> {
        // All devices support RGBA8, and it needs no encoding.
        let plain = Textures { formats: vec![ColorFormat::Rgba8], universal: false };
        let options = BakeOptions { model: Some(model), encoding, textures: Some(&plain), ..Default::default() };
        let (imported, mut warnings) = import_one(manifest, &options, Pixels::Decode)?;
        let (baked, runtime) = imported.bake(&options, &mut warnings)?;
        Ok((Self { baked, runtime }, warnings))
    }

    pub(super) fn meta(&self) -> &Metadata {
        &self.baked.meta
    }

    pub(super) fn clips(&self) -> impl Iterator<Item = &str> {
        self.meta().clips.iter().map(|clip| &*clip.name)
    }

    /// Times that are drawn of each clip, in seconds.
    pub(super) fn times(&self) -> Vec<Vec<f64>> {
        self.meta().clips.iter().map(layout::times).collect()
    }

    /// Returns the extent of each clip over the given times.
    pub(super) fn outlines(&self, times: &[Vec<f64>]) -> Vec<ClipExtent> {
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
    /// Replaces the warnings.
    pub(super) fn with_warnings(self, warnings: Diagnostics) -> Self {
        Self { warnings, ..self }
    }

    /// Creates a sheet without text and cells.
    pub(super) fn blank(layout: Layout, times: &[Vec<f64>]) -> Self {
        let [width, height] = layout.size();
        let moments = times.iter().map(|times| times.len() as u32).collect();
        Self { canvas: Canvas::new(width, height, PAPER), layout, moments, warnings: Diagnostics::default() }
    }

    pub(super) fn single(gpu: Gpu, take: &PreviewModel) -> Result<Self, Diagnostic> {
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

    /// Draws both encodings at the times of the first one. Each view contains both.
    pub(super) fn compared(gpu: Gpu, takes: [&PreviewModel; 2]) -> Result<Self, Diagnostic> {
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

    /// Draws a row of cells for each clip.
    pub(super) fn strip(
        &mut self,
        gpu: Gpu,
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
                    canvas.blit(layout.cell(row as u32, strip, column), layout.cell, &bytes[left..], stride);
                }
            })?;
        }
        Ok(())
    }

    /// Draws the differences between the first two strips into the third, and counts them.
    pub(super) fn draw_differences(&mut self) -> Differences {
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

    pub(super) fn write_times(&mut self, times: &[Vec<f64>]) {
        for (row, times) in (0..).zip(times) {
            for (column, seconds) in (0..).zip(times) {
                labels::time(&mut self.canvas, &self.layout, row, column, *seconds);
            }
        }
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.canvas.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.canvas.height
    }

    /// Red, green and blue of each pixel, as stored (sRGB).
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.canvas.pixels
    }

    /// Returns the rectangles of a clip's cells in the order of their times: left, top, width and
    /// height in pixels. `strip` is 0; on a sheet of [`compare`] also 1 for the second encoding and
    /// 2 for the difference.
    pub fn cells(&self, clip: usize, strip: usize) -> Vec<[u32; 4]> {
        let columns = self.moments.get(clip).copied().filter(|_| strip < self.layout.strips as usize).unwrap_or(0);
        let [width, height] = self.layout.cell;
        let place = |column| {
            let [x, y] = self.layout.cell(clip as u32, strip as u32, column);
            [x, y, width, height]
        };
        (0..columns).map(place).collect()
    }

    /// Writes the sheet as a PNG file, atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Diagnostic> {
        let failed = |e: String| {
            Diagnostic::error(DiagnosticCode::OutputFailed, format!("cannot write {}: {e}", path.display()))
        };
        let mut png = Cursor::new(Vec::new());
        let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Default, FilterType::Adaptive);
        let bytes = self.canvas.pixels.as_flattened();
        encoder
            .write_image(bytes, self.width(), self.height(), ExtendedColorType::Rgb8)
            .map_err(|e| failed(e.to_string()))?;
        output::replace_file(path, png.get_ref()).map_err(|e| failed(e.to_string()))
    }
}

/// Width of a cell divided by its height.
pub(super) fn aspect(layout: &Layout) -> f32 {
    layout.cell[0] as f32 / layout.cell[1] as f32
}
