// Palette pass of local-packed: one workgroup per instance (and per pose copy, along z) evaluates
// the nodes, composes the chain of each bone, and writes its skinning matrix. Long chains are
// composed link by link. CPU reference: LocalTracks::pose_over in gpuskin-rt/src/local.rs.

const gpuskin_group_size: u32 = 64u;

@compute @workgroup_size(64)
fn gpuskin_write_palette(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = group.y * min(gpuskin_parameters.instances, gpuskin_parameters.max_groups) + group.x;
    if (index >= gpuskin_parameters.instances) {
        return;
    }
    let number = gpuskin_parameters.first_instance + index;
    let address = gpuskin_pose_address(number);
    gpuskin_select_words(address.words_at);
    let instance = gpuskin_playing_instance(number);
    let is_previous = group.z != 0u;
    let time = select(gpuskin_parameters.time, gpuskin_parameters.previous_time, is_previous);
    let live_at = select(gpuskin_parameters.live_at, gpuskin_parameters.previous_live_at, is_previous);
    let slot = gpuskin_layer_set_of_pose(number);
    gpuskin_find_pose_blend(thread, instance, slot, time, live_at);
    workgroupBarrier();
    let layers = select(1u, 4u, slot != 0u);
    let first = address.matrix_at + group.z * address.previous_offset;
    // Read here, and not by gpuskin_word: barriers below need a uniform control flow.
    let bones = gpuskin_words[address.words_at + gpuskin_bone_count];

    let nodes = gpuskin_words[address.words_at + gpuskin_node_count];
    for (var node = thread; node < nodes; node += gpuskin_group_size) {
        gpuskin_set_global(first + bones, node, gpuskin_local_matrix(gpuskin_layered(node, layers)));
    }
    gpuskin_global_barrier();
    let link = gpuskin_words[address.words_at + gpuskin_link];
    if (link > 1u) {
        // Last nodes first: a node's ancestors are read before they are overwritten.
        for (var block = (nodes + gpuskin_group_size - 1u) / gpuskin_group_size; block > 0u; block--) {
            let node = (block - 1u) * gpuskin_group_size + thread;
            var composed: mat3x4<f32>;
            if (node < nodes) {
                composed = gpuskin_composed(first + bones, node, gpuskin_node_parent, link);
            }
            gpuskin_global_barrier();
            if (node < nodes) {
                gpuskin_set_global(first + bones, node, composed);
            }
        }
        gpuskin_global_barrier();
    }
    for (var bone = thread; bone < bones; bone += gpuskin_group_size) {
        let bone_at = gpuskin_bone_at(bone);
        let node = gpuskin_word(bone_at + gpuskin_bone_node);
        let composed = gpuskin_composed(first + bones, node, gpuskin_node_chain_parent, nodes);
        let global = gpuskin_with_live_bone(composed, bone);
        gpuskin_palette[first + bone] = gpuskin_compose(global, gpuskin_inverse_bind(bone_at));
    }
}

// Product of the stored matrices of a node and its ancestors, `max_links` matrices in all. word: selects
// the parent or the next chain link.
fn gpuskin_composed(scratch: u32, node: u32, word: u32, max_links: u32) -> mat3x4<f32> {
    var product = gpuskin_global(scratch, node);
    var ancestor = gpuskin_chain_parent(node, word);
    for (var i = 1u; i < max_links && ancestor != 0xffffffffu; i++) {
        product = gpuskin_compose(gpuskin_global(scratch, ancestor), product);
        ancestor = gpuskin_chain_parent(ancestor, word);
    }
    return product;
}
