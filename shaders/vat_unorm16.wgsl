// vat-unorm16: texels per position, and the largest number split over their bytes.
const gpuskin_splits: u32 = 2u;
const gpuskin_split_steps: f32 = 65535.0;
