// Radiance times exposure, at most the largest half float.
fn gpuskin_tone_mapped(radiance: vec3<f32>) -> vec3<f32> {
    return min(radiance * gpuskin_lighting.exposure, vec3<f32>(65504.0));
}
