// Parameters of the palette pass of local-packed.

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
    // Bits of the level of detail in the custom word of a playback record; 0: the finest level.
    level_mask: u32,
}

// Addresses of a pose.
struct GpuskinPoseAddress {
    // Word offset of the animation of its model.
    words_at: u32,
    // First matrix in the palette.
    matrix_at: u32,
    // Matrices from there to the previous pose.
    previous_offset: u32,
}
