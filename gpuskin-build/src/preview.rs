//! `preview`: a contact sheet of a model, drawn by the runtime. Clips down, times across.

mod canvas;
mod draw;
mod font;
mod framing;
mod ground;
mod layout;

use std::io::Cursor;
use std::path::Path;

use gpuskin_rt::skin::skin_vertex;
use gpuskin_rt::{ClipInfo, ColorFormat, ErrorInfo, Metadata, Model, Time};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use rayon::prelude::*;

use crate::bake::{BakeOptions, BakedModel, import_one};
use crate::finding::{Finding, Findings};
use crate::import::Pixels;
use crate::manifest::{Manifest, Textures};
use crate::names::member;
use crate::output;
use crate::units::{digits, length};
use canvas::{Canvas, Rgb};
use draw::Stage;
use framing::{Framing, Outline};
use layout::Layout;

const PAPER: Rgb = [246, 246, 244];
const INK: Rgb = [34, 38, 46];
const FAINT: Rgb = [110, 114, 122];
/// Rows that are drawn at another scale than most say so if it differs by this factor.
const SCALE_WORTH_SAYING: f32 = 1.05;

/// A picture of a model's clips: RGB, rows top down.
///
/// ```no_run
/// # use gpuskin_build::{manifest::Manifest, preview::preview};
/// let manifest = Manifest::load("gpuskin.toml".as_ref()).expect("a manifest");
/// let sheet = preview(&manifest, "soldier").expect("a model that can be baked, and a GPU");
/// sheet.write("soldier.png".as_ref()).expect("a folder to write to");
/// ```
#[derive(Clone, Debug)]
pub struct Sheet {
    canvas: Canvas,
    layout: Layout,
    moments: Vec<u32>,
    /// What is odd about the model.
    pub warnings: Findings,
}

/// Bakes a model and draws its clips on whatever adapter there is.
///
/// # Errors
/// When the model cannot be baked, there is no GPU, or the GPU cannot draw it.
pub fn preview(manifest: &Manifest, model: &str) -> Result<Sheet, Findings> {
    // What every device reads, and at once.
    let plain = Textures { formats: vec![ColorFormat::Rgba8], universal: false };
    let options = BakeOptions { model: Some(model), textures: Some(&plain), ..Default::default() };
    let (imported, warnings) = import_one(manifest, &options, Pixels::Decode)?;
    let (baked, runtime) = imported.bake(&options)?;
    let gpu = crate::gpu::open()?;
    let device = gpu.0.clone();
    let drawn = draw::guarded(&device, || Sheet::draw(gpu, &baked, &runtime));
    let sheet = drawn.map_err(|finding| finding.within(format!("model `{model}`")))?;
    Ok(Sheet { warnings, ..sheet })
}

impl Sheet {
    fn draw(gpu: (wgpu::Device, wgpu::Queue), baked: &BakedModel, model: &Model) -> Result<Self, Finding> {
        let meta = &baked.meta;
        let layout = Layout::new(meta.clips.len());
        let [width, height] = layout.size();
        let mut canvas = Canvas::new(width, height, PAPER);
        let framings = framing::frame(&outlines(baked, model), layout.cell[0] as f32 / layout.cell[1] as f32);
        let scale = framing::common(&framings);
        header(&mut canvas, &layout, meta, scale);

        let mut stage = Stage::new(gpu, model, layout.cell)?;
        let mut moments = Vec::new();
        for (row, (clip, framing)) in meta.clips.iter().zip(&framings).enumerate() {
            let times = layout::times(clip);
            stage.row(row, framing, &times, |bytes, stride| {
                for column in 0..times.len() as u32 {
                    let left = (column * layout.cell[0] * 4) as usize;
                    canvas.lay(layout.cell(row as u32, column), layout.cell, &bytes[left..], stride);
                }
            })?;
            label(&mut canvas, &layout, row as u32, meta, clip, framing, scale);
            for (column, seconds) in (0..).zip(&times) {
                let text = format!("{seconds:.3} s");
                let at = layout.time(row as u32, column, font::width(&text));
                canvas.text(at, 1, FAINT, &text);
            }
            moments.push(times.len() as u32);
        }
        Ok(Self { canvas, layout, moments, warnings: Findings::default() })
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

    /// Where the pictures of each clip are, in the order of their times: left, top, width and height.
    pub fn cells(&self, clip: usize) -> Vec<[u32; 4]> {
        let columns = self.moments.get(clip).copied().unwrap_or(0);
        let [width, height] = self.layout.cell;
        let place = |column| {
            let [x, y] = self.layout.cell(clip as u32, column);
            [x, y, width, height]
        };
        (0..columns).map(place).collect()
    }

    /// Writes it as a PNG: whole or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Finding> {
        let failed = |e: String| Finding::error(format!("cannot write {}: {e}", path.display()));
        let mut png = Cursor::new(Vec::new());
        let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Default, FilterType::Adaptive);
        let bytes = self.canvas.pixels.as_flattened();
        encoder
            .write_image(bytes, self.width(), self.height(), ExtendedColorType::Rgb8)
            .map_err(|e| failed(e.to_string()))?;
        output::replace(path, png.get_ref()).map_err(|e| failed(e.to_string()))
    }
}

/// What each clip's figure fills at the times that are shown.
fn outlines(baked: &BakedModel, model: &Model) -> Vec<Outline> {
    let (texels, vertices) = (baked.texels(model), baked.vertices(model));
    let records = &baked.plan.records;
    let outline = |(index, clip): (usize, &ClipInfo)| {
        let moments = layout::times(clip).into_iter().map(|seconds| {
            let instance = draw::standing(index, seconds).record(&baked.meta, Time::ZERO);
            let position = |v| skin_vertex(&texels, records, &instance, Time::ZERO, v, baked.meta.normals).position;
            Outline::of(vertices.iter().map(position))
        });
        moments.reduce(Outline::union).unwrap_or_else(|| Outline::of([]))
    };
    baked.meta.clips.par_iter().enumerate().map(outline).collect()
}

fn header(canvas: &mut Canvas, layout: &Layout, meta: &Metadata, scale: Option<Framing>) {
    canvas.text(layout.title(), 2, INK, &meta.name);
    let lines = scale.map_or(String::new(), |s| format!("   |   grid {}", grid(s.step)));
    let facts = format!(
        "{} bones   {} vertices   {} clips   {}   |   worst encoding error {}   worst motion error {}{lines}",
        meta.bones.len(),
        meta.mesh.vertex_count,
        meta.clips.len(),
        meta.encoding.name(),
        worst(meta, |clip| clip.encoding_error),
        worst(meta, |clip| clip.motion_error),
    );
    canvas.text(layout.subtitle(), 1, FAINT, &facts);
}

/// The distance of grid lines: a round number.
fn grid(step: f32) -> String {
    let text = length(step);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}")
}

/// The greatest error of all clips, and the clip that has it.
fn worst(meta: &Metadata, error: impl Fn(&ClipInfo) -> ErrorInfo) -> String {
    let greatest = meta.clips.iter().max_by(|a, b| error(a).max.total_cmp(&error(b).max));
    greatest.map_or("0".into(), |clip| format!("{} ({})", length(error(clip).max), clip.name))
}

fn label(
    canvas: &mut Canvas,
    layout: &Layout,
    row: u32,
    meta: &Metadata,
    clip: &ClipInfo,
    framing: &Framing,
    scale: Option<Framing>,
) {
    let [x, y] = layout.label(row);
    let end = canvas.text([x, y], 2, INK, &member(&meta.name, &clip.name));
    let manner = match clip.looped {
        _ if clip.duration <= 0.0 => "still",
        true => "loops",
        false => "once",
    };
    let mut facts = format!(
        "\"{}\"   {} s   {} fps   {}   error {}, between frames {}",
        clip.source,
        digits(clip.duration),
        digits(clip.frame_rate),
        manner,
        length(clip.encoding_error.max),
        length(clip.motion_error.max),
    );
    let smaller = scale.map_or(1.0, |s| framing.half[0] / s.half[0]);
    if smaller.max(smaller.recip()) > SCALE_WORTH_SAYING {
        facts += &format!("   drawn {}x smaller, grid {}", digits(f64::from(smaller)), grid(framing.step));
    }
    canvas.text([end + 2 * font::ADVANCE, y + font::ASCENT], 1, FAINT, &facts);
}
