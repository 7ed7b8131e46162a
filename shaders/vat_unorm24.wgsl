// vat-unorm24: texels per position, and the largest number split over their bytes.
const gpuskin_splits: u32 = 3u;
const gpuskin_split_steps: f32 = 16777215.0;
