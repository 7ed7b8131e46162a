fn discard_masked(alpha: f32) {
    if (alpha < material.alpha_cutoff) {
        discard;
    }
}
