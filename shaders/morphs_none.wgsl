// No morph targets.
fn gpuskin_morphed(input: GpuskinInput, pose: GpuskinPoseSource, vertex: GpuskinVertex) -> GpuskinVertex {
    return vertex;
}
