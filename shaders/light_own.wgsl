// A function of the game reflects light.

var<private> own_reflectance: Reflectance;

// Light that the material reflects towards the eye, for the game's function.
fn gpuskin_reflected_light(point: SurfacePoint, to_light: vec3<f32>, color: vec3<f32>) -> vec3<f32> {
    if (dot(point.normal, to_light) <= 0.0) {
        return vec3<f32>(0.0);
    }
    return reflected_light(point, own_reflectance, to_light, color);
}

// The function decides where light ends.
fn receives_light(n_dot_l: f32) -> bool {
    return true;
}

fn direct_light(point: SurfacePoint, surface: Reflectance, l: vec3<f32>, color: vec3<f32>) -> vec3<f32> {
    own_reflectance = surface;
    return light(point, l, color);
}
