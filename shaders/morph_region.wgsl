// First matrix of the sums of a pose: they are at the end of the palette, those of slot 0 last. which: 0 for the current
// pose, 1 for the previous one.
fn gpuskin_morph_region(slot: u32, which: u32) -> u32 {
    let poses = select(1u, 2u, gpuskin_model.palette_previous != 0u);
    return arrayLength(&gpuskin_palette) - (slot * poses + which + 1u) * gpuskin_model.morph_stride;
}
