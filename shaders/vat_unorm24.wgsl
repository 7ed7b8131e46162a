// vat-unorm24: so many texels a position, and the greatest number that is split over their bytes.
const gpuskin_splits: u32 = 3u;
const gpuskin_split_steps: f32 = 16777215.0;
