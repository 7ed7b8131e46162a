// Vertices of an instance. CPU reference: skin_vertex in gpuskin-rt/src/skin.rs.

// Vertex of an instance in world space; now: time, vec2<u32>(seconds, fraction).
fn gpuskin_skin_vertex(input: GpuskinInput, now: vec2<u32>) -> GpuskinSkinned {
    let instance = gpuskin_instance_of(input, now);
    return gpuskin_skin_pose(input, instance, gpuskin_shown(input, instance, now));
}

// Vertex of an instance at the previous time, for motion vectors. Poses from a palette are those of
// the last prepare but one, whatever `before` says.
fn gpuskin_skin_previous_vertex(input: GpuskinInput, before: vec2<u32>) -> GpuskinSkinned {
    let instance = gpuskin_instance_of(input, before);
    return gpuskin_skin_pose(input, instance, gpuskin_previous_pose_source(input, instance, before));
}

fn gpuskin_skin_pose(input: GpuskinInput, instance: GpuskinInstance, shown: GpuskinPoseSource) -> GpuskinSkinned {
    let vertex = gpuskin_unpack(input);
    let look = gpuskin_appearance_of(input);
    let model = gpuskin_in_model(shown, vertex);
    // Hidden triangles collapse to a point, which is not drawn. At the end and without a branch:
    // with a branch before it, a frame of 30 million vertices takes 12 % longer on an H200.
    let hidden = gpuskin_is_hidden(look, vertex.part);
    return GpuskinSkinned(
        select(gpuskin_point(instance, model.position), instance.translation, hidden),
        gpuskin_direction(instance, model.normal),
        vec4<f32>(gpuskin_direction(instance, model.tangent.xyz), model.tangent.w),
        model.uv,
        model.color * look.tint,
    );
}
