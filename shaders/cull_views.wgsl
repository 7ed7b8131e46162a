// First culling pass: finds the views that see an instance. With occlusion culling, the main view
// draws only instances that were not occluded in the last frame.

@compute @workgroup_size(64)
fn gpuskin_cull(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = gpuskin_thread_instance(group, groups, thread);
    let number = gpuskin_first_instance() + index;
    let views = gpuskin_parameters.views;
    let marked = gpuskin_parameters.marks_at != 0u && index < gpuskin_parameters.instances;
    let at = gpuskin_parameters.marks_at + index;
    var view_lods = vec4<u32>(0u);
    // The set of all views has the finest LOD of any view.
    var most = GpuskinVisibility(15u, 0.0, true);
    var four_influences = 0u;
    if (index < gpuskin_parameters.instances) {
        let bounds = gpuskin_instance_box(number);
        for (var view = 0u; view < views; view++) {
            let visibility = gpuskin_visibility(view, bounds);
            view_lods[view / 8u] |= visibility.lod_plus_one << (view % 8u * 4u);
            most.lod_plus_one = min(most.lod_plus_one, select(15u, visibility.lod_plus_one, visibility.lod_plus_one != 0u));
            most.error_scale = max(most.error_scale, visibility.error_scale);
            four_influences |= u32(visibility.four_influences) << view;
            most.four_influences &= visibility.lod_plus_one == 0u || visibility.four_influences;
        }
        if (marked && gpuskin_parameters.ignore_marks == 0u && !bounds.unbounded) {
            if ((atomicLoad(&gpuskin_lists[at]) & gpuskin_mark_visible) == 0u) {
                view_lods.x &= 0xfffffff0u;
            }
        }
    }
    let drawn = (view_lods.x & 15u) != 0u;
    // A single view needs no set of all views.
    let sets = select(views, views + 1u, views > 1u);
    if (sets > views && any(view_lods != vec4<u32>(0u))) {
        view_lods[views / 8u] |= most.lod_plus_one << (views % 8u * 4u);
        four_influences |= u32(most.four_influences) << views;
    }
    let slot = gpuskin_list_visible(thread, number, view_lods, four_influences, vec2<u32>(0u, sets), most, 0u, 0u);
    if (marked) {
        atomicStore(&gpuskin_lists[at], slot | select(0u, gpuskin_mark_visible, drawn));
    }
}
