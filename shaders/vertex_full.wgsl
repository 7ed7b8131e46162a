// Full-precision vertices. CPU reference: unpack in gpuskin-rt/src/vertex.rs, which documents the
// layout.
fn gpuskin_unpack(input: GpuskinInput) -> GpuskinVertex {
    let floats_0 = bitcast<vec4<f32>>(input.words_0);
    let floats_1 = bitcast<vec4<f32>>(input.words_1);
    // Joints are below 1,024; the upper bits of the last one hold the part.
    let joints = input.words_2.xy & vec2<u32>(0x3ff03ffu);
    let part = input.words_2.y >> 26u;
    return GpuskinVertex(
        floats_0.xyz,
        vec3<f32>(floats_0.w, floats_1.xy),
        gpuskin_unpack_tangent(input),
        floats_1.zw,
        vec4<u32>(joints.x & 0xffffu, joints.x >> 16u, joints.y & 0xffffu, joints.y >> 16u),
        bitcast<vec4<f32>>(vec4<u32>(input.words_2.zw, input.words_3.xy)),
        part,
        gpuskin_unpack_color(input),
        gpuskin_unpack_more_joints(input),
        gpuskin_unpack_more_weights(input),
    );
}
