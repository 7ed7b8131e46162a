// Filmic curve of radiance times exposure (K. Narkowicz 2016, "ACES Filmic Tone Mapping Curve").
fn gpuskin_tone_mapped(radiance: vec3<f32>) -> vec3<f32> {
    let color = min(radiance * gpuskin_lighting.exposure, vec3<f32>(65504.0));
    return clamp((color * (2.51 * color + 0.03)) / (color * (2.43 * color + 0.59) + 0.14), vec3<f32>(0.0), vec3<f32>(1.0));
}
