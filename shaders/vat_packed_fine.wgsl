// vat-packed-fine: 128 bits per vertex, within the range of its frame, which the first rows hold.
// CPU reference: gpuskin-rt/src/encoding/vat.rs, which documents the layout.

const gpuskin_texels: u32 = 1u;

fn gpuskin_stored_vertex(frame: u32, row: u32) -> GpuskinBaked {
    let minimum = bitcast<vec4<f32>>(gpuskin_texel(frame, 0u, 0u)).xyz;
    let extent = bitcast<vec4<f32>>(gpuskin_texel(frame, 1u, 0u)).xyz;
    let words = gpuskin_texel(frame, row, 0u);
    let fraction = vec3<f32>(words.xyz & vec3<u32>(0xffffffu)) / 16777215.0;
    let e = vec2<i32>(vec2<u32>(words.w & 0xffffu, words.w >> 16u)) - 32767;
    let normal = gpuskin_from_octahedral_steps(e, 32767);
    let tangent = f32((words.x >> 24u) | ((words.y >> 24u) << 8u)) / 65535.0;
    return GpuskinBaked(
        minimum + extent * fraction,
        normal,
        gpuskin_baked_tangent(normal, -2.0 + 4.0 * tangent),
    );
}
