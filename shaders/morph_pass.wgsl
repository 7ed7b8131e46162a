// Morph pass: adds the deltas of morph targets once per pose, for the vertices of all passes. One workgroup per pose, counted
// as those of the palette pass.

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinPaletteParameters;
@group(0) @binding(1) var<uniform> gpuskin_model: GpuskinModel;
// Playback records, three vectors per pose.
@group(0) @binding(2) var<storage, read> gpuskin_playbacks: array<vec4<u32>>;
// Skinning matrices, and at the end the sums. [slot][bone]
@group(0) @binding(3) var<storage, read_write> gpuskin_palette: array<mat3x4<f32>>;
@group(0) @binding(4) var gpuskin_morph_lists: texture_2d<u32>;

// Index of the first matrix of a pose.
alias GpuskinPoseSource = u32;

const gpuskin_group_size: u32 = 64u;

@compute @workgroup_size(64)
fn gpuskin_write_morphs(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = group.y * min(gpuskin_parameters.instances, gpuskin_parameters.max_groups) + group.x;
    let slot = gpuskin_parameters.first_instance + index;
    if (index >= gpuskin_parameters.instances || slot >= gpuskin_model.morph_slots) {
        return;
    }
    // Vertices that this level of detail or a coarser one draws come first.
    let level = gpuskin_playbacks[slot * 3u + 2u].z & gpuskin_parameters.level_mask;
    let count = min(gpuskin_morph_word(level), gpuskin_model.morph_vertices);
    let order_at = gpuskin_morph_lists_at + ((gpuskin_model.vertices + 3u) & 0xfffffffcu);
    let pose = slot * gpuskin_parameters.stride + group.z * gpuskin_parameters.previous_offset;
    let region = gpuskin_morph_region(slot, group.z);
    for (var i = thread; i < count; i += gpuskin_group_size) {
        let vertex = min(gpuskin_morph_word(order_at + i), gpuskin_model.morph_vertices - 1u);
        gpuskin_store_morph(region, vertex, gpuskin_morph_sum(pose, vertex));
    }
}
