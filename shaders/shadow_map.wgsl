// Shadow map: one depth texture for all shadows, and its filter.

@group(GROUP) @binding(6) var gpuskin_shadow_map: texture_depth_2d;
@group(GROUP) @binding(7) var gpuskin_shadow_sampler: sampler_comparison;

// Texels from a sample to the farthest texel that the filter reads, and the distance by which a receiver is
// moved along its normal, in texels: far enough that a slope does not shadow itself within the filter.
const GPUSKIN_SHADOW_MARGIN = 3.0;
const GPUSKIN_SHADOW_OFFSET = 4.0;

// Filtered comparison over 5 x 5 texels by nine bilinear samples (I. Castaño 2013, "Shadow Mapping Summary").
fn gpuskin_filtered_shadow(first: vec2<f32>, texel: vec2<f32>, depth: f32) -> f32 {
    let base = floor(texel + 0.5);
    let s = texel + 0.5 - base;
    var w = array<vec2<f32>, 3>(4.0 - 3.0 * s, vec2<f32>(7.0), 1.0 + 3.0 * s);
    var at = array<vec2<f32>, 3>((3.0 - 2.0 * s) / w[0] - 2.0, (3.0 + s) / 7.0, s / w[2] + 2.0);
    let inverse = 1.0 / vec2<f32>(textureDimensions(gpuskin_shadow_map));
    var sum = 0.0;
    for (var y = 0; y < 3; y++) {
        for (var x = 0; x < 3; x++) {
            let uv = (first + base - 0.5 + vec2<f32>(at[x].x, at[y].y)) * inverse;
            sum += w[x].x * w[y].y * textureSampleCompareLevel(gpuskin_shadow_map, gpuskin_shadow_sampler, uv, depth);
        }
    }
    return sum / 144.0;
}
