// Stores the sum of a vertex, with tangents: four vertices share three matrices. Two columns of each have its position, normal
// and the first two components of its tangent; the last of the nine columns has the third components of the four. region:
// first matrix.
fn gpuskin_store_morph(region: u32, vertex: u32, sum: GpuskinMorph) {
    let at = region + (vertex >> 2u) * 3u;
    let which = vertex & 3u;
    let column = which * 2u;
    gpuskin_palette[at + column / 3u][column % 3u] = vec4<f32>(sum.position, sum.normal.x);
    gpuskin_palette[at + (column + 1u) / 3u][(column + 1u) % 3u] = vec4<f32>(sum.normal.yz, sum.tangent.xy);
    gpuskin_palette[at + 2u][2][which] = sum.tangent.z;
}
