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
    kept: u32,
    kept_at: u32,
    moments: u32,
    reserved: u32,
    errors: array<vec4<f32>, 2>,
}

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinCullParameters;
// The length of each list comes first, then the number of instances that get a place, how many the first pass gave, how many
// poses are kept, and of how many that was done. Where moments are kept stands far behind.
@group(0) @binding(1) var<storage, read_write> gpuskin_lists: array<u32>;
// Three a dispatch, padded to four: of the palette pass for instances and for poses that are kept, and of what skins those.
// Those that are the same in all frames stand there. Then five a draw, of a set of lists
// and a kind [part][level], of which the second is written.
@group(0) @binding(2) var<storage, read_write> gpuskin_arguments: array<u32>;
// PaletteUniform: of instances, and of poses that are kept.
@group(0) @binding(3) var<storage, read_write> gpuskin_palette_parameters: array<u32>;
@group(0) @binding(4) var<storage, read_write> gpuskin_kept_parameters: array<u32>;

// For the lists of some sets, the first and how many: places are given behind those that are taken. `last`: no pass of this
// frame comes after.
fn gpuskin_write(thread: u32, sets: vec2<u32>, taken: u32, last: bool) {
    let kept = gpuskin_parameters.kept;
    let lists_of_a_set = gpuskin_parameters.levels * select(1u, 2u, kept != 0u);
    let first = sets.x * lists_of_a_set;
    let lists = sets.y * lists_of_a_set;
    // Of all sets before, and of these.
    let draws = vec2<u32>(first, lists) * gpuskin_parameters.parts;
    for (var draw = draws.x + thread; draw < draws.x + draws.y; draw += 64u) {
        let levels = gpuskin_parameters.levels;
        let list = draw / (gpuskin_parameters.parts * levels) * levels + draw % levels;
        gpuskin_arguments[12u + draw * 5u + 1u] = gpuskin_lists[list];
    }
    // More were asked for than there is room: the next frame begins with none.
    let full = gpuskin_lists[gpuskin_poses_kept] > kept;
    storageBarrier();
    if (thread == 0u) {
        let end = min(taken + gpuskin_lists[gpuskin_most_lists], gpuskin_parameters.places);
        let count = end - taken;
        let across = min(count, gpuskin_parameters.most_groups);
        gpuskin_arguments[0] = across;
        gpuskin_arguments[1] = (count + max(across, 1u) - 1u) / max(across, 1u);
        gpuskin_palette_parameters[gpuskin_instances_word] = count;
        gpuskin_palette_parameters[gpuskin_first_word] = kept + taken;
        gpuskin_lists[gpuskin_places_taken] = end;
        gpuskin_lists[gpuskin_most_lists] = 0u;
        if (kept != 0u) {
            let filled = gpuskin_lists[gpuskin_poses_filled];
            let wanted = min(gpuskin_lists[gpuskin_poses_kept], kept);
            gpuskin_arguments[4] = wanted - filled;
            gpuskin_arguments[9] = wanted - filled;
            gpuskin_kept_parameters[gpuskin_instances_word] = wanted - filled;
            gpuskin_kept_parameters[gpuskin_first_word] = filled;
            gpuskin_lists[gpuskin_poses_filled] = wanted;
        }
    }
    for (var list = first + thread; list < first + lists; list += 64u) {
        gpuskin_lists[list] = 0u;
    }
    if (full && last && kept != 0u) {
        for (var i = thread; i < gpuskin_parameters.moments; i += 64u) {
            gpuskin_lists[gpuskin_parameters.kept_at + i] = 0u;
        }
        if (thread == 0u) {
            gpuskin_lists[gpuskin_poses_kept] = 0u;
            gpuskin_lists[gpuskin_poses_filled] = 0u;
        }
    }
}

// How many sets of lists views have.
fn gpuskin_sets() -> u32 {
    let views = gpuskin_parameters.views;
    return select(views, views + 1u, views > 1u);
}

@compute @workgroup_size(64)
fn gpuskin_write_arguments(@builtin(local_invocation_index) thread: u32) {
    // With marks another pass follows.
    gpuskin_write(thread, vec2<u32>(0u, gpuskin_sets()), 0u, gpuskin_parameters.marks_at == 0u);
}

@compute @workgroup_size(64)
fn gpuskin_write_revealed(@builtin(local_invocation_index) thread: u32) {
    gpuskin_write(thread, vec2<u32>(gpuskin_sets(), 1u), gpuskin_lists[gpuskin_places_taken], true);
}
