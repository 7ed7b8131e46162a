// Without point and spot lights.
fn add_coat_lights(light: vec3<f32>, point: SurfacePoint, n_dot_v: f32, bounces: f32) -> vec3<f32> {
    return light;
}
