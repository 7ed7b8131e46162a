// Transforms a normal by the cofactor matrix times the sign of the determinant. That is the inverse
// transpose up to a positive factor, and exists for singular matrices too. Not normalised.
fn gpuskin_normal(matrix: mat3x4<f32>, normal: vec3<f32>) -> vec3<f32> {
    let cofactors = cross(matrix[1].xyz, matrix[2].xyz);
    let sign = select(1.0, -1.0, dot(matrix[0].xyz, cofactors) < 0.0);
    return vec3<f32>(
        dot(cofactors, normal),
        dot(cross(matrix[2].xyz, matrix[0].xyz), normal),
        dot(cross(matrix[0].xyz, matrix[1].xyz), normal),
    ) * sign;
}
