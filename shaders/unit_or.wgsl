// Unit vector in the direction of v, or another one if v is zero.
fn unit_or(v: vec3<f32>, other: vec3<f32>) -> vec3<f32> {
    let squared = dot(v, v);
    return select(other, v * inverseSqrt(squared), squared > 1e-20);
}
