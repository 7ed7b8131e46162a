// vat-f32 and vat-f16: a texel with position and tangent, then one with the normal. CPU reference:
// gpuskin-rt/src/encoding/vat.rs.

const gpuskin_texels: u32 = 2u;

fn gpuskin_stored_vertex(frame: u32, row: u32) -> GpuskinBaked {
    let position = gpuskin_texel(frame, row, 0u);
    let normal = gpuskin_texel(frame, row, 1u).xyz;
    return GpuskinBaked(position.xyz, normal, gpuskin_baked_tangent(normal, position.w));
}
