// What the shaders know of a model: exactly 16 KiB, the most that every device binds as a uniform buffer.
// Twin of ModelUniform in gpuskin-rt/src/shader.rs.

struct GpuskinModel {
    // The animation texture is 1 << width_shift texels wide.
    width_shift: u32,
    // Rows of a frame: bones or vertices.
    rows: u32,
    frames_per_layer: u32,
    // Matrices from one instance's first in the palette to the next one's.
    palette_stride: u32,
    // Packed positions and texture coordinates are minimum + extent * packed / 65535.
    position_min: vec3<f32>,
    vertices: u32,
    position_extent: vec3<f32>,
    // Matrices from an instance's pose in the palette to that of the moment before; 0 where none is kept.
    palette_before: u32,
    uv_min: vec2<f32>,
    uv_extent: vec2<f32>,
    // Ranges of packed values: value = minimum + extent * fraction. Translation, then elements
    // of the 3x3; or position, then tangent. With a palette what all clips reach, metres.
    value_min: vec4<f32>,
    value_extent: vec4<f32>,
    clips: array<GpuskinClip, 1018>,
}
