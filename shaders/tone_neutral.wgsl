// Khronos PBR Neutral tone mapping of radiance times exposure (KhronosGroup/ToneMapping, 2024): colours
// below 0.76 keep their hue and saturation.
fn gpuskin_tone_mapped(radiance: vec3<f32>) -> vec3<f32> {
    var color = min(radiance * gpuskin_lighting.exposure, vec3<f32>(65504.0));
    let x = min(color.r, min(color.g, color.b));
    color -= select(0.04, x - 6.25 * x * x, x < 0.08);
    let peak = max(color.r, max(color.g, color.b));
    let start = 0.76;
    let compressed = 1.0 - (1.0 - start) * (1.0 - start) / (max(peak, start) + 1.0 - 2.0 * start);
    let bright = color * (compressed / max(peak, start));
    let white = 1.0 - 1.0 / (0.15 * (max(peak, start) - compressed) + 1.0);
    return select(color, mix(bright, vec3<f32>(compressed), white), peak >= start);
}
