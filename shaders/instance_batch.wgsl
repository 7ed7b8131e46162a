// Instances of a batch, by the lists of drawn instances. The upper half of the index of an instance is
// the number of the draw, the lower half counts the entries of its list.

// Entry of the list of drawn instances: palette slot, and number of the instance in its crowd.
fn gpuskin_entry(input: GpuskinInput) -> vec2<u32> {
    return gpuskin_list[gpuskin_draws[input.drawn >> 16u].x + (input.drawn & 0xffffu)];
}

// Transform of the drawn instance; called before all other functions, because it selects the crowd. The
// pose is in the palette: what the instance plays is zero.
fn gpuskin_instance_of(input: GpuskinInput, time: vec2<u32>) -> GpuskinInstance {
    gpuskin_model = gpuskin_crowds[gpuskin_draws[input.drawn >> 16u].y & 0xffffu];
    let at = (gpuskin_model.first_instance + gpuskin_entry(input).y) * 2u;
    var instance: GpuskinInstance;
    let rotation = gpuskin_unpack_rotation(gpuskin_places[at + 1u].xy);
    return gpuskin_with_transform(instance, bitcast<vec4<f32>>(gpuskin_places[at]), rotation);
}

fn gpuskin_appearance_words(input: GpuskinInput) -> vec4<u32> {
    let number = gpuskin_model.first_instance + gpuskin_entry(input).y;
    let custom = gpuskin_playbacks[number * 3u + 2u].zw;
    return vec4<u32>(gpuskin_places[number * 2u + 1u].zw, custom);
}

// Number of the material in the table of the draw.
fn gpuskin_material_of(input: GpuskinInput) -> u32 {
    return gpuskin_draws[input.drawn >> 16u].y >> 16u;
}
