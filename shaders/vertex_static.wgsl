// What does not move of a vertex, where rows of the animation texture are vertices. Twin of unpack in
// gpuskin-rt/src/vertex.rs, whose documentation has the layout.

struct GpuskinVertex {
    // Of the animation texture.
    row: u32,
    // Of the bitangent; 0 where the model has no tangents.
    sign: f32,
    uv: vec2<f32>,
    // 0: always worn; else of the parts, from 1.
    part: u32,
    // Linear RGBA; 1 where the model has none.
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
