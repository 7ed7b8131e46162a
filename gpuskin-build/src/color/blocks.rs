//! Mip levels as distinct blocks of 4 x 4 texels, for block encoders.

use std::collections::HashMap;

use crate::container::LevelBytes;

/// RGBA8 texels of a block, rows from top to bottom.
pub type BlockTexels = [u8; 64];
/// An encoded block.
pub type EncodedBlock = [u8; 16];

/// Distinct blocks of all mip levels of an image. Encoders encode each block independently, so
/// equal blocks are encoded once.
#[derive(Debug, Default)]
pub struct Blocks {
    /// Blocks in the order of their first use.
    pub distinct: Vec<BlockTexels>,
    /// Index in `distinct` of each block: `[level][block]`, rows from top to bottom.
    places: Vec<Vec<u32>>,
}

impl Blocks {
    /// Splits mip levels into blocks. Blocks that extend beyond an edge repeat the edge texels.
    pub fn of<'a>(levels: impl IntoIterator<Item = ([u32; 2], &'a [u8])>) -> Self {
        let mut blocks = Self::default();
        let mut known = HashMap::new();
        for ([width, height], rgba) in levels {
            let mut places = Vec::new();
            for by in 0..height.div_ceil(4) {
                for bx in 0..width.div_ceil(4) {
                    let texels = block([width, height], rgba, [bx, by]);
                    places.push(*known.entry(texels).or_insert_with(|| {
                        blocks.distinct.push(texels);
                        blocks.distinct.len() as u32 - 1
                    }));
                }
            }
            blocks.places.push(places);
        }
        blocks
    }

    /// Returns the mip levels with encoded blocks in the places of the distinct ones. `layers`: how many images one after the
    /// other are a level.
    pub fn levels<'b>(&'b self, layers: usize, encoded: &'b [EncodedBlock]) -> Vec<BlockLevel<'b>> {
        self.places.chunks(layers.max(1)).map(|places| BlockLevel { places, encoded }).collect()
    }
}

/// Encoded mip level.
#[derive(Debug)]
pub struct BlockLevel<'b> {
    /// `[layer][block]`.
    places: &'b [Vec<u32>],
    encoded: &'b [EncodedBlock],
}

impl LevelBytes for BlockLevel<'_> {
    fn len(&self) -> usize {
        self.places.iter().map(Vec::len).sum::<usize>() * size_of::<EncodedBlock>()
    }

    fn append_to(&self, file: &mut Vec<u8>) {
        self.places.iter().flatten().for_each(|place| file.extend_from_slice(&self.encoded[*place as usize]));
    }
}

fn block([width, height]: [u32; 2], rgba: &[u8], [bx, by]: [u32; 2]) -> BlockTexels {
    let mut texels = [0; 64];
    for y in 0..4 {
        let row = (by * 4 + y).min(height - 1) as usize * width as usize;
        for x in 0..4 {
            let from = (row + (bx * 4 + x).min(width - 1) as usize) * 4;
            let to = (y * 4 + x) as usize * 4;
            texels[to..to + 4].copy_from_slice(&rgba[from..from + 4]);
        }
    }
    texels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_repeated_and_equal_blocks_are_shared() {
        // Each column has another red; the second level equals the last column of the first block.
        let rgba: Vec<u8> = (0..3).flat_map(|_| (0..6).flat_map(|x| [x * 10, 0, 0, 255])).collect();
        let blocks = Blocks::of([([6, 3], &rgba[..]), ([1, 1], &[30, 0, 0, 255]), ([1, 1], &[30, 0, 0, 255])]);
        assert_eq!(blocks.distinct.len(), 3);
        let red = |block: usize, x: usize, y: usize| blocks.distinct[block][(y * 4 + x) * 4];
        assert_eq!([red(0, 0, 0), red(0, 3, 0), red(0, 3, 3)], [0, 30, 30]);
        assert_eq!([red(1, 0, 3), red(1, 1, 0), red(1, 3, 3)], [40, 50, 50]);
        assert!(blocks.distinct[2].chunks(4).all(|texel| texel == [30, 0, 0, 255]));
        let encoded = [[1; 16], [2; 16], [3; 16]];
        let levels = |layers| -> Vec<Vec<u8>> {
            let levels = blocks.levels(layers, &encoded);
            levels.iter().map(LevelBytes::to_vec).inspect(|bytes| assert_eq!(bytes.len(), bytes.capacity())).collect()
        };
        assert_eq!(levels(1), [[[1; 16], [2; 16]].concat(), vec![3; 16], vec![3; 16]]);
        assert_eq!(levels(3), [[[1; 16], [2; 16], [3; 16], [3; 16]].concat()]);
    }
}
