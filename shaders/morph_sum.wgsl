// Sums of deltas where poses are in a palette. Counterpart: morph_sum_wide.wgsl, whose many variables would slow down the vertices
// that need no sum.

// Sum of the deltas of a vertex that morph targets move.
fn gpuskin_morph_sum(pose: GpuskinPoseSource, vertex: u32) -> GpuskinMorph {
    var sum: GpuskinMorph;
    let word = gpuskin_morph_word(gpuskin_morph_lists_at + vertex);
    let end = (word >> 11u) + (word & 0x7ffu);
    for (var at = word >> 11u; at < end; at++) {
        let words = gpuskin_morph_texel(at);
        gpuskin_add_delta(&sum, words, gpuskin_bone_translation(pose, (words.y >> 16u) & 0xfffu));
    }
    return sum;
}
