// No morph targets; influences as culling says.

fn gpuskin_morphed(input: GpuskinInput, pose: GpuskinPoseSource, vertex: GpuskinVertex) -> GpuskinVertex {
    return gpuskin_with_influences(input, vertex);
}
