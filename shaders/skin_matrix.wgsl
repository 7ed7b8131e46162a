// The matrix that carries a vertex from the bind pose to where a bone has it. Twin of gpuskin-rt/src/skin_matrix.rs.
//
// A mat3x4<f32> whose three columns are the upper three rows of the 4x4 skin matrix, so that
//
//     vec4<f32>(point, 1.0) * matrix         is the point,
//     vec4<f32>(direction, 0.0) * matrix     is a direction that lies in the surface.

// From a unit quaternion x, y, z, w, then a translation in metres and a uniform scale, applied first.
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

// From one rotation (t = 0) to the other along the shorter arc: a quaternion and its negative are the same rotation.
fn gpuskin_blend_rotation(a: vec4<f32>, b: vec4<f32>, t: f32) -> vec4<f32> {
    let nearest_b = select(b, -b, dot(a, b) < 0.0);
    return normalize(a * (1.0 - t) + nearest_b * t);
}
