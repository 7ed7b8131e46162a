@vertex
fn capture_vertex(input: GpuskinInput, @builtin(vertex_index) index: u32) -> Varyings {
    return captured_vertex(input, index);
}
