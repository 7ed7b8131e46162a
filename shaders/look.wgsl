// How an instance looks, apart from its pose: one attribute of four words. Twin of gpuskin-rt/src/look.rs.

struct GpuskinLook {
    // Linear RGBA, which base colours are multiplied by.
    tint: vec4<f32>,
    // Bits 1-16: parts that it does not wear. Bits 17-30: attachments that it does not hold. Bit 31: nothing of it is drawn.
    hidden: u32,
    // For the game's own shaders.
    custom: vec2<u32>,
}

// Bytes of a word as 0..1, the lowest first. By hand: WebGL2 has no unpackUnorm4x8.
fn gpuskin_unorm4x8(word: u32) -> vec4<f32> {
    return vec4<f32>((vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu)) / 255.0;
}

fn gpuskin_look(words: vec4<u32>) -> GpuskinLook {
    return GpuskinLook(gpuskin_unorm4x8(words.x), words.y, words.zw);
}

// Whether a vertex of a part, 0 for what is always worn, is not drawn.
fn gpuskin_is_hidden(look: GpuskinLook, part: u32) -> bool {
    return ((look.hidden >> part) & 1u) != 0u || (look.hidden >> 31u) != 0u;
}
