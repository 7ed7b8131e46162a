// Without point and spot lights.
fn add_lights(light: vec3<f32>, point: SurfacePoint, surface: Reflectance) -> vec3<f32> {
    return light;
}
