// A function of the game changes lit surfaces.
fn changed_surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint {
    return surface(point, uv);
}
