// Shared code of the culling passes. One thread per instance finds the views that see the instance
// and its level of detail, assigns a palette slot, and adds it to instance lists. CPU reference:
// gpuskin-rt/src/cull.rs.

// Layout of CullView in gpuskin-rt/src/cull.rs.
struct GpuskinCullView {
    // World to clip space; zero if the view was never set.
    view_proj: mat4x4<f32>,
    eye: vec3<f32>,
    // Half the height of the picture over the allowed LOD error, both in pixels; 0: the finest LOD
    // for all instances.
    lod_scale: f32,
}

// Bounds of all clips of a model, and what extends them.
struct GpuskinModelBounds {
    // Minimum corner of the bounds of all clips, model space, metres.
    minimum: vec3<f32>,
    // Distance by which layers extend the bounds, metres.
    layered: f32,
    extent: vec3<f32>,
    // Largest error of a shared pose over all clips, metres; 0 if it does not matter.
    error: f32,
}

const gpuskin_group_size: u32 = 64u;
// Bit of a mark. After the first pass: the main view draws the instance. After the second: the
// instance is not occluded.
const gpuskin_mark_visible: u32 = 0x80000000u;
// Bits of a mark after the first pass: palette slot plus one, or 0.
const gpuskin_mark_slot: u32 = 0x7fffffffu;

// Per list, the number of instances in the workgroup; last, the number that need a palette slot.
// Later in the pass: the next free entry of each list, and the next free slot.
var<workgroup> gpuskin_counts: array<atomic<u32>, gpuskin_max_lists + 1u>;

// Bounding box of an instance in world space: its centre, and half of each edge.
struct GpuskinInstanceBox {
    centre: vec3<f32>,
    edges: mat3x3<f32>,
    scale: f32,
    // Whether the game shows the instance.
    visible: bool,
    // Whether the bounds are unknown because of live poses.
    unbounded: bool,
}

// Whether a box may be in view. middle: its centre; edges: half of each edge. CPU reference:
// in_view in gpuskin-rt/src/cull.rs.
fn gpuskin_in_view(view_proj: mat4x4<f32>, centre: vec3<f32>, edges: mat3x3<f32>) -> bool {
    let rows = transpose(view_proj);
    if (all(rows[3] == vec4<f32>(0.0))) {
        return false;
    }
    var planes = array<vec4<f32>, 6>(
        rows[3] + rows[0],
        rows[3] - rows[0],
        rows[3] + rows[1],
        rows[3] - rows[1],
        rows[2],
        rows[3] - rows[2],
    );
    for (var i = 0u; i < 6u; i++) {
        let plane = planes[i];
        let extent = abs(plane.xyz * edges);
        if (dot(plane.xyz, centre) + plane.w + (extent.x + extent.y + extent.z) < 0.0) {
            return false;
        }
    }
    return true;
}

// Visibility of an instance in a view.
struct GpuskinVisibility {
    // Level of detail plus one; 0: not visible.
    lod_plus_one: u32,
    // Projected size of one metre of the model, in allowed LOD errors.
    error_scale: f32,
    // Whether the greatest four influences of each vertex suffice.
    four_influences: bool,
}

const gpuskin_max_error_scale: f32 = 3e38;

// Largest projected size of one metre in a box, in allowed LOD errors. CPU reference: metre in
// gpuskin-rt/src/cull.rs.
fn gpuskin_error_scale(view: GpuskinCullView, centre: vec3<f32>, edges: mat3x3<f32>, scale: f32) -> f32 {
    let rows = transpose(view.view_proj);
    let extent = abs(rows[3].xyz * edges);
    let near = dot(rows[3].xyz, centre) + rows[3].w - (extent.x + extent.y + extent.z);
    if (view.lod_scale <= 0.0 || near <= 0.0) {
        return gpuskin_max_error_scale;
    }
    return view.lod_scale * length(rows[1].xyz) * abs(scale) / near;
}

// Level of detail for a projected size. CPU reference: level in gpuskin-rt/src/cull.rs.
fn gpuskin_lod(error_scale: f32) -> u32 {
    if (error_scale >= gpuskin_max_error_scale) {
        return 0u;
    }
    var lod = 0u;
    for (var coarser = 1u; coarser < gpuskin_parameters.lods; coarser++) {
        if (gpuskin_parameters.errors[coarser / 4u][coarser % 4u] * error_scale > 1.0) {
            break;
        }
        lod = coarser;
    }
    return lod;
}

// Whether the greatest four influences of each vertex suffice: together with that of the level of detail, their error is at most
// the allowed one. CPU reference: four_influences in gpuskin-rt/src/cull.rs.
fn gpuskin_four_influences(lod: u32, error_scale: f32) -> bool {
    let error = gpuskin_parameters.influence_error;
    return error > 0.0 && (error + gpuskin_parameters.errors[lod / 4u][lod % 4u]) * error_scale <= 1.0;
}

// Bounding box of an instance. CPU reference: reach in gpuskin-rt/src/cull.rs.
fn gpuskin_instance_box(number: u32) -> GpuskinInstanceBox {
    var bounds: GpuskinInstanceBox;
    let look = gpuskin_places[number * 2u + 1u];
    bounds.visible = gpuskin_get_invisible(look.w) == 0u;
    if (!bounds.visible) {
        return bounds;
    }
    let place = bitcast<vec4<f32>>(gpuskin_places[number * 2u]);
    let instance =
        gpuskin_with_transform(gpuskin_playing_instance(number), place, gpuskin_unpack_rotation(look.xy));
    let layered = gpuskin_layer_set_of(number) != 0u;
    var low = vec3<f32>(0.0);
    var high = vec3<f32>(1.0);
    // A blend of clips can leave the bounds of each of them.
    if (!layered && gpuskin_weight(instance, gpuskin_parameters.time) >= 1.0) {
        let words = gpuskin_clip_bounds(instance.playback.clip & gpuskin_clip_mask).xyz;
        low = vec3<f32>(words & vec3<u32>(0xffffu)) / 65535.0;
        high = vec3<f32>(words >> vec3<u32>(16u)) / 65535.0;
    }
    let model = gpuskin_model_bounds();
    let margin = select(0.0, model.layered, layered);
    let half = 0.5 * (high - low) * model.extent + margin;
    let centre = model.minimum + 0.5 * (low + high) * model.extent;
    bounds.edges = mat3x3<f32>(
        gpuskin_direction(instance, vec3<f32>(half.x * instance.scale, 0.0, 0.0)),
        gpuskin_direction(instance, vec3<f32>(0.0, half.y * instance.scale, 0.0)),
        gpuskin_direction(instance, vec3<f32>(0.0, 0.0, half.z * instance.scale)),
    );
    bounds.centre = gpuskin_point(instance, centre);
    bounds.scale = instance.scale;
    bounds.unbounded = layered && gpuskin_parameters.live != 0u;
    return bounds;
}

// Visibility of an instance in a view.
fn gpuskin_visibility(number: u32, bounds: GpuskinInstanceBox) -> GpuskinVisibility {
    if (!bounds.visible || bounds.unbounded) {
        return GpuskinVisibility(u32(bounds.visible), gpuskin_max_error_scale, false);
    }
    let view = gpuskin_views[number];
    if (!gpuskin_in_view(view.view_proj, bounds.centre, bounds.edges)) {
        return GpuskinVisibility(0u, 0.0, false);
    }
    let error_scale = gpuskin_error_scale(view, bounds.centre, bounds.edges, bounds.scale);
    let lod = gpuskin_lod(error_scale);
    return GpuskinVisibility(1u + lod, error_scale, gpuskin_four_influences(lod, error_scale));
}

// Lists per set: one per level of detail, twice if poses are cached or if instances may be without one.
fn gpuskin_lists_per_set() -> u32 {
    return gpuskin_parameters.lods * select(1u, 2u, (gpuskin_parameters.cached_poses | gpuskin_parameters.slotless) != 0u);
}

// Adds the instances of a workgroup to the lists of some sets. Returns the palette slot plus one; 0: none.
// sets: first set, and number of sets. seen: per set, four bits with the LOD of this thread's
// instance plus one; 0 if the set does not show it. four_influences: a bit per set. known_slot: palette slot plus one that the
// instance has already; 0: if any set shows the instance, it gets a shared slot, or one behind the `slots_taken`
// slots. most: finest level of detail plus one, and largest projected size of one metre, over all views.
fn gpuskin_list_visible(
    thread: u32,
    number: u32,
    view_lods: vec4<u32>,
    four_influences: u32,
    sets: vec2<u32>,
    most: GpuskinVisibility,
    known_slot: u32,
    slots_taken: u32,
) -> u32 {
    let lists = gpuskin_lists_per_set();
    for (var i = thread; i < sets.y * lists; i += gpuskin_group_size) {
        atomicStore(&gpuskin_counts[i], 0u);
    }
    if (thread == 0u) {
        atomicStore(&gpuskin_counts[gpuskin_max_lists], 0u);
    }
    let any = any(view_lods != vec4<u32>(0u));
    var shared_pose = GpuskinSharedPose(0u, 0u, false);
    var slot_plus_one = known_slot;
    if (any && slot_plus_one == 0u) {
        shared_pose = gpuskin_shared_pose(number, most.error_scale);
        slot_plus_one = gpuskin_cache_slot(number, shared_pose);
    }
    // Instances with a shared pose are in the second half of a set's lists.
    let kind = select(0u, gpuskin_parameters.lods, slot_plus_one != 0u && slot_plus_one <= gpuskin_parameters.cached_poses);
    workgroupBarrier();
    // Counting within the workgroup first: only one atomic addition per list and workgroup goes to
    // memory.
    for (var which = 0u; which < sets.y; which++) {
        let lod_plus_one = (view_lods[which / 8u] >> (which % 8u * 4u)) & 15u;
        if (lod_plus_one != 0u) {
            atomicAdd(&gpuskin_counts[which * lists + kind + lod_plus_one - 1u], 1u);
        }
    }
    if (any && slot_plus_one == 0u) {
        atomicAdd(&gpuskin_counts[gpuskin_max_lists], 1u);
    }
    workgroupBarrier();
    let slotless = gpuskin_leaves_slotless(thread, slots_taken);
    for (var i = thread; i <= sets.y * lists; i += gpuskin_group_size) {
        // The last one is the number of palette slots.
        let is_slots = i == sets.y * lists;
        let at = select(i, gpuskin_max_lists, is_slots);
        let count = atomicLoad(&gpuskin_counts[at]);
        if (count > 0u && is_slots) {
            if (gpuskin_parameters.slotless == 0u) {
                atomicStore(&gpuskin_counts[at], gpuskin_reserve_slots(count, slots_taken));
            }
        } else if (count > 0u) {
            let length_at = gpuskin_length_at(sets.x * lists + i + select(0u, gpuskin_parameters.lods, slotless));
            atomicStore(&gpuskin_counts[at], atomicAdd(&gpuskin_lists[length_at], count));
        }
    }
    workgroupBarrier();
    if (!any) {
        return known_slot;
    }
    var slot = slot_plus_one - 1u;
    if (slot_plus_one == 0u) {
        slot = slots_taken + atomicAdd(&gpuskin_counts[gpuskin_max_lists], 1u);
        if (slot < gpuskin_parameters.palette_slots) {
            gpuskin_write_pose_record(gpuskin_record_of_slot(slot), slot, number, most.lod_plus_one - 1u, shared_pose);
        } else {
            slot %= gpuskin_parameters.palette_slots;
        }
        slot += gpuskin_parameters.cached_poses;
        slot_plus_one = select(slot + 1u, 0u, slotless);
    }
    // Vertices of shared poses are skinned once, with all influences.
    let own = select(0u, 0xffffffffu, kind == 0u);
    for (var which = 0u; which < sets.y; which++) {
        let lod_plus_one = (view_lods[which / 8u] >> (which % 8u * 4u)) & 15u;
        if (lod_plus_one != 0u) {
            let list = kind + lod_plus_one - 1u;
            var entry = atomicAdd(&gpuskin_counts[which * lists + list], 1u);
            entry = select(entry, gpuskin_parameters.capacity - 1u - entry, slotless);
            let at = gpuskin_entry_at(sets.x + which, lists, list, entry);
            atomicStore(&gpuskin_lists[at], slot | (((four_influences & own) >> which) << 31u));
            atomicStore(&gpuskin_lists[at + 1u], number - gpuskin_first_instance());
        }
    }
    return slot_plus_one;
}
