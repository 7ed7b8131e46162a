// Stores the sum of a vertex, without tangents: two vertices share a matrix. Its first two columns have a position and the first
// component of a normal each, the last one the rest of both normals. region: first matrix.
fn gpuskin_store_morph(region: u32, vertex: u32, sum: GpuskinMorph) {
    let at = region + (vertex >> 1u);
    let which = vertex & 1u;
    gpuskin_palette[at][which] = vec4<f32>(sum.position, sum.normal.x);
    gpuskin_palette[at][2][which * 2u] = sum.normal.y;
    gpuskin_palette[at][2][which * 2u + 1u] = sum.normal.z;
}
