// Static attributes of a vertex, for vertex mode, where rows of the animation texture are vertices.
// CPU reference: unpack in gpuskin-rt/src/vertex.rs, which documents the layout.

struct GpuskinVertex {
    // Row of the animation texture.
    row: u32,
    // Sign of the bitangent; 0 if the model has no tangents.
    sign: f32,
    uv: vec2<f32>,
    // 0: always visible; else index of the part plus one.
    part: u32,
    // Linear RGBA; 1 if the model has no vertex colours.
    color: vec4<f32>,
}

fn gpuskin_unpack(input: GpuskinInput) -> GpuskinVertex {
    let words = input.words_0.xy;
    let uv = vec2<f32>(vec2<u32>(words.x & 0xffffu, words.x >> 16u)) / 65535.0;
    return GpuskinVertex(
        words.y & 0x3ffffffu,
        gpuskin_bitangent_sign(words.y),
        gpuskin_model.uv_min + gpuskin_model.uv_extent * uv,
        (words.y >> 26u) & 31u,
        gpuskin_unpack_color(input),
    );
}
