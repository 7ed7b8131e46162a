// Vertices moved by morph targets: each adds its deltas.

fn gpuskin_morphed(input: GpuskinInput, pose: GpuskinPoseSource, vertex: GpuskinVertex) -> GpuskinVertex {
    // Without a branch for vertices that have no deltas, which takes longer.
    let start = GpuskinMorph(vertex.position, vertex.normal, vertex.tangent.xyz);
    let sum = gpuskin_morph_sum(pose, input.vertex, start);
    var morphed = vertex;
    morphed.position = sum.position;
    morphed.normal = sum.normal;
    morphed.tangent = vec4<f32>(sum.tangent, vertex.tangent.w);
    return morphed;
}
