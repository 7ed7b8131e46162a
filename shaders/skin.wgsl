// A vertex of an instance. Twin of gpuskin-rt/src/skin.rs.

// A vertex where the pose has it.
struct GpuskinSkinned {
    // Metres.
    position: vec3<f32>,
    // Unit length.
    normal: vec3<f32>,
    // Unit length, and the sign of the bitangent in w.
    tangent: vec4<f32>,
    uv: vec2<f32>,
}

fn gpuskin_normalize_or_zero(v: vec3<f32>) -> vec3<f32> {
    let length_squared = dot(v, v);
    return select(vec3<f32>(0.0), v / sqrt(length_squared), length_squared > 0.0);
}

// The weighted sum of the matrices of a vertex's bones (linear blend skinning). Weights are sorted, greatest first.
// Skipping bones without weight: on an H200, 7-13 % less time where neighbouring vertices agree in how many they have,
// as in real meshes, and 2-11 % more where they do not.
fn gpuskin_pose(shown: GpuskinShown, vertex: GpuskinVertex) -> mat3x4<f32> {
    var sum = gpuskin_bone(shown, vertex.joints.x) * vertex.weights.x;
    if (vertex.weights.y > 0.0) {
        sum += gpuskin_bone(shown, vertex.joints.y) * vertex.weights.y;
    }
    if (vertex.weights.z > 0.0) {
        sum += gpuskin_bone(shown, vertex.joints.z) * vertex.weights.z;
    }
    if (vertex.weights.w > 0.0) {
        sum += gpuskin_bone(shown, vertex.joints.w) * vertex.weights.w;
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
    let vertex = gpuskin_unpack(input);
    let model = gpuskin_skin(gpuskin_pose(gpuskin_shown(input, instance, now), vertex), vertex);
    return GpuskinSkinned(
        gpuskin_point(instance, model.position),
        gpuskin_direction(instance, model.normal),
        vec4<f32>(gpuskin_direction(instance, model.tangent.xyz), model.tangent.w),
        model.uv,
    );
}
