//! Contact sheet in memory: layout, cells and labels of one model, drawn row by row.

use std::path::Path;

use super::canvas::{Canvas, Rgb};
use super::difference::{self, Differences};
use super::draw::PreviewScene;
use super::framing::{self, ClipExtent, Framing};
use super::labels;
use super::layout::{self, CELL, COLUMNS, Layout};
use super::options::PreviewModel;
use crate::diagnostic::Diagnostic;
use crate::gpu::Gpu;

const PAPER: Rgb = [246, 246, 244];

/// An image of a model's clips: RGB, rows from top to bottom.
///
/// ```no_run
/// # use gpuskin_build::{Manifest, internals::preview::preview};
/// let manifest = Manifest::load("gpuskin.toml".as_ref()).expect("a manifest");
/// let preview = preview(&manifest, "soldier", &Default::default()).expect("a model that can be baked, and a GPU");
/// preview.sheets[0].write("soldier.png".as_ref()).expect("a folder to write to");
/// ```
#[derive(Clone, Debug)]
pub struct Sheet {
    pub(super) canvas: Canvas,
    pub(super) layout: Layout,
    /// Number of cells per row, without that of the seam.
    columns: Vec<u32>,
}

/// Clips of one sheet.
pub(super) struct Page<'c> {
    pub(super) clips: &'c [usize],
    /// "page 1 of 3", empty if there is one page.
    pub(super) title: String,
}

impl<'c> Page<'c> {
    /// Distributes clips to sheets of at most `most`. There is always a first sheet.
    pub(super) fn split(clips: &'c [usize], most: usize) -> Vec<Self> {
        let pages = clips.len().div_ceil(most).max(1);
        let page = |index: usize| {
            let clips = &clips[(index * most).min(clips.len())..((index + 1) * most).min(clips.len())];
            let title = if pages > 1 { format!("page {} of {pages}", index + 1) } else { String::new() };
            Self { clips, title }
        };
        (0..pages).map(page).collect()
    }

    /// Returns the values of the clips of this sheet from those of all clips.
    pub(super) fn of<T: Clone>(&self, all: &[T]) -> Vec<T> {
        self.clips.iter().map(|&clip| all[clip].clone()).collect()
    }
}

impl Sheet {
    /// Creates a sheet without text and cells.
    pub(super) fn blank(layout: Layout, times: &[Vec<f64>]) -> Self {
        let [width, height] = layout.size();
        let columns = times.iter().map(|times| times.len() as u32).collect();
        Self { canvas: Canvas::new(width, height, PAPER), layout, columns }
    }

    /// Draws the selected clips, on as many sheets as they need.
    pub(super) fn single(gpu: Gpu, model: &PreviewModel) -> Result<Vec<Self>, Diagnostic> {
        let times = model.times();
        let outlines = model.outlines(&times);
        let pages = Page::split(&model.clips, layout::MAX_CLIPS);
        let mut scene = PreviewScene::new(gpu, model, CELL)?;
        let draw = |page: &Page<'_>| {
            let layout = Layout::with_seams(page.clips.len());
            let framings = framing::frame(&page.of(&outlines), model.camera, ASPECT);
            let scale = framing::common(&framings);
            let times = page.of(&times);
            let mut sheet = Self::blank(layout, &times);
            labels::header(&mut sheet.canvas, &layout, model.meta(), scale, &page.title);
            sheet.strip(&mut scene, model, 0, page.clips, &framings, &times)?;
            sheet.seams(&mut scene, model, page.clips, &framings)?;
            for (row, (&clip, framing)) in (0..).zip(page.clips.iter().zip(&framings)) {
                labels::clip(&mut sheet.canvas, &layout, row, model.meta(), clip, framing, scale);
            }
            sheet.write_times(&times);
            Ok(sheet)
        };
        pages.iter().map(draw).collect()
    }

    /// Draws the selected clips in both encodings at the times of the first one. Each view contains
    /// both.
    pub(super) fn compared(gpu: Gpu, models: [&PreviewModel; 2]) -> Result<Vec<Self>, Diagnostic> {
        let times = models[0].times();
        let [of_a, of_b] = models.map(|model| model.outlines(&times));
        let outlines: Vec<ClipExtent> = of_a.into_iter().zip(of_b).map(|(a, b)| a.union(b)).collect();
        let metas = models.map(PreviewModel::meta);
        let pages = Page::split(&models[0].clips, layout::MAX_COMPARED_CLIPS);
        let mut scenes = [PreviewScene::new(gpu.clone(), models[0], CELL)?, PreviewScene::new(gpu, models[1], CELL)?];
        let draw = |page: &Page<'_>| {
            let layout = Layout::compared(page.clips.len());
            let framings = framing::frame(&page.of(&outlines), models[0].camera, ASPECT);
            let scale = framing::common(&framings);
            let times = page.of(&times);
            let mut sheet = Self::blank(layout, &times);
            for (strip, (scene, model)) in (0..).zip(scenes.iter_mut().zip(models)) {
                sheet.strip(scene, model, strip, page.clips, &framings, &times)?;
            }
            let differences = sheet.draw_differences();
            labels::compared_header(&mut sheet.canvas, &layout, metas, scale, &differences, &page.title);
            for (row, (&clip, framing)) in (0..).zip(page.clips.iter().zip(&framings)) {
                labels::compared_clip(&mut sheet.canvas, &layout, row, metas, clip, framing, scale);
            }
            sheet.write_times(&times);
            Ok(sheet)
        };
        pages.iter().map(draw).collect()
    }

    /// Draws a row of cells for each clip.
    pub(super) fn strip(
        &mut self,
        scene: &mut PreviewScene,
        model: &PreviewModel,
        strip: u32,
        clips: &[usize],
        framings: &[Framing],
        times: &[Vec<f64>],
    ) -> Result<(), Diagnostic> {
        let Self { canvas, layout, .. } = self;
        for (row, ((&clip, times), framing)) in (0..).zip(clips.iter().zip(times).zip(framings)) {
            scene.row(model, clip, framing, times, |bytes, stride| {
                for column in 0..times.len() as u32 {
                    let left = (column * CELL[0] * 4) as usize;
                    canvas.blit(layout.cell(row, strip, column), CELL, &bytes[left..], stride);
                }
            })?;
        }
        Ok(())
    }

    /// Draws the first and the last pose of each clip on top of each other, into the last column.
    fn seams(
        &mut self,
        scene: &mut PreviewScene,
        model: &PreviewModel,
        clips: &[usize],
        framings: &[Framing],
    ) -> Result<(), Diagnostic> {
        let Self { canvas, layout, .. } = self;
        for (row, (&clip, framing)) in (0..).zip(clips.iter().zip(framings)) {
            let Some(ends) = model.meta().clips.get(clip).and_then(layout::ends) else { continue };
            scene.row(model, clip, framing, &ends, |bytes, stride| {
                let last = &bytes[(CELL[0] * 4) as usize..];
                canvas.overlay(layout.cell(row, 0, COLUMNS), CELL, [bytes, last], stride);
            })?;
            labels::below(canvas, layout, row, COLUMNS, "first and last");
        }
        Ok(())
    }

    /// Draws the differences between the first two strips into the third, and counts them.
    pub(super) fn draw_differences(&mut self) -> Differences {
        let Self { canvas, layout, columns, .. } = self;
        let rows = || (0..).zip(columns.iter().copied());
        let places = |row, column| [0, 1, 2].map(|strip| layout.cell(row, strip, column));
        let of_clip = |(row, columns): (u32, u32)| {
            let mut counted = Differences::NONE;
            for [a, b, _] in (0..columns).map(|column| places(row, column)) {
                counted.count(canvas, a, b, CELL);
            }
            counted
        };
        let of_clips: Vec<Differences> = rows().map(of_clip).collect();
        let mut all = Differences::NONE;
        of_clips.iter().for_each(|counted| all.add(counted));
        let factor = all.factor();
        for ((row, columns), counted) in rows().zip(&of_clips) {
            for [a, b, to] in (0..columns).map(|column| places(row, column)) {
                difference::draw(canvas, to, [a, b], CELL, factor);
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
        let columns = self.columns.get(clip).copied().filter(|_| strip < self.layout.strips as usize).unwrap_or(0);
        let [width, height] = CELL;
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
        self.canvas.write(path)
    }
}

/// Width of a cell divided by its height.
pub(super) const ASPECT: f32 = CELL[0] as f32 / CELL[1] as f32;
