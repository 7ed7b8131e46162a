// Vertices moved by morph targets: those of poses that have no sums in the palette add their deltas.

fn gpuskin_morphed(input: GpuskinInput, pose: GpuskinPoseSource, unpacked: GpuskinVertex) -> GpuskinVertex {
    let vertex = gpuskin_with_influences(input, unpacked);
    let slot = gpuskin_slot(gpuskin_list[input.drawn].x);
    if (slot >= gpuskin_model.morph_slots) {
        if (input.vertex >= gpuskin_model.morph_vertices) {
            return vertex;
        }
        return gpuskin_with_morph(vertex, gpuskin_morph_sum(pose, input.vertex));
    }
    return gpuskin_with_added_morphs(input, pose, slot, vertex);
}
