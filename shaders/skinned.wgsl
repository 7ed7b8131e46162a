// What the vertex functions give. Twin of SkinnedVertex in gpuskin-rt/src/skin.rs.

// A vertex where the pose has it.
struct GpuskinSkinned {
    // Metres.
    position: vec3<f32>,
    // Unit length.
    normal: vec3<f32>,
    // Unit length, and the sign of the bitangent in w.
    tangent: vec4<f32>,
    uv: vec2<f32>,
    // Linear RGBA, which the base colour is multiplied by: the vertex's, and the tint of the instance.
    color: vec4<f32>,
}

fn gpuskin_normalize_or_zero(v: vec3<f32>) -> vec3<f32> {
    let length_squared = dot(v, v);
    return select(vec3<f32>(0.0), v / sqrt(length_squared), length_squared > 0.0);
}
