// Instance from its words in gpuskin_playbacks: five vectors per instance.

fn gpuskin_playing_instance(number: u32) -> GpuskinInstance {
    let at = number * 5u;
    return gpuskin_playing(
        gpuskin_playbacks[at],
        gpuskin_playbacks[at + 1u],
        gpuskin_playbacks[at + 2u],
        vec4<u32>(gpuskin_playbacks[at + 3u], gpuskin_playbacks[at + 4u]),
    );
}
