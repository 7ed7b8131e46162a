// Places of poses in the textures of a pose pass. CPU layout: gpuskin-rt/src/pose_texture.rs.

// Poses of a list of instances: they fill rows of blocks. A block has a column per matrix, and three
// texels above each other in it: the rows of the matrix.
struct GpuskinPosePlaces {
    // Current time, and that of the previous poses: seconds, fraction.
    time: vec2<u32>,
    previous_time: vec2<u32>,
    // Row of blocks of the first instance, counted through all layers.
    first_row: u32,
    // Blocks per row.
    columns: u32,
    // Matrices per block.
    stride: u32,
    // Matrices from an instance's pose to its previous pose; 0 if that is not kept.
    previous: u32,
    // A layer has 1 << layer_shift rows of blocks.
    layer_shift: u32,
    // Not used, zero.
    reserved_0: u32,
    reserved_1: vec2<u32>,
}

// Column and row of the first texel of an instance's pose, and layer. number: number of the instance in
// the list.
fn gpuskin_pose_place(places: GpuskinPosePlaces, number: u32) -> vec3<u32> {
    let row = places.first_row + number / places.columns;
    let in_layer = row & ((1u << places.layer_shift) - 1u);
    return vec3<u32>(number % places.columns * places.stride, in_layer * 3u, row >> places.layer_shift);
}
