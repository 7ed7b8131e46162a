//! Mip levels. Values are averaged in linear space, not as stored.

/// Meaning of the values of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MipFilter {
    /// sRGB colours; alpha is linear.
    Light,
    /// Unit vectors in red, green and blue; -1..1 is stored as 0..255.
    Normals,
    /// Linear values.
    Numbers,
}

/// Returns the mip levels of an RGBA8 image but the first, which is the image: largest first, down to one texel.
pub fn smaller_mips(kind: MipFilter, [mut width, mut height]: [u32; 2], rgba: &[u8]) -> Vec<Vec<u8>> {
    let tables = Tables::new();
    let mut levels: Vec<Vec<u8>> = Vec::new();
    while width > 1 || height > 1 {
        let (w, h) = ((width / 2).max(1), (height / 2).max(1));
        let above = levels.last().map_or(rgba, Vec::as_slice);
        let columns: Vec<_> = (0..w).map(|x| cover(x, w, width)).collect();
        let mut level = Vec::with_capacity(w as usize * h as usize * 4);
        for y in 0..h {
            let rows = cover(y, h, height);
            for columns in &columns {
                level.extend(tables.average(kind, above, width, columns, &rows));
            }
        }
        levels.push(level);
        (width, height) = (w, h);
    }
    levels
}

/// Returns the texels of the larger level that a texel covers along one axis, with their weights:
/// two, or three if the larger size is odd.
fn cover(at: u32, side: u32, above: u32) -> Vec<(u32, f32)> {
    let scale = f64::from(above) / f64::from(side);
    let (start, end) = (f64::from(at) * scale, f64::from(at + 1) * scale);
    let covered = |i: u32| (end.min(f64::from(i + 1)) - start.max(f64::from(i))) / scale;
    (start as u32..above).map(|i| (i, covered(i) as f32)).take_while(|&(_, part)| part > 1e-6).collect()
}

/// Conversions between sRGB values and linear light.
pub(super) struct Tables {
    /// Linear light of each sRGB value.
    linear: Vec<f32>,
    /// Linear light at the rounding borders between adjacent sRGB values, and infinity.
    borders: Vec<f32>,
    /// Rounded sRGB values of linear light in steps of 1 / [`STEPS`].
    rounded: Vec<u8>,
}

/// Number of steps of linear light: at most one sRGB value apart where they are darkest.
const STEPS: usize = 1 << 12;

impl Tables {
    pub(super) fn new() -> Self {
        let border = |v: u32| to_linear((v as f32 + 0.5) / 255.0);
        let borders: Vec<f32> = (0..255).map(border).chain([f32::INFINITY]).collect();
        let rounded = |step: usize| borders.partition_point(|&border| border <= step as f32 / STEPS as f32) as u8;
        let rounded = (0..=STEPS).map(rounded).collect();
        Self { linear: (0..256).map(|v| to_linear(v as f32 / 255.0)).collect(), borders, rounded }
    }

    /// Returns the rounded sRGB value of linear light in 0..1.
    fn to_srgb(&self, light: f32) -> u8 {
        let mut value = self.rounded[((light * STEPS as f32) as usize).min(STEPS)];
        while self.borders[usize::from(value)] <= light {
            value += 1;
        }
        value
    }

    /// Returns the average of texels by the weights of columns and rows.
    pub(super) fn average(
        &self,
        kind: MipFilter,
        texels: &[u8],
        width: u32,
        columns: &[(u32, f32)],
        rows: &[(u32, f32)],
    ) -> [u8; 4] {
        let mut sum = [0.0; 4];
        for &(y, part_y) in rows {
            for &(x, part_x) in columns {
                let at = (y as usize * width as usize + x as usize) * 4;
                let part = part_x * part_y;
                for c in 0..3 {
                    let number = texels[at + c];
                    sum[c] +=
                        part * if kind == MipFilter::Light { self.linear[number as usize] } else { f32::from(number) };
                }
                sum[3] += f32::from(texels[at + 3]) * part;
            }
        }
        let [r, g, b] = match kind {
            MipFilter::Light => [self.to_srgb(sum[0]), self.to_srgb(sum[1]), self.to_srgb(sum[2])],
            MipFilter::Normals => unit([sum[0], sum[1], sum[2]]),
            MipFilter::Numbers => [0, 1, 2].map(|c| sum[c].round() as u8),
        };
        [r, g, b, sum[3].round() as u8]
    }
}

/// Normalises a stored vector. A vector close to zero becomes +Z.
fn unit(stored: [f32; 3]) -> [u8; 3] {
    let [x, y, z] = stored.map(|v| v / 127.5 - 1.0);
    let length = (x * x + y * y + z * z).sqrt();
    if length < 1e-3 { [128, 128, 255] } else { [x, y, z].map(|v| ((v / length + 1.0) * 127.5).round() as u8) }
}

/// Converts an sRGB value in 0..1 to linear light (IEC 61966-2-1).
pub(crate) fn to_linear(v: f32) -> f32 {
    if v <= 0.04045 { v / 12.92 } else { libm::powf((v + 0.055) / 1.055, 2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32, texel: impl Fn(u32, u32) -> [u8; 4]) -> Vec<u8> {
        (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).flat_map(|(x, y)| texel(x, y)).collect()
    }

    #[test]
    fn uniform_image_has_uniform_mips() {
        for (kind, texel) in [
            (MipFilter::Light, [10, 128, 255, 77]),
            (MipFilter::Numbers, [10, 128, 255, 77]),
            (MipFilter::Normals, [200, 76, 219, 77]),
        ] {
            for (w, h) in [(8, 8), (7, 5), (1, 9), (16, 1)] {
                let levels = smaller_mips(kind, [w, h], &image(w, h, |_, _| texel));
                assert_eq!(levels.last().unwrap().len(), 4);
                for found in levels.iter().flat_map(|l| l.chunks(4)) {
                    assert!(found.iter().zip(texel).all(|(a, b)| a.abs_diff(b) <= 1), "{w} x {h}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn color_is_averaged_as_linear_light() {
        let checkered = image(4, 4, |x, y| [((x + y) % 2 * 255) as u8; 4]);
        let levels = smaller_mips(MipFilter::Light, [4, 4], &checkered);
        assert_eq!(levels.len(), 2);
        assert_eq!(levels[0][..4], [188, 188, 188, 128]);
        assert_eq!(levels[1][..4], [188, 188, 188, 128]);
        let levels = smaller_mips(MipFilter::Numbers, [4, 4], &checkered);
        assert_eq!(levels[1][..4], [128; 4]);
    }

    #[test]
    fn light_is_rounded_to_the_closest_value() {
        let tables = Tables::new();
        assert_eq!(tables.to_srgb(0.0), 0);
        assert_eq!([1.0, 1.0 + 1e-6].map(|light| tables.to_srgb(light)), [255; 2]);
        let lights = (0..1 << 16).map(|i| i as f32 / 65535.0).chain(tables.linear.iter().copied());
        for light in lights.chain(tables.borders.iter().take(255).flat_map(|b| [b.next_down(), *b])) {
            let expected = tables.borders.iter().filter(|border| **border <= light).count();
            assert_eq!(usize::from(tables.to_srgb(light)), expected, "{light}");
        }
        assert!((0..256).all(|v| usize::from(tables.to_srgb(tables.linear[v])) == v));
    }

    #[test]
    fn averaged_normals_have_unit_length() {
        // Normals at 45 degrees to the left and to the right, and opposite normals.
        let leaning = image(2, 2, |x, _| if x == 0 { [218, 128, 218, 255] } else { [37, 128, 218, 255] });
        assert_eq!(smaller_mips(MipFilter::Normals, [2, 2], &leaning)[0], [128, 128, 255, 255]);
        let opposite = image(2, 1, |x, _| if x == 0 { [255, 128, 128, 255] } else { [0, 127, 127, 255] });
        assert_eq!(smaller_mips(MipFilter::Normals, [2, 1], &opposite)[0], [128, 128, 255, 255]);
    }
}
