// Skinning matrix: transforms a vertex from bind pose to the pose of a bone. CPU reference:
// gpuskin-rt/src/skin_matrix.rs.
//
// A mat3x4<f32> whose three columns are the upper three rows of the 4x4 skinning matrix, so that
//
//     vec4<f32>(point, 1.0) * matrix         transforms a point,
//     vec4<f32>(direction, 0.0) * matrix     transforms a direction in the surface.

// Matrix of a uniform scale, applied first, a unit quaternion x, y, z, w, and a translation in
// metres.
fn gpuskin_from_trs(q: vec4<f32>, translation: vec3<f32>, scale: f32) -> mat3x4<f32> {
    let s = scale;
    return mat3x4<f32>(
        vec4<f32>(
            s * (1.0 - 2.0 * (q.y * q.y + q.z * q.z)),
            s * 2.0 * (q.x * q.y - q.z * q.w),
            s * 2.0 * (q.x * q.z + q.y * q.w),
            translation.x,
        ),
        vec4<f32>(
            s * 2.0 * (q.x * q.y + q.z * q.w),
            s * (1.0 - 2.0 * (q.x * q.x + q.z * q.z)),
            s * 2.0 * (q.y * q.z - q.x * q.w),
            translation.y,
        ),
        vec4<f32>(
            s * 2.0 * (q.x * q.z - q.y * q.w),
            s * 2.0 * (q.y * q.z + q.x * q.w),
            s * (1.0 - 2.0 * (q.x * q.x + q.y * q.y)),
            translation.z,
        ),
    );
}

// Interpolates rotations from a (t = 0) to b along the shorter arc: a quaternion and its negative
// are the same rotation.
fn gpuskin_blend_rotation(a: vec4<f32>, b: vec4<f32>, t: f32) -> vec4<f32> {
    let nearest_b = select(b, -b, dot(a, b) < 0.0);
    return normalize(a * (1.0 - t) + nearest_b * t);
}
