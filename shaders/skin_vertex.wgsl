// Vertices of an instance. CPU reference: skin_vertex in gpuskin-rt/src/skin.rs.

fn gpuskin_appearance_of(input: GpuskinInput) -> GpuskinAppearance {
    return gpuskin_appearance(gpuskin_appearance_words(input));
}

// Vertex of an instance in world space; now: time, vec2<u32>(seconds, fraction).
fn gpuskin_skin_vertex(input: GpuskinInput, time: vec2<u32>) -> GpuskinSkinned {
    let instance = gpuskin_instance_of(input, time);
    return gpuskin_skin_pose(input, instance, gpuskin_pose_source(input, instance, time));
}

// Vertex of an instance at the previous time, for motion vectors. Poses from a palette are those of
// the last prepare but one, whatever `previous_time` says.
fn gpuskin_skin_previous_vertex(input: GpuskinInput, previous_time: vec2<u32>) -> GpuskinSkinned {
    let instance = gpuskin_previous_instance_of(input, previous_time);
    return gpuskin_skin_pose(input, instance, gpuskin_previous_pose_source(input, instance, previous_time));
}

fn gpuskin_skin_pose(input: GpuskinInput, instance: GpuskinInstance, pose: GpuskinPoseSource) -> GpuskinSkinned {
    let vertex = gpuskin_morphed(input, pose, gpuskin_unpack(input));
    let appearance = gpuskin_appearance_of(input);
    let model = gpuskin_in_model(pose, vertex);
    // Hidden triangles collapse to a point, which is not drawn. At the end and without a branch:
    // with a branch before it, a frame of 30 million vertices takes 12 % longer on an H200. Without a normal, they stay a
    // point in a shader that moves vertices along normals.
    let hidden = gpuskin_is_hidden(appearance, vertex.part);
    return GpuskinSkinned(
        select(gpuskin_point(instance, model.position), instance.translation, hidden),
        select(gpuskin_direction(instance, model.normal), vec3<f32>(0.0), hidden),
        vec4<f32>(gpuskin_direction(instance, model.tangent.xyz), model.tangent.w),
        model.uv,
        model.color * appearance.tint,
    );
}
