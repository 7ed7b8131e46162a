// A vertex of an instance. Twin of skin_vertex in gpuskin-rt/src/skin.rs.

// A vertex of an instance in the world at a moment of the clock, vec2<u32>(seconds, fraction).
fn gpuskin_skin_vertex(input: GpuskinInput, now: vec2<u32>) -> GpuskinSkinned {
    let instance = gpuskin_instance_of(input, now);
    return gpuskin_skin_shown(input, instance, gpuskin_shown(input, instance, now));
}

// The same at the moment before, for motion vectors. Where poses come from a palette it is that of the last prepare but
// one, whatever the clock says.
fn gpuskin_skin_vertex_before(input: GpuskinInput, before: vec2<u32>) -> GpuskinSkinned {
    let instance = gpuskin_instance_of(input, before);
    return gpuskin_skin_shown(input, instance, gpuskin_shown_before(input, instance, before));
}

fn gpuskin_skin_shown(input: GpuskinInput, instance: GpuskinInstance, shown: GpuskinShown) -> GpuskinSkinned {
    let vertex = gpuskin_unpack(input);
    let look = gpuskin_look_of(input);
    let model = gpuskin_in_model(shown, vertex);
    // Triangles of one point are not drawn. At the end and without a branch: behind one, on an H200, a frame of 30 million
    // vertices takes 12 % longer.
    let hidden = gpuskin_is_hidden(look, vertex.part);
    return GpuskinSkinned(
        select(gpuskin_point(instance, model.position), instance.translation, hidden),
        gpuskin_direction(instance, model.normal),
        vec4<f32>(gpuskin_direction(instance, model.tangent.xyz), model.tangent.w),
        model.uv,
        model.color * look.tint,
    );
}
