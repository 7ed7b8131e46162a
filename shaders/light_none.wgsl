// Surfaces reflect light as their materials describe it.

fn receives_light(n_dot_l: f32) -> bool {
    return n_dot_l > 0.0;
}

fn direct_light(point: SurfacePoint, surface: Reflectance, l: vec3<f32>, color: vec3<f32>) -> vec3<f32> {
    return reflected_light(point, surface, l, color);
}
