// Point and spot lights of the metallic-roughness model, with shadows.

fn add_lights(light_so_far: vec3<f32>, point: SurfacePoint, surface: Reflectance) -> vec3<f32> {
    var sum = light_so_far;
    // Lights with shadows come first. Two loops, so that other lights do not wait for the filter where branches cost.
    for (var i = 0u; i < gpuskin_light_shadows.count; i++) {
        let light = gpuskin_light(i, point.position);
        if (receives_light(dot(point.normal, light.to_light)) && any(light.color > vec3<f32>(0.0))) {
            let visible = gpuskin_light_visibility(i, point.position, point.face_normal);
            sum += direct_light(point, surface, light.to_light, light.color * visible);
        }
    }
    let nearby = gpuskin_nearby_lights(point.position);
    for (var i = gpuskin_light_shadows.count; i < nearby.count; i++) {
        let light = gpuskin_light(gpuskin_nearby_light(nearby, i), point.position);
        if (receives_light(dot(point.normal, light.to_light)) && any(light.color > vec3<f32>(0.0))) {
            sum += direct_light(point, surface, light.to_light, light.color);
        }
    }
    return sum;
}
