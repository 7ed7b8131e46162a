// Scatters changed elements, which come as one list, to their indices in a buffer.

// Number of elements, words per element, indices, then the elements.
@group(0) @binding(0) var<storage, read> gpuskin_changes: array<u32>;
@group(0) @binding(1) var<storage, read_write> gpuskin_elements: array<u32>;

@compute @workgroup_size(64)
fn gpuskin_scatter(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let count = gpuskin_changes[0];
    let words = gpuskin_changes[1];
    let word = id.y * groups.x * 64u + id.x;
    if (word >= count * words) {
        return;
    }
    let index = gpuskin_changes[2u + word / words];
    gpuskin_elements[index * words + word % words] = gpuskin_changes[2u + count + word];
}
