//! Layout of the sheet, and times of its columns.

use gpuskin_rt::internals::ClipInfo;

/// Number of columns: times per clip.
pub(super) const COLUMNS: u32 = 8;
/// Width and height of a cell, in pixels.
pub(super) const CELL: [u32; 2] = [160, 176];
/// Maximum number of rows of cells on a sheet. It keeps sheets below 6,000 pixels in height.
const MAX_ROWS: usize = 24;
/// Rows of cells per clip if two encodings are compared.
const COMPARED_STRIPS: u32 = 3;
/// Rows of cells per retargeted clip: its source, and the model.
const RETARGETED_STRIPS: u32 = 2;
/// Maximum number of clips on a sheet, for one encoding, for two, and for retargeted clips.
pub(super) const MAX_CLIPS: usize = MAX_ROWS;
pub(super) const MAX_RETARGETED_CLIPS: usize = MAX_ROWS / RETARGETED_STRIPS as usize;
pub(super) const MAX_COMPARED_CLIPS: usize = MAX_ROWS / COMPARED_STRIPS as usize;

const MARGIN: u32 = 20;
const GAP: u32 = 4;
/// Distance of lines of small text.
const LINE: u32 = 14;
const HEADER: u32 = 66;
/// Height of a clip's name above its cells, and of the times below them.
const LABEL: u32 = 26;
const TIMES: u32 = 26;
/// Height of the caption above a strip. The caption is closer to its strip than to the strip above.
const CAPTION: u32 = 18;

/// Positions on the sheet, in pixels from its upper left corner. A clip has one row of cells, or
/// three with captions (strips) if two encodings are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    clips: u32,
    /// Rows of cells per clip.
    pub(super) strips: u32,
    header: u32,
    caption: u32,
    /// Columns of cells, including that of the seam.
    columns: u32,
}

impl Layout {
    /// Creates the layout for one encoding.
    pub(super) fn new(clips: usize) -> Self {
        Self { clips: clips as u32, strips: 1, header: HEADER, caption: 0, columns: COLUMNS }
    }

    /// Creates the layout for one encoding, with a column after the others for the first and the last
    /// pose on top of each other.
    pub(super) fn with_seams(clips: usize) -> Self {
        Self { columns: COLUMNS + 1, ..Self::new(clips) }
    }

    /// Creates the layout for two encodings and their difference.
    pub(super) fn compared(clips: usize) -> Self {
        // One line per encoding and one for the difference.
        let header = HEADER + 3 * LINE;
        Self { clips: clips as u32, strips: COMPARED_STRIPS, header, caption: CAPTION, columns: COLUMNS }
    }

    /// Creates the layout for the skeleton of a retargeted clip's source above the model.
    pub(super) fn retargeted(clips: usize) -> Self {
        Self { strips: RETARGETED_STRIPS, caption: CAPTION, ..Self::new(clips) }
    }

    /// Width and height of the sheet.
    pub(super) fn size(&self) -> [u32; 2] {
        let width = 2 * MARGIN + self.columns * (CELL[0] + GAP) - GAP;
        [width, self.header + self.clips * self.row_height() + MARGIN]
    }

    fn row_height(&self) -> u32 {
        LABEL + self.strips * self.strip_height() + TIMES
    }

    fn strip_height(&self) -> u32 {
        self.caption + CELL[1]
    }

    /// Position of the model's name.
    pub(super) fn title(&self) -> [u32; 2] {
        [MARGIN, 16]
    }

    /// Position of a line of text below the model's name.
    pub(super) fn subtitle(&self, line: u32) -> [u32; 2] {
        [MARGIN, 42 + line * LINE]
    }

    /// Position of a clip's name.
    pub(super) fn label(&self, row: u32) -> [u32; 2] {
        [MARGIN, self.header + row * self.row_height() + 2]
    }

    /// Position of the caption of a strip.
    pub(super) fn caption(&self, row: u32, strip: u32) -> [u32; 2] {
        let [x, y] = self.cell(row, strip, 0);
        [x, y.saturating_sub(LINE) + 3]
    }

    /// Position of a cell.
    pub(super) fn cell(&self, row: u32, strip: u32, column: u32) -> [u32; 2] {
        let top = self.header + row * self.row_height() + LABEL;
        [MARGIN + column * (CELL[0] + GAP), top + strip * self.strip_height() + self.caption]
    }

    /// Position of a text of the given width below a column of a clip.
    pub(super) fn time(&self, row: u32, column: u32, width: u32) -> [u32; 2] {
        let [x, y] = self.cell(row, self.strips - 1, column);
        [x + CELL[0].saturating_sub(width) / 2, y + CELL[1] + 4]
    }
}

/// Returns evenly spaced times of a clip, in seconds. For a looping clip, the end is left out,
/// because it equals the start.
pub(super) fn times(clip: &ClipInfo) -> Vec<f64> {
    if clip.duration.is_nan() || clip.duration <= 0.0 {
        return vec![0.0];
    }
    let intervals = if clip.looped { COLUMNS } else { COLUMNS - 1 };
    (0..COLUMNS).map(|i| clip.duration * f64::from(i) / f64::from(intervals)).collect()
}

/// Returns the times of the first and of the last frame of a clip, in seconds. The last frame of a
/// looping clip is the one before the start repeats. `None` for a clip of one pose.
pub(super) fn ends(clip: &ClipInfo) -> Option<[f64; 2]> {
    let frame = if clip.looped { clip.frame_rate.recip() } else { 0.0 };
    let last = clip.duration - frame;
    (last > 0.0).then_some([0.0, last])
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpuskin_rt::internals::{Aabb, ErrorInfo, HeldFrames};

    fn clip(duration: f64, looped: bool) -> ClipInfo {
        ClipInfo {
            name: "run".into(),
            source: "Run".into(),
            first_frame: 0,
            intervals: 1,
            stored: 2,
            held: HeldFrames::NONE,
            stepped: false,
            looped,
            duration,
            frame_rate: 1.0,
            bounds: Aabb::EMPTY,
            events: vec![].into(),
            root_motion: None,
            additive: None,
            encoding_error: ErrorInfo::default(),
            motion_error: ErrorInfo::default(),
        }
    }

    #[test]
    fn times_cover_the_clip() {
        let once = times(&clip(0.7, false));
        assert_eq!((once.len(), once[0], once[7]), (8, 0.0, 0.7));
        let looped = times(&clip(0.8, true));
        assert_eq!((looped.len(), looped[0]), (8, 0.0));
        assert!((looped[7] - 0.7).abs() < 1e-12);
        for still in [0.0, f64::NAN] {
            assert_eq!(times(&clip(still, true)), [0.0]);
        }
    }

    #[test]
    fn last_frame_of_a_loop_is_not_its_first() {
        assert_eq!(ends(&clip(3.0, false)), Some([0.0, 3.0]));
        assert_eq!(ends(&clip(3.0, true)), Some([0.0, 2.0]), "one frame per second");
        for still in [0.0, f64::NAN] {
            assert_eq!(ends(&clip(still, true)), None);
        }
    }

    #[test]
    fn cells_and_labels_do_not_overlap() {
        use super::super::font;
        for clips in 0..=MAX_CLIPS {
            for layout in [
                Layout::with_seams(clips),
                Layout::compared(clips.min(MAX_COMPARED_CLIPS)),
                Layout::retargeted(clips.min(MAX_RETARGETED_CLIPS)),
            ] {
                let [width, height] = layout.size();
                assert!(width < 1600 && height < 6000, "{clips}: {width} x {height}");
                let lines = if layout.strips == COMPARED_STRIPS { 3 } else { 0 };
                let mut bottom = layout.subtitle(lines)[1] + 2 * font::LINE;
                for row in 0..layout.clips {
                    assert!(layout.label(row)[1] >= bottom);
                    bottom = layout.label(row)[1] + 2 * font::LINE;
                    for strip in 0..layout.strips {
                        if layout.caption > 0 {
                            assert!(layout.caption(row, strip)[1] >= bottom);
                            bottom = layout.caption(row, strip)[1] + font::LINE;
                        }
                        assert!(layout.cell(row, strip, 0)[1] >= bottom);
                        for column in 1..layout.columns {
                            let left = layout.cell(row, strip, column - 1)[0];
                            assert!(layout.cell(row, strip, column)[0] > left + CELL[0]);
                        }
                        assert!(layout.cell(row, strip, layout.columns - 1)[0] + CELL[0] < width);
                        bottom = layout.cell(row, strip, 0)[1] + CELL[1];
                    }
                    assert!(layout.time(row, 0, 10)[1] >= bottom);
                    bottom = layout.time(row, 0, 10)[1] + font::LINE;
                }
                assert!(bottom < height);
            }
        }
    }
}
