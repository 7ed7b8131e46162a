// Point and spot lights in a clear coat.
fn add_coat_lights(light_so_far: vec3<f32>, point: SurfacePoint, n_dot_v: f32, bounces: f32) -> vec3<f32> {
    var sum = light_so_far;
    let nearby = gpuskin_nearby_lights(point.position);
    for (var i = 0u; i < nearby.count; i++) {
        let light = gpuskin_light(gpuskin_nearby_light(nearby, i), point.position);
        sum += light.color * coat_lobe(point, n_dot_v, bounces, light.to_light);
    }
    return sum;
}
