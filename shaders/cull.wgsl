// The culling pass: a thread an instance finds the views that see it, gives it a place in the palette and puts it into
// their lists. Twin of gpuskin-rt/src/cull.rs.

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
    // Not used, zero.
    reserved: u32,
}

// What the clips of a model reach. Twin of pack_bounds in gpuskin-rt/src/cull.rs.
struct GpuskinBounds {
    // Metres: what any of them reaches.
    minimum: vec3<f32>,
    extent: vec3<f32>,
    // Least and greatest x, y and z of each, 16 bits each, as fractions of that.
    clips: array<vec4<u32>, 1018>,
}

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinCullParameters;
@group(0) @binding(1) var<uniform> gpuskin_bounds: GpuskinBounds;
// World to clip space; zero where a view was never set.
@group(0) @binding(2) var<uniform> gpuskin_views: array<mat4x4<f32>, gpuskin_most_views>;
// Four an instance.
@group(0) @binding(3) var<storage, read> gpuskin_instances: array<vec4<u32>>;
// Those that a view sees, one after the other.
@group(0) @binding(4) var<storage, read_write> gpuskin_seen_instances: array<vec4<u32>>;
// The length of each list, padded to 64 words; then the lists: that all views see together, that each of them sees.
// An entry is a place in the palette, and the number of the instance.
@group(0) @binding(5) var<storage, read_write> gpuskin_lists: array<atomic<u32>>;

const gpuskin_group_size: u32 = 64u;

// Instances of each list within the workgroup; then where the next of them goes.
var<workgroup> gpuskin_counts: array<atomic<u32>, gpuskin_most_lists>;

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

// The lists that an instance is in: bit 0 for all views together, then one a view.
fn gpuskin_seen(number: u32) -> u32 {
    let at = number * 4u;
    let words_2 = gpuskin_instances[at + 2u];
    let instance =
        gpuskin_instance(gpuskin_instances[at], gpuskin_instances[at + 1u], words_2, gpuskin_instances[at + 3u]);
    // Layers and live poses reach anywhere.
    if ((words_2.z >> 12u) != 0u) {
        return (2u << gpuskin_parameters.views) - 1u;
    }
    var least = vec3<f32>(0.0);
    var greatest = vec3<f32>(1.0);
    // A mix of clips is within none of them.
    if (gpuskin_weight(instance, gpuskin_parameters.clock) >= 1.0) {
        let words = gpuskin_bounds.clips[instance.playback.clip & gpuskin_clip_mask].xyz;
        least = vec3<f32>(words & vec3<u32>(0xffffu)) / 65535.0;
        greatest = vec3<f32>(words >> vec3<u32>(16u)) / 65535.0;
    }
    let half = 0.5 * (greatest - least) * gpuskin_bounds.extent;
    let middle = gpuskin_bounds.minimum + 0.5 * (least + greatest) * gpuskin_bounds.extent;
    let edges = mat3x3<f32>(
        gpuskin_direction(instance, vec3<f32>(half.x * instance.scale, 0.0, 0.0)),
        gpuskin_direction(instance, vec3<f32>(0.0, half.y * instance.scale, 0.0)),
        gpuskin_direction(instance, vec3<f32>(0.0, 0.0, half.z * instance.scale)),
    );
    let world = gpuskin_point(instance, middle);
    var seen = 0u;
    for (var view = 0u; view < gpuskin_parameters.views; view++) {
        if (gpuskin_in_view(gpuskin_views[view], world, edges)) {
            seen |= 2u << view;
        }
    }
    return select(seen | 1u, 0u, seen == 0u);
}

@compute @workgroup_size(64)
fn gpuskin_cull(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    if (thread < gpuskin_most_lists) {
        atomicStore(&gpuskin_counts[thread], 0u);
    }
    workgroupBarrier();
    let number = (group.y * groups.x + group.x) * gpuskin_group_size + thread;
    let lists = gpuskin_parameters.views + 1u;
    var seen = 0u;
    if (number < gpuskin_parameters.instances) {
        seen = gpuskin_seen(number);
    }
    // First within the workgroup: one addition a list and workgroup goes to memory.
    for (var list = 0u; list < lists; list++) {
        if (((seen >> list) & 1u) != 0u) {
            atomicAdd(&gpuskin_counts[list], 1u);
        }
    }
    workgroupBarrier();
    if (thread < lists) {
        let base = atomicAdd(&gpuskin_lists[thread], atomicLoad(&gpuskin_counts[thread]));
        atomicStore(&gpuskin_counts[thread], base);
    }
    workgroupBarrier();
    if (seen == 0u) {
        return;
    }
    let place = atomicAdd(&gpuskin_counts[0], 1u);
    for (var i = 0u; i < 4u; i++) {
        gpuskin_seen_instances[place * 4u + i] = gpuskin_instances[number * 4u + i];
    }
    for (var list = 0u; list < lists; list++) {
        if (((seen >> list) & 1u) != 0u) {
            var entry = place;
            if (list > 0u) {
                entry = atomicAdd(&gpuskin_counts[list], 1u) + list * gpuskin_parameters.capacity;
            }
            atomicStore(&gpuskin_lists[64u + entry * 2u], place);
            atomicStore(&gpuskin_lists[64u + entry * 2u + 1u], number);
        }
    }
}
