// Bindings of the culling passes of a single crowd, and its addresses in them. Counterpart:
// cull_batch.wgsl.

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinCullParameters;
@group(0) @binding(2) var<uniform> gpuskin_views: array<GpuskinCullView, gpuskin_max_views>;
// Place records, two vectors per instance.
@group(0) @binding(3) var<storage, read> gpuskin_places: array<vec4<u32>>;
// Playback records of the cached poses, then of the visible instances, one after the other, up to
// the number of palette slots. Three vectors each.
@group(0) @binding(4) var<storage, read_write> gpuskin_visible_playbacks: array<vec4<u32>>;
// Header: length of each list, number of instances that need a palette slot, slots assigned in the
// first pass, number of cached poses, number of them already evaluated, slots wanted in both passes,
// padding. Then the lists, one per level of detail: sets for every view, for all views together if
// there are several, and for the second pass with occlusion culling. If poses are cached, each set
// has the lists of instances with their own pose, then those of instances with a shared pose. Lists
// of instances without a pose have lengths of their own, and fill those with their own pose from the
// end. An entry is a palette slot and the number of the instance. Then marks, one word per instance;
// then cache slots, one word per sample.
@group(0) @binding(5) var<storage, read_write> gpuskin_lists: array<atomic<u32>>;
// Playback records, three vectors per instance.
@group(0) @binding(6) var<storage, read> gpuskin_playbacks: array<vec4<u32>>;

// Whether the palette has no room for all poses that the workgroup's instances need.
var<workgroup> gpuskin_is_full: u32;

// Number of the crowd's first instance in the buffers of instances.
fn gpuskin_first_instance() -> u32 {
    return 0u;
}

// Number of a thread's instance in the crowd.
fn gpuskin_thread_instance(group: vec3<u32>, groups: vec3<u32>, thread: u32) -> u32 {
    return (group.y * groups.x + group.x) * gpuskin_group_size + thread;
}

// Index of the length of a list.
fn gpuskin_length_at(list: u32) -> u32 {
    return list;
}

// Index of the entry of a list. list: of the set `list_set`, which has `lists` lists.
fn gpuskin_entry_at(list_set: u32, lists: u32, list: u32, entry: u32) -> u32 {
    let stored = select(lists, gpuskin_parameters.lods, gpuskin_parameters.slotless != 0u);
    return gpuskin_lists_at + ((list_set * stored + list) * gpuskin_parameters.capacity + entry) * 2u;
}

// Whether vertices evaluate the poses of the workgroup's instances, because the palette has no room for all that
// need a slot. Then reserves those that there are. Called by all threads.
fn gpuskin_leaves_slotless(thread: u32, slots_taken: u32) -> bool {
    if (gpuskin_parameters.slotless == 0u) {
        return false;
    }
    if (thread == 0u) {
        let count = atomicLoad(&gpuskin_counts[gpuskin_max_lists]);
        var first = 0u;
        if (count > 0u) {
            first = gpuskin_reserve_slots(count, slots_taken);
        }
        atomicStore(&gpuskin_counts[gpuskin_max_lists], first);
        gpuskin_is_full = u32(slots_taken + first + count > gpuskin_parameters.palette_slots);
    }
    workgroupBarrier();
    return gpuskin_is_full != 0u;
}

// Reserves palette slots behind the slots that are taken; returns the first one, counted from there.
fn gpuskin_reserve_slots(count: u32, slots_taken: u32) -> u32 {
    return atomicAdd(&gpuskin_lists[gpuskin_max_lists], count);
}

// Index of the number of palette slots assigned in the first pass.
fn gpuskin_slots_taken_at() -> u32 {
    return gpuskin_slots_taken;
}

// Index of the playback record of a palette slot. slot: without cached poses.
fn gpuskin_record_of_slot(slot: u32) -> u32 {
    return gpuskin_parameters.cached_poses + slot;
}

// Last two words of the playback record of a palette slot: finest level of detail in which a view shows the instance.
fn gpuskin_record_link(slot: u32, level: u32) -> vec2<u32> {
    return vec2<u32>(level, 0u);
}
