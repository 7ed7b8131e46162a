// vat-unorm8: texels per position, and the largest number split over their bytes.
const gpuskin_splits: u32 = 1u;
const gpuskin_split_steps: f32 = 255.0;
