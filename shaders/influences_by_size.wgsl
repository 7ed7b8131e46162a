// Vertices of which the greatest four influences are used where the others cannot be seen: culling decides for each instance and
// view.

// Palette slot, from the first word of an entry of the list of drawn instances.
fn gpuskin_slot(entry: u32) -> u32 {
    return entry & 0x7fffffffu;
}

fn gpuskin_with_influences(input: GpuskinInput, vertex: GpuskinVertex) -> GpuskinVertex {
    var kept = vertex;
    if ((gpuskin_entry(input).x & 0x80000000u) != 0u) {
        kept.weights = vertex.weights / dot(vertex.weights, vec4<f32>(1.0));
        kept.more_weights = vec4<f32>(0.0);
    }
    return kept;
}
