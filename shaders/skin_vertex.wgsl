// A vertex of an instance. Twin of skin_vertex in gpuskin-rt/src/skin.rs.

// A vertex of an instance in the world at a moment of the clock, vec2<u32>(seconds, fraction).
fn gpuskin_skin_vertex(input: GpuskinInput, now: vec2<u32>) -> GpuskinSkinned {
    let instance = gpuskin_instance_of(input);
    let model = gpuskin_in_model(gpuskin_shown(input, instance, now), gpuskin_unpack(input));
    return GpuskinSkinned(
        gpuskin_point(instance, model.position),
        gpuskin_direction(instance, model.normal),
        vec4<f32>(gpuskin_direction(instance, model.tangent.xyz), model.tangent.w),
        model.uv,
    );
}
