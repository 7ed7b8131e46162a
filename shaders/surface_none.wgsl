// Surfaces are as their materials describe them.
fn changed_surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint {
    return point;
}
