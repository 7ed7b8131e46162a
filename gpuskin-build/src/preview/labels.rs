//! Text on the sheet.

use gpuskin_rt::internals::{ClipInfo, ErrorInfo, Metadata};

use super::canvas::{Canvas, Rgb};
use super::difference::Differences;
use super::font;
use super::framing::Framing;
use super::layout::Layout;
use crate::identifier_case::member;
use crate::units::{digits, length};

const INK: Rgb = [34, 38, 46];
const FAINT: Rgb = [110, 114, 122];
/// Minimum factor from which a row with another scale says so.
const MIN_REPORTED_SCALE: f32 = 1.05;

/// Draws the name of the model and a summary of its clips.
pub(super) fn header(canvas: &mut Canvas, layout: &Layout, meta: &Metadata, scale: Option<Framing>, page: &str) {
    let facts = format!("{}   {}   |   {}{}", counts(meta), meta.encoding.name(), errors(meta), lines(scale));
    title(canvas, layout, meta, page, &[facts]);
}

/// Draws the name of the model and summaries of both encodings and of their difference.
pub(super) fn compared_header(
    canvas: &mut Canvas,
    layout: &Layout,
    [a, b]: [&Metadata; 2],
    scale: Option<Framing>,
    differences: &Differences,
    page: &str,
) {
    let [first, second] = [a, b].map(|meta| meta.encoding.name());
    let factor = differences.factor();
    let [of_first, of_second] = [a, b].map(|meta| format!("{:<12}   {}", meta.encoding.name(), errors(meta)));
    let (name, extent) = ("difference", extent(differences));
    let difference =
        format!("{name:<12}   amplified x {factor}: {extent}   |   |{first} - {second}| in each channel (sRGB)");
    let facts = format!("{}{}", counts(a), lines(scale));
    title(canvas, layout, a, page, &[facts, of_first, of_second, difference]);
}

fn title(canvas: &mut Canvas, layout: &Layout, meta: &Metadata, page: &str, lines: &[String]) {
    let [_, y] = layout.title();
    let end = canvas.text(layout.title(), 2, INK, &meta.name);
    canvas.text([end + 2 * font::ADVANCE, y + font::ASCENT], 1, FAINT, page);
    for (line, text) in (0..).zip(lines) {
        canvas.text(layout.subtitle(line), 1, FAINT, text);
    }
}

fn counts(meta: &Metadata) -> String {
    let (vertices, clips) = (meta.mesh.vertex_count, meta.clips.len());
    let moving = match meta.encoding.is_vertex() {
        true => format!("{} moving vertices", meta.texture.rows.saturating_sub(meta.encoding.range_rows())),
        false => format!("{} bones", meta.bones.len()),
    };
    format!("{moving}   {vertices} vertices   {clips} clips")
}

fn errors(meta: &Metadata) -> String {
    let encoding = worst(meta, |clip| clip.encoding_error);
    let motion = worst(meta, |clip| clip.motion_error);
    format!("worst encoding error {encoding}   worst motion error {motion}")
}

/// Returns the largest error of all clips, with the name of its clip.
fn worst(meta: &Metadata, error: impl Fn(&ClipInfo) -> ErrorInfo) -> String {
    let greatest = meta.clips.iter().max_by(|a, b| error(a).max.total_cmp(&error(b).max));
    greatest.map_or("0".into(), |clip| format!("{} ({})", length(error(clip).max), clip.name))
}

fn lines(scale: Option<Framing>) -> String {
    scale.map_or(String::new(), |s| format!("   |   grid {}", grid(s.step)))
}

/// Formats the distance of grid lines, which is a round number.
fn grid(step: f32) -> String {
    let text = length(step);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}")
}

/// Returns how many pixels differ and by how much.
fn extent(differences: &Differences) -> String {
    match differences.greatest() {
        0 => "no pixel differs".to_owned(),
        greatest => {
            format!("{} % of the pixels differ, by up to {greatest} of 255", digits(100.0 * differences.share()))
        }
    }
}

/// Draws the name and the properties of a clip.
pub(super) fn clip(
    canvas: &mut Canvas,
    layout: &Layout,
    row: u32,
    meta: &Metadata,
    clip: usize,
    framing: &Framing,
    scale: Option<Framing>,
) {
    let Some(clip) = meta.clips.get(clip) else { return };
    let facts =
        format!("{}   {}   {}   {}{}", span(clip), rate(clip), wrap_text(clip), error(clip), shrunk(framing, scale));
    name(canvas, layout, row, meta, clip, &facts);
}

/// Draws the title of a sequence and its properties.
pub(super) fn sequence(canvas: &mut Canvas, layout: &Layout, row: u32, title: &str, facts: &str) {
    let [x, y] = layout.label(row);
    let end = canvas.text([x, y], 2, INK, title);
    canvas.text([end + 2 * font::ADVANCE, y + font::ASCENT], 1, FAINT, facts);
}

/// Draws the name and the properties of a clip in two encodings. Properties that differ are above
/// the cells of each.
pub(super) fn compared_clip(
    canvas: &mut Canvas,
    layout: &Layout,
    row: u32,
    metas: [&Metadata; 2],
    clip: usize,
    framing: &Framing,
    scale: Option<Framing>,
) {
    let [Some(a), Some(b)] = metas.map(|meta| meta.clips.get(clip)) else { return };
    let facts = format!("{}   {}{}", span(a), wrap_text(a), shrunk(framing, scale));
    name(canvas, layout, row, metas[0], a, &facts);
    for (strip, (meta, clip)) in (0..).zip(metas.into_iter().zip([a, b])) {
        caption(canvas, layout, row, strip, meta.encoding.name(), &format!("{}   {}", rate(clip), error(clip)));
    }
}

/// Draws the caption of a clip's difference.
pub(super) fn difference(canvas: &mut Canvas, layout: &Layout, row: u32, of_clip: &Differences, factor: u32) {
    caption(canvas, layout, row, layout.strips - 1, &format!("difference x {factor}"), &extent(of_clip));
}

pub(super) fn caption(canvas: &mut Canvas, layout: &Layout, row: u32, strip: u32, name: &str, facts: &str) {
    let [x, y] = layout.caption(row, strip);
    let end = canvas.text([x, y], 1, INK, name);
    canvas.text([end + 3 * font::ADVANCE, y], 1, FAINT, facts);
}

fn name(canvas: &mut Canvas, layout: &Layout, row: u32, meta: &Metadata, clip: &ClipInfo, facts: &str) {
    sequence(canvas, layout, row, &member(&meta.name, &clip.name), facts);
}

fn span(clip: &ClipInfo) -> String {
    format!("\"{}\"   {} s", clip.source, digits(clip.duration))
}

fn rate(clip: &ClipInfo) -> String {
    format!("{} fps", digits(clip.frame_rate))
}

fn wrap_text(clip: &ClipInfo) -> &'static str {
    match clip.looped {
        _ if clip.duration <= 0.0 => "still",
        true => "loops",
        false => "once",
    }
}

fn error(clip: &ClipInfo) -> String {
    format!("error {}, between frames {}", length(clip.encoding_error.max), length(clip.motion_error.max))
}

/// Returns a note if a row is drawn at another scale than most.
fn shrunk(framing: &Framing, scale: Option<Framing>) -> String {
    let smaller = scale.map_or(1.0, |s| framing.half[0] / s.half[0]);
    if smaller.max(smaller.recip()) <= MIN_REPORTED_SCALE {
        return String::new();
    }
    format!("   drawn {}x smaller, grid {}", digits(f64::from(smaller)), grid(framing.step))
}

/// Draws the time below a column of cells.
pub(super) fn time(canvas: &mut Canvas, layout: &Layout, row: u32, column: u32, seconds: f64) {
    below(canvas, layout, row, column, &format!("{seconds:.3} s"));
}

/// Draws a text below a column of cells.
pub(super) fn below(canvas: &mut Canvas, layout: &Layout, row: u32, column: u32, text: &str) {
    canvas.text(layout.time(row, column, font::width(text)), 1, FAINT, text);
}
