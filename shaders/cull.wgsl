// What the culling passes share: a thread an instance finds who sees it and in which level of detail, gives it a place in the
// palette and puts it into lists. Twin of gpuskin-rt/src/cull.rs.

// Twin of CullUniform in gpuskin-rt/src/cull.rs.
struct GpuskinCullParameters {
    // The moment: seconds, fraction.
    clock: vec2<u32>,
    // Instances to look at.
    instances: u32,
    views: u32,
    // Entries of a list.
    capacity: u32,
    // Parts of the mesh.
    parts: u32,
    // Workgroups of a dispatch in one direction.
    most_groups: u32,
    // Levels of detail.
    levels: u32,
    // Poses that the palette has room for.
    places: u32,
    // Not 0: layers may reach anywhere, because live bones are among them.
    live: u32,
    // Words before the marks of instances; 0: there are none.
    marks_at: u32,
    // Not 0: the main view shows all that it sees, whatever the marks say.
    everyone: u32,
    // Poses that are kept for all instances that share them: the first of the palette; 0: none are.
    kept: u32,
    // Words before where each moment is kept.
    kept_at: u32,
    moments: u32,
    // Not used, zero.
    reserved: u32,
    // Metres, of each level, four a vector; ascending.
    errors: array<vec4<f32>, 2>,
}

// Twin of CullView in gpuskin-rt/src/cull.rs.
struct GpuskinCullView {
    // World to clip space; zero where it was never set.
    view_proj: mat4x4<f32>,
    eye: vec3<f32>,
    // Half the height of the picture over the error that may show, both in pixels; 0: the finest level for all.
    detail: f32,
}

// What the clips of a model reach. Twin of pack_bounds in gpuskin-rt/src/cull.rs.
struct GpuskinBounds {
    // Metres: what any of them reaches.
    minimum: vec3<f32>,
    // By how much more layers reach.
    layered: f32,
    extent: vec3<f32>,
    // Metres: what the nearest moment costs at most; 0 where that does not matter.
    off: f32,
    // Least and greatest x, y and z of each, 16 bits each, as fractions of that; in the fourth word the number of its first
    // moment, 17 bits, how often what its moments cost halves that, 3 bits, and its steps.
    clips: array<vec4<u32>, 1018>,
}

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinCullParameters;
@group(0) @binding(1) var<uniform> gpuskin_bounds: GpuskinBounds;
@group(0) @binding(2) var<uniform> gpuskin_views: array<GpuskinCullView, gpuskin_most_views>;
// Four an instance.
@group(0) @binding(3) var<storage, read> gpuskin_instances: array<vec4<u32>>;
// Poses that are kept, then those that a view sees, one after the other, as many as the palette has room for.
@group(0) @binding(4) var<storage, read_write> gpuskin_seen_instances: array<vec4<u32>>;
// The length of each list, the number of instances that get a place, how many the first pass gave, how many poses are kept, of
// how many that was done, padding; then the lists, a level of detail each: those of every view, where there are several those
// of all together, and with occlusion those of the second pass. Where poses are kept, the lists of those who have their own
// are followed by those of who shares one. An entry is a place in the palette, and the number of the instance. Then marks, a
// word an instance, and where the moments are kept, a word each.
@group(0) @binding(5) var<storage, read_write> gpuskin_lists: array<atomic<u32>>;

const gpuskin_group_size: u32 = 64u;
// Of a mark: after the first pass, that the main view draws the instance; after the second, that nothing hides it.
const gpuskin_mark_seen: u32 = 0x80000000u;
// Of a mark, after the first pass: one more than its place in the palette, or 0.
const gpuskin_mark_place: u32 = 0x7fffffffu;

// Four an instance.
@group(0) @binding(6) var<storage, read> gpuskin_looks: array<vec4<u32>>;

// Instances of each list within the workgroup, then those that get a place; after that, where the next of them goes.
var<workgroup> gpuskin_counts: array<atomic<u32>, gpuskin_most_lists + 1u>;

// What an instance may reach in the world: the middle of a box, and the halves of its edges.
struct GpuskinReach {
    middle: vec3<f32>,
    edges: mat3x3<f32>,
    scale: f32,
    // The game shows it.
    shown: bool,
    // Live poses reach anywhere.
    anywhere: bool,
}

// Whether a box may be seen: its middle, and the halves of its edges. Twin of in_view in gpuskin-rt/src/cull.rs.
fn gpuskin_in_view(view_proj: mat4x4<f32>, middle: vec3<f32>, edges: mat3x3<f32>) -> bool {
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
        let reach = abs(plane.xyz * edges);
        if (dot(plane.xyz, middle) + plane.w + (reach.x + reach.y + reach.z) < 0.0) {
            return false;
        }
    }
    return true;
}

// How a view shows an instance.
struct GpuskinSeen {
    // In which level of detail, one more than it; 0: not at all.
    level: u32,
    // By how many of the errors that may show a metre of the model is seen.
    metre: f32,
}

const gpuskin_near: f32 = 3e38;

// How large a metre is at most in a box. Twin of metre in gpuskin-rt/src/cull.rs.
fn gpuskin_metre(view: GpuskinCullView, middle: vec3<f32>, edges: mat3x3<f32>, scale: f32) -> f32 {
    let rows = transpose(view.view_proj);
    let reach = abs(rows[3].xyz * edges);
    let near = dot(rows[3].xyz, middle) + rows[3].w - (reach.x + reach.y + reach.z);
    if (view.detail <= 0.0 || near <= 0.0) {
        return gpuskin_near;
    }
    return view.detail * length(rows[1].xyz) * abs(scale) / near;
}

// The level of detail for that. Twin of level in gpuskin-rt/src/cull.rs.
fn gpuskin_level(metre: f32) -> u32 {
    if (metre >= gpuskin_near) {
        return 0u;
    }
    var level = 0u;
    for (var coarser = 1u; coarser < gpuskin_parameters.levels; coarser++) {
        if (gpuskin_parameters.errors[coarser / 4u][coarser % 4u] * metre > 1.0) {
            break;
        }
        level = coarser;
    }
    return level;
}

// What an instance may reach. Twin of reach in gpuskin-rt/src/cull.rs.
fn gpuskin_reach(number: u32) -> GpuskinReach {
    var reach: GpuskinReach;
    reach.shown = (gpuskin_looks[number].y >> 31u) == 0u;
    if (!reach.shown) {
        return reach;
    }
    let at = number * 4u;
    let words_2 = gpuskin_instances[at + 2u];
    let instance =
        gpuskin_instance(gpuskin_instances[at], gpuskin_instances[at + 1u], words_2, gpuskin_instances[at + 3u]);
    let layered = (words_2.z >> 12u) != 0u;
    var least = vec3<f32>(0.0);
    var greatest = vec3<f32>(1.0);
    // A mix of clips is within none of them.
    if (!layered && gpuskin_weight(instance, gpuskin_parameters.clock) >= 1.0) {
        let words = gpuskin_bounds.clips[instance.playback.clip & gpuskin_clip_mask].xyz;
        least = vec3<f32>(words & vec3<u32>(0xffffu)) / 65535.0;
        greatest = vec3<f32>(words >> vec3<u32>(16u)) / 65535.0;
    }
    let margin = select(0.0, gpuskin_bounds.layered, layered);
    let half = 0.5 * (greatest - least) * gpuskin_bounds.extent + margin;
    let middle = gpuskin_bounds.minimum + 0.5 * (least + greatest) * gpuskin_bounds.extent;
    reach.edges = mat3x3<f32>(
        gpuskin_direction(instance, vec3<f32>(half.x * instance.scale, 0.0, 0.0)),
        gpuskin_direction(instance, vec3<f32>(0.0, half.y * instance.scale, 0.0)),
        gpuskin_direction(instance, vec3<f32>(0.0, 0.0, half.z * instance.scale)),
    );
    reach.middle = gpuskin_point(instance, middle);
    reach.scale = instance.scale;
    reach.anywhere = layered && gpuskin_parameters.live != 0u;
    return reach;
}

// How a view shows an instance.
fn gpuskin_shown(number: u32, reach: GpuskinReach) -> GpuskinSeen {
    if (!reach.shown || reach.anywhere) {
        return GpuskinSeen(u32(reach.shown), gpuskin_near);
    }
    let view = gpuskin_views[number];
    if (!gpuskin_in_view(view.view_proj, reach.middle, reach.edges)) {
        return GpuskinSeen(0u, 0.0);
    }
    let metre = gpuskin_metre(view, reach.middle, reach.edges, reach.scale);
    return GpuskinSeen(1u + gpuskin_level(metre), metre);
}

// Lists of a set: levels of detail, twice where poses are kept.
fn gpuskin_lists_of_a_set() -> u32 {
    return gpuskin_parameters.levels * select(1u, 2u, gpuskin_parameters.kept != 0u);
}

// Puts the instances of a workgroup into the lists of some sets: `sets` are the first, and how many. `seen`: for each of them
// in which level it shows the instance of this thread, one more than it, in four bits; 0: it does not. `held`: one more than
// the place in the palette that it has already; 0: it gets one, one that it shares or behind those that are `taken`, if any set
// shows it. `metre`: how large it is where it is seen best. One more than its place comes back.
fn gpuskin_gather(
    thread: u32,
    number: u32,
    seen: vec2<u32>,
    sets: vec2<u32>,
    metre: f32,
    held: u32,
    taken: u32,
) -> u32 {
    let lists = gpuskin_lists_of_a_set();
    let first = sets.x * lists;
    for (var i = thread; i < sets.y * lists; i += gpuskin_group_size) {
        atomicStore(&gpuskin_counts[i], 0u);
    }
    if (thread == 0u) {
        atomicStore(&gpuskin_counts[gpuskin_most_lists], 0u);
    }
    let any = any(seen != vec2<u32>(0u));
    var still = GpuskinStill(0u, 0u, false);
    var had = held;
    if (any && had == 0u) {
        still = gpuskin_still(number, metre);
        had = gpuskin_kept(number, still);
    }
    // Who shares a pose is in the second half of the lists of a set.
    let kind = select(0u, gpuskin_parameters.levels, had != 0u && had <= gpuskin_parameters.kept);
    workgroupBarrier();
    // First within the workgroup: one addition a list and workgroup goes to memory.
    for (var which = 0u; which < sets.y; which++) {
        let shown = (seen[which / 8u] >> (which % 8u * 4u)) & 15u;
        if (shown != 0u) {
            atomicAdd(&gpuskin_counts[which * lists + kind + shown - 1u], 1u);
        }
    }
    if (any && had == 0u) {
        atomicAdd(&gpuskin_counts[gpuskin_most_lists], 1u);
    }
    workgroupBarrier();
    for (var i = thread; i <= sets.y * lists; i += gpuskin_group_size) {
        // The last is the number of places.
        let at = select(i, gpuskin_most_lists, i == sets.y * lists);
        let count = atomicLoad(&gpuskin_counts[at]);
        if (count > 0u) {
            let list = select(first + i, gpuskin_most_lists, i == sets.y * lists);
            atomicStore(&gpuskin_counts[at], atomicAdd(&gpuskin_lists[list], count));
        }
    }
    workgroupBarrier();
    if (!any) {
        return held;
    }
    var place = had - 1u;
    if (had == 0u) {
        place = taken + atomicAdd(&gpuskin_counts[gpuskin_most_lists], 1u);
        if (place < gpuskin_parameters.places) {
            gpuskin_pose_at(gpuskin_parameters.kept + place, number, still);
        } else {
            place %= gpuskin_parameters.places;
        }
        place += gpuskin_parameters.kept;
    }
    for (var which = 0u; which < sets.y; which++) {
        let shown = (seen[which / 8u] >> (which % 8u * 4u)) & 15u;
        if (shown != 0u) {
            let list = which * lists + kind + shown - 1u;
            let entry = atomicAdd(&gpuskin_counts[list], 1u) + (first + list) * gpuskin_parameters.capacity;
            atomicStore(&gpuskin_lists[gpuskin_lists_at + entry * 2u], place);
            atomicStore(&gpuskin_lists[gpuskin_lists_at + entry * 2u + 1u], number);
        }
    }
    return place + 1u;
}
