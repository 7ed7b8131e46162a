// After the culling pass: one workgroup writes the arguments of the palette pass and of the draws, and empties the lists
// for the next frame.

// Twin of CullUniform in gpuskin-rt/src/cull.rs.
struct GpuskinCullParameters {
    clock: vec2<u32>,
    instances: u32,
    views: u32,
    capacity: u32,
    parts: u32,
    most_groups: u32,
    levels: u32,
    places: u32,
    live: u32,
    reserved: vec2<u32>,
    errors: array<vec4<f32>, 2>,
}

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinCullParameters;
// The length of each list comes first, then the number of instances that any view sees.
@group(0) @binding(1) var<storage, read_write> gpuskin_lists: array<u32>;
// Three of the palette pass, of which the last stands there, padded to four; then five a draw, [list][part], of which the second is written.
@group(0) @binding(2) var<storage, read_write> gpuskin_arguments: array<u32>;
// PaletteUniform.
@group(0) @binding(3) var<storage, read_write> gpuskin_palette_parameters: array<u32>;

@compute @workgroup_size(64)
fn gpuskin_write_arguments(@builtin(local_invocation_index) thread: u32) {
    let views = gpuskin_parameters.views;
    let lists = select(views, views + 1u, views > 1u) * gpuskin_parameters.levels;
    for (var draw = thread; draw < lists * gpuskin_parameters.parts; draw += 64u) {
        gpuskin_arguments[4u + draw * 5u + 1u] = gpuskin_lists[draw / gpuskin_parameters.parts];
    }
    if (thread == 0u) {
        let count = min(gpuskin_lists[gpuskin_most_lists], gpuskin_parameters.places);
        let across = min(count, gpuskin_parameters.most_groups);
        gpuskin_arguments[0] = across;
        gpuskin_arguments[1] = (count + max(across, 1u) - 1u) / max(across, 1u);
        gpuskin_palette_parameters[gpuskin_instances_word] = count;
    }
    storageBarrier();
    for (var i = thread; i <= gpuskin_most_lists; i += 64u) {
        gpuskin_lists[i] = 0u;
    }
}
