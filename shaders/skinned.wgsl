// Result of the vertex functions. CPU reference: SkinnedVertex in gpuskin-rt/src/skin.rs.

// Vertex in the current pose.
struct GpuskinSkinned {
    // Model space or world space, metres.
    position: vec3<f32>,
    // Unit length.
    normal: vec3<f32>,
    // Unit length; the sign of the bitangent in w.
    tangent: vec4<f32>,
    uv: vec2<f32>,
    // Linear RGBA: vertex colour times tint of the instance, to be multiplied with the base colour.
    color: vec4<f32>,
}

fn gpuskin_normalize_or_zero(v: vec3<f32>) -> vec3<f32> {
    let length_squared = dot(v, v);
    return select(vec3<f32>(0.0), v / sqrt(length_squared), length_squared > 0.0);
}

// Number in the upper 16 bits, as -1..1.
fn gpuskin_high_snorm16(word: u32) -> f32 {
    return max(f32(bitcast<i32>(word) >> 16u) / 32767.0, -1.0);
}
