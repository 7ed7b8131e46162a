// A vertex of an instance. Twin of skin_vertex in gpuskin-rt/src/skin.rs.

// A vertex of an instance in the world at a moment of the clock, vec2<u32>(seconds, fraction).
fn gpuskin_skin_vertex(input: GpuskinInput, now: vec2<u32>) -> GpuskinSkinned {
    let instance = gpuskin_instance_of(input, now);
    let vertex = gpuskin_unpack(input);
    let look = gpuskin_look_of(input);
    if (gpuskin_is_hidden(look, vertex.part)) {
        return gpuskin_undrawn(instance, vertex);
    }
    return gpuskin_in_world(instance, look, gpuskin_in_model(gpuskin_shown(input, instance, now), vertex));
}

// The same at the moment before, for motion vectors. Where poses come from a palette it is that of the last prepare but
// one, whatever the clock says.
fn gpuskin_skin_vertex_before(input: GpuskinInput, before: vec2<u32>) -> GpuskinSkinned {
    let instance = gpuskin_instance_of(input, before);
    let vertex = gpuskin_unpack(input);
    let look = gpuskin_look_of(input);
    if (gpuskin_is_hidden(look, vertex.part)) {
        return gpuskin_undrawn(instance, vertex);
    }
    return gpuskin_in_world(instance, look, gpuskin_in_model(gpuskin_shown_before(input, instance, before), vertex));
}

// Triangles of one point are not drawn.
fn gpuskin_undrawn(instance: GpuskinInstance, vertex: GpuskinVertex) -> GpuskinSkinned {
    let up = vec3<f32>(0.0, 1.0, 0.0);
    return GpuskinSkinned(instance.translation, up, vec4<f32>(1.0, 0.0, 0.0, 1.0), vertex.uv, vertex.color);
}

fn gpuskin_in_world(instance: GpuskinInstance, look: GpuskinLook, model: GpuskinSkinned) -> GpuskinSkinned {
    return GpuskinSkinned(
        gpuskin_point(instance, model.position),
        gpuskin_direction(instance, model.normal),
        vec4<f32>(gpuskin_direction(instance, model.tangent.xyz), model.tangent.w),
        model.uv,
        model.color * look.tint,
    );
}
