// Environment map: a cube whose mip levels are filtered for surfaces of increasing roughness.

@group(GROUP) @binding(9) var gpuskin_environment_map: texture_cube<f32>;
@group(GROUP) @binding(10) var gpuskin_environment_sampler: sampler;

// Ambient radiance that a surface mirrors to the eye. Both vectors have unit length.
fn gpuskin_reflected(normal: vec3<f32>, to_eye: vec3<f32>, roughness: f32) -> vec3<f32> {
    // The lobe of a rough surface leans towards the normal.
    let direction = mix(reflect(-to_eye, normal), normal, roughness * roughness);
    // Roughness of a level: gpuskin-build/src/environment/prefilter.rs.
    let level = roughness * (2.0 - roughness) * gpuskin_lighting.environment_top;
    return textureSampleLevel(gpuskin_environment_map, gpuskin_environment_sampler, direction, level).rgb;
}
