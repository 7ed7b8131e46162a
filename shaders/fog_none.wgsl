// Fog is off.
fn gpuskin_fog_amount(world: vec3<f32>) -> f32 {
    return 0.0;
}

fn gpuskin_fog_radiance(world: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(0.0);
}

fn gpuskin_in_fog(radiance: vec3<f32>, world: vec3<f32>) -> vec3<f32> {
    return radiance;
}
