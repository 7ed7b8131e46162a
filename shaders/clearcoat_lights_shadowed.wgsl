// Point and spot lights in a clear coat, with shadows.
fn add_coat_lights(light_so_far: vec3<f32>, point: SurfacePoint, n_dot_v: f32, bounces: f32) -> vec3<f32> {
    var sum = light_so_far;
    // Two loops, as for the surface below the coat.
    for (var i = 0u; i < gpuskin_light_shadows.count; i++) {
        let light = gpuskin_light(i, point.position);
        let color = light.color * coat_lobe(point, n_dot_v, bounces, light.to_light);
        if (any(color > vec3<f32>(0.0))) {
            sum += color * gpuskin_light_visibility(i, point.position, point.face_normal);
        }
    }
    let nearby = gpuskin_nearby_lights(point.position);
    for (var i = gpuskin_light_shadows.count; i < nearby.count; i++) {
        let light = gpuskin_light(gpuskin_nearby_light(nearby, i), point.position);
        sum += light.color * coat_lobe(point, n_dot_v, bounces, light.to_light);
    }
    return sum;
}
