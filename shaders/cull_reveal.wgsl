// Second culling pass, after the first pass and the game have drawn. Instances in the main view
// that are neither occluded nor drawn yet get a palette slot, unless they have one, and an entry in
// the lists of revealed instances.

@compute @workgroup_size(64)
fn gpuskin_reveal(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = gpuskin_thread_instance(group, groups, thread);
    let number = gpuskin_first_instance() + index;
    var view_lods = vec4<u32>(0u);
    var known_slot = 0u;
    var most = GpuskinVisibility(0u, 0.0, false);
    if (index < gpuskin_parameters.instances) {
        let at = gpuskin_parameters.marks_at + index;
        let mark = atomicLoad(&gpuskin_lists[at]);
        known_slot = mark & gpuskin_mark_slot;
        let bounds = gpuskin_instance_box(number);
        most = gpuskin_visibility(0u, bounds);
        var visible = most.lod_plus_one != 0u;
        if (visible && !bounds.unbounded) {
            visible = !gpuskin_is_occluded(gpuskin_views[0].view_proj, bounds.centre, bounds.edges);
        }
        atomicStore(&gpuskin_lists[at], select(0u, gpuskin_mark_visible, visible));
        if (visible && (mark & gpuskin_mark_visible) == 0u) {
            view_lods.x = most.lod_plus_one;
        }
    }
    let views = gpuskin_parameters.views;
    let revealed = select(views, views + 1u, views > 1u);
    let slots_taken = atomicLoad(&gpuskin_lists[gpuskin_slots_taken_at()]);
    let four_influences = u32(most.four_influences);
    gpuskin_list_visible(
        thread,
        number,
        view_lods,
        four_influences,
        vec2<u32>(revealed, 1u),
        most,
        known_slot,
        slots_taken,
    );
}
