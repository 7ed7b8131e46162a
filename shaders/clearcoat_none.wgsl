// Surfaces without a clear coat.

fn set_clearcoat(uv: vec2<f32>) {
}

fn coated(light: vec3<f32>, point: SurfacePoint, sun_visible: f32) -> vec3<f32> {
    return light;
}
