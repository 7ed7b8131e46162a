// Node matrices of a workgroup that exceed its memory: stored behind the instance's bones in the
// palette, from the matrix `scratch` on.

fn gpuskin_global(scratch: u32, node: u32) -> mat3x4<f32> {
    return gpuskin_palette[scratch + node];
}

fn gpuskin_set_global(scratch: u32, node: u32, matrix: mat3x4<f32>) {
    gpuskin_palette[scratch + node] = matrix;
}

fn gpuskin_global_barrier() {
    storageBarrier();
}
