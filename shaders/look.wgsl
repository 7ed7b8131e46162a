// How an instance looks, apart from its pose: one attribute of four words. Twin of gpuskin-rt/src/look.rs.

struct GpuskinLook {
    // Linear RGBA, which base colours are multiplied by.
    tint: vec4<f32>,
    // Bits 1-16: parts that it does not wear. Bit 31: nothing of it is drawn.
    hidden: u32,
    // For the game's own shaders.
    custom: vec2<u32>,
}

fn gpuskin_look(words: vec4<u32>) -> GpuskinLook {
    return GpuskinLook(unpack4x8unorm(words.x), words.y, words.zw);
}

// Whether a vertex of a part, 0 for what is always worn, is not drawn.
fn gpuskin_is_hidden(look: GpuskinLook, part: u32) -> bool {
    return ((look.hidden >> part) & 1u) != 0u || (look.hidden >> 31u) != 0u;
}
