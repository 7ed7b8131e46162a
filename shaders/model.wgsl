// Uniform data of a model: exactly 16 KiB, the largest uniform buffer that every device can bind.
// Layout of ModelUniform in gpuskin-rt/src/shader.rs.

struct GpuskinModel {
    // Width of the animation texture is 1 << width_shift texels.
    width_shift: u32,
    // Rows per frame: bones or vertices.
    rows: u32,
    frames_per_layer: u32,
    // Matrices per instance in the palette.
    palette_stride: u32,
    // Packed positions and texture coordinates are minimum + extent * packed / 65535.
    position_min: vec3<f32>,
    vertices: u32,
    position_extent: vec3<f32>,
    // Matrices from an instance's pose in the palette to its previous pose; 0 if that is not kept.
    palette_previous: u32,
    uv_min: vec2<f32>,
    uv_extent: vec2<f32>,
    // Ranges of packed values: value = minimum + extent * fraction. Bones: translation, then
    // elements of the 3x3. Vertices: position, then tangent. With a palette: bounds of all clips,
    // metres.
    value_min: vec4<f32>,
    value_extent: vec4<f32>,
    // Number of vertices that morph targets move, the first ones.
    morph_vertices: u32,
    // Palette slots with sums of morph targets, the first ones, and matrices per pose for them.
    morph_slots: u32,
    morph_stride: u32,
    // Not used, zero.
    reserved: u32,
    clips: array<GpuskinClip, 1017>,
}
