// Point and spot lights of the metallic-roughness model.

fn add_lights(light_so_far: vec3<f32>, point: SurfacePoint, surface: Reflectance) -> vec3<f32> {
    var sum = light_so_far;
    let nearby = gpuskin_nearby_lights(point.position);
    for (var i = 0u; i < nearby.count; i++) {
        let light = gpuskin_light(gpuskin_nearby_light(nearby, i), point.position);
        if (receives_light(dot(point.normal, light.to_light)) && any(light.color > vec3<f32>(0.0))) {
            sum += direct_light(point, surface, light.to_light, light.color);
        }
    }
    return sum;
}
