// Second culling pass, after the first pass and the game have drawn. Instances in the main view
// that are neither occluded nor drawn yet get a palette slot, unless they have one, and an entry in
// the lists of revealed instances.

@compute @workgroup_size(64)
fn gpuskin_reveal(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = (group.y * groups.x + group.x) * gpuskin_group_size + thread;
    var seen = vec2<u32>(0u);
    var held = 0u;
    var metre = 0.0;
    if (number < gpuskin_parameters.instances) {
        let at = gpuskin_parameters.marks_at + number;
        let mark = atomicLoad(&gpuskin_lists[at]);
        held = mark & gpuskin_mark_slot;
        let reach = gpuskin_instance_box(number);
        let shown = gpuskin_shown(0u, reach);
        metre = shown.metre;
        var visible = shown.level != 0u;
        if (visible && !reach.anywhere) {
            visible = !gpuskin_is_hidden(gpuskin_views[0].view_proj, reach.middle, reach.edges);
        }
        atomicStore(&gpuskin_lists[at], select(0u, gpuskin_mark_visible, visible));
        if (visible && (mark & gpuskin_mark_visible) == 0u) {
            seen.x = shown.level;
        }
    }
    let views = gpuskin_parameters.views;
    let revealed = select(views, views + 1u, views > 1u);
    let taken = atomicLoad(&gpuskin_lists[gpuskin_slots_taken]);
    gpuskin_list_visible(thread, number, seen, vec2<u32>(revealed, 1u), metre, held, taken);
}
