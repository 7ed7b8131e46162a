// Point and spot lights with the falloff of glTF's KHR_lights_punctual.

// Layout of PunctualUniform in gpuskin-rt/src/lighting.rs.
struct GpuskinLight {
    // World space.
    position: vec3<f32>,
    // 1 / range^2; 0 for a light without range.
    falloff: f32,
    // Luminous intensity over pi: radiance of a white Lambert surface that faces the light at 1 m.
    color: vec3<f32>,
    // The cone of a spot light is clamp(cosine * scale + offset, 0, 1)^2. A point light has 0 and 1.
    cone_scale: f32,
    // Unit vector along the axis of the cone, away from the light.
    direction: vec3<f32>,
    cone_offset: f32,
}

struct GpuskinLights {
    count: u32,
    lights: array<GpuskinLight, MOST_LIGHTS>,
}

@group(GROUP) @binding(8) var<uniform> gpuskin_lights: GpuskinLights;

// Light at a point in the world.
struct GpuskinArrivingLight {
    // Unit vector.
    to_light: vec3<f32>,
    // Illuminance over pi of a surface that faces the light.
    color: vec3<f32>,
}

fn gpuskin_light(index: u32, world: vec3<f32>) -> GpuskinArrivingLight {
    let light = gpuskin_lights.lights[index];
    let way = light.position - world;
    // Not nearer than a centimetre, so that the light is finite.
    let squared = max(dot(way, way), 1e-4);
    let to_light = way * inverseSqrt(squared);
    let ratio = squared * light.falloff;
    let window = clamp(1.0 - ratio * ratio, 0.0, 1.0);
    let cone = clamp(-dot(light.direction, to_light) * light.cone_scale + light.cone_offset, 0.0, 1.0);
    return GpuskinArrivingLight(to_light, light.color * (window * cone * cone / squared));
}
