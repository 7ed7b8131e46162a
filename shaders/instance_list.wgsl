// Instances from storage buffers, by the list of drawn instances.

// Entry of the list of drawn instances: palette slot, and number of the instance.
fn gpuskin_entry(input: GpuskinInput) -> vec2<u32> {
    return gpuskin_list[input.drawn];
}

fn gpuskin_instance_of(input: GpuskinInput, time: vec2<u32>) -> GpuskinInstance {
    let number = gpuskin_list[input.drawn].y;
    let rotation = gpuskin_unpack_rotation(gpuskin_places[number * 2u + 1u].xy);
    let place = bitcast<vec4<f32>>(gpuskin_places[number * 2u]);
    return gpuskin_with_transform(gpuskin_playing_instance(number), place, rotation);
}

// Number of the drawn instance among those that share a palette.
fn gpuskin_instance_number(input: GpuskinInput) -> u32 {
    return gpuskin_list[input.drawn].y;
}

fn gpuskin_appearance_words(input: GpuskinInput) -> vec4<u32> {
    let number = gpuskin_instance_number(input);
    let custom = gpuskin_playbacks[number * 3u + 2u].zw;
    return vec4<u32>(gpuskin_places[number * 2u + 1u].zw, custom);
}
