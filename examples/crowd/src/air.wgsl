// Uniform data; the layout equals that of AirUniform in air.rs. Colours are linear, vectors have
// unit length, distances are in metres.
struct Air {
    view_proj: mat4x4<f32>,
    clip_to_world: mat4x4<f32>,
    world_to_sun: mat4x4<f32>,
    eye: vec4<f32>,
    to_sun: vec4<f32>,
    sun: vec4<f32>,
    sky: vec4<f32>,
    ground: vec4<f32>,
}
