// Without an environment map.

// Ambient radiance that a surface mirrors to the eye: spherical harmonics in the mirrored direction, sharper
// for smooth surfaces. Both vectors have unit length.
fn gpuskin_reflected(normal: vec3<f32>, to_eye: vec3<f32>, roughness: f32) -> vec3<f32> {
    let sharp = 1.0 - roughness;
    return gpuskin_harmonics(reflect(-to_eye, normal), 1.0 + 0.5 * sharp, 1.0 + 3.0 * sharp * sharp);
}
