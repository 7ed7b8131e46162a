// Full-precision vertices. CPU reference: unpack in gpuskin-rt/src/vertex.rs, which documents the
// layout.
fn gpuskin_unpack(input: GpuskinInput) -> GpuskinVertex {
    let floats_0 = bitcast<vec4<f32>>(input.words_0);
    let floats_1 = bitcast<vec4<f32>>(gpuskin_words_1(input));
    // Joints are below 1,024; the upper bits of the last one hold the part.
    let joints = gpuskin_words_2(input).xy & vec2<u32>(0x3ff03ffu);
    let part = gpuskin_words_2(input).y >> 26u;
    return GpuskinVertex(
        floats_0.xyz,
        vec3<f32>(floats_0.w, floats_1.xy),
        gpuskin_unpack_tangent(input),
        floats_1.zw,
        vec4<u32>(joints.x & 0xffffu, joints.x >> 16u, joints.y & 0xffffu, joints.y >> 16u),
        bitcast<vec4<f32>>(vec4<u32>(gpuskin_words_2(input).zw, gpuskin_words_3(input).xy)),
        part,
        gpuskin_unpack_color(input),
        gpuskin_unpack_more_joints(input),
        gpuskin_unpack_more_weights(input),
    );
}
