@vertex
fn vertex(input: GpuskinInput) -> Varyings {
    return surface_vertex(input, input.vertex);
}
