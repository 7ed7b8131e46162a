// Vertices moved by morph targets: the morph pass has added the deltas of all poses in the palette.

fn gpuskin_morphed(input: GpuskinInput, pose: GpuskinPoseSource, vertex: GpuskinVertex) -> GpuskinVertex {
    let kept = gpuskin_with_influences(input, vertex);
    return gpuskin_with_added_morphs(input, pose, gpuskin_slot(gpuskin_list[input.drawn].x), kept);
}
