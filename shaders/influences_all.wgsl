// Vertices of which all influences are used.

// Palette slot, from the first word of an entry of the list of drawn instances.
fn gpuskin_slot(entry: u32) -> u32 {
    return entry;
}

fn gpuskin_with_influences(input: GpuskinInput, vertex: GpuskinVertex) -> GpuskinVertex {
    return vertex;
}
