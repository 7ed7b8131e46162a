@vertex
fn vertex(input: GpuskinInput, @builtin(vertex_index) index: u32) -> Varyings {
    return surface_vertex(input, index);
}
