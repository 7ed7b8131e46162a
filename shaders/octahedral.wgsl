// Unit vector of octahedral coordinates (Cigolle et al. 2014, "A Survey of Efficient
// Representations for Independent Unit Vectors").
fn gpuskin_from_octahedral(e: vec2<f32>) -> vec3<f32> {
    let z = 1.0 - abs(e.x) - abs(e.y);
    let fold = max(-z, 0.0);
    return normalize(vec3<f32>(e - select(vec2<f32>(-fold), vec2<f32>(fold), e >= vec2<f32>(0.0)), z));
}
