//! Difference of two images, measured and drawn.

use super::canvas::{Canvas, Rgb};

/// Maximum amplification of differences.
const MAX_FACTOR: u32 = 64;
/// Maximum share of the differing pixels that may saturate. Along contours, pixels differ by half
/// the range even if surfaces differ by one or two steps.
const MAX_SATURATED_SHARE: f64 = 0.2;

/// Histogram of pixels by the largest difference of their channels, in stored values from 0 to 255.
#[derive(Clone, Debug)]
pub(super) struct Differences {
    counts: [u64; 256],
}

impl Differences {
    pub(super) const NONE: Self = Self { counts: [0; 256] };

    /// Counts the pixels of two rectangles at `a` and `b` with the given width and height.
    pub(super) fn count(&mut self, canvas: &Canvas, a: [u32; 2], b: [u32; 2], size: [u32; 2]) {
        for (a, b) in pairs(canvas, a, b, size) {
            let greatest = distance(a, b).into_iter().max().unwrap_or(0);
            self.counts[usize::from(greatest)] += 1;
        }
    }

    /// Adds the pixels of another histogram.
    pub(super) fn add(&mut self, others: &Self) {
        self.counts.iter_mut().zip(&others.counts).for_each(|(sum, count)| *sum += count);
    }

    /// Share of the pixels that differ.
    pub(super) fn share(&self) -> f64 {
        let all: u64 = self.counts.iter().sum();
        if all == 0 { 0.0 } else { self.differing() as f64 / all as f64 }
    }

    /// Largest difference.
    pub(super) fn greatest(&self) -> u8 {
        (0..=u8::MAX).rev().find(|d| self.counts[usize::from(*d)] > 0).unwrap_or(0)
    }

    fn differing(&self) -> u64 {
        self.counts[1..].iter().sum()
    }

    /// Returns the largest power of two up to [`MAX_FACTOR`] that leaves most of the differing pixels
    /// below 255.
    pub(super) fn factor(&self) -> u32 {
        let some = self.differing() as f64 * MAX_SATURATED_SHARE;
        let blown_out = |factor: u32| -> u64 {
            let too_great = (1_u32..).zip(&self.counts[1..]).filter(|(d, _)| d * factor > 255);
            too_great.map(|(_, count)| count).sum()
        };
        let mut factor = MAX_FACTOR;
        while factor > 1 && blown_out(factor) as f64 > some {
            factor /= 2;
        }
        factor
    }
}

/// Draws the absolute difference per channel of the rectangles at `a` and `b`, multiplied by
/// `factor`, at `to`.
pub(super) fn draw(canvas: &mut Canvas, to: [u32; 2], [a, b]: [[u32; 2]; 2], size: [u32; 2], factor: u32) {
    let amplified = |d: u8| u32::from(d).saturating_mul(factor).min(255) as u8;
    let pixels: Vec<u8> = pairs(canvas, a, b, size)
        .flat_map(|(a, b)| {
            let [r, g, b] = distance(a, b).map(amplified);
            [r, g, b, 255]
        })
        .collect();
    canvas.blit(to, size, &pixels, size[0] as usize * 4);
}

fn distance(a: Rgb, b: Rgb) -> Rgb {
    [0, 1, 2].map(|i| a[i].abs_diff(b[i]))
}

/// Pairs the pixels of two rectangles, row by row.
fn pairs(
    canvas: &Canvas,
    a: [u32; 2],
    b: [u32; 2],
    [width, height]: [u32; 2],
) -> impl Iterator<Item = (Rgb, Rgb)> + '_ {
    let at = move |[x, y]: [u32; 2], column: u32, row: u32| canvas.get(x + column, y + row);
    (0..height).flat_map(move |row| (0..width).map(move |column| (at(a, column, row), at(b, column, row))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: [u32; 2] = [40, 10];
    const PLACES: [[u32; 2]; 3] = [[0, 0], [0, 10], [0, 20]];

    /// Returns two images of 400 pixels each and their difference. The second image has the given
    /// values added to some pixels.
    fn compared(added: &[(usize, Rgb)]) -> (Canvas, Differences, u32) {
        let mut canvas = Canvas::new(40, 30, [100, 120, 140]);
        let mut at = 400;
        for (count, [r, g, b]) in added {
            canvas.pixels[at..at + count].fill([100 + r, 120 - g, 140 + b]);
            at += count;
        }
        let mut differences = Differences::NONE;
        differences.count(&canvas, PLACES[0], PLACES[1], SIZE);
        let factor = differences.factor();
        draw(&mut canvas, PLACES[2], [PLACES[0], PLACES[1]], SIZE, factor);
        (canvas, differences, factor)
    }

    #[test]
    fn difference_of_equal_images_is_black() {
        let (canvas, differences, factor) = compared(&[]);
        assert_eq!((differences.share(), differences.greatest(), factor), (0.0, 0, 64));
        assert!(canvas.pixels[800..].iter().all(|p| *p == [0; 3]));
    }

    #[test]
    fn small_differences_are_amplified() {
        let (canvas, differences, factor) = compared(&[(8, [1, 0, 0]), (4, [0, 3, 2])]);
        assert_eq!((differences.greatest(), factor), (3, 64));
        assert!((differences.share() - 0.03).abs() < 1e-12);
        assert_eq!([canvas.pixels[800], canvas.pixels[808], canvas.pixels[812]], [[64, 0, 0], [0, 192, 128], [0; 3]]);
    }

    #[test]
    fn factor_is_smaller_for_large_frequent_differences() {
        let (canvas, _, factor) = compared(&[(100, [20, 0, 0])]);
        assert_eq!((factor, canvas.pixels[800]), (8, [160, 0, 0]));
        let (canvas, _, factor) = compared(&[(300, [3, 0, 0]), (2, [0, 0, 90])]);
        assert_eq!((factor, canvas.pixels[1100]), (64, [0, 0, 255]));
        let (_, _, factor) = compared(&[(300, [110, 0, 0])]);
        assert_eq!(factor, 2);
    }

    #[test]
    fn added_histograms_share_one_factor() {
        let (_, mut some, _) = compared(&[(400, [1, 0, 0])]);
        let (_, others, _) = compared(&[(400, [60, 0, 0])]);
        some.add(&others);
        assert_eq!((some.share(), some.greatest(), some.factor()), (1.0, 60, 4));
    }
}
