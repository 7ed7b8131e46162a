// Bindings of the culling passes of a batch, and the addresses of a workgroup's crowd in them.
// Counterpart: cull_single.wgsl.

@group(0) @binding(0) var<uniform> gpuskin_frame: GpuskinBatchFrame;
@group(0) @binding(1) var<storage, read> gpuskin_crowds: array<GpuskinBatchedCrowd>;
@group(0) @binding(2) var<uniform> gpuskin_views: array<GpuskinCullView, gpuskin_max_views>;
// Place records of all crowds, two vectors per instance.
@group(0) @binding(3) var<storage, read> gpuskin_places: array<vec4<u32>>;
// Playback records of the instances that need a palette slot, of all crowds. Three vectors each; the
// last two words are the palette slot and the number of the crowd.
@group(0) @binding(4) var<storage, read_write> gpuskin_visible_playbacks: array<vec4<u32>>;
// First word: number of those records. Then the lengths of the lists of each crowd, the marks of each
// crowd, and sets of lists, one set per view, for all views together if there are several, and for the
// second pass with occlusion culling: in each, the lists of each crowd, one per level of detail. An
// entry is a palette slot and the number of the instance, both counted within the crowd.
@group(0) @binding(5) var<storage, read_write> gpuskin_lists: array<atomic<u32>>;
// Playback records of all crowds, three vectors per instance.
@group(0) @binding(6) var<storage, read> gpuskin_playbacks: array<vec4<u32>>;
// Bounds of all crowds: GpuskinBounds in cull_bounds_uniform.wgsl, with as many clips as there are.
@group(0) @binding(7) var<storage, read> gpuskin_bounds: array<vec4<u32>>;
// Per workgroup: number of its crowd, and of its first instance in the crowd.
@group(0) @binding(8) var<storage, read> gpuskin_groups: array<vec2<u32>>;

var<private> gpuskin_parameters: GpuskinCullParameters;
var<private> gpuskin_crowd: u32;
// Index of a slot's playback record minus the slot, for the slots that the workgroup reserves.
var<workgroup> gpuskin_slot_to_record: u32;

fn gpuskin_first_instance() -> u32 {
    return gpuskin_crowds[gpuskin_crowd].first_instance;
}

// Number of a thread's instance in its crowd.
fn gpuskin_thread_instance(group: vec3<u32>, groups: vec3<u32>, thread: u32) -> u32 {
    let number = group.y * groups.x + group.x;
    // Workgroups beyond the last one have no instances.
    let of_group = gpuskin_groups[min(number, gpuskin_frame.groups - 1u)];
    gpuskin_crowd = of_group.x;
    gpuskin_parameters = gpuskin_crowds[gpuskin_crowd].culling;
    gpuskin_parameters.time = gpuskin_frame.time;
    gpuskin_parameters.ignore_marks = gpuskin_frame.ignore_marks;
    if (number >= gpuskin_frame.groups) {
        gpuskin_parameters.instances = 0u;
    }
    return of_group.y + thread;
}

fn gpuskin_clip_bounds(clip: u32) -> vec4<u32> {
    return gpuskin_bounds[gpuskin_crowds[gpuskin_crowd].bounds_at + 2u + clip];
}

fn gpuskin_model_bounds() -> GpuskinModelBounds {
    let at = gpuskin_crowds[gpuskin_crowd].bounds_at;
    let low = bitcast<vec4<f32>>(gpuskin_bounds[at]);
    let extent = bitcast<vec4<f32>>(gpuskin_bounds[at + 1u]);
    return GpuskinModelBounds(low.xyz, low.w, extent.xyz, extent.w);
}

fn gpuskin_length_at(list: u32) -> u32 {
    return gpuskin_crowds[gpuskin_crowd].lengths_at + 2u + list;
}

fn gpuskin_slots_taken_at() -> u32 {
    return gpuskin_crowds[gpuskin_crowd].lengths_at + 1u;
}

fn gpuskin_entry_at(list_set: u32, lists: u32, list: u32, entry: u32) -> u32 {
    let first = gpuskin_frame.sets_at + list_set * gpuskin_frame.set_words + gpuskin_crowds[gpuskin_crowd].lists_at;
    return first + (list * gpuskin_parameters.capacity + entry) * 2u;
}

// A batch has room for the poses of all instances.
fn gpuskin_leaves_slotless(thread: u32, slots_taken: u32) -> bool {
    return false;
}

// Also reserves the playback records of the slots that exist.
fn gpuskin_reserve_slots(count: u32, slots_taken: u32) -> u32 {
    let reserved = atomicAdd(&gpuskin_lists[gpuskin_crowds[gpuskin_crowd].lengths_at], count);
    let first = slots_taken + reserved;
    let room = gpuskin_parameters.palette_slots - min(first, gpuskin_parameters.palette_slots);
    gpuskin_slot_to_record = atomicAdd(&gpuskin_lists[0], min(count, room)) - first;
    return reserved;
}

fn gpuskin_record_of_slot(slot: u32) -> u32 {
    return gpuskin_slot_to_record + slot;
}

// level is not used: models with morph targets are not merged.
fn gpuskin_record_link(slot: u32, level: u32) -> vec2<u32> {
    return vec2<u32>(slot, gpuskin_crowd);
}
