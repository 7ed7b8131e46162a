// A vertex as it was modelled. Twin of Vertex in gpuskin-rt/src/vertex.rs.
struct GpuskinVertex {
    // Metres.
    position: vec3<f32>,
    normal: vec3<f32>,
    // Sign of the bitangent in w; (1, 0, 0, 0) where the model has no tangents.
    tangent: vec4<f32>,
    uv: vec2<f32>,
    joints: vec4<u32>,
    weights: vec4<f32>,
    // 0: always worn; else of the parts, from 1.
    part: u32,
    // Linear RGBA; 1 where the model has none.
    color: vec4<f32>,
}
