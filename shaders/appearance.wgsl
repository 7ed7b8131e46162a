// Appearance of an instance, apart from its pose and its variant: four words. CPU reference:
// gpuskin-rt/src/appearance.rs.

struct GpuskinAppearance {
    // Linear RGBA, multiplied with base colours.
    tint: vec4<f32>,
    // Bits 1-16: hidden parts. Bits 17-30: hidden attachments. Bit 31: the whole instance is
    // hidden.
    hidden: u32,
    // For the game's own shaders.
    custom: vec2<u32>,
}

// Bytes of a word as 0..1, lowest first. Written out, because WebGL2 has no unpackUnorm4x8.
fn gpuskin_unorm4x8(word: u32) -> vec4<f32> {
    return vec4<f32>((vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu)) / 255.0;
}

fn gpuskin_appearance(words: vec4<u32>) -> GpuskinAppearance {
    return GpuskinAppearance(gpuskin_unorm4x8(words.x), words.y, words.zw);
}

// Whether a vertex is hidden. part: index of its part plus one; 0 for vertices that are always
// visible.
fn gpuskin_is_hidden(appearance: GpuskinAppearance, part: u32) -> bool {
    return ((appearance.hidden >> part) & 1u) != 0u || gpuskin_get_invisible(appearance.hidden) != 0u;
}
