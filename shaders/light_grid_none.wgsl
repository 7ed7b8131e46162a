// Lights that may reach a point: all.
struct GpuskinNearbyLights {
    count: u32,
}

fn gpuskin_nearby_lights(world: vec3<f32>) -> GpuskinNearbyLights {
    return GpuskinNearbyLights(gpuskin_lights.count);
}

fn gpuskin_nearby_light(nearby: GpuskinNearbyLights, i: u32) -> u32 {
    return i;
}
