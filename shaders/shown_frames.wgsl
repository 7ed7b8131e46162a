// Where the pose of an instance is: in two frames of the animation texture, and in two of each clip that it fades from.
// Twin of Shown in gpuskin-rt/src/record.rs.

struct GpuskinShown {
    // Of the clip that it plays.
    current: GpuskinFramePair,
    // Of those that it fades from.
    source: GpuskinFramePair,
    older_source: GpuskinFramePair,
    // Of the current clip over the sources: 1 where nothing fades.
    weight: f32,
    // Of the older source in the mix of both.
    older: f32,
}

fn gpuskin_frames(playback: GpuskinPlayback, now: vec2<u32>) -> GpuskinFramePair {
    return gpuskin_frame_pair(playback, gpuskin_model.clips[playback.clip & gpuskin_clip_mask], now);
}

fn gpuskin_shown(input: GpuskinInput, instance: GpuskinInstance, now: vec2<u32>) -> GpuskinShown {
    let current = gpuskin_frames(instance.playback, now);
    var shown = GpuskinShown(current, current, current, gpuskin_weight(instance, now), 0.0);
    if (shown.weight < 1.0) {
        shown.source = gpuskin_frames(gpuskin_source(instance, instance.sources.xy), now);
        shown.older = gpuskin_older(instance);
        if (shown.older > 0.0) {
            shown.older_source = gpuskin_frames(gpuskin_source(instance, instance.sources.zw), now);
        }
    }
    return shown;
}
