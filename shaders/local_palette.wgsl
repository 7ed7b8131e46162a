// The palette pass of local-packed: a workgroup an instance evaluates its nodes, composes the hierarchy level by level,
// and writes its bones. Twin of LocalTracks::pose in gpuskin-rt/src/local.rs.

// Twin of PaletteUniform in gpuskin-rt/src/local/shader.rs.
struct GpuskinPaletteParameters {
    // The moment: seconds, fraction.
    clock: vec2<u32>,
    // Instances to evaluate.
    instances: u32,
    // The first of them, among those of the buffer and of the palette.
    first_instance: u32,
    // Matrices from one instance's first to the next one's.
    stride: u32,
    // Not used, zero.
    reserved_0: u32,
    reserved_1: u32,
    reserved_2: u32,
}

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinPaletteParameters;
@group(0) @binding(1) var<storage, read> gpuskin_words: array<u32>;
// Four an instance.
@group(0) @binding(2) var<storage, read> gpuskin_instances: array<vec4<u32>>;
// Rows of skin matrices. [instance][bone]
@group(0) @binding(3) var<storage, read_write> gpuskin_palette: array<mat3x4<f32>>;

const gpuskin_group_size: u32 = 64u;

@compute @workgroup_size(64)
fn gpuskin_write_palette(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = group.y * groups.x + group.x;
    if (index >= gpuskin_parameters.instances) {
        return;
    }
    let number = gpuskin_parameters.first_instance + index;
    let at = number * 4u;
    let instance = gpuskin_instance(
        gpuskin_instances[at],
        gpuskin_instances[at + 1u],
        gpuskin_instances[at + 2u],
        gpuskin_instances[at + 3u],
    );
    let now = gpuskin_parameters.clock;
    let current = gpuskin_local_frames(instance.playback, now);
    let weight = gpuskin_weight(instance, now);
    let older = gpuskin_older(instance);
    let source = gpuskin_local_frames(gpuskin_source(instance, instance.sources.xy), now);
    let older_source = gpuskin_local_frames(gpuskin_source(instance, instance.sources.zw), now);
    let first = number * gpuskin_parameters.stride;
    let bones = gpuskin_words[gpuskin_bone_count];

    let nodes = gpuskin_words[gpuskin_node_count];
    for (var node = thread; node < nodes; node += gpuskin_group_size) {
        var local = gpuskin_local(current, node);
        if (weight < 1.0) {
            var faded = gpuskin_local(source, node);
            if (older > 0.0) {
                faded = gpuskin_mix_locals(faded, gpuskin_local(older_source, node), older);
            }
            local = gpuskin_mix_locals(faded, local, weight);
        }
        gpuskin_set_global(first + bones, node, gpuskin_local_matrix(local));
    }
    // The first level has no parents.
    let levels = gpuskin_words[gpuskin_level_count];
    for (var level = 1u; level < levels; level++) {
        gpuskin_global_barrier();
        let end = gpuskin_level(level + 1u);
        for (var node = gpuskin_level(level) + thread; node < end; node += gpuskin_group_size) {
            let parent = gpuskin_global(first + bones, gpuskin_parent(node));
            gpuskin_set_global(first + bones, node, gpuskin_compose(parent, gpuskin_global(first + bones, node)));
        }
    }
    gpuskin_global_barrier();
    for (var bone = thread; bone < bones; bone += gpuskin_group_size) {
        let bone_at = gpuskin_bone_at(bone);
        let node = gpuskin_words[bone_at + gpuskin_bone_node];
        let global = gpuskin_global(first + bones, node);
        gpuskin_palette[first + bone] = gpuskin_compose(global, gpuskin_inverse_bind(bone_at));
    }
}
