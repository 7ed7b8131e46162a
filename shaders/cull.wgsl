// The culling pass: a thread an instance finds the views that see it and in which level of detail, gives it a place in the
// palette and puts it into their lists. Twin of gpuskin-rt/src/cull.rs.

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
    // Not used, zero.
    reserved: vec2<u32>,
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
    // Least and greatest x, y and z of each, 16 bits each, as fractions of that.
    clips: array<vec4<u32>, 1018>,
}

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinCullParameters;
@group(0) @binding(1) var<uniform> gpuskin_bounds: GpuskinBounds;
@group(0) @binding(2) var<uniform> gpuskin_views: array<GpuskinCullView, gpuskin_most_views>;
// Four an instance.
@group(0) @binding(3) var<storage, read> gpuskin_instances: array<vec4<u32>>;
// Those that a view sees, one after the other, as many as the palette has room for.
@group(0) @binding(4) var<storage, read_write> gpuskin_seen_instances: array<vec4<u32>>;
// The length of each list, the number of instances that any view sees, padding; then the lists, a level of detail each:
// those of every view, and where there are several those of all together. An entry is a place in the palette, and the
// number of the instance.
@group(0) @binding(5) var<storage, read_write> gpuskin_lists: array<atomic<u32>>;

const gpuskin_group_size: u32 = 64u;

// Four an instance.
@group(0) @binding(6) var<storage, read> gpuskin_looks: array<vec4<u32>>;

// Instances of each list within the workgroup, then of all; after that, where the next of them goes.
var<workgroup> gpuskin_counts: array<atomic<u32>, gpuskin_most_lists + 1u>;

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

// The level of detail in which a view shows a box. Twin of level in gpuskin-rt/src/cull.rs.
fn gpuskin_level(view: GpuskinCullView, middle: vec3<f32>, edges: mat3x3<f32>, scale: f32) -> u32 {
    let rows = transpose(view.view_proj);
    let reach = abs(rows[3].xyz * edges);
    let near = dot(rows[3].xyz, middle) + rows[3].w - (reach.x + reach.y + reach.z);
    if (view.detail <= 0.0 || near <= 0.0) {
        return 0u;
    }
    let seen = view.detail * length(rows[1].xyz) * abs(scale) / near;
    var level = 0u;
    for (var coarser = 1u; coarser < gpuskin_parameters.levels; coarser++) {
        if (gpuskin_parameters.errors[coarser / 4u][coarser % 4u] * seen > 1.0) {
            break;
        }
        level = coarser;
    }
    return level;
}

// In which level of detail each view shows an instance, one more than it, in four bits each; 0: it does not.
fn gpuskin_seen(number: u32) -> vec2<u32> {
    var seen = vec2<u32>(0u);
    if ((gpuskin_looks[number].y >> 31u) != 0u) {
        return seen;
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
    let edges = mat3x3<f32>(
        gpuskin_direction(instance, vec3<f32>(half.x * instance.scale, 0.0, 0.0)),
        gpuskin_direction(instance, vec3<f32>(0.0, half.y * instance.scale, 0.0)),
        gpuskin_direction(instance, vec3<f32>(0.0, 0.0, half.z * instance.scale)),
    );
    let world = gpuskin_point(instance, middle);
    // Live poses reach anywhere.
    let anywhere = layered && gpuskin_parameters.live != 0u;
    for (var i = 0u; i < gpuskin_parameters.views; i++) {
        let view = gpuskin_views[i];
        var shown = 0u;
        if (anywhere) {
            shown = 1u;
        } else if (gpuskin_in_view(view.view_proj, world, edges)) {
            shown = 1u + gpuskin_level(view, world, edges, instance.scale);
        }
        seen[i / 8u] |= shown << (i % 8u * 4u);
    }
    return seen;
}

@compute @workgroup_size(64)
fn gpuskin_cull(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let levels = gpuskin_parameters.levels;
    let views = gpuskin_parameters.views;
    // One view sees what all see together.
    let sets = select(views, views + 1u, views > 1u);
    for (var i = thread; i <= gpuskin_most_lists; i += gpuskin_group_size) {
        atomicStore(&gpuskin_counts[i], 0u);
    }
    workgroupBarrier();
    let number = (group.y * groups.x + group.x) * gpuskin_group_size + thread;
    var seen = vec2<u32>(0u);
    if (number < gpuskin_parameters.instances) {
        seen = gpuskin_seen(number);
    }
    let any = any(seen != vec2<u32>(0u));
    // All views together show the finest.
    var finest = 15u;
    // First within the workgroup: one addition a list and workgroup goes to memory.
    for (var view = 0u; view < views; view++) {
        let shown = (seen[view / 8u] >> (view % 8u * 4u)) & 15u;
        if (shown != 0u) {
            atomicAdd(&gpuskin_counts[view * levels + shown - 1u], 1u);
            finest = min(finest, shown);
        }
    }
    if (any) {
        atomicAdd(&gpuskin_counts[gpuskin_most_lists], 1u);
        if (sets > views) {
            atomicAdd(&gpuskin_counts[views * levels + finest - 1u], 1u);
        }
    }
    workgroupBarrier();
    for (var i = thread; i <= gpuskin_most_lists; i += gpuskin_group_size) {
        let count = atomicLoad(&gpuskin_counts[i]);
        if (count > 0u) {
            atomicStore(&gpuskin_counts[i], atomicAdd(&gpuskin_lists[i], count));
        }
    }
    workgroupBarrier();
    if (!any) {
        return;
    }
    var place = atomicAdd(&gpuskin_counts[gpuskin_most_lists], 1u);
    if (place < gpuskin_parameters.places) {
        for (var i = 0u; i < 4u; i++) {
            gpuskin_seen_instances[place * 4u + i] = gpuskin_instances[number * 4u + i];
        }
    } else {
        place %= gpuskin_parameters.places;
    }
    for (var shower = 0u; shower < sets; shower++) {
        var shown = finest;
        if (shower < views) {
            shown = (seen[shower / 8u] >> (shower % 8u * 4u)) & 15u;
        }
        if (shown != 0u) {
            let list = shower * levels + shown - 1u;
            let entry = atomicAdd(&gpuskin_counts[list], 1u) + list * gpuskin_parameters.capacity;
            atomicStore(&gpuskin_lists[gpuskin_lists_at + entry * 2u], place);
            atomicStore(&gpuskin_lists[gpuskin_lists_at + entry * 2u + 1u], number);
        }
    }
}
