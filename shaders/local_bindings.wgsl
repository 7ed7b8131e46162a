// Bindings of the palette pass of a single crowd. Counterpart: local_batch.wgsl.

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinPaletteParameters;
@group(0) @binding(1) var<storage, read> gpuskin_words: array<u32>;
// Playback records, three vectors per instance.
@group(0) @binding(2) var<storage, read> gpuskin_playbacks: array<vec4<u32>>;
// Rows of skinning matrices. [instance][bone]
@group(0) @binding(3) var<storage, read_write> gpuskin_palette: array<mat3x4<f32>>;
// Layer sets, then live poses, then the previous live poses.
@group(0) @binding(4) var<storage, read> gpuskin_layer_words: array<vec4<u32>>;

fn gpuskin_word(at: u32) -> u32 {
    return gpuskin_words[at];
}

fn gpuskin_layer_vector(at: u32) -> vec4<u32> {
    return gpuskin_layer_words[at];
}

// Number of the layer set of a pose, from 1 up; 0: none.
fn gpuskin_layer_set_of_pose(number: u32) -> u32 {
    return gpuskin_layer_set_of(number);
}

// Addresses of a pose. number: of its playback record.
fn gpuskin_pose_address(number: u32) -> GpuskinPoseAddress {
    return GpuskinPoseAddress(0u, number * gpuskin_parameters.stride, gpuskin_parameters.previous_offset);
}

fn gpuskin_select_words(words_at: u32) {
}
