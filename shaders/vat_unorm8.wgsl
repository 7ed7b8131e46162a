// vat-unorm8: so many texels a position, and the greatest number that is split over their bytes.
const gpuskin_splits: u32 = 1u;
const gpuskin_split_steps: f32 = 255.0;
