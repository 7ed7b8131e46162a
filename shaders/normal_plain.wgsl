// Transforms a normal like a direction in the surface, as most engines do. Not normalised.
fn gpuskin_normal(matrix: mat3x4<f32>, normal: vec3<f32>) -> vec3<f32> {
    return vec4<f32>(normal, 0.0) * matrix;
}
