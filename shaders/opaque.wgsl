// Alpha of the picture where a surface is not blended (alpha modes OPAQUE and MASK of glTF).
fn drawn_alpha(alpha: f32) -> f32 {
    return 1.0;
}
