// Light on a matte surface: irradiance over pi of ambient light, the sun, and point and spot lights, with shadows.
// face_normal: unit normal of the surface; normal: the same with details, such as those of a normal map.
fn gpuskin_irradiance(world: vec3<f32>, face_normal: vec3<f32>, normal: vec3<f32>) -> vec3<f32> {
    let sun = gpuskin_lighting.sun * max(dot(normal, gpuskin_lighting.to_sun), 0.0);
    var sum = gpuskin_ambient(normal) + sun * gpuskin_sun_visibility(world, face_normal);
    let nearby = gpuskin_nearby_lights(world); // if lights
    for (var i = 0u; i < nearby.count; i++) { // if lights
        let index = gpuskin_nearby_light(nearby, i); // if lights
        let light = gpuskin_light(index, world); // if lights
        var arriving = light.color * max(dot(normal, light.to_light), 0.0); // if lights
        arriving *= gpuskin_light_visibility(index, world, face_normal); // if light shadows
        sum += arriving; // if lights
    } // if lights
    return sum;
}
