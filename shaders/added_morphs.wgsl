// Vertex with the sum that the morph pass has stored. Without branches, so that loads begin early; a model with morph targets
// moves at least one vertex. slot: palette slot.
fn gpuskin_with_added_morphs(input: GpuskinInput, pose: GpuskinPoseSource, slot: u32, vertex: GpuskinVertex) -> GpuskinVertex {
    let is_previous = u32(pose != slot * gpuskin_model.palette_stride);
    let at = min(input.vertex, gpuskin_model.morph_vertices - 1u);
    let sum = gpuskin_load_morph(gpuskin_morph_region(slot, is_previous), at);
    let still = input.vertex >= gpuskin_model.morph_vertices;
    let none = vec3<f32>(0.0);
    return gpuskin_with_morph(
        vertex,
        GpuskinMorph(select(sum.position, none, still), select(sum.normal, none, still), select(sum.tangent, none, still)),
    );
}
