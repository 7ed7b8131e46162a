// Variant of the model's materials that the instance has: word 9 of its playback record. Called after
// gpuskin_instance_of, which selects the crowd.
fn gpuskin_variant_of(input: GpuskinInput) -> u32 {
    let number = gpuskin_model.first_instance + gpuskin_entry(input).y;
    return gpuskin_get_model_variant(gpuskin_playbacks[number * 3u + 2u].y >> 16u);
}
