@vertex
fn capture_vertex(input: GpuskinInput) -> Varyings {
    return captured_vertex(input, input.vertex);
}
