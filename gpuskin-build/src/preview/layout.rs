//! Where everything stands on the sheet, and which moments are shown.

use gpuskin_rt::ClipInfo;

/// Moments of a clip.
pub(super) const COLUMNS: u32 = 8;
/// Beyond so many clips cells are half as large, that a sheet of all clips a model may have fits in memory.
const MOST_LARGE_ROWS: u32 = 200;

const MARGIN: u32 = 20;
const GAP: u32 = 4;
const HEADER: u32 = 66;
/// Height of a clip's name above its cells, and of the times below them.
const LABEL: u32 = 26;
const TIMES: u32 = 26;

/// Places on the sheet, in pixels from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    /// Width and height of a cell.
    pub(super) cell: [u32; 2],
    rows: u32,
}

impl Layout {
    pub(super) fn new(clips: usize) -> Self {
        let rows = clips as u32;
        let cell = if rows > MOST_LARGE_ROWS { [80, 88] } else { [160, 176] };
        Self { cell, rows }
    }

    /// Width and height of the sheet.
    pub(super) fn size(&self) -> [u32; 2] {
        let width = 2 * MARGIN + COLUMNS * (self.cell[0] + GAP) - GAP;
        [width, HEADER + self.rows * self.row_height() + MARGIN]
    }

    fn row_height(&self) -> u32 {
        LABEL + self.cell[1] + TIMES
    }

    /// The model's name.
    pub(super) fn title(&self) -> [u32; 2] {
        [MARGIN, 16]
    }

    /// What there is to say of the model, below its name.
    pub(super) fn subtitle(&self) -> [u32; 2] {
        [MARGIN, 42]
    }

    /// A clip's name.
    pub(super) fn label(&self, row: u32) -> [u32; 2] {
        [MARGIN, HEADER + row * self.row_height() + 2]
    }

    /// A cell.
    pub(super) fn cell(&self, row: u32, column: u32) -> [u32; 2] {
        [MARGIN + column * (self.cell[0] + GAP), HEADER + row * self.row_height() + LABEL]
    }

    /// What is written below a cell, when it is so wide.
    pub(super) fn time(&self, row: u32, column: u32, width: u32) -> [u32; 2] {
        let [x, y] = self.cell(row, column);
        [x + self.cell[0].saturating_sub(width) / 2, y + self.cell[1] + 4]
    }
}

/// Seconds into a clip, evenly over it. The end of one that loops is its beginning, and left out.
pub(super) fn times(clip: &ClipInfo) -> Vec<f64> {
    if clip.duration.is_nan() || clip.duration <= 0.0 {
        return vec![0.0];
    }
    let intervals = if clip.looped { COLUMNS } else { COLUMNS - 1 };
    (0..COLUMNS).map(|i| clip.duration * f64::from(i) / f64::from(intervals)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpuskin_rt::{Aabb, ErrorInfo};

    fn clip(duration: f64, looped: bool) -> ClipInfo {
        ClipInfo {
            name: "run".into(),
            source: "Run".into(),
            first_frame: 0,
            intervals: 1,
            stored: 2,
            looped,
            duration,
            frame_rate: 1.0,
            bounds: Aabb::EMPTY,
            encoding_error: ErrorInfo::default(),
            motion_error: ErrorInfo::default(),
        }
    }

    #[test]
    fn times_cover_the_clip_once() {
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
    fn nothing_overlaps_or_leaves_the_sheet() {
        for clips in [0, 1, 2, 76, 201, 1020] {
            let layout = Layout::new(clips);
            let [width, height] = layout.size();
            assert!(u64::from(width) * u64::from(height) < 1 << 27, "{clips}: {width} x {height}");
            let mut bottom = layout.subtitle()[1] + 2 * super::super::font::LINE;
            for row in 0..clips as u32 {
                assert!(layout.label(row)[1] >= bottom);
                assert!(layout.cell(row, 0)[1] >= layout.label(row)[1] + 2 * super::super::font::LINE);
                for column in 1..COLUMNS {
                    assert!(layout.cell(row, column)[0] > layout.cell(row, column - 1)[0] + layout.cell[0]);
                }
                assert!(layout.cell(row, COLUMNS - 1)[0] + layout.cell[0] < width);
                bottom = layout.time(row, 0, 10)[1] + super::super::font::LINE;
            }
            assert!(bottom < height);
        }
    }
}
