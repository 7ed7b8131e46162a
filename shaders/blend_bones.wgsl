// Bones of a vertex. CPU reference: blend in gpuskin-rt/src/skin.rs.

// Weighted sum of the matrices of a vertex's bones (linear blend skinning). Weights are sorted,
// greatest first. Skipping bones without weight takes 7-13 % less time on an H200 where
// neighbouring vertices have the same number of bones, as in real meshes, and 2-11 % more where
// they do not.
fn gpuskin_blend_bones(pose: GpuskinPoseSource, vertex: GpuskinVertex) -> mat3x4<f32> {
    var sum = gpuskin_bone(pose, vertex.joints.x) * vertex.weights.x;
    // A loop, so that the code of a bone is compiled only once; drivers would inline three clips in
    // each copy.
    for (var i = 1u; i < 4u; i++) {
        if (vertex.weights[i] <= 0.0) {
            break;
        }
        sum += gpuskin_bone(pose, vertex.joints[i]) * vertex.weights[i];
    }
    return sum;
}
