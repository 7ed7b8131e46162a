// Moves a vertex by the sum of its deltas, before it is skinned.
fn gpuskin_with_morph(vertex: GpuskinVertex, sum: GpuskinMorph) -> GpuskinVertex {
    var morphed = vertex;
    morphed.position += sum.position;
    morphed.normal += sum.normal;
    morphed.tangent += vec4<f32>(sum.tangent, 0.0);
    return morphed;
}
