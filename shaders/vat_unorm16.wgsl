// vat-unorm16: so many texels a position, and the greatest number that is split over their bytes.
const gpuskin_splits: u32 = 2u;
const gpuskin_split_steps: f32 = 65535.0;
