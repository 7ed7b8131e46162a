// Bindings of the palette pass of a batch: poses of crowds of different models. Instances of a batch
// have no layers. Counterpart: local_bindings.wgsl.

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinPaletteParameters;
// Animation words of all models.
@group(0) @binding(1) var<storage, read> gpuskin_words: array<u32>;
// Playback records, three vectors per pose; the last two words are the palette slot and the number of
// the crowd.
@group(0) @binding(2) var<storage, read> gpuskin_playbacks: array<vec4<u32>>;
// Rows of skinning matrices. [crowd][slot][bone]
@group(0) @binding(3) var<storage, read_write> gpuskin_palette: array<mat3x4<f32>>;
@group(0) @binding(4) var<storage, read> gpuskin_crowds: array<GpuskinBatchedCrowd>;

var<private> gpuskin_words_at: u32;

fn gpuskin_word(at: u32) -> u32 {
    return gpuskin_words[gpuskin_words_at + at];
}

fn gpuskin_layer_vector(at: u32) -> vec4<u32> {
    return vec4<u32>(0u);
}

fn gpuskin_layer_set_of_pose(number: u32) -> u32 {
    return 0u;
}

fn gpuskin_pose_address(number: u32) -> GpuskinPoseAddress {
    let link = gpuskin_playbacks[number * 3u + 2u].zw;
    let crowd = gpuskin_crowds[link.y];
    return GpuskinPoseAddress(crowd.words_at, crowd.palette_at + link.x * crowd.stride, crowd.previous_offset);
}

fn gpuskin_select_words(words_at: u32) {
    gpuskin_words_at = words_at;
}
