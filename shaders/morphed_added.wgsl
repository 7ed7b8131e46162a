// Vertices moved by morph targets: the morph pass has added the deltas of all poses in the palette.

fn gpuskin_morphed(input: GpuskinInput, pose: GpuskinPoseSource, vertex: GpuskinVertex) -> GpuskinVertex {
    return gpuskin_with_added_morphs(input, pose, gpuskin_list[input.drawn].x, vertex);
}
