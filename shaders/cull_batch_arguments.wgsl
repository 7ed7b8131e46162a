// Runs after each culling pass of a batch: one workgroup per crowd writes the arguments of its draws
// and empties its lists for the next pass. The first one also writes the arguments of the palette pass.

@group(0) @binding(0) var<uniform> gpuskin_frame: GpuskinBatchFrame;
@group(0) @binding(1) var<storage, read> gpuskin_crowds: array<GpuskinBatchedCrowd>;
// As in cull_batch.wgsl.
@group(0) @binding(2) var<storage, read_write> gpuskin_lists: array<u32>;
// Dispatch of the palette pass, three words, padded to twelve. Then draws, five words each,
// `[set][crowd][part][lod]`; this pass writes their second word.
@group(0) @binding(3) var<storage, read_write> gpuskin_arguments: array<u32>;
// PaletteUniform of the palette pass.
@group(0) @binding(4) var<storage, read_write> gpuskin_palette_parameters: array<u32>;
// Draws in drawing order, `[set][draw]`, for draws of all crowds together.
@group(0) @binding(5) var<storage, read_write> gpuskin_ordered_arguments: array<u32>;
// Per draw `[crowd][part][lod]`: its place in the drawing order.
@group(0) @binding(6) var<storage, read> gpuskin_order: array<u32>;

// Writes the arguments for the lists of some sets. sets: first set, and number of sets. slots_taken:
// palette slots assigned before.
fn gpuskin_write(number: u32, thread: u32, sets: vec2<u32>, slots_taken: u32) {
    let crowd = gpuskin_crowds[number];
    let lods = crowd.culling.lods;
    let lengths_at = crowd.lengths_at + 2u;
    let of_set = crowd.culling.parts * lods;
    for (var i = thread; i < sets.y * of_set; i += 64u) {
        let list_set = sets.x + i / of_set;
        let draw = crowd.draws_at + i % of_set;
        let count = gpuskin_lists[lengths_at + list_set * lods + i % lods];
        let first = list_set * gpuskin_frame.draws;
        gpuskin_arguments[12u + (first + draw) * 5u + 1u] = count;
        gpuskin_ordered_arguments[(first + gpuskin_order[draw]) * 5u + 1u] = count;
    }
    storageBarrier();
    if (thread == 0u) {
        let end = min(slots_taken + gpuskin_lists[crowd.lengths_at], crowd.culling.palette_slots);
        gpuskin_lists[crowd.lengths_at] = 0u;
        gpuskin_lists[crowd.lengths_at + 1u] = end;
    }
    if (thread == 0u && number == 0u) {
        let count = gpuskin_lists[0];
        let across = min(count, crowd.culling.max_groups);
        gpuskin_arguments[0] = across;
        gpuskin_arguments[1] = (count + max(across, 1u) - 1u) / max(across, 1u);
        gpuskin_palette_parameters[gpuskin_instances_word] = count;
        gpuskin_lists[0] = 0u;
    }
    for (var i = thread; i < sets.y * lods; i += 64u) {
        gpuskin_lists[lengths_at + sets.x * lods + i] = 0u;
    }
}

// Number of sets of lists for views.
fn gpuskin_sets(views: u32) -> u32 {
    return select(views, views + 1u, views > 1u);
}

@compute @workgroup_size(64)
fn gpuskin_write_arguments(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let sets = gpuskin_sets(gpuskin_crowds[group.x].culling.views);
    gpuskin_write(group.x, thread, vec2<u32>(0u, sets), 0u);
}

@compute @workgroup_size(64)
fn gpuskin_write_revealed(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let sets = gpuskin_sets(gpuskin_crowds[group.x].culling.views);
    let slots_taken = gpuskin_lists[gpuskin_crowds[group.x].lengths_at + 1u];
    gpuskin_write(group.x, thread, vec2<u32>(sets, 1u), slots_taken);
}
