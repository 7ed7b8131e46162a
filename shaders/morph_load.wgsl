// Sum of a vertex that the morph pass has stored: counterpart of morph_store.wgsl. region: first matrix.
fn gpuskin_load_morph(region: u32, vertex: u32) -> GpuskinMorph {
    let at = region + (vertex >> 1u);
    let which = vertex & 1u;
    let own = gpuskin_palette[at][which];
    let rest = gpuskin_palette[at][2];
    return GpuskinMorph(own.xyz, vec3<f32>(own.w, select(rest.xy, rest.zw, which == 1u)), vec3<f32>(0.0));
}
