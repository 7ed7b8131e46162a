// Shadows are off.
fn gpuskin_sun_visibility(world: vec3<f32>, normal: vec3<f32>) -> f32 {
    return 1.0;
}
