// The palette pass of local-packed: a workgroup an instance (and moment, along z) evaluates its nodes, composes the hierarchy level by level,
// and writes its bones. Twin of LocalTracks::pose_over in gpuskin-rt/src/local.rs.

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
    let before = group.z != 0u;
    let now = select(gpuskin_parameters.clock, gpuskin_parameters.clock_before, before);
    let live_at = select(gpuskin_parameters.live_at, gpuskin_parameters.live_before_at, before);
    let slot = gpuskin_instances[at + 2u].z >> 12u;
    gpuskin_find_shown(thread, instance, slot, now, live_at);
    workgroupBarrier();
    let layers = select(1u, 4u, slot != 0u);
    let first = number * gpuskin_parameters.stride + group.z * gpuskin_parameters.before;
    let bones = gpuskin_words[gpuskin_bone_count];

    let nodes = gpuskin_words[gpuskin_node_count];
    for (var node = thread; node < nodes; node += gpuskin_group_size) {
        gpuskin_set_global(first + bones, node, gpuskin_local_matrix(gpuskin_layered(node, layers)));
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
        let global = gpuskin_with_live_bone(gpuskin_global(first + bones, node), bone);
        gpuskin_palette[first + bone] = gpuskin_compose(global, gpuskin_inverse_bind(bone_at));
    }
}
