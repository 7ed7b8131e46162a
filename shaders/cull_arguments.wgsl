// Runs after each culling pass: one workgroup writes the arguments of the palette pass and of the
// draws, and empties the lists for the next pass.

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinCullParameters;
// Header: length of each list, number of instances that need a palette slot, slots assigned in the
// first pass, number of cached poses, number of them already evaluated, slots wanted in both passes.
// The cache slots of samples are far behind the lists.
@group(0) @binding(1) var<storage, read_write> gpuskin_lists: array<u32>;
// Dispatches, three words each, padded to four: palette pass for instances, palette pass for cached
// poses, cache fill. Words that are the same in all frames are written once by the CPU. Then draws,
// five words each, per set of lists and kind `[part][lod]`; this pass writes their second word, and the last one
// of lists that are filled from the end.
@group(0) @binding(2) var<storage, read_write> gpuskin_arguments: array<u32>;
// PaletteUniform of the instances, and of the cached poses.
@group(0) @binding(3) var<storage, read_write> gpuskin_palette_parameters: array<u32>;
@group(0) @binding(4) var<storage, read_write> gpuskin_cache_parameters: array<u32>;

// Writes the arguments for the lists of some sets. sets: first set, and number of sets. taken:
// palette slots assigned before. last: whether no other culling pass follows in this frame.
fn gpuskin_write(thread: u32, sets: vec2<u32>, slots_taken: u32, last: bool) {
    let cached_poses = gpuskin_parameters.cached_poses;
    let slotless = gpuskin_parameters.slotless != 0u;
    let lists_of_a_set = gpuskin_parameters.lods * select(1u, 2u, cached_poses != 0u || slotless);
    let first = sets.x * lists_of_a_set;
    let lists = sets.y * lists_of_a_set;
    // Draws of the sets before, and draws of these sets.
    let draws = vec2<u32>(first, lists) * gpuskin_parameters.parts;
    for (var draw = draws.x + thread; draw < draws.x + draws.y; draw += 64u) {
        let lods = gpuskin_parameters.lods;
        let list = draw / (gpuskin_parameters.parts * lods) * lods + draw % lods;
        let count = gpuskin_lists[list];
        gpuskin_arguments[12u + draw * 5u + 1u] = count;
        if (slotless && list % lists_of_a_set >= lods) {
            gpuskin_arguments[12u + draw * 5u + 4u] = (list % lods + 1u) * gpuskin_parameters.capacity - count;
        }
    }
    // If more poses were requested than the cache holds, the next frame begins with an empty cache.
    let full = gpuskin_lists[gpuskin_cached_poses] > cached_poses;
    storageBarrier();
    if (thread == 0u) {
        let wanted = gpuskin_lists[gpuskin_max_lists];
        gpuskin_lists[gpuskin_slots_wanted] = select(gpuskin_lists[gpuskin_slots_wanted], 0u, sets.x == 0u) + wanted;
        let end = min(slots_taken + wanted, gpuskin_parameters.palette_slots);
        let count = end - slots_taken;
        let across = min(count, gpuskin_parameters.max_groups);
        gpuskin_arguments[0] = across;
        gpuskin_arguments[1] = (count + max(across, 1u) - 1u) / max(across, 1u);
        gpuskin_palette_parameters[gpuskin_instances_word] = count;
        gpuskin_palette_parameters[gpuskin_first_word] = cached_poses + slots_taken;
        gpuskin_lists[gpuskin_slots_taken] = end;
        gpuskin_lists[gpuskin_max_lists] = 0u;
        if (cached_poses != 0u) {
            let filled = gpuskin_lists[gpuskin_filled_poses];
            let wanted = min(gpuskin_lists[gpuskin_cached_poses], cached_poses);
            gpuskin_arguments[4] = wanted - filled;
            gpuskin_arguments[9] = wanted - filled;
            gpuskin_cache_parameters[gpuskin_instances_word] = wanted - filled;
            gpuskin_cache_parameters[gpuskin_first_word] = filled;
            gpuskin_lists[gpuskin_filled_poses] = wanted;
        }
    }
    for (var list = first + thread; list < first + lists; list += 64u) {
        gpuskin_lists[list] = 0u;
    }
    if (full && last && cached_poses != 0u) {
        for (var i = thread; i < gpuskin_parameters.cache_entries; i += 64u) {
            gpuskin_lists[gpuskin_parameters.cache_at + i] = 0u;
        }
        if (thread == 0u) {
            gpuskin_lists[gpuskin_cached_poses] = 0u;
            gpuskin_lists[gpuskin_filled_poses] = 0u;
        }
    }
}

// Number of sets of lists for views.
fn gpuskin_sets() -> u32 {
    let views = gpuskin_parameters.views;
    return select(views, views + 1u, views > 1u);
}

@compute @workgroup_size(64)
fn gpuskin_write_arguments(@builtin(local_invocation_index) thread: u32) {
    // With marks, a second pass follows.
    gpuskin_write(thread, vec2<u32>(0u, gpuskin_sets()), 0u, gpuskin_parameters.marks_at == 0u);
}

@compute @workgroup_size(64)
fn gpuskin_write_revealed(@builtin(local_invocation_index) thread: u32) {
    gpuskin_write(thread, vec2<u32>(gpuskin_sets(), 1u), gpuskin_lists[gpuskin_slots_taken], true);
}
