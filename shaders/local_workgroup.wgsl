// Node matrices of a workgroup in workgroup memory.

var<workgroup> gpuskin_globals: array<mat3x4<f32>, gpuskin_workgroup_nodes>;

// scratch is not used here.
fn gpuskin_global(scratch: u32, node: u32) -> mat3x4<f32> {
    return gpuskin_globals[node];
}

fn gpuskin_set_global(scratch: u32, node: u32, matrix: mat3x4<f32>) {
    gpuskin_globals[node] = matrix;
}

fn gpuskin_global_barrier() {
    workgroupBarrier();
}
