// Skinned vertices. CPU reference: gpuskin-rt/src/skin.rs.

// Vertex in model space.
fn gpuskin_skin(matrix: mat3x4<f32>, vertex: GpuskinVertex) -> GpuskinSkinned {
    return GpuskinSkinned(
        vec4<f32>(vertex.position, 1.0) * matrix,
        gpuskin_normalize_or_zero(gpuskin_normal(matrix, vertex.normal)),
        vec4<f32>(gpuskin_normalize_or_zero(vec4<f32>(vertex.tangent.xyz, 0.0) * matrix), vertex.tangent.w),
        vertex.uv,
        vertex.color,
    );
}

fn gpuskin_in_model(pose: GpuskinPoseSource, vertex: GpuskinVertex) -> GpuskinSkinned {
    return gpuskin_skin(gpuskin_blend_bones(pose, vertex), vertex);
}
