// Bindings of the palette pass of local-packed.

// Layout of PaletteUniform in gpuskin-rt/src/local/shader.rs.
struct GpuskinPaletteParameters {
    // Current time: seconds, fraction.
    time: vec2<u32>,
    // Previous time, if previous poses are kept.
    previous_time: vec2<u32>,
    // Number of instances to evaluate.
    instances: u32,
    // First of these instances, in the record buffer and in the palette.
    first_instance: u32,
    // Matrices per instance.
    stride: u32,
    // Start of the live poses in gpuskin_layer_words, and stride of a pose; units of four words.
    live_at: u32,
    live_stride: u32,
    // Matrices from an instance's pose to its previous pose.
    previous_offset: u32,
    // Start of the previous live poses in gpuskin_layer_words; units of four words.
    previous_live_at: u32,
    // Largest number of workgroups along x; fewer if there are fewer instances.
    max_groups: u32,
}

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinPaletteParameters;
@group(0) @binding(1) var<storage, read> gpuskin_words: array<u32>;
// Playback records, three vectors per instance.
@group(0) @binding(2) var<storage, read> gpuskin_playbacks: array<vec4<u32>>;
// Rows of skinning matrices. [instance][bone]
@group(0) @binding(3) var<storage, read_write> gpuskin_palette: array<mat3x4<f32>>;
// Layer sets, then live poses, then the previous live poses.
@group(0) @binding(4) var<storage, read> gpuskin_layer_words: array<vec4<u32>>;
