// Instances from a vertex buffer.

// Number of the drawn instance within its draw.
fn gpuskin_instance_number(input: GpuskinInput) -> u32 {
    return input.number;
}

fn gpuskin_instance_of(input: GpuskinInput, time: vec2<u32>) -> GpuskinInstance {
    let playing = gpuskin_playing(
        input.playback_0.xy,
        input.playback_0.zw,
        input.playback_1.xy,
        vec4<u32>(input.playback_1.zw, input.playback_2.xy),
    );
    return gpuskin_with_transform(playing, input.place, gpuskin_unpack_rotation(input.look.xy));
}

fn gpuskin_appearance_words(input: GpuskinInput) -> vec4<u32> {
    return vec4<u32>(input.look.zw, input.playback_2.zw);
}
