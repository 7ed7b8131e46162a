// Up to eight bones of a vertex, from poses that a pass has drawn. CPU reference: blend in gpuskin-rt/src/skin.rs.

// Weighted sum of the matrices of a vertex's bones (linear blend skinning). Weights are sorted,
// greatest first. One branch per three bones: their matrices are loaded at the same time, and those of all
// bones need more registers. With the branches of blend_bones8_palette.wgsl, a frame takes 7 % longer on an H200.
fn gpuskin_blend_bones(pose: GpuskinPoseSource, vertex: GpuskinVertex) -> mat3x4<f32> {
    var sum = gpuskin_bone(pose, vertex.joints.x) * vertex.weights.x;
    sum += gpuskin_bone(pose, vertex.joints.y) * vertex.weights.y;
    sum += gpuskin_bone(pose, vertex.joints.z) * vertex.weights.z;
    if (vertex.weights.w > 0.0) {
        sum += gpuskin_bone(pose, vertex.joints.w) * vertex.weights.w;
        sum += gpuskin_bone(pose, vertex.more_joints.x) * vertex.more_weights.x;
        sum += gpuskin_bone(pose, vertex.more_joints.y) * vertex.more_weights.y;
    }
    if (vertex.more_weights.z > 0.0) {
        sum += gpuskin_bone(pose, vertex.more_joints.z) * vertex.more_weights.z;
        sum += gpuskin_bone(pose, vertex.more_joints.w) * vertex.more_weights.w;
    }
    return sum;
}
