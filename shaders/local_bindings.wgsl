// What the palette pass of local-packed binds.

// Twin of PaletteUniform in gpuskin-rt/src/local/shader.rs.
struct GpuskinPaletteParameters {
    // The moment: seconds, fraction.
    clock: vec2<u32>,
    // The one before, where its poses are kept.
    clock_before: vec2<u32>,
    // Instances to evaluate.
    instances: u32,
    // The first of them, among those of the buffer and of the palette.
    first_instance: u32,
    // Matrices from one instance's first to the next one's.
    stride: u32,
    // Where live poses begin in gpuskin_over, and from one to the next; of four words each.
    live_at: u32,
    live_stride: u32,
    // Matrices from an instance's pose to that of the moment before.
    before: u32,
    // Where live poses of the moment before begin, as live_at.
    live_before_at: u32,
    // Most workgroups along x: as many as there are instances, or these.
    most_groups: u32,
}

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinPaletteParameters;
@group(0) @binding(1) var<storage, read> gpuskin_words: array<u32>;
// Four an instance.
@group(0) @binding(2) var<storage, read> gpuskin_instances: array<vec4<u32>>;
// Rows of skin matrices. [instance][bone]
@group(0) @binding(3) var<storage, read_write> gpuskin_palette: array<mat3x4<f32>>;
// What lies over the clips of some instances, then live poses, then those of the moment before.
@group(0) @binding(4) var<storage, read> gpuskin_over: array<vec4<u32>>;
