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
        vec4<u32>(input.playback_1.zw, input.playback_2),
    );
    return gpuskin_with_transform(playing, input.place, input.rotation);
}

fn gpuskin_appearance_of(input: GpuskinInput) -> GpuskinAppearance {
    return gpuskin_appearance(input.appearance);
}
