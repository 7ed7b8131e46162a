// Up to eight bones of a vertex. CPU reference: blend in gpuskin-rt/src/skin.rs.

// Weighted sum of the matrices of a vertex's bones (linear blend skinning). Weights are sorted,
// greatest first.
fn gpuskin_blend_bones(pose: GpuskinPoseSource, vertex: GpuskinVertex) -> mat3x4<f32> {
    var sum = gpuskin_bone(pose, vertex.joints.x) * vertex.weights.x;
    for (var i = 1u; i < 4u; i++) {
        if (vertex.weights[i] <= 0.0) {
            return sum;
        }
        sum += gpuskin_bone(pose, vertex.joints[i]) * vertex.weights[i];
    }
    // A loop of its own, so that no index chooses between two vectors: drivers would keep those in
    // memory.
    for (var i = 0u; i < 4u; i++) {
        if (vertex.more_weights[i] <= 0.0) {
            break;
        }
        sum += gpuskin_bone(pose, vertex.more_joints[i]) * vertex.more_weights[i];
    }
    return sum;
}
