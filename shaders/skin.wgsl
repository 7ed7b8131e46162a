// A vertex of an instance. Twin of gpuskin-rt/src/skin.rs.

// The weighted sum of the matrices of a vertex's bones (linear blend skinning). Weights are sorted, greatest first.
// Skipping bones without weight: on an H200, 7-13 % less time where neighbouring vertices agree in how many they have,
// as in real meshes, and 2-11 % more where they do not.
fn gpuskin_pose(frames: GpuskinFramePair, vertex: GpuskinVertex) -> mat3x4<f32> {
    var sum = gpuskin_bone(frames, vertex.joints.x) * vertex.weights.x;
    if (vertex.weights.y > 0.0) {
        sum += gpuskin_bone(frames, vertex.joints.y) * vertex.weights.y;
    }
    if (vertex.weights.z > 0.0) {
        sum += gpuskin_bone(frames, vertex.joints.z) * vertex.weights.z;
    }
    if (vertex.weights.w > 0.0) {
        sum += gpuskin_bone(frames, vertex.joints.w) * vertex.weights.w;
    }
    return sum;
}

// A vertex in model space.
fn gpuskin_skin(matrix: mat3x4<f32>, vertex: GpuskinVertex) -> GpuskinSkinned {
    return GpuskinSkinned(
        vec4<f32>(vertex.position, 1.0) * matrix,
        gpuskin_normalize_or_zero(gpuskin_normal(matrix, vertex.normal)),
        vec4<f32>(gpuskin_normalize_or_zero(vec4<f32>(vertex.tangent.xyz, 0.0) * matrix), vertex.tangent.w),
        vertex.uv,
    );
}

// A vertex of an instance in the world at a moment of the clock, vec2<u32>(seconds, fraction).
fn gpuskin_skin_vertex(input: GpuskinInput, now: vec2<u32>) -> GpuskinSkinned {
    let instance = gpuskin_instance(input.instance_0, input.instance_1, input.instance_2);
    let clip = gpuskin_model.clips[instance.playback.clip & gpuskin_clip_mask];
    let frames = gpuskin_frame_pair(instance.playback, clip, now);
    let vertex = gpuskin_unpack(input);
    let model = gpuskin_skin(gpuskin_pose(frames, vertex), vertex);
    return GpuskinSkinned(
        gpuskin_point(instance, model.position),
        gpuskin_direction(instance, model.normal),
        vec4<f32>(gpuskin_direction(instance, model.tangent.xyz), model.tangent.w),
        model.uv,
    );
}
