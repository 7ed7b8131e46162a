// vat-packed: 64 bits per vertex, within the range of its frame, which the first rows hold. CPU
// reference: gpuskin-rt/src/encoding/vat.rs, which documents the layout.

const gpuskin_texels: u32 = 1u;

// Two floats from a texel of the range.
fn gpuskin_float_pair(words: vec4<u32>) -> vec2<f32> {
    return bitcast<vec2<f32>>(words.xz | (words.yw << vec2<u32>(16u)));
}

fn gpuskin_stored_vertex(frame: u32, row: u32) -> GpuskinBaked {
    let range_0 = gpuskin_float_pair(gpuskin_texel(frame, 0u, 0u));
    let range_1 = gpuskin_float_pair(gpuskin_texel(frame, 1u, 0u));
    let range_2 = gpuskin_float_pair(gpuskin_texel(frame, 2u, 0u));
    let words = gpuskin_texel(frame, row, 0u);
    let fraction = vec3<f32>(words.xyz) / 65535.0;
    let e = vec2<i32>(vec2<u32>(words.w & 0xffu, words.w >> 8u)) - 127;
    return GpuskinBaked(
        vec3<f32>(range_0, range_1.x) + vec3<f32>(range_1.y, range_2) * fraction,
        gpuskin_from_octahedral_steps(e, 127),
        vec3<f32>(1.0, 0.0, 0.0),
    );
}
