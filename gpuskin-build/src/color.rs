//! Colour images: mips, averaged as light rather than as sRGB numbers.

use crate::model::Image;

/// Mip levels of an image, largest first, RGBA8 sRGB, down to one texel.
pub fn mips(image: &Image) -> Vec<Vec<u8>> {
    let linear: Vec<f32> = (0..256).map(|v| to_linear(v as f32 / 255.0)).collect();
    // Where an average of light changes from one sRGB number to the next.
    let borders: Vec<f32> = (0..255).map(|v| to_linear((v as f32 + 0.5) / 255.0)).collect();
    let mut levels = vec![image.rgba.clone()];
    let (mut width, mut height) = (image.width, image.height);
    while width > 1 || height > 1 {
        let (w, h) = ((width / 2).max(1), (height / 2).max(1));
        let above = levels.last().expect("starts with one");
        let mut level = Vec::with_capacity(w as usize * h as usize * 4);
        for y in 0..h {
            let rows = cover(y, h, height);
            for x in 0..w {
                level.extend(average(above, width, &cover(x, w, width), &rows, &linear, &borders));
            }
        }
        levels.push(level);
        (width, height) = (w, h);
    }
    levels
}

/// The texels of the level above that a texel covers along one side, and how much of each: two, or three where the
/// side above is odd.
fn cover(at: u32, side: u32, above: u32) -> Vec<(u32, f32)> {
    let scale = f64::from(above) / f64::from(side);
    let (start, end) = (f64::from(at) * scale, f64::from(at + 1) * scale);
    let covered = |i: u32| (end.min(f64::from(i + 1)) - start.max(f64::from(i))) / scale;
    (start as u32..above).map(|i| (i, covered(i) as f32)).take_while(|&(_, part)| part > 1e-6).collect()
}

fn average(
    texels: &[u8],
    width: u32,
    columns: &[(u32, f32)],
    rows: &[(u32, f32)],
    linear: &[f32],
    borders: &[f32],
) -> [u8; 4] {
    let mut sum = [0.0; 4];
    for &(y, part_y) in rows {
        for &(x, part_x) in columns {
            let at = (y as usize * width as usize + x as usize) * 4;
            let part = part_x * part_y;
            for c in 0..3 {
                sum[c] += linear[texels[at + c] as usize] * part;
            }
            sum[3] += f32::from(texels[at + 3]) * part;
        }
    }
    let color = |c: usize| borders.partition_point(|&border| border <= sum[c]) as u8;
    [color(0), color(1), color(2), sum[3].round() as u8]
}

/// sRGB number, 0..1, to light (IEC 61966-2-1).
fn to_linear(v: f32) -> f32 {
    if v <= 0.04045 { v / 12.92 } else { libm::powf((v + 0.055) / 1.055, 2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32, texel: impl Fn(u32, u32) -> [u8; 4]) -> Image {
        let rgba = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).flat_map(|(x, y)| texel(x, y)).collect();
        Image { name: "i".into(), width, height, rgba }
    }

    #[test]
    fn an_even_image_stays_what_it_is() {
        for (w, h) in [(8, 8), (7, 5), (1, 9), (16, 1)] {
            let levels = mips(&image(w, h, |_, _| [10, 128, 255, 77]));
            assert_eq!(levels.last().unwrap().len(), 4);
            assert!(levels.iter().flat_map(|l| l.chunks(4)).all(|t| t == [10, 128, 255, 77]), "{w} x {h}");
        }
    }

    #[test]
    fn black_and_white_average_to_half_the_light() {
        let levels = mips(&image(4, 4, |x, y| [((x + y) % 2 * 255) as u8; 4]));
        assert_eq!(levels.len(), 3);
        assert_eq!(levels[1][..4], [188, 188, 188, 128]);
        assert_eq!(levels[2][..4], [188, 188, 188, 128]);
    }
}
