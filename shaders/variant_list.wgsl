// Variant of the model's materials that the instance has: word 9 of its playback record.
fn gpuskin_variant_of(input: GpuskinInput) -> u32 {
    return gpuskin_get_model_variant(gpuskin_playbacks[gpuskin_instance_number(input) * 3u + 2u].y >> 16u);
}
