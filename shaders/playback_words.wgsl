// Instance from its words in gpuskin_playbacks: three vectors per instance.

fn gpuskin_playing_instance(number: u32) -> GpuskinInstance {
    let at = number * 3u;
    let words_0 = gpuskin_playbacks[at];
    let words_1 = gpuskin_playbacks[at + 1u];
    return gpuskin_playing(words_0.xy, words_0.zw, words_1.xy, vec4<u32>(words_1.zw, gpuskin_playbacks[at + 2u].xy));
}

// Number of the layer set of an instance, from 1 up; 0: none.
fn gpuskin_layer_set_of(number: u32) -> u32 {
    let last = gpuskin_playbacks[number * 3u + 2u].y >> 16u;
    return (gpuskin_get_layer_set_high(last) << 16u) | gpuskin_get_layer_set_low(gpuskin_playbacks[number * 3u + 1u].x);
}
