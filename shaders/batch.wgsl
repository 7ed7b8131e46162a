// Table of the crowds of a batch: crowds of different models whose passes are merged. CPU layout:
// gpuskin-rt/src/batch.rs.

// Layout of BatchedCrowd in gpuskin-rt/src/batch.rs.
struct GpuskinBatchedCrowd {
    // Time and ignore_marks are those of the frame instead.
    culling: GpuskinCullParameters,
    // Number of the crowd's first instance in the buffers of instances.
    first_instance: u32,
    // Word offset of the lengths of the crowd's lists: number of instances that need a palette slot,
    // slots assigned in the first pass, then the length of each list.
    lengths_at: u32,
    // Word offset of the crowd's lists within a set.
    lists_at: u32,
    // Vector offset of the bounds of the crowd's clips.
    bounds_at: u32,
    // Word offset of the animation of the crowd's model.
    words_at: u32,
    // First matrix of the crowd's palette.
    palette_at: u32,
    // Matrices per palette slot.
    stride: u32,
    // Matrices from a pose to the previous pose.
    previous_offset: u32,
    // Number of the crowd's first draw in a set.
    draws_at: u32,
    // Not used, zero.
    reserved_0: u32,
    reserved_1: u32,
    reserved_2: u32,
}

// Layout of BatchFrame in gpuskin-rt/src/batch.rs.
struct GpuskinBatchFrame {
    // Current time: seconds, fraction.
    time: vec2<u32>,
    // Not 0: the main view draws all instances in view, whatever the marks say.
    ignore_marks: u32,
    // Number of workgroups of the culling passes.
    groups: u32,
    // Word offset of the first set of lists, and words per set.
    sets_at: u32,
    set_words: u32,
    // Draws per set of lists.
    draws: u32,
    // Number of crowds.
    crowds: u32,
}
