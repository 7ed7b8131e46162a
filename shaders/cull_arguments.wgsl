// After each of the culling passes: one workgroup writes the arguments of the palette pass and of the draws, and empties the
// lists for the next.

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
    marks_at: u32,
    everyone: u32,
    errors: array<vec4<f32>, 2>,
}

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinCullParameters;
// The length of each list comes first, then the number of instances that get a place, and how many the first pass gave.
@group(0) @binding(1) var<storage, read_write> gpuskin_lists: array<u32>;
// Three of the palette pass, of which the last stands there, padded to four; then five a draw, [list][part], of which the
// second is written.
@group(0) @binding(2) var<storage, read_write> gpuskin_arguments: array<u32>;
// PaletteUniform.
@group(0) @binding(3) var<storage, read_write> gpuskin_palette_parameters: array<u32>;

// For the lists of some sets, the first and how many: places are given behind those that are taken.
fn gpuskin_write(thread: u32, sets: vec2<u32>, taken: u32) {
    let first = sets.x * gpuskin_parameters.levels;
    let lists = sets.y * gpuskin_parameters.levels;
    for (var draw = thread; draw < lists * gpuskin_parameters.parts; draw += 64u) {
        let list = first + draw / gpuskin_parameters.parts;
        let at = first * gpuskin_parameters.parts + draw;
        gpuskin_arguments[4u + at * 5u + 1u] = gpuskin_lists[list];
    }
    if (thread == 0u) {
        let end = min(taken + gpuskin_lists[gpuskin_most_lists], gpuskin_parameters.places);
        let count = end - taken;
        let across = min(count, gpuskin_parameters.most_groups);
        gpuskin_arguments[0] = across;
        gpuskin_arguments[1] = (count + max(across, 1u) - 1u) / max(across, 1u);
        gpuskin_palette_parameters[gpuskin_instances_word] = count;
        gpuskin_palette_parameters[gpuskin_first_word] = taken;
        gpuskin_lists[gpuskin_places_taken] = end;
    }
    storageBarrier();
    for (var i = thread; i <= gpuskin_most_lists; i += 64u) {
        gpuskin_lists[i] = 0u;
    }
}

// How many sets of lists views have.
fn gpuskin_sets() -> u32 {
    let views = gpuskin_parameters.views;
    return select(views, views + 1u, views > 1u);
}

@compute @workgroup_size(64)
fn gpuskin_write_arguments(@builtin(local_invocation_index) thread: u32) {
    gpuskin_write(thread, vec2<u32>(0u, gpuskin_sets()), 0u);
}

@compute @workgroup_size(64)
fn gpuskin_write_revealed(@builtin(local_invocation_index) thread: u32) {
    gpuskin_write(thread, vec2<u32>(gpuskin_sets(), 1u), gpuskin_lists[gpuskin_places_taken]);
}
