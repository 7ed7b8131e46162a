// Sum of a vertex that the morph pass has stored: counterpart of morph_store_tangent.wgsl. region: first matrix.
fn gpuskin_load_morph(region: u32, vertex: u32) -> GpuskinMorph {
    let at = region + (vertex >> 2u) * 3u;
    let which = vertex & 3u;
    let column = which * 2u;
    let own = gpuskin_palette[at + column / 3u][column % 3u];
    let rest = gpuskin_palette[at + (column + 1u) / 3u][(column + 1u) % 3u];
    let last = gpuskin_palette[at + 2u][2][which];
    return GpuskinMorph(own.xyz, vec3<f32>(own.w, rest.xy), vec3<f32>(rest.zw, last));
}
