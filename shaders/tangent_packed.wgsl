// Octahedral tangent: x 16 signed bits, sign of the bitangent 1 bit (1 = negative), y 15 signed
// bits.
fn gpuskin_unpack_tangent(input: GpuskinInput) -> vec4<f32> {
    let word = gpuskin_tangent_word(input);
    let y = max(f32(bitcast<i32>(word) >> 17u) / 16383.0, -1.0);
    let sign = select(1.0, -1.0, (word & 0x10000u) != 0u);
    return vec4<f32>(gpuskin_from_octahedral(vec2<f32>(gpuskin_high_snorm16(word << 16u), y)), sign);
}
