// vat-unorm*: vertices as fractions of the model's ranges: x, y, z and tangent, split over the
// bytes of one to three texels, most significant first; then an octahedral normal. CPU reference:
// gpuskin-rt/src/encoding/vat.rs.

const gpuskin_texels: u32 = gpuskin_splits + 1u;

fn gpuskin_stored_vertex(frame: u32, row: u32) -> GpuskinBaked {
    var steps = vec4<u32>(0u);
    for (var k = 0u; k < gpuskin_splits; k++) {
        steps = (steps << vec4<u32>(8u)) | gpuskin_texel(frame, row, k);
    }
    let position = gpuskin_model.value_min + gpuskin_model.value_extent * (vec4<f32>(steps) / gpuskin_split_steps);
    let bytes = gpuskin_texel(frame, row, gpuskin_splits);
    let e = vec2<i32>((bytes.xz << vec2<u32>(8u)) | bytes.yw) - 32767;
    let normal = gpuskin_from_octahedral_steps(e, 32767);
    return GpuskinBaked(position.xyz, normal, gpuskin_baked_tangent(normal, position.w));
}
