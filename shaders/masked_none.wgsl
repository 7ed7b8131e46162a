fn discard_masked(alpha: f32) {}
