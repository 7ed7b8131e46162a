// Vertex in bind pose. CPU reference: Vertex in gpuskin-rt/src/vertex.rs.
struct GpuskinVertex {
    // Bind pose, model space, metres.
    position: vec3<f32>,
    normal: vec3<f32>,
    // Sign of the bitangent in w; (1, 0, 0, 0) if the model has no tangents.
    tangent: vec4<f32>,
    uv: vec2<f32>,
    joints: vec4<u32>,
    weights: vec4<f32>,
    // 0: always visible; else index of the part plus one.
    part: u32,
    // Linear RGBA; 1 if the model has no vertex colours.
    color: vec4<f32>,
    // Fifth to eighth influence; 0 if the model has at most four per vertex.
    more_joints: vec4<u32>,
    more_weights: vec4<f32>,
}
