fn gpuskin_baked_tangent(n: vec3<f32>, d: f32) -> vec3<f32> {
    return vec3<f32>(1.0, 0.0, 0.0);
}

fn gpuskin_bitangent_sign(word: u32) -> f32 {
    return 0.0;
}
